package localrun_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.landscaper.dev/internal/cli"
	"go.landscaper.dev/internal/cli/terminal/terminaltest"
	"go.landscaper.dev/internal/local"
)

func run(t *testing.T, args ...string) (code int, out, errs string) {
	t.Helper()
	c := &terminaltest.Console{}
	code = cli.Run(t.Context(), c.Streams(), "landscaper-cli", append([]string{"local", "run"}, args...))
	return code, c.Out.String(), c.Err.String()
}

// TestRun: the tree of the example is followed to its end, and programs get what is on the clusters.
func TestRun(t *testing.T) {
	const example = "../../../examples/kustomize/dataflow"
	code, out, errs := run(t, example)
	if code != 0 || !strings.Contains(out, "Installation cu-example/dataflow-root: Succeeded") || !strings.Contains(errs, "Target my-cluster-2 is not in the folder") {
		t.Errorf("%d: %s%s", code, out, errs)
	}
	code, out, errs = run(t, example, "-o", "json")
	var result local.Result
	if err := json.Unmarshal([]byte(out), &result); code != 0 || err != nil {
		t.Fatalf("%d, %v: %s%s", code, err, out, errs)
	}
	if len(result.Installations) != 5 || len(result.Exports) != 2 || len(result.Clusters) != 2 {
		t.Errorf("%d Installations, %d exports, %d clusters", len(result.Installations), len(result.Exports), len(result.Clusters))
	}
}

// TestEnds: each end has its code and its message.
func TestEnds(t *testing.T) {
	const head = "apiVersion: landscaper.gardener.cloud/v1alpha1\nkind: Installation\nmetadata: {name: a}\nspec:\n"
	failing := head + "  blueprint: {inline: {filesystem: {blueprint.yaml: 'no blueprint'}}}\n"
	waiting := head + "  imports: {data: [{name: a, dataRef: b}]}\n  blueprint: {inline: {filesystem: {blueprint.yaml: '{apiVersion: landscaper.gardener.cloud/v1alpha1, kind: Blueprint, imports: [{name: a, type: data, schema: {}}], deployExecutions: [{name: d, type: GoTemplate, template: \"deployItems: [{name: i, type: example.org/unknown, config: {apiVersion: v1, kind: x}}]\"}]}'}}}\n---\napiVersion: landscaper.gardener.cloud/v1alpha1\nkind: DataObject\nmetadata: {name: b}\ndata: 1\n"
	for _, test := range []struct {
		reason, manifest string
		args             []string
		code             int
		err              string
	}{
		{"an Installation fails", failing, nil, 2, "ended in a failed phase: a"},
		{"the time is over", waiting, []string{"--timeout", "2s"}, 5, "the time is over"},
		{"no Installation", "{}", nil, 3, "there is no Installation in the folder"},
		{"a wrong output", failing, []string{"-o", "xml"}, 64, "use json"},
		{"a rules file that is not there", failing, []string{"--rules", "other.yaml"}, 1, "other.yaml"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			directory := t.TempDir()
			if err := os.WriteFile(filepath.Join(directory, "a.yaml"), []byte(test.manifest), 0o600); err != nil {
				t.Fatal(err)
			}
			code, out, errs := run(t, append([]string{directory}, test.args...)...)
			if code != test.code || !strings.Contains(errs, test.err) {
				t.Errorf("%d, want %d %q: %s%s", code, test.code, test.err, out, errs)
			}
		})
	}
	if code, _, errs := run(t, "/does/not/exist"); code != 3 || !strings.Contains(errs, "there is no folder") {
		t.Errorf("%d: %s", code, errs)
	}
}
