package plan

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/internal/cli/connection/connectiontest"
	"go.landscaper.dev/internal/cli/terminal/terminaltest"
)

const (
	deployItems = "/apis/landscaper.gardener.cloud/v1alpha1/namespaces/default/deployitems"

	empty = `
apiVersion: landscaper.gardener.cloud/v1alpha1
kind: Installation
metadata: {name: empty, uid: u}
spec: {blueprint: {inline: {filesystem: {blueprint.yaml: "apiVersion: landscaper.gardener.cloud/v1alpha1\nkind: Blueprint\n"}}}}
status: {phase: Succeeded, jobID: j, jobIDFinished: j}
`
)

// TestCommand: what a plan of nothing says, and what keeps it from being one.
func TestCommand(t *testing.T) {
	for _, test := range []struct {
		reason, refused, args string
		code                  int
		out, err              string
	}{
		{"nothing would change", "", "empty", 0, "Plan: 0 to create, 0 to change, 0 to delete, 0 unchanged\n", ""},
		{"a plan that does not know what is there says so", "GET " + deployItems, "empty", 0, "Plan: 0 to create, 0 to change, 0 to delete, 0 unchanged\n", "Warning: the plan is not complete: list deployitems.landscaper.gardener.cloud in namespace default: not?[2J you\n"},
		{"a plan for nothing", "", "none", 3, "", "Error: there is no Installation none in namespace default"},
		{"without the right to see Installations", "GET " + strings.Replace(deployItems, "deployitems", "installations", 1), "empty", 4, "", "Error: list installations.landscaper.gardener.cloud in namespace default: not?[2J you\n"},
		{"an unknown form", "", "empty -o xml", 64, "", `Error: invalid option for '--output'/'-o' flag: "xml": use text, json or yaml` + "\n"},
		{"no name", "", "", 64, "", "Error: installationName was not defined: NAME is missing: name the Installation\nUsage:   plan NAME\n"},
		{"two names", "", "a b", 64, "", "Error: \"b\" is too much\nUsage:   plan NAME\n"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			s := connectiontest.New(t, empty)
			s.Refuse(test.refused, 403, metav1.StatusReasonForbidden, "not\x1b[2J you")
			c := &terminaltest.Console{}
			if code := s.Run(t, c, NewCommand, terminaltest.Fields(test.args)...); code != test.code || !strings.HasPrefix(c.Out.String(), test.out) {
				t.Errorf("code %d, want %d: %s", code, test.code, c.Out.String())
			}
			if got := c.Err.String(); !strings.HasPrefix(got, test.err) || test.err == "" && got != "" {
				t.Errorf("standard error %q, want %q", got, test.err)
			}
			if writes := s.Writes(); len(writes) > 0 {
				t.Errorf("a plan changes nothing: %v", writes)
			}
		})
	}
}
