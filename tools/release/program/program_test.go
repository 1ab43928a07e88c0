package program

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestBuildIsReproducible: a program that is built from the same files in another folder has the
// same bytes, and says its version and commit. It is a program of one file, with the package that
// the linker writes to; "make release-check" compares whole releases.
func TestBuildIsReproducible(t *testing.T) {
	var built [2][]byte
	for i := range built {
		folder := filepath.Join(t.TempDir(), strings.Repeat("deeper/", i), "source")
		lay(t, folder)
		source := Source{Folder: folder, Version: "v1.2.3", Commit: "0123456789abcdef", Registry: "registry.example.org/project"}
		built[i] = build(t, source)
		if bytes.Contains(built[i], []byte(folder)) {
			t.Errorf("the program contains the path %s", folder)
		}
		for _, text := range []string{source.Version, source.Commit, source.Registry} {
			if !bytes.Contains(built[i], []byte(text)) {
				t.Errorf("the program does not contain %s", text)
			}
		}
	}
	if !bytes.Equal(built[0], built[1]) {
		t.Error("two builds of the same files differ")
	}
}

// build compiles the command line of a module that was laid.
func build(t *testing.T, source Source) []byte {
	t.Helper()
	folder := t.TempDir()
	if err := source.Build(t.Context(), Platform{"linux", "amd64"}, folder, CommandLine); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(filepath.Join(folder, CommandLine.Name))
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// lay makes a module that has what a release sets, and a program that prints it.
func lay(t *testing.T, folder string) {
	t.Helper()
	files := map[string]string{
		"go.mod":                     "module go.landscaper.dev\n\ngo 1.26.0\n",
		"cmd/landscaper-cli/main.go": "package main\n\nimport \"go.landscaper.dev/internal/base/version\"\n\nfunc main() { println(version.String(), version.Commit(), version.Registry()) }\n",
	}
	version, err := os.ReadFile("../../../internal/base/version/version.go")
	if err != nil {
		t.Fatal(err)
	}
	files["internal/base/version/version.go"] = string(version)
	for name, text := range files {
		file := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestFlagsOfTheMachine: what a machine has set for Go changes no byte.
func TestFlagsOfTheMachine(t *testing.T) {
	source := Source{Folder: t.TempDir(), Version: "v1.2.3", Commit: "0123456789abcdef"}
	lay(t, source.Folder)
	plain := build(t, source)
	for name, value := range map[string]string{"GOFLAGS": "-tags=other -buildvcs=true", "GOAMD64": "v3", "CGO_ENABLED": "1", "GOOS": "plan9"} {
		t.Setenv(name, value)
	}
	if !bytes.Equal(plain, build(t, source)) {
		t.Error("the environment changes the program")
	}
}

// TestBuildReports: an error names the program, the platform, and what the compiler says.
func TestBuildReports(t *testing.T) {
	folder := t.TempDir()
	lay(t, folder)
	if err := os.WriteFile(filepath.Join(folder, "cmd/landscaper-cli/main.go"), []byte("package main\n\nfunc main() { wrong }\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	err := Source{Folder: folder}.Build(t.Context(), Platform{"linux", "arm64"}, t.TempDir(), CommandLine)
	if err == nil || !strings.Contains(err.Error(), "cmd/landscaper-cli") || !strings.Contains(err.Error(), "linux/arm64") || !strings.Contains(err.Error(), "undefined: wrong") {
		t.Errorf("%v", err)
	}
}

// TestAllProgramsExist: each program of a release is a folder of cmd, and each folder is published.
func TestAllProgramsExist(t *testing.T) {
	folders, err := os.ReadDir("../../../cmd")
	if err != nil {
		t.Fatal(err)
	}
	if len(folders) != len(All()) {
		t.Errorf("there are %d programs in cmd, and a release has %d", len(folders), len(All()))
	}
	for _, p := range All() {
		if _, err := os.Stat("../../../cmd/" + p.Name); err != nil {
			t.Error(err)
		}
	}
	// The list of platforms is that of Go.
	known, err := exec.CommandContext(t.Context(), "go", "tool", "dist", "list").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, platform := range Platforms() {
		if !strings.Contains(string(known), platform.String()+"\n") {
			t.Errorf("Go does not know %s", platform)
		}
	}
}

func TestParsePlatform(t *testing.T) {
	if got, err := ParsePlatform("darwin/arm64"); err != nil || got != (Platform{"darwin", "arm64"}) {
		t.Errorf("%v, %v", got, err)
	}
	for _, text := range []string{"linux", "linux/s390x", ""} {
		if _, err := ParsePlatform(text); err == nil || !strings.Contains(err.Error(), "linux/amd64") {
			t.Errorf("%q: the error does not name what can be used: %v", text, err)
		}
	}
}
