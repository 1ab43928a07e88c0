package blueprints

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/cli/terminal"
	"go.landscaper.dev/internal/content/blueprint"
	"go.landscaper.dev/internal/content/component/archive"
)

// readBlueprint reads a blueprint from a directory or an archive.
func readBlueprint(path string) (*blueprint.Blueprint, error) {
	files, err := readFiles(path)
	if err != nil {
		return nil, err
	}
	loaded, err := blueprint.Load(files)
	if err != nil {
		return nil, fmt.Errorf("blueprint %s: %w", path, err)
	}
	return loaded, nil
}

// readFiles returns the files of a directory, also if its blueprint.yaml is named,
// or of an archive.
func readFiles(path string) (fs.FS, error) {
	files, err := openFiles(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, terminal.Exitf(terminal.ExitNotFound,
			"there is no blueprint %s: give the directory or the archive of one, REPOSITORY//COMPONENT:VERSION, or oci://REGISTRY/NAME:TAG", path)
	}
	if err != nil {
		return nil, fmt.Errorf("read blueprint %s: %w", path, err)
	}
	return files, nil
}

func openFiles(path string) (fs.FS, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err // the caller names the path
	}
	if !info.IsDir() && filepath.Base(path) == v1alpha1.BlueprintFileName {
		path = filepath.Dir(path)
		info, err = os.Stat(path)
	}
	switch {
	case err != nil:
		return nil, err // the caller names the path
	case info.IsDir():
		// It stays open until the program ends: templates are read when they are used.
		root, err := os.OpenRoot(path)
		return regularFiles{root}, err // the caller names the path
	case !info.Mode().IsRegular():
		return nil, errors.New("it is neither a directory nor a regular file")
	}
	return unpackFile(path)
}

func unpackFile(path string) (fs.FS, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err // the caller names the path
	}
	defer file.Close() //nolint:errcheck // nothing is written
	files, err := archive.Unpack(file, archive.DefaultLimits())
	if err != nil {
		return nil, fmt.Errorf("it is taken for an archive: %w", err)
	}
	return files, nil
}

// regularFiles are the files of a directory. Links must stay inside, and what is
// no file, such as a pipe, on which a reader would wait, is refused.
type regularFiles struct{ root *os.Root }

// Open implements fs.FS.
func (f regularFiles) Open(name string) (fs.File, error) {
	if !fs.ValidPath(name) {
		return nil, opening(name, fs.ErrInvalid)
	}
	info, err := f.root.Stat(filepath.FromSlash(name))
	if err != nil {
		return nil, opening(name, err)
	}
	if !info.IsDir() && !info.Mode().IsRegular() {
		return nil, opening(name, errors.New("it is not a regular file"))
	}
	file, err := f.root.Open(filepath.FromSlash(name))
	if err != nil {
		return nil, opening(name, err)
	}
	return file, nil
}

// opening says what could not be opened, and not how it was tried.
func opening(name string, err error) error {
	var inner *fs.PathError
	if errors.As(err, &inner) {
		err = inner.Err
	}
	return &fs.PathError{Op: "open", Path: name, Err: err}
}
