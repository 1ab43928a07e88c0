// Package folder reads a landscape from a folder: manifests, components with their blueprints, and rules.
// Nothing outside of the folder is read, whatever links and paths say.
package folder

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

const (
	// maxFile is how long a file may be, and maxFiles and maxAll what all that are read may have.
	maxFile  = 8 << 20
	maxFiles = 5000
	maxAll   = 64 << 20
)

// files are the regular files of a folder. Links lead to what is inside.
type files struct {
	root *os.Root
	read int64
}

// Open implements fs.FS.
func (f *files) Open(name string) (fs.File, error) {
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

// content reads a file.
func (f *files) content(name string) ([]byte, error) {
	file, err := f.Open(name)
	if err != nil {
		return nil, err // says which file
	}
	defer file.Close() //nolint:errcheck // nothing is written
	text, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if err != nil {
		return nil, opening(name, err)
	}
	if len(text) > maxFile {
		return nil, fmt.Errorf("%s is longer than %d MiB", name, maxFile>>20)
	}
	if f.read += int64(len(text)); f.read > maxAll {
		return nil, fmt.Errorf("the files of the folder have more than %d MiB: name a smaller folder", maxAll>>20)
	}
	return text, nil
}

// within returns a path of a file that is named beside another one.
func within(directory, name string) (string, error) {
	joined := path.Join(directory, filepath.ToSlash(name))
	if path.IsAbs(filepath.ToSlash(name)) || !fs.ValidPath(joined) {
		return "", fmt.Errorf("%s leads out of the folder", name)
	}
	return joined, nil
}

// A directory with one of these files is not looked into for manifests: it is something else.
var units = []string{"blueprint.yaml", "Chart.yaml", "kustomization.yaml", "kustomization.yml", "Kustomization"}

// manifests returns the names of the files that may have manifests, in the order of their names.
func (f *files) manifests() (names []string, err error) {
	count := 0
	err = fs.WalkDir(f, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if count++; count > maxFiles {
			return fmt.Errorf("there are more than %d files in the folder: name a smaller one", maxFiles)
		}
		switch {
		case name != "." && strings.HasPrefix(path.Base(name), "."):
			if entry.IsDir() {
				return fs.SkipDir
			}
		case entry.IsDir():
			if name != "." && f.isUnit(name) {
				return fs.SkipDir
			}
		case isManifest(name):
			names = append(names, name)
		}
		return nil
	})
	return names, err
}

// isManifest reports whether a file may have manifests by its name.
func isManifest(name string) bool {
	base := path.Base(name)
	return slices.Contains([]string{".yaml", ".yml", ".json"}, path.Ext(base)) && !strings.HasSuffix(strings.TrimSuffix(base, path.Ext(base)), "_test")
}

func (f *files) isUnit(directory string) bool {
	for _, name := range units {
		if _, err := f.root.Lstat(filepath.FromSlash(path.Join(directory, name))); err == nil {
			return true
		}
	}
	return false
}
