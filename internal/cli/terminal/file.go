package terminal

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// WriteFile writes a file as a whole: one that was there stays as it is until the new one
// is complete. An existing file keeps its permissions; mode is for a new one. What is no
// file, such as /dev/stdout, is written to.
func WriteFile(path string, content []byte, mode fs.FileMode) error {
	// A link stays one.
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	info, err := os.Stat(path)
	switch {
	case err == nil && !info.Mode().IsRegular():
		return os.WriteFile(path, content, mode)
	case err == nil:
		mode = info.Mode().Perm()
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	temporary, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".partial-")
	if err != nil {
		return &fs.PathError{Op: "write", Path: path, Err: errors.Unwrap(err)}
	}
	defer os.Remove(temporary.Name()) //nolint:errcheck // it has moved if all went well
	_, err = temporary.Write(content)
	if err = errors.Join(err, temporary.Chmod(mode), temporary.Close()); err != nil {
		return err
	}
	return os.Rename(temporary.Name(), path)
}
