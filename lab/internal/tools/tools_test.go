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
		t.Errorf("the log does not say what takes time:\n%s", said())
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

// TestModulesAtOnce holds the build of one module until that of another one has begun.
func TestModulesAtOnce(t *testing.T) {
	shop, _ := newWorkshop(t)
	other := Tool{Name: "other", Module: "other", Package: "."}
	write(t, filepath.Join(shop.Sources, "other", "go.mod"), "module example.com/other\n\ngo 1.26\n")
	write(t, filepath.Join(shop.Sources, "other", "main.go"), "package main\n\nfunc main() { println(\"other\") }\n")
	begun := map[string]chan struct{}{"tiny": make(chan struct{}), "other": make(chan struct{})}
	meet := map[string]string{"tiny": "other", "other": "tiny"}
	shop.AtOnce = 2
	shop.Report = func(message string) {
		for name := range begun {
			if strings.HasPrefix(message, "building "+name+" (") {
				close(begun[name])
				select {
				case <-begun[meet[name]]:
				case <-t.Context().Done():
				}
			}
		}
	}
	if err := shop.EnsureAll(t.Context(), []Tool{tiny, other}); err != nil {
		t.Fatal(err)
	}
}

// TestBuildTellsHowFarItIs also shows that a build continues where a killed one has stopped:
// compiled packages stay, and unfinished ones are deleted.
func TestBuildTellsHowFarItIs(t *testing.T) {
	shop, said := newWorkshop(t)
	// A text that no other run has compiled.
	write(t, filepath.Join(shop.Sources, "tiny", "part", "part.go"), "package part\n\nconst Text = \""+t.TempDir()+"\"\n")
	write(t, filepath.Join(shop.Sources, "tiny", "main.go"), "package main\n\nimport \"example.com/tiny/part\"\n\nfunc main() { println(part.Text) }\n")
	killed := filepath.Join(shop.Directory, ".building-tiny-1")
	if err := os.MkdirAll(killed, 0o755); err != nil {
		t.Fatal(err)
	}
	built, err := shop.Ensure(t.Context(), tiny)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(said(), "building tiny: 2 of 2 packages after") {
		t.Errorf("the log does not say how far the build is:\n%s", said())
	}
	if exists(killed) {
		t.Error("a build that was killed has left something")
	}
	if err := os.RemoveAll(string(built)); err != nil {
		t.Fatal(err)
	}
	if _, err := shop.Ensure(t.Context(), tiny); err != nil {
		t.Fatal(err)
	}
	if strings.Count(said(), "of 2 packages") != 2 {
		t.Errorf("a compiled package was compiled again:\n%s", said())
	}
}

func TestNamed(t *testing.T) {
	if named, err := Named([]string{"kubectl", "registry"}); err != nil || len(named) != 2 || named[0].Name != "kubectl" {
		t.Errorf("%v (%v)", named, err)
	}
	if _, err := Named([]string{"helm"}); err == nil || !strings.Contains(err.Error(), "controlplane") {
		t.Errorf("%v, want an error that says what there is", err)
	}
}
