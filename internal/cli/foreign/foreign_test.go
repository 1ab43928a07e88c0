package foreign_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"go.landscaper.dev/internal/cli"
	"go.landscaper.dev/internal/cli/foreign"
	"go.landscaper.dev/internal/cli/terminal"
	"go.landscaper.dev/internal/deploy/helm/render"
	"go.landscaper.dev/internal/deploy/kustomize/build"
	"go.landscaper.dev/internal/deploy/renderers"
	"go.landscaper.dev/internal/landscape/plan"
	"go.landscaper.dev/internal/runtime/sandbox"
	"go.landscaper.dev/internal/runtime/sandbox/sandboxtest"
)

// TestMain makes this program a process for foreign work, as the command line is one.
func TestMain(m *testing.M) { sandboxtest.Main(m, renderers.Handlers()) }

// run runs a command; with processes, foreign work is done in them.
func run(t *testing.T, command []string, args ...string) (code int, out, errs string) {
	t.Helper()
	ctx := t.Context()
	if command != nil {
		ctx = foreign.With(ctx, command)
	}
	var stdout, stderr strings.Builder
	code = cli.Run(ctx, terminal.Streams{In: strings.NewReader(""), Out: &stdout, Err: &stderr, Getenv: func(string) string { return "" }}, "landscaper-cli", args)
	return code, stdout.String(), stderr.String()
}

func program(t *testing.T) []string {
	t.Helper()
	file, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return []string{file, sandbox.Command}
}

func write(t *testing.T, files map[string]string) string {
	t.Helper()
	directory := t.TempDir()
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(directory, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return directory
}

// tree is a blueprint with a subinstallation that exports, and one whose exports are given.
const tree = `
apiVersion: landscaper.gardener.cloud/v1alpha1
kind: Blueprint
imports:
- {name: size, type: data, schema: {type: integer}}
exports:
- {name: report, type: data, schema: {}}
importExecutions: [{name: i, type: GoTemplate, template: "bindings: {double: {{ mul .imports.size 2 }}}"}]
subinstallations:
- apiVersion: landscaper.gardener.cloud/v1alpha1
  kind: InstallationTemplate
  name: part
  blueprint:
    filesystem:
      blueprint.yaml: |
        imports: [{name: size, type: data, schema: {type: integer}}]
        exports: [{name: answer, type: data, schema: {type: string}}]
        deployExecutions: [{name: d, type: GoTemplate, template: "deployItems: [{name: server, type: landscaper.gardener.cloud/mock, config: {size: {{ .imports.size }}}}]\nstate: {seen: 1}"}]
        exportExecutions: [{name: e, type: GoTemplate, template: "exports: {answer: {{ .values.deployitems.server.answer }}}"}]
  imports: {data: [{name: size, dataRef: size}]}
  exports: {data: [{name: answer, dataRef: answer}]}
- apiVersion: landscaper.gardener.cloud/v1alpha1
  kind: InstallationTemplate
  name: given
  blueprint: {filesystem: {blueprint.yaml: "exports: [{name: known, type: data, schema: {type: integer}}]"}}
  exports: {data: [{name: known, dataRef: known}]}
deployExecutions: [{name: d, type: Spiff, template: {deployItems: [{name: own, type: landscaper.gardener.cloud/mock, config: {double: (( imports.double ))}}]}}]
exportExecutions: [{name: e, type: GoTemplate, template: "exports: {report: {{ .dataobjects | toJson }}}"}]
`

// TestRender: a tree is rendered in processes as it is here, and what takes too much ends with an
// error that says which template it is.
func TestRender(t *testing.T) {
	directory := write(t, map[string]string{"blueprint.yaml": tree})
	inputs := write(t, map[string]string{
		"imports.yaml": "imports: {size: 3}",
		"exports.yaml": `
deployItems: [{name: all, selector: .*/server, template: "exports: {answer: {{ .deployItem.metadata.name }}-{{ .imports.size }}}"}]
installations: [{name: given, selector: .*/given, dataExports: {known: 7}}]`,
	})
	args := []string{"blueprints", "render", directory, "all", "-f", filepath.Join(inputs, "imports.yaml")}
	for _, args := range [][]string{args, append(args, "-e", filepath.Join(inputs, "exports.yaml"))} {
		code, want, said := run(t, nil, args...)
		if code != 0 || !strings.Contains(want, "server") {
			t.Fatalf("%d: %s%s", code, want, said)
		}
		code, out, errs := run(t, program(t), args...)
		if code != 0 {
			t.Fatal(errs)
		}
		if diff := cmp.Diff(want+said, out+errs); diff != "" {
			t.Errorf("-here +there:\n%s", diff)
		}
	}
	hostile := write(t, map[string]string{"blueprint.yaml": `{apiVersion: landscaper.gardener.cloud/v1alpha1, kind: Blueprint, deployExecutions: [{name: large, type: GoTemplate, template: '{{ repeat 1000000000 "x" }}'}]}`})
	code, out, errs := run(t, program(t), "blueprints", "render", hostile)
	if want := `rendering the blueprint: template execution "large" took more than 512 MiB of memory`; code == 0 || !strings.Contains(errs, want) {
		t.Errorf("%d: %s%s", code, out, errs)
	}
}

// TestCoverage: processes say what they have executed as it is found here, and bound what templates take then, too.
func TestCoverage(t *testing.T) {
	const blueprint = `{apiVersion: landscaper.gardener.cloud/v1alpha1, kind: Blueprint, imports: [{name: size, schema: {type: integer}}], exports: [{name: large, schema: {type: boolean}}],
 deployExecutions: [{name: items, type: GoTemplate, file: items.tpl}, {name: more, type: Spiff, template: {deployItems: []}}],
 exportExecutions: [{name: out, type: GoTemplate, template: "exports: {large: {{ if gt .imports.size 5.0 }}true{{ else }}false{{ end }}}"}]}`
	const test = `{apiVersion: local.landscaper.gardener.cloud/v1alpha1, kind: LandscapeTest, blueprint: ., cases: [{name: one, given: {imports: {size: 1}}}]}`
	directory := write(t, map[string]string{"blueprint.yaml": blueprint, "one_test.yaml": test, "items.tpl": "deployItems: []\n{{ if gt .imports.size 5.0 }}# many{{ end }}\n"})
	args := []string{"test", directory, "--coverage"}
	of := func(out string) string { return out[max(0, strings.Index(out, "coverage of")):] }
	code, want, said := run(t, nil, args...)
	if code != 0 || !strings.Contains(want, "items.tpl:2: never: if gt .imports.size 5.0") || !strings.Contains(want, "out:1: never: if gt .imports.size 5.0") {
		t.Fatalf("%d: %s%s", code, want, said)
	}
	code, out, errs := run(t, program(t), args...)
	if code != 0 {
		t.Fatal(out + errs)
	}
	if diff := cmp.Diff(of(want), of(out)); diff != "" {
		t.Errorf("-here +there:\n%s", diff)
	}
	hostile := write(t, map[string]string{"blueprint.yaml": blueprint, "one_test.yaml": test, "items.tpl": `{{ repeat 1000000000 "x" }}`})
	code, out, errs = run(t, program(t), "test", hostile, "--coverage")
	if want := `template execution "items" (file "items.tpl") took more than 512 MiB of memory`; code != 2 || !strings.Contains(out, want) {
		t.Errorf("%d: %s%s", code, out, errs)
	}
}

// TestNothingForeign: a command without foreign work starts no process.
func TestNothingForeign(t *testing.T) {
	missing := []string{"/does/not/exist"}
	if code, _, errs := run(t, missing, "version"); code != 0 {
		t.Error(errs)
	}
	directory := write(t, map[string]string{"blueprint.yaml": "{apiVersion: landscaper.gardener.cloud/v1alpha1, kind: Blueprint}"})
	if code, _, errs := run(t, missing, "blueprints", "validate", directory); code != 0 {
		t.Error(errs)
	}
	if code, _, errs := run(t, missing, "blueprints", "render", directory); code == 0 || !strings.Contains(errs, "start a process for foreign work") {
		t.Errorf("%d: %s", code, errs)
	}
}

// TestHere: without processes, foreign work is done in this one.
func TestHere(t *testing.T) {
	ctx := context.Background()
	for _, got := range []any{foreign.Renderers(ctx).Plans(), foreign.Renderers(ctx).Charts(), foreign.Renderers(ctx).Kustomizations()} {
		switch got.(type) {
		case plan.Here, render.Here, build.Here:
		default:
			t.Errorf("%T", got)
		}
	}
}
