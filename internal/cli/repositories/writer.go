package repositories

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"go.landscaper.dev/internal/cli/terminal"
	"go.landscaper.dev/internal/content/component/archive"
	"go.landscaper.dev/internal/content/component/ctf"
	"go.landscaper.dev/internal/content/component/oci"
	"go.landscaper.dev/internal/content/component/repository"
)

// Destination finds out where component versions go. An archive that is not there
// is one if it may be created, and so is an empty directory.
func Destination(text string, create bool) (Location, error) {
	_, err := os.Lstat(text)
	exists := err == nil
	if create && !exists && !HasScheme(text) && !strings.HasPrefix(text, "{") {
		return transport(text)
	}
	if exists && isEmptyDirectory(text) {
		return transport(text)
	}
	at, err := Locate(text)
	var exit *terminal.ExitError
	if errors.As(err, &exit) && !exists && !HasScheme(text) && text != "" && !strings.HasPrefix(text, "{") {
		return Location{}, terminal.Exitf(exit.Code, "%w: make it with --create", exit.Err)
	}
	if err != nil {
		return Location{}, err
	}
	if at.Spec.Kind != repository.KindOCI && at.Spec.Kind != repository.KindCTF {
		return Location{}, terminal.Usage(fmt.Errorf("%s cannot be written to: only registries and archives in the common transport format can", text))
	}
	return at, nil
}

func isEmptyDirectory(path string) bool {
	entries, err := os.ReadDir(path)
	return err == nil && len(entries) == 0
}

// Writer is where component versions are written, and what is to be done at
// the end.
type Writer struct {
	// Target is where to write.
	Target oci.Target
	// Finish completes what was written; Close gives up what is held.
	Finish, Close func() error
}

func nothing() error { return nil }

// Writer opens a registry or an archive for writing.
func (a *Access) Writer(at Location) (*Writer, error) {
	if at.Spec.Kind == repository.KindOCI {
		return &Writer{a.Registry(at.Spec), nothing, nothing}, nil
	}
	path := at.Spec.FilePath
	info, err := os.Stat(path)
	if err == nil && info.IsDir() {
		opened, err := ctf.Create(path)
		if err != nil {
			return nil, err
		}
		return &Writer{opened, nothing, opened.Close}, nil
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
	return &Writer{temporary.target, finish, temporary.close}, nil
}

// workArchive is an archive in a temporary directory.
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

// Scratch is an archive that is deleted when it is closed.
func Scratch() (*Writer, error) {
	temporary, err := temporaryArchive("")
	if err != nil {
		return nil, err
	}
	return &Writer{temporary.target, nothing, temporary.close}, nil
}
