// Package rootfs reads the regular files of a directory that others may have written.
package rootfs

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Of returns the files of a directory. Links must stay inside, and what is no file, such as a pipe, on
// which a reader would wait, is refused.
func Of(root *os.Root) fs.FS { return regularFiles{root} }

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
