package memfs

import (
	"fmt"
	"io/fs"
	"maps"
	"slices"
)

// Parts are files and links by their names: a tree as it is stored or sent.
type Parts struct {
	Files map[string][]byte
	Links map[string]string
}

// PartsOf returns the files and links of a tree.
func PartsOf(files fs.FS) (Parts, error) {
	p := Parts{Files: map[string][]byte{}, Links: map[string]string{}}
	// the caller says what is read
	return p, fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.Type()&fs.ModeSymlink != 0:
			p.Links[name], err = fs.ReadLink(files, name)
		case !entry.IsDir():
			p.Files[name], err = fs.ReadFile(files, name)
		}
		return err
	})
}

// Tree returns the tree of the parts.
func (p Parts) Tree() (*Tree, error) {
	var builder Builder
	// In order, so that the same file is named each time.
	for _, name := range slices.Sorted(maps.Keys(p.Files)) {
		if err := builder.AddFile(name, string(p.Files[name])); err != nil {
			return nil, fmt.Errorf("add file %s: %w", name, err)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p.Links)) {
		if err := builder.AddSymlink(name, p.Links[name]); err != nil {
			return nil, fmt.Errorf("add link %s: %w", name, err)
		}
	}
	return builder.Tree(), nil
}
