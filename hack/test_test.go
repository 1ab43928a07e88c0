// Package hack tests the scripts of this folder.
package hack

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestSummary runs the script with a make that fails for one part, and cannot run another.
func TestSummary(t *testing.T) {
	bin := t.TempDir()
	script := "#!/bin/sh\nlast=\nfor arg; do last=$arg; done\necho \"made $last\"\ntest \"$last\" != lost || echo 'no tool' >\"$NOT_RUN\"\ntest \"$last\" != bad || { echo '    bad_test.go:7: it is wrong'; false; }\n"
	if err := os.WriteFile(filepath.Join(bin, "make"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		reason   string
		parts    []string
		wantCode int
		want     []string
	}{
		{"no part fails", []string{"one", "two"}, 0, []string{"0 of 2 parts failed", "ok       one", "ok       two"}},
		{"parts after a failing part are run, and the summary names the failure", []string{"one", "bad", "two"}, 1,
			[]string{"made two", "1 of 3 parts failed", "ok       one", " s\n    bad_test.go:7: it is wrong\nok       two"}},
		{"a part that cannot run on this machine fails nothing, and the summary says why", []string{"lost", "two"}, 0,
			[]string{"0 of 2 parts failed", "NOT RUN  lost", " s: no tool\n", "ok       two"}},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			command := exec.Command("./test.sh", test.parts...)
			command.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"))
			output, _ := command.CombinedOutput() // the exit code is looked at below
			if code := command.ProcessState.ExitCode(); code != test.wantCode {
				t.Errorf("exit code %d, want %d", code, test.wantCode)
			}
			for _, want := range test.want {
				if !strings.Contains(string(output), want) {
					t.Errorf("%q is not in\n%s", want, output)
				}
			}
		})
	}
}

// TestRaceWithoutCompiler: without a C compiler the race detector is not run. The script
// fails when a user runs it, and is a part that did not run for the whole test.
func TestRaceWithoutCompiler(t *testing.T) {
	for reason, isPart := range map[string]bool{"the script alone fails": false, "a part of the whole test says that it did not run": true} {
		t.Run(reason, func(t *testing.T) {
			file := ""
			if isPart {
				file = filepath.Join(t.TempDir(), "not-run")
			}
			command := exec.Command("./race.sh", "test", "./no/such/package")
			command.Env = append(os.Environ(), "CC=no-such-compiler", "NOT_RUN="+file)
			output, err := command.CombinedOutput()
			if (err == nil) != isPart || !strings.Contains(string(output), "no C compiler (no-such-compiler)") {
				t.Errorf("%v\n%s", err, output)
			}
			if !isPart {
				return
			}
			if why, err := os.ReadFile(file); err != nil || !strings.Contains(string(why), "no C compiler") {
				t.Errorf("%q, %v", why, err)
			}
		})
	}
}

// TestNamedTests: a test that a page or the Makefile names exists, where it is looked for. A pattern
// that matches nothing runs nothing, and passes.
func TestNamedTests(t *testing.T) {
	for _, test := range []struct{ reason, in, pattern, tests string }{
		{"a page names tests of the project", "*.md", `\bTest[A-Z][A-Za-z0-9]*`, "*_test.go"},
		{"the Makefile names tests of the project", "Makefile", `\bTest[A-Z][A-Za-z0-9]*`, "*_test.go"},
		{"the scenarios with the race detector are end-to-end tests", "Makefile", `^E2E_RACE .*`, "test/e2e/*_test.go"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			exists := "\n" + grep(t, `^func Test[A-Z][A-Za-z0-9]*\(`, test.tests)
			for _, name := range regexp.MustCompile(`\bTest[A-Z]\w*`).FindAllString(grep(t, test.pattern, test.in), -1) {
				// The Makefile names beginnings, too.
				if !strings.Contains(exists, "\nfunc "+name) {
					t.Errorf("no test is called %s", name)
				}
			}
		})
	}
}

// TestLintVets: the parts of the whole test leave vet to the linter, which looks at tests as well.
func TestLintVets(t *testing.T) {
	config, err := os.ReadFile("../.golangci.yml")
	if err != nil {
		t.Fatal(err)
	}
	if text := string(config); !strings.Contains(text, "\n    - govet\n") || strings.Contains(text, "tests: false") {
		t.Error("nothing vets the tests: .golangci.yml has to enable govet, for tests as well")
	}
}

// grep returns what matches a pattern in the files of the project.
func grep(t *testing.T, pattern, files string) string {
	t.Helper()
	found, err := exec.Command("git", "-C", "..", "grep", "-hoE", pattern, "--", files).Output()
	if err != nil {
		t.Fatalf("look for %s in %s: %v", pattern, files, err)
	}
	return string(found)
}

// TestDemoBuildsWhatItRuns: the first demo on a new machine waits for everything that is built.
func TestDemoBuildsWhatItRuns(t *testing.T) {
	command := exec.Command("make", "--dry-run", "--always-make", "--no-print-directory", "-C", "..", "demo")
	command.Env = append(os.Environ(), "MAKEFLAGS=", "MAKELEVEL=")
	output, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	var built []string
	for line := range strings.Lines(string(output)) {
		if strings.HasPrefix(strings.TrimSpace(line), "go build ") {
			built = append(built, strings.Fields(line)[2:]...)
		}
	}
	built = slices.DeleteFunc(built, func(word string) bool { return !strings.HasPrefix(word, "./") })
	if want := []string{"./cmd/landscaper", "./cmd/landscaper-cli", "./hack/demo", "./cmd/lab"}; !slices.Equal(built, want) {
		t.Errorf("make demo builds %v, want %v; it says\n%s", built, want, output)
	}
	if strings.Contains(string(output), "lab build") {
		t.Errorf("make demo builds every program of the lab; it says\n%s", output)
	}
}
