package repositories

import (
	"errors"
	"io/fs"
	"os"
	"strings"

	"go.landscaper.dev/internal/content/component/archive"
)

// packed is the form that an archive has.
type packed int

// The forms that an archive can have.
const (
	// packNone is a directory.
	packNone packed = iota
	// packTar is a tar.
	packTar
	// packGzip is a compressed tar.
	packGzip
)

// packing tells the form of an archive by its name.
func packing(name string) packed {
	switch {
	case strings.HasSuffix(name, ".tgz"), strings.HasSuffix(name, ".tar.gz"):
		return packGzip
	case strings.HasSuffix(name, ".tar"):
		return packTar
	}
	return packNone
}

// walkFile visits the files of a tar until the visitor answers fs.SkipAll.
func walkFile(path string, visit func(archive.Entry) error) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close() //nolint:errcheck // nothing is written
	limits := archive.Limits{Bytes: 64 << 30, Files: 1_000_000, Ratio: 1000, Depth: 64}
	if err := archive.Walk(file, limits, visit); err != nil && !errors.Is(err, fs.SkipAll) {
		return err
	}
	return nil
}
