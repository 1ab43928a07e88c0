package repositories

import (
	"errors"
	"io/fs"
	"os"
	"strings"

	"go.landscaper.dev/internal/component/archive"
)

// Packing is the form that an archive has.
type Packing int

// The forms that an archive can have.
const (
	// PackNone is a directory.
	PackNone Packing = iota
	// PackTar is a tar.
	PackTar
	// PackGzip is a compressed tar.
	PackGzip
)

// PackingOf tells the form of an archive by its name.
func PackingOf(name string) Packing {
	switch {
	case strings.HasSuffix(name, ".tgz"), strings.HasSuffix(name, ".tar.gz"):
		return PackGzip
	case strings.HasSuffix(name, ".tar"):
		return PackTar
	}
	return PackNone
}

// WalkFile visits the files of a tar until the visitor answers fs.SkipAll.
func WalkFile(path string, visit func(archive.Entry) error) error {
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
