package quickstart

import (
	"strings"
	"testing"

	"go.landscaper.dev/internal/cli/terminal"
	"go.landscaper.dev/internal/cli/terminal/terminaltest"
)

// TestCommandLine: what is wrong on a command line is found before a cluster is asked.
func TestCommandLine(t *testing.T) {
	for _, test := range []struct {
		reason, args string
		code         int
		out, err     string
	}{
		{"help of the group", "", 0, "Available Commands", ""},
		{"help of a command", "install --help", 0, "--namespace", ""},
		{"a command that was mistyped", "instal", 64, "", `Error: unknown command "instal" for "quickstart": did you mean install?` + "\n"},
		{"an argument that means nothing", "install here", 64, "", "Error: "},
		{"an unknown flag", "uninstall --force", 64, "", "Error: unknown flag: --force\n"},
		{"the image of a program that is of no release", "install", 64, "", "Error: this program is of no release, and knows no image of Landscaper: name yours with --landscaper-values"},
		{"a file of values that is not there", "install --landscaper-values none.yaml --dry-run", 1, "", "Error: "},
	} {
		t.Run(test.reason, func(t *testing.T) {
			t.Setenv("KUBECONFIG", "/dev/null")
			t.Chdir(t.TempDir())
			c := &terminaltest.Console{Environment: map[string]string{terminal.ExitCodesVariable: "2"}}
			code := terminal.Run(t.Context(), NewCommand(c.Streams()), c.Streams(), terminaltest.Fields(test.args))
			if code != test.code || !strings.Contains(c.Out.String(), test.out) || !strings.HasPrefix(c.Err.String(), test.err) {
				t.Errorf("code %d: %s%s", code, c.Out.String(), c.Err.String())
			}
		})
	}
}
