package cli

import (
	"strings"
	"testing"

	"go.landscaper.dev/internal/cli/terminal/terminaltest"
)

func TestInvoked(t *testing.T) {
	tests := []struct {
		reason, program, name, args string
	}{
		{"under its own name", "/usr/bin/landscaper-cli", "landscaper-cli", "inspect -A"},
		{"under any other name", "lscli", "landscaper-cli", "inspect -A"},
		{"as a plugin", "/usr/bin/kubectl-landscaper", "kubectl landscaper", "inspect -A"},
		{"as a plugin with the short name", "kubectl-lscli.exe", "kubectl lscli", "inspect -A"},
		{"to complete for kubectl", "/usr/bin/kubectl_complete-landscaper", "kubectl landscaper", "__complete inspect -A"},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			name, args := invoked(test.program, []string{"inspect", "-A"})
			if name != test.name || strings.Join(args, " ") != test.args {
				t.Errorf("%s, %q", name, args)
			}
		})
	}
}

// TestPlugin: what the help of a plugin says can be typed.
func TestPlugin(t *testing.T) {
	for _, args := range []string{"--help", "inst wait --help", "wait --help", "inst --help"} {
		t.Run(args, func(t *testing.T) {
			c := &terminaltest.Console{}
			if code := Run(t.Context(), c.Streams(), "/bin/kubectl-landscaper", terminaltest.Fields(args)); code != 0 {
				t.Fatalf("%s: code %d: %s", args, code, c.Err.String())
			}
			if help := c.Out.String(); !strings.Contains(help, "  kubectl landscaper ") || strings.Contains(help, programName) {
				t.Errorf("%s: %s", args, help)
			}
		})
	}
	c := &terminaltest.Console{}
	Run(t.Context(), c.Streams(), "kubectl_complete-landscaper", []string{"inst", "recon"})
	if out := c.Out.String(); !strings.HasPrefix(out, "reconcile\t") {
		t.Errorf("proposed %q", out)
	}
}
