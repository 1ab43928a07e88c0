package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"go.landscaper.dev/internal/component/archive"
	"go.landscaper.dev/internal/component/ctf"
	"go.landscaper.dev/internal/component/oci"
	"go.landscaper.dev/internal/component/repository"
)

// The forms that an archive can have.
const (
	packNone = iota
	packTar
	packGzip
)

// packing tells the form of an archive by its name.
func packing(name string) int {
	switch {
	case strings.HasSuffix(name, ".tgz"), strings.HasSuffix(name, ".tar.gz"):
		return packGzip
	case strings.HasSuffix(name, ".tar"):
		return packTar
	}
	return packNone
}

// locate finds out where component versions go.
func (f *componentPushFlags) locate(text string) (location, error) {
	_, err := os.Lstat(text)
	exists := err == nil
	if f.create && !exists && !hasScheme(text) && !strings.HasPrefix(text, "{") {
		return typedLocation(text, map[string]string{"type": repository.KindCTF, "filePath": text})
	}
	if exists && isEmptyDirectory(text) {
		return typedLocation(text, map[string]string{"type": repository.KindCTF, "filePath": text})
	}
	at, err := locate(text)
	var exit *ExitError
	if errors.As(err, &exit) && exit.Code == ExitNotFound {
		return location{}, exitf(ExitNotFound, "%w: make it with --create", err)
	}
	if err != nil {
		return location{}, err
	}
	if at.spec.Kind != repository.KindOCI && at.spec.Kind != repository.KindCTF {
		return location{}, usage(fmt.Errorf("%s cannot be written to: only registries and archives in the common transport format can", text))
	}
	return at, nil
}

func isEmptyDirectory(path string) bool {
	entries, err := os.ReadDir(path)
	return err == nil && len(entries) == 0
}

// openTarget is where component versions are written, and what is to be done at
// the end.
type openTarget struct {
	target oci.Target
	// finish completes what was written; close gives up what is held.
	finish, close func() error
}

func nothing() error { return nil }

// open opens a registry or an archive for writing.
func (f *componentPushFlags) open(access *registryAccess, at location) (*openTarget, error) {
	if at.spec.Kind == repository.KindOCI {
		return &openTarget{registryTarget(access, at.spec), nothing, nothing}, nil
	}
	path := at.spec.FilePath
	info, err := os.Stat(path)
	if err == nil && info.IsDir() {
		opened, err := ctf.Create(path)
		if err != nil {
			return nil, err
		}
		return &openTarget{opened, nothing, opened.Close}, nil
	}
	parent := filepath.Dir(path)
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return nil, fmt.Errorf("create the archive %s: %w", path, err)
	}
	temporary, err := temporaryArchive(parent)
	if err != nil {
		return nil, err
	}
	directory := temporary.directory
	if info != nil {
		err = unpackArchive(path, directory)
	}
	if err == nil {
		err = temporary.open()
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open the archive %s: %w", path, err), temporary.close())
	}
	finish := func() error { return packArchive(directory, path) }
	if info == nil && packing(path) == packNone {
		finish = func() error { return errors.Join(os.Chmod(directory, 0o755), os.Rename(directory, path)) }
	}
	return &openTarget{temporary.target, finish, temporary.close}, nil
}

// workArchive is an archive in a directory that goes away.
type workArchive struct {
	directory string
	target    *ctf.Writer
}

// temporaryArchive makes a directory for an archive; "" is the place for
// temporary files.
func temporaryArchive(parent string) (*workArchive, error) {
	directory, err := os.MkdirTemp(parent, ".landscaper-cli-")
	if err != nil {
		return nil, err
	}
	a := &workArchive{directory: directory}
	if parent == "" {
		if err := a.open(); err != nil {
			return nil, errors.Join(err, a.close())
		}
	}
	return a, nil
}

func (a *workArchive) open() error {
	var err error
	a.target, err = ctf.Create(a.directory)
	return err
}

func (a *workArchive) close() error {
	var err error
	if a.target != nil {
		err = a.target.Close()
	}
	return errors.Join(err, os.RemoveAll(a.directory))
}

// unpackArchive puts the files of an archive into a directory, to add to them.
func unpackArchive(path, directory string) error {
	root, err := os.OpenRoot(directory)
	if err != nil {
		return err
	}
	defer root.Close() //nolint:errcheck // the files are closed
	return walkFile(path, func(entry archive.Entry) error {
		if err := root.MkdirAll(filepath.Dir(entry.Path), 0o755); err != nil {
			return err
		}
		file, err := root.Create(entry.Path)
		if err != nil {
			return err
		}
		_, err = io.Copy(file, entry.Content)
		return errors.Join(err, file.Close())
	})
}

// packArchive makes a file of a directory; the file appears when it is complete.
func packArchive(directory, path string) error {
	file, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".partial-")
	if err != nil {
		return fmt.Errorf("write the archive %s: %w", path, err)
	}
	defer os.Remove(file.Name()) //nolint:errcheck // it has moved if all went well
	err = ctf.PackFile(file, directory, packing(path) == packGzip)
	if err = errors.Join(err, file.Close()); err == nil {
		err = os.Chmod(file.Name(), 0o644)
	}
	if err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("write the archive %s: %w", path, err)
	}
	return nil
}
