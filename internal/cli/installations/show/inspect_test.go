package show

import (
	"testing"

	"go.landscaper.dev/internal/cli/terminal/terminaltest"
	"go.landscaper.dev/internal/cli/treeview"
)

func TestOutputModes(t *testing.T) {
	tests := []struct {
		reason string
		flags  outputFlags
		want   outputMode
	}{
		{"a tree", outputFlags{}, outputTree},
		{"by name", outputFlags{output: "json"}, outputJSON},
		{"by letter", outputFlags{wide: true}, outputWide},
		{"twice the same is once", outputFlags{output: "yaml", yaml: true}, outputYAML},
		{"the tree for programs", outputFlags{output: "tree-json"}, outputTreeJSON},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			if err := test.flags.check(); err != nil || test.flags.mode != test.want {
				t.Errorf("mode %q, error %v", test.flags.mode, err)
			}
		})
	}
	both := outputFlags{output: "tree-json", json: true}
	if both.check() == nil {
		t.Error("tree-json and json are two modes")
	}
}

func TestTreeOptions(t *testing.T) {
	f := inspectFlags{noColor: true, ascii: true, names: string(treeview.ObjectNames)}
	if options := f.treeOptions((&terminaltest.Console{Columns: 80}).Streams()); options.Color || !options.ASCII || options.Columns != 80 {
		t.Errorf("flags decide before the terminal: %+v", options)
	}
}
