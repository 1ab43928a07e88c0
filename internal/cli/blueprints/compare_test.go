package blueprints

import (
	"strings"
	"testing"

	"go.landscaper.dev/internal/cli/terminal/terminaltest"
)

func TestCompare(t *testing.T) {
	terminaltest.WriteFiles(t, map[string]string{
		"old/blueprint.yaml":     header + "imports: [{name: size, schema: {type: integer}}]\n",
		"new/blueprint.yaml":     header + "imports: [{name: size, schema: {type: integer, minimum: 1}}]\n",
		"unknown/blueprint.yaml": header + "imports: [{name: size, schema: {$ref: 'cd://resources/size'}}]\n",
		"landscape/a.yaml": `apiVersion: landscaper.gardener.cloud/v1alpha1
kind: Installation
metadata: {name: shop, namespace: "${SPACE}"}
spec:
  componentDescriptor: {ref: {componentName: example.org/shop, version: 1.0.0}}
  blueprint: {ref: {resourceName: blueprint}}
  imports: {data: [{name: size, dataRef: s}]}
`,
	})
	const narrowed = "breaking: import size: minimum was not limited, and is 1: values that were allowed are refused\n"
	for _, test := range []struct {
		reason, args string
		code         int
		out, err     string
	}{
		{"compatible", "new old", 0, "Compatible: 0 breaking, 0 unknown, 0 warnings, 0 notes\n", ""},
		{"breaking", "old new/blueprint.yaml", 2, narrowed + "Not compatible: 1 breaking", ""},
		{"what cannot be decided is no failure", "old unknown", 0, "unknown: import size: its schema refers to a component, which is not given\nNothing is known to be incompatible", ""},
		{"unless that is asked for", "old unknown --strict", 2, "unknown: ", ""},
		{"users of a component that is named", "old new --component example.org/shop --landscape landscape --landscape-set SPACE=live", 2, "  live/shop (1.0.0), breaking: import size\n", ""},
		{"users of no component", "old new --landscape landscape --landscape-set SPACE=live", 64, "", "--component"},
		{"none of another component", "old new --component example.org/other --landscape landscape --landscape-set SPACE=live", 2, "No Installation is concerned.\n", ""},
		{"variables of no landscape", "old new --landscape-set SPACE=live", 64, "", "--landscape"},
		{"a blueprint that is not there", "old nowhere", 3, "", "there is no blueprint nowhere"},
		{"a resource of no component", "old new --resource blueprint", 64, "", "no source is one"},
		{"one blueprint", "old", 64, "", "NEW is missing"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			got := execute(t, append([]string{"compare"}, strings.Fields(test.args)...)...)
			if got.code != test.code || !strings.Contains(got.out, test.out) || !strings.Contains(got.err, test.err) || (test.err == "" && got.err != "") {
				t.Errorf("%+v", got)
			}
		})
	}
}
