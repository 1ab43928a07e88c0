package osaccess_test

import (
	"context"
	"errors"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.landscaper.dev/internal/content/template/spiff/osaccess"
)

func TestTemporaryFiles(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	system := &osaccess.System{}
	if err := system.Close(); err != nil {
		t.Errorf("without a file there is nothing to remove: %v", err)
	}
	var paths []string
	for _, content := range []string{"s3cret", "", "s3cret"} {
		path, err := system.TempFile([]byte(content), 0o600)
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
		got, err := system.ReadFile(path)
		info, statErr := system.Stat(path)
		if err != nil || statErr != nil || string(got) != content || info.Mode().Perm() != 0o600 {
			t.Errorf("%q, %v, %v", got, err, statErr)
		}
	}
	if paths[0] == paths[1] || paths[0] == paths[2] {
		t.Errorf("files share a name: %v", paths)
	}
	if info, err := os.Stat(filepath.Dir(paths[0])); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("others can look into the directory: %v, %v", info.Mode(), err)
	}
	if err := system.Close(); err != nil {
		t.Fatal(err)
	}
	for _, path := range append(paths, filepath.Dir(paths[0])) {
		if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is left: %v", path, err)
		}
	}
	if err := system.Close(); err != nil {
		t.Errorf("a second time: %v", err)
	}
}

func TestTemporaryFilesNeedADirectory(t *testing.T) {
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "none"))
	if path, err := (&osaccess.System{}).TempFile(nil, 0o600); path != "" || !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "temporary directory") {
		t.Errorf("%s, %v", path, err)
	}
}

func TestFiles(t *testing.T) {
	system, dir := &osaccess.System{}, t.TempDir()
	nested := filepath.Join(dir, "a", "b")
	for range 2 { // what is there already is no mistake
		if err := system.MakeDir(nested, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := system.WriteFile(filepath.Join(nested, "f"), []byte("long text"), 0o640); err != nil {
		t.Fatal(err)
	}
	if err := system.WriteFile(filepath.Join(nested, "f"), []byte("x"), 0o640); err != nil {
		t.Fatal(err)
	}
	if got, err := system.ReadFile(filepath.Join(nested, "f")); err != nil || string(got) != "x" {
		t.Errorf("the rest of the older text is left: %q, %v", got, err)
	}
	if entries, err := system.ReadDir(nested); err != nil || len(entries) != 1 || entries[0].Name() != "f" {
		t.Errorf("%v, %v", entries, err)
	}
	none := filepath.Join(dir, "none")
	_, read := system.ReadFile(none)
	_, list := system.ReadDir(none)
	_, stat := system.Stat(none)
	for reason, err := range map[string]error{"read": read, "list": list, "stat": stat, "write": system.WriteFile(filepath.Join(none, "f"), nil, 0o600)} {
		if !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", reason, err)
		}
	}
}

func TestRun(t *testing.T) {
	for _, test := range []struct {
		reason  string
		stdin   []byte
		command []string
		want    string
		message string
	}{
		{"what it prints, to the last byte", nil, []string{"printf", "a\n\n"}, "a\n\n", ""},
		{"what it reads", []byte("in"), []string{"cat"}, "in", ""},
		{"without anything to read it does not wait for a terminal", nil, []string{"cat"}, "", ""},
		{"nothing to read is nothing", []byte{}, []string{"cat"}, "", ""},
		{"no shell looks at the arguments", nil, []string{"printf", "%s", "$HOME; rm -rf *"}, "$HOME; rm -rf *", ""},
		{"complaints are no output", nil, []string{"sh", "-c", "echo no >&2; echo yes"}, "yes\n", ""},
		{"a failure says what the command says", nil, []string{"sh", "-c", "echo broken >&2; echo part; exit 3"}, "", "running sh: exit status 3: broken"},
		{"a silent failure", nil, []string{"sh", "-c", "exit 4"}, "", "running sh: exit status 4"},
		{"no such command", nil, []string{"no-such-command-here"}, "", "running no-such-command-here: "},
	} {
		t.Run(test.reason, func(t *testing.T) {
			got, err := (&osaccess.System{}).Run(t.Context(), test.stdin, test.command)
			if (err == nil) != (test.message == "") || err != nil && !strings.HasPrefix(err.Error(), test.message) {
				t.Fatalf("got %v, want %q", err, test.message)
			}
			if string(got) != test.want {
				t.Errorf("got %q", got)
			}
		})
	}
	t.Run("the end of the evaluation ends the command", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := (&osaccess.System{}).Run(ctx, nil, []string{"cat"}); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("the cause can be asked for", func(t *testing.T) {
		_, err := (&osaccess.System{}).Run(t.Context(), nil, []string{"sh", "-c", "exit 5"})
		if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != 5 {
			t.Errorf("got %v", err)
		}
	})
}

func TestEnv(t *testing.T) {
	t.Setenv("SPIFF_TEST_EMPTY", "")
	t.Setenv("SPIFF_TEST_SET", "x")
	for name, want := range map[string]bool{"SPIFF_TEST_EMPTY": true, "SPIFF_TEST_SET": true, "SPIFF_TEST_NONE": false, "": false} {
		if _, found := (&osaccess.System{}).Env(name); found != want {
			t.Errorf("%q is set: %t", name, found)
		}
	}
}

func TestFetch(t *testing.T) {
	const most = 64 << 20
	block := strings.Repeat("x", 1<<20)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/full", "/more":
			for range most >> 20 {
				_, _ = w.Write([]byte(block))
			}
			if r.URL.Path == "/more" {
				_, _ = w.Write([]byte("x"))
			}
		case "/empty":
		case "/none":
			http.Error(w, "s3cret", http.StatusNotFound)
		case "/moved":
			http.Redirect(w, r, "/text", http.StatusFound)
		case "/partial":
			w.WriteHeader(http.StatusNoContent)
		case "/broken":
			w.Header().Set("Content-Length", "10")
			_, _ = w.Write([]byte("abc"))
		default:
			_, _ = w.Write([]byte("a: 1\n"))
		}
	}))
	defer server.Close()
	for _, test := range []struct {
		reason, path string
		length       int
		message      string
	}{
		{"a document", "/text", 5, ""},
		{"nothing", "/empty", 0, ""},
		{"a document that moved", "/moved", 5, ""},
		{"as long as is allowed", "/full", most, ""},
		{"a longer one is refused; the first part of it would be another document", "/more", 0, "fetching: the document is longer than 67108864 bytes"},
		{"none there, without what the server writes about it", "/none", 0, "fetching: server answers 404 Not Found"},
		{"an answer without a document", "/partial", 0, "fetching: server answers 204 No Content"},
		{"an answer that breaks off", "/broken", 0, "fetching: "},
	} {
		t.Run(test.reason, func(t *testing.T) {
			got, err := (&osaccess.System{}).Fetch(t.Context(), server.URL+test.path)
			if (err == nil) != (test.message == "") || err != nil && (!strings.HasPrefix(err.Error(), test.message) || strings.Contains(err.Error(), "s3cret")) {
				t.Fatalf("got %v, want %q", err, test.message)
			}
			if len(got) != test.length {
				t.Errorf("got %d bytes", len(got))
			}
		})
	}
	for reason, address := range map[string]string{"no address": "::", "no scheme": "text", "an unknown scheme": "gopher://127.0.0.1/"} {
		t.Run(reason, func(t *testing.T) {
			if _, err := (&osaccess.System{}).Fetch(t.Context(), address); err == nil || !strings.HasPrefix(err.Error(), "fetching: ") {
				t.Errorf("got %v", err)
			}
		})
	}
	t.Run("the caller has given up", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := (&osaccess.System{}).Fetch(ctx, server.URL); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	})
}
