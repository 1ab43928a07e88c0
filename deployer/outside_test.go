package deployer_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestDocumentationCompiles builds all code of the documentation as another module does, and
// runs its test. A workspace of its own makes this module known to that one, so that neither
// has a replacement in its go.mod.
func TestDocumentationCompiles(t *testing.T) {
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(root, "docs", "deployer-library.md"))
	if err != nil {
		t.Fatal(err)
	}
	outside := t.TempDir()
	put(t, outside, "go.mod", "module acme.example/deployer\n\ngo 1.26.0\n")
	put(t, outside, "go.work", fmt.Sprintf("go 1.26.0\n\nuse (\n\t.\n\t%q\n)\n", root))
	blocks := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(string(page), -1)
	if len(blocks) != 3 {
		t.Fatalf("the page has %d blocks of code, want the deployer, the program and the test", len(blocks))
	}
	for i, block := range blocks {
		name := regexp.MustCompile(`(?m)^package (\w+)$`).FindStringSubmatch(block[1])
		if name == nil {
			t.Fatalf("block %d is no file:\n%s", i, block[1])
		}
		file := "code.go"
		if strings.HasSuffix(name[1], "_test") {
			file = "code_test.go"
		}
		put(t, outside, filepath.Join(strings.TrimSuffix(name[1], "_test"), file), block[1])
	}
	// The flags are those of this run, so that what is compiled already is taken, but for the
	// mode of modules: a workspace has its own.
	flags := slices.DeleteFunc(strings.Fields(os.Getenv("GOFLAGS")), func(flag string) bool { return strings.HasPrefix(flag, "-mod") })
	for _, command := range []string{"vet", "test"} {
		run := exec.CommandContext(t.Context(), "go", command, "./...")
		run.Dir = outside
		run.Env = append(os.Environ(), "GOWORK=", "GOFLAGS="+strings.Join(flags, " "))
		if output, err := run.CombinedOutput(); err != nil {
			t.Fatalf("go %s: %v\n%s", command, err, output)
		}
	}
}

func put(t *testing.T, folder, name, content string) {
	t.Helper()
	path := filepath.Join(folder, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}
