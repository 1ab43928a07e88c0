package tools

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// tiny is a tool that builds in a moment.
var tiny = Tool{Name: "tiny", Module: "tiny", Package: ".", Links: []string{"other-name"}, FirstBuild: "1 second"}

func newWorkshop(t *testing.T) (shop Workshop, reports func() string) {
	t.Helper()
	root := t.TempDir()
	write(t, filepath.Join(root, "tiny", "go.mod"), "module example.com/tiny\n\ngo 1.26\n")
	write(t, filepath.Join(root, "tiny", "main.go"), "package main\n\nfunc main() { println(\"one\") }\n")
	var mu sync.Mutex
	var said strings.Builder
	shop = Workshop{Sources: root, Directory: filepath.Join(root, "tools"), Report: func(message string) {
		mu.Lock()
		defer mu.Unlock()
		said.WriteString(message + "\n")
	}}
	return shop, func() string {
		mu.Lock()
		defer mu.Unlock()
		return said.String()
	}
}

func write(t *testing.T, file, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func runTool(t *testing.T, program string) string {
	t.Helper()
	output, err := exec.Command(program).CombinedOutput()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(output))
}

func TestToolIsBuiltOnceForEachVersion(t *testing.T) {
	shop, said := newWorkshop(t)
	var wait sync.WaitGroup
	for range 4 { // as by several test packages at the same time
		wait.Go(func() {
			if _, err := shop.Ensure(t.Context(), tiny); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	if built := strings.Count(said(), "built tiny"); built != 1 {
		t.Errorf("built %d times:\n%s", built, said())
	}
	if !strings.Contains(said(), "building tiny (about 1 second") {
		t.Errorf("nobody was told what takes time:\n%s", said())
	}
	first, err := shop.Ensure(t.Context(), tiny)
	if err != nil {
		t.Fatal(err)
	}

	write(t, filepath.Join(shop.Sources, "tiny", "main.go"), "package main\n\nfunc main() { println(\"two\") }\n")
	second, err := shop.Ensure(t.Context(), tiny)
	if err != nil {
		t.Fatal(err)
	}
	if one, two := runTool(t, first.Program("tiny")), runTool(t, second.Program("other-name")); one != "one" || two != "two" {
		t.Errorf("the versions say %q and %q", one, two)
	}
	if built := strings.Count(said(), "built tiny"); built != 2 {
		t.Errorf("built %d times:\n%s", built, said())
	}
}

func TestFailedBuildIsExplainedAndLeavesNothing(t *testing.T) {
	shop, _ := newWorkshop(t)
	write(t, filepath.Join(shop.Sources, "tiny", "main.go"), "package main\n\nfunc main() { nonsense }\n")
	if _, err := shop.Ensure(t.Context(), tiny); err == nil || !strings.Contains(err.Error(), "nonsense") {
		t.Errorf("%v, want the compiler's words", err)
	}
	entries, err := os.ReadDir(shop.Directory)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if entry.IsDir() {
			t.Errorf("%s is left", entry.Name())
		}
	}
}

func TestMissingSourcesAreExplained(t *testing.T) {
	shop, _ := newWorkshop(t)
	shop.Sources = t.TempDir()
	if _, err := shop.Ensure(t.Context(), tiny); err == nil || !strings.Contains(err.Error(), "LAB_SOURCES") {
		t.Errorf("%v, want an error that says what to set", err)
	}
}
