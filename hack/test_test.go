// Package hack tests the scripts of this folder.
package hack

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestSummary runs the script with a make that fails for one part.
func TestSummary(t *testing.T) {
	bin := t.TempDir()
	script := "#!/bin/sh\nlast=\nfor arg; do last=$arg; done\necho \"made $last\"\ntest \"$last\" != bad\n"
	if err := os.WriteFile(filepath.Join(bin, "make"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		reason   string
		parts    []string
		wantCode int
		want     []string
	}{
		{"all is well", []string{"one", "two"}, 0, []string{"0 of 2 parts failed", "ok       one", "ok       two"}},
		{"what follows a failing part is run, and the end tells of it", []string{"one", "bad", "two"}, 1,
			[]string{"made two", "1 of 3 parts failed", "ok       one", "FAILED   bad", "ok       two"}},
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
