package rootfs

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestOf opens files in the directory of another user.
func TestOf(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "s3cret")
	dir := t.TempDir()
	for _, file := range []string{outside, filepath.Join(dir, "a"), filepath.Join(dir, "sub", "b")} {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"out": outside, "up": "../../..", "in": "sub/b", "loop": "loop"} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close() //nolint:errcheck // nothing is written
	for _, test := range []struct {
		reason, name string
		ok           bool
	}{
		{"a file", "a", true}, {"one below", "sub/b", true}, {"the directory", ".", true}, {"a link that stays", "in", true},
		{"a link that leads out", "out", false}, {"a link upwards", "up", false}, {"a link to itself", "loop", false},
		{"a path upwards", "../s3cret", false}, {"a path that goes upwards and back", "sub/../a", false}, {"an absolute path", outside, false},
		{"nothing", "", false}, {"a file that is not there", "none", false}, {"a name with a zero", "a\x00b", false},
	} {
		t.Run(test.reason, func(t *testing.T) {
			file, err := Of(root).Open(test.name)
			if (err == nil) != test.ok {
				t.Fatalf("got %v", err)
			}
			if err != nil {
				if failed, ok := err.(*fs.PathError); !ok || failed.Path != test.name || failed.Op != "open" { //nolint:errorlint // fs.FS demands it unwrapped
					t.Errorf("got %#v", err)
				}
				if strings.Contains(err.Error(), dir) {
					t.Errorf("it tells where the directory is: %v", err)
				}
				return
			}
			if err := file.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}
