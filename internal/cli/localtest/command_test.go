package localtest_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.landscaper.dev/internal/cli"
	"go.landscaper.dev/internal/cli/terminal/terminaltest"
)

func run(t *testing.T, args ...string) (code int, out, errs string) {
	t.Helper()
	c := &terminaltest.Console{}
	code = cli.Run(t.Context(), c.Streams(), "landscaper-cli", append([]string{"test"}, args...))
	return code, c.Out.String(), c.Err.String()
}

// TestCommand: cases are chosen, counted and written for a forge, and the code says how they went.
func TestCommand(t *testing.T) {
	const data = "../../local/cases/testdata/web"
	report := filepath.Join(t.TempDir(), "out.xml")
	for _, test := range []struct {
		reason string
		args   []string
		code   int
		want   string
	}{
		{"some cases of a directory", []string{data, "--run", "^size/", "--verbose"}, 0, "2 passed, 0 failed"},
		{"a report for a forge", []string{data, "--run", "defaults", "--junit", report}, 0, "1 passed, 0 failed"},
		{"no case of the name", []string{data, "--run", "nothing"}, 3, "there is no case to run"},
		{"no such directory", []string{"/does/not/exist"}, 3, "there is no directory or file"},
		{"no worker", []string{data, "--parallel", "0"}, 64, "--parallel must be at least 1"},
		{"an expression that is not valid", []string{data, "--run", "("}, 64, "--run"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			code, out, errs := run(t, test.args...)
			if code != test.code || !strings.Contains(out+errs, test.want) {
				t.Errorf("%d, want %d %q: %s%s", code, test.code, test.want, out, errs)
			}
		})
	}
	text, err := os.ReadFile(report)
	if err != nil || !strings.Contains(string(text), `tests="1" failures="0"`) {
		t.Errorf("%v: %s", err, text)
	}
}

// TestCoverage: what no case has reached is listed with its place, and nothing else.
func TestCoverage(t *testing.T) {
	terminaltest.WriteFiles(t, map[string]string{
		"shop/blueprint.yaml": `apiVersion: landscaper.gardener.cloud/v1alpha1
kind: Blueprint
imports:
- {name: size, schema: {type: integer}, required: false, imports: [{name: unit, schema: {type: string}, required: false}]}
deployExecutions:
- {name: items, type: GoTemplate, file: items.tpl}
- {name: more, type: Spiff, template: {deployItems: []}}
`,
		"shop/items.tpl": "deployItems: []\n{{ if .imports.size }}# sized\n{{ else }}# not sized\n{{ end }}{{ if .imports.unit }}# unit{{ end }}\n",
		"shop/size_test.yaml": `apiVersion: local.landscaper.gardener.cloud/v1alpha1
kind: LandscapeTest
blueprint: .
cases:
- {name: sized, given: {imports: {size: 1}}}
- {name: with a unit, given: {imports: {size: 1, unit: MiB}}}
`,
	})
	code, out, errs := run(t, "shop", "--coverage")
	const want = `coverage of shop: 8 of 10 branches
      blueprint.yaml: never: import size is not given
      items.tpl:2: never: else of if .imports.size
`
	if code != 0 || !strings.HasSuffix(out, want) {
		t.Errorf("%d: %s%s", code, out, errs)
	}
}

// TestNewBlueprint: the first test of a new blueprint passes, and nothing is written over.
func TestNewBlueprint(t *testing.T) {
	directory := filepath.Join(t.TempDir(), "greeting")
	c := &terminaltest.Console{}
	write := func() int {
		return cli.Run(t.Context(), c.Streams(), "landscaper-cli", []string{"blueprints", "new", directory})
	}
	if code := write(); code != 0 {
		t.Fatal(c.Err.String())
	}
	if code, out, errs := run(t, directory); code != 0 || !strings.Contains(out, "2 passed, 0 failed") {
		t.Errorf("%d: %s%s", code, out, errs)
	}
	if code := write(); code != 1 || !strings.Contains(c.Err.String(), "exists: name another directory") {
		t.Errorf("%d: %s", code, c.Err.String())
	}
}

// TestExamples: the tests that examples bring along pass.
func TestExamples(t *testing.T) {
	if code, out, errs := run(t, "../../../examples"); code != 0 || !strings.Contains(out, " 0 failed") {
		t.Errorf("%d: %s%s", code, out, errs)
	}
}
