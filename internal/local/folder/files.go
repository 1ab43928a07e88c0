// Package folder reads a landscape from a folder: manifests, components with their blueprints, and rules.
// Nothing outside of the folder is read, whatever links and paths say.
package folder

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"go.landscaper.dev/internal/base/rootfs"
)

const (
	// maxFile is how long a file may be, and maxFiles and maxAll what all that are read may have.
	maxFile  = 8 << 20
	maxFiles = 5000
	maxAll   = 64 << 20
)

// files are the regular files of a folder. Links lead to what is inside.
type files struct {
	fs.FS

	root *os.Root
	read int64
}

func filesOf(root *os.Root) *files { return &files{FS: rootfs.Of(root), root: root} }

// content reads a file.
func (f *files) content(name string) ([]byte, error) {
	file, err := f.Open(name)
	if err != nil {
		return nil, err // says which file
	}
	defer file.Close() //nolint:errcheck // nothing is written
	text, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if err != nil {
		return nil, err // says which file
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
