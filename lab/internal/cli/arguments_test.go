package cli

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// TestArguments: each command names the argument that is missing, and the one that is too
// much.
func TestArguments(t *testing.T) {
	pending := []*cobra.Command{newRoot()}
	for len(pending) > 0 {
		command := pending[0]
		pending = append(pending[1:], command.Commands()...)
		if !command.Runnable() || strings.Contains(command.Use, "[") {
			continue
		}
		names := strings.Fields(command.Use)[1:]
		for i, name := range names {
			if err := command.ValidateArgs(names[:i]); err == nil || !strings.HasPrefix(err.Error(), name+" is missing: write "+command.CommandPath()) {
				t.Errorf("%s: %v", command.CommandPath(), err)
			}
		}
		if err := command.ValidateArgs(append(names, "surplus")); err == nil || !strings.Contains(err.Error(), `"surplus" is too much`) {
			t.Errorf("%s: %v", command.CommandPath(), err)
		}
	}
}
