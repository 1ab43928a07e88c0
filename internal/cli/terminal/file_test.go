package terminal_test

import (
	"errors"
	"io/fs"
	"os"
	"testing"

	"go.landscaper.dev/internal/cli/terminal"
	"go.landscaper.dev/internal/cli/terminal/terminaltest"
)

// TestWriteFile: a reader sees the old file or the new one, and never a half.
func TestWriteFile(t *testing.T) {
	for _, test := range []struct {
		reason string
		before func() error
		path   string
		mode   fs.FileMode
		want   error
	}{
		{"a new file", nothing, "new", 0o640, nil},
		{"a new file beside others", nothing, "d/new", 0o600, nil},
		{"a file that was there keeps who may read it", func() error { return os.Chmod("old", 0o604) }, "old", 0o604, nil},
		{"a link stays one", func() error { return os.Symlink("old", "link") }, "link", 0o644, nil},
		{"a link that leads nowhere", func() error { return os.Symlink("nowhere", "broken") }, "broken", 0o600, nil},
		{"a directory is no file", nothing, "d", 0, errors.ErrUnsupported},
		{"a directory that is not there", nothing, "none/new", 0, fs.ErrNotExist},
		{"a file is in the place of the directory", nothing, "old/new", 0, errors.ErrUnsupported},
	} {
		t.Run(test.reason, func(t *testing.T) {
			terminaltest.WriteFiles(t, map[string]string{"old": "old", "d/f": ""})
			if err := errors.Join(test.before(), os.Link("old", "kept")); err != nil {
				t.Fatal(err)
			}
			mode := test.mode
			if test.path == "old" || test.path == "link" {
				mode = 0o777 // is for a new one
			}
			err := terminal.WriteFile(test.path, []byte("new"), mode)
			if test.want != nil {
				if err == nil || errors.Is(test.want, fs.ErrNotExist) && !errors.Is(err, fs.ErrNotExist) {
					t.Errorf("%v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			got, err := os.ReadFile(test.path)
			info, statErr := os.Stat(test.path)
			if err := errors.Join(err, statErr); err != nil || string(got) != "new" || info.Mode().Perm() != test.mode {
				t.Errorf("%q, %s, %v", got, info.Mode(), err)
			}
			if kept, err := os.ReadFile("kept"); err != nil || string(kept) != "old" {
				t.Errorf("the old content was written over: %q %v", kept, err)
			}
			if left, _ := fs.Glob(os.DirFS("."), ".*.partial-*"); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

func nothing() error { return nil }

// TestWriteFileToDevice: what is no file stays what it is.
func TestWriteFileToDevice(t *testing.T) {
	terminaltest.WriteFiles(t, map[string]string{})
	if err := os.Symlink(os.DevNull, "null"); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{os.DevNull, "null"} {
		t.Run(path, func(t *testing.T) {
			if err := terminal.WriteFile(path, []byte("x"), 0o644); err != nil {
				t.Error(err)
			}
			if info, err := os.Stat(path); err != nil || info.Mode().IsRegular() {
				t.Errorf("%v %v", info, err)
			}
		})
	}
}
