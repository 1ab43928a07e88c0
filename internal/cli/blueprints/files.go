package blueprints

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/base/rootfs"
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
		return rootfs.Of(root), err // the caller names the path
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
