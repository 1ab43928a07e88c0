package show

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"go.landscaper.dev/internal/cli/connection/connectiontest"
	"go.landscaper.dev/internal/cli/terminal"
	"go.landscaper.dev/internal/cli/terminal/terminaltest"
)

// TestHostileNames: an API server accepts no such names, but a foreign kubeconfig may lead
// to a server that is not one.
func TestHostileNames(t *testing.T) {
	var lies []string
	for _, manifest := range landscape {
		lies = append(lies, strings.NewReplacer("name: shop,", `name: "shop\x1b[2J\u202e",`, "name: shop-item,", `name: "item\x1b[2J\u202e",`, "phase: Failed", `phase: "Failed\x1b[2J"`,
			"dataRef: host}", `dataRef: "host\x1b[2J"}`, "managed-by: shop,", `managed-by: "shop\x1b[2J\u202e",`, "executionRef: {name: shop,", `executionRef: {name: "shop\x1b[2J\u202e",`).Replace(manifest))
	}
	const name = "shop\x1b[2J\u202e"
	for _, test := range []struct {
		reason  string
		command func(terminal.Streams) *cobra.Command
		args    []string
		want    string
	}{
		{"in trees", NewInspectCommand, nil, "Installation shop"},
		{"in trees with all that is known", NewInspectCommand, []string{"-d"}, "Installation shop"},
		{"in wide trees of all namespaces", NewInspectCommand, []string{"-A", "-w"}, ""},
		{"in trees for programs", NewInspectCommand, []string{"-o", "tree-json"}, `"name":"shop\u001b`},
		{"in objects in JSON", NewInspectCommand, []string{"-o", "json"}, `"name":"shop\u001b[2J\u202e"`},
		{"in objects in YAML", NewInspectCommand, []string{"-o", "yaml"}, `name: "shop\u001b[2J\u202e"`},
		{"in events", NewEventsCommand, []string{name}, "Installation shop"},
		{"in a story", NewLogsCommand, []string{name}, "Installation shop"},
		{"in a story for programs", NewLogsCommand, []string{name, "-o", "json"}, `"name":"shop\u001b`},
		{"in the flow of values", NewGraphCommand, nil, "shop"},
		{"in a picture for Graphviz", NewGraphCommand, []string{"-o", "dot"}, "shop"},
		{"in a picture for Mermaid", NewGraphCommand, []string{"-o", "mermaid"}, "shop"},
		{"in a picture for browsers", NewGraphCommand, []string{"-o", "svg"}, "shop"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			s := connectiontest.New(t, lies...)
			c := &terminaltest.Console{}
			s.Run(t, c, test.command, test.args...)
			got := c.Out.String() + c.Err.String()
			if !strings.Contains(got, test.want) {
				t.Errorf("%s is missing in %q", test.want, got)
			}
			if strings.ContainsFunc(strings.ReplaceAll(got, "\n", ""), terminal.Controls) {
				t.Errorf("acts on the terminal: %q", got)
			}
		})
	}
}
