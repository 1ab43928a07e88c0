package blueprints

import (
	"bytes"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/spf13/cobra"

	"go.landscaper.dev/internal/cli/terminal"
	"go.landscaper.dev/internal/cli/terminal/terminaltest"
	"go.landscaper.dev/internal/content/component/archive"
)

var update = flag.Bool("update", false, "write the golden files")

type outcome struct {
	code     int
	out, err string
}

// execute runs a command line with exit codes of all kinds.
func execute(t *testing.T, args ...string) outcome {
	t.Helper()
	c := &terminaltest.Console{Environment: map[string]string{terminal.ExitCodesVariable: "2", "HOME": t.TempDir()}}
	root := &cobra.Command{Use: "landscaper-cli"}
	root.AddCommand(NewCommand(c.Streams()))
	code := terminal.Run(t.Context(), root, c.Streams(), append([]string{"blueprints"}, args...))
	return outcome{code, c.Out.String(), c.Err.String()}
}

// golden compares a text with a file of the package.
func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs; got\n%s", filepath.Base(path), got)
	}
}

// absolute returns a path that is valid in every working directory.
func absolute(t *testing.T, path string) string {
	t.Helper()
	path, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

const header = "apiVersion: landscaper.gardener.cloud/v1alpha1\nkind: Blueprint\n"

// team is a blueprint with all kinds of imports, states, and a subinstallation
// that needs what its sibling exports.
var team = map[string]string{
	"team/blueprint.yaml": header + `
imports:
- {name: cluster, type: target, targetType: kubernetes-cluster}
- {name: list, required: false, type: targetList, targetType: kubernetes-cluster}
- {name: map, required: false, type: targetMap, targetType: kubernetes-cluster}
- {name: size, required: false, default: {value: 3}, schema: {type: integer}}
exports:
- {name: report, schema: {type: string}}
- {name: made, targetType: kubernetes-cluster}
deployExecutions:
- {name: first, type: GoTemplate, file: items.tpl}
subinstallations:
- name: consumer
  blueprint:
    filesystem:
      blueprint.yaml: |
        imports: [{name: url, schema: {type: string}}]
        exports: [{name: seen, schema: {type: string}}]
        exportExecutions: [{name: e, type: GoTemplate, template: "exports: {seen: '<{{ .imports.url }}>'}"}]
  imports: {data: [{name: url, dataRef: url}]}
  exports: {data: [{name: seen, dataRef: seen}]}
- name: provider
  blueprint:
    filesystem:
      blueprint.yaml: |
        exports: [{name: url, schema: {type: string}}]
        deployExecutions: [{name: d, type: GoTemplate, template: "deployItems: [{name: server, type: t}]"}]
        exportExecutions: [{name: e, type: GoTemplate, template: "exports: {url: '{{ .deployitems.server.host }}'}"}]
  exports: {data: [{name: url, dataRef: url}]}
exportExecutions:
- name: e
  type: GoTemplate
  template: |
    exports:
      report: {{ .dataobjects.seen }}
      made: {type: landscaper.gardener.cloud/kubernetes-cluster, config: {kubeconfig: t0psecret}}
`,
	"team/items.tpl": `state: {count: 1}
deployItems:
- {name: own, type: t, target: {import: cluster}, config: {size: {{ .imports.size }}}, dependsOn: [other], timeout: 1m}
- {name: other, type: t}
`,
	"imports.yaml": `imports: {cluster: {spec: {type: landscaper.gardener.cloud/kubernetes-cluster, config: {kubeconfig: s3cret}}}}`,
	"exports.yaml": `deployItems:
- name: hosts
  selector: /server$
  template: |
    exports: {host: "{{ .installationPath }}/{{ .deployItem.metadata.name }}/{{ .templateName }}/{{ .installation.metadata.name }}"}
- {name: rest, selector: .*, exports: {}}
`,
}

func TestRenderAsStream(t *testing.T) {
	path := absolute(t, "testdata/stream.txt")
	terminaltest.WriteFiles(t, team)
	got := execute(t, "render", "team", "-f", "imports.yaml")
	want := "Warning: root/consumer is not rendered, because it imports what others export (say with -e what their deploy items export): url\n"
	if got.code != 0 || got.err != want {
		t.Errorf("%+v", got)
	}
	golden(t, path, got.out)
}

func TestRenderSimulated(t *testing.T) {
	path := absolute(t, "testdata/simulated.txt")
	terminaltest.WriteFiles(t, team)
	got := execute(t, "render", "team", "-f", "imports.yaml", "-e", "exports.yaml")
	progress := []string{
		"executing installation root", "executing installation root/provider", "executing deploy item root/provider/server",
		"executing installation root/consumer", "executing deploy item root/own", "executing deploy item root/other", "",
	}
	if got.code != 0 || got.err != strings.Join(progress, "\n") || strings.Contains(got.out, "s3cret") || strings.Contains(got.out, "t0psecret") {
		t.Errorf("%+v", got)
	}
	golden(t, path, got.out)
	if got := execute(t, "render", "team", "exports", "-f", "imports.yaml", "-e", "exports.yaml", "-q", "--show-sensitive"); got.err != "" || !strings.Contains(got.out, "kubeconfig: t0psecret") {
		t.Errorf("what is sensitive, if one asks for it: %+v", got)
	}
}

func TestRenderAsFiles(t *testing.T) {
	const simulated = "root/consumer/exports.yaml root/consumer/imports.yaml root/consumer/installation.yaml " +
		"root/deployitems/other.yaml root/deployitems/own.yaml root/deployitems/state.yaml root/exports.yaml root/imports.yaml root/installation.yaml " +
		"root/provider/deployitems/server.yaml root/provider/exports.yaml root/provider/imports.yaml root/provider/installation.yaml"
	const plain = "deployitems/other.yaml deployitems/own.yaml deployitems/state.yaml " +
		"subinstallations/consumer.yaml subinstallations/provider/deployitems/server.yaml subinstallations/provider.yaml"
	for _, test := range []struct {
		reason string
		args   []string
		files  string
	}{
		{"a new directory", []string{"-w", "out/put"}, plain},
		{"with -o", []string{"-o", "out/put/"}, plain},
		{"as JSON", []string{"-w", "out/put", "-o", "json"}, strings.ReplaceAll(plain, ".yaml", ".json")},
		{"some kinds", []string{"-w", "out/put", "subinst"}, "subinstallations/consumer.yaml subinstallations/provider.yaml"},
		{"the whole tree", []string{"-w", "out/put", "-e", "exports.yaml"}, simulated},
	} {
		t.Run(test.reason, func(t *testing.T) {
			terminaltest.WriteFiles(t, team)
			got := execute(t, append([]string{"render", "team", "-f", "imports.yaml"}, test.args...)...)
			if files := filesBelow(t, "out/put"); got.code != 0 || files != test.files || !strings.HasPrefix(got.out, "Wrote ") {
				t.Errorf("%+v, there is %s", got, files)
			}
		})
	}
}

func filesBelow(t *testing.T, directory string) string {
	t.Helper()
	var found []string
	err := filepath.WalkDir(directory, func(path string, entry os.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			path, err = filepath.Rel(directory, path)
			found = append(found, path)
		}
		return err
	})
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return strings.Join(found, " ")
}

// TestHostileNames renders deploy items whose names are paths.
func TestHostileNames(t *testing.T) {
	terminaltest.WriteFiles(t, map[string]string{
		"in/bp/blueprint.yaml": header + `deployExecutions: [{name: d, type: GoTemplate, template: "deployItems: [{name: ../../../evil, type: t}, {name: /abs, type: t}, {name: .., type: t}, {name: a/b, type: t}]"}]`,
	})
	got := execute(t, "render", "in/bp", "-w", "in/out/deep")
	if files := filesBelow(t, "in"); got.code != 1 || !strings.Contains(got.err, `deployItems[0].name: Invalid value: "../../../evil"`) || files != "bp/blueprint.yaml" {
		t.Errorf("%+v, there is %s", got, files)
	}
	terminaltest.WriteFiles(t, map[string]string{
		"in/bp/blueprint.yaml": header + `deployExecutions: [{name: d, type: GoTemplate, template: "deployItems: [{name: a, type: t}]"}]`,
	})
	if err := errors.Join(os.MkdirAll("linked", 0o755), os.Symlink("../in", "linked/deployitems")); err != nil {
		t.Fatal(err)
	}
	if got := execute(t, "render", "in/bp", "-w", "linked"); got.code != 1 || !strings.Contains(got.err, "path escapes from parent") || filesBelow(t, "in") != "bp/blueprint.yaml" {
		t.Errorf("a link in the directory: %+v", got)
	}
	terminaltest.WriteFiles(t, map[string]string{
		"bp/blueprint.yaml": header + `deployExecutions: [{name: d, type: GoTemplate, template: "{state: {a: 1}, deployItems: [{name: state, type: t}]}"}]`,
	})
	if got := execute(t, "render", "bp", "-w", "out"); got.code != 1 || !strings.Contains(got.err, `there are two results "deployitems state"`) {
		t.Errorf("two results with one name: %+v", got)
	}
}

func TestWrongUse(t *testing.T) {
	for _, test := range []struct {
		reason, args string
		code         int
		err          string
	}{
		{"no source", "render", 64, "SOURCE is missing"},
		{"an unknown kind", "render team x", 64, "unknown resource 'x': choose from all,"},
		{"exports without -e", "render team exports", 64, "exports can only be worked out if -e"},
		{"an unknown format", "render team -o xml", 64, "output format is expected to be json or yaml but got 'xml'"},
		{"two directories", "render team -o a/ -w b", 64, "-o a/ and -w b both name a directory"},
		{"resources without a component", "render team -r r.yaml", 64, "if you specify a resources yaml file (option -r) you must also specify a component descriptor (option -c)"},
		{"resources for a remote component", "render team -r r.yaml -c t//example.org/a:1.0.0", 64, "-r adds to the component descriptor of a file"},
		{"further descriptors without a component", "render team -a a.yaml", 64, "give the descriptor of the component with -c, too"},
		{"two components", "render t//example.org/a:1.0.0 -c cd.yaml", 64, "both name a component"},
		{"a resource of a directory", "render team --resource x", 64, "--resource chooses among the resources of a component version"},
		{"a descriptor that is not there", "render team -c none.yaml", 64, "component descriptor: open none.yaml"},
		{"no such directory", "render none", 3, "there is no blueprint none: give the directory or the archive of one"},
		{"no such archive of components", "render ./none//example.org/a:1.0.0", 3, "there is no archive or directory ./none"},
		{"a file that is not an archive", "render imports.yaml", 1, "read blueprint imports.yaml: it is taken for an archive"},
		{"a directory without a blueprint", "render .", 1, `directory "team" (which has one: its content must be at the root)`},
		{"a missing import", "render team", 1, `blueprint defines import "cluster" of type target, which is not satisfied`},
		{"a missing import, and how to give it", "render team", 1, "\n(here imports are given with -f: a file with a map imports)"},
		{"imports that are not there", "render team -f none.yaml", 64, "imports none.yaml: open none.yaml: no such file"},
		{"a file without imports", "render team -f exports.yaml", 64, "imports exports.yaml: the file has no map imports: write imports:"},
		{"export templates that are not there", "render team -e none.yaml", 64, "export templates: open none.yaml"},
		{"an unknown field of export templates", "render team -e imports.yaml", 64, `export templates imports.yaml: error unmarshaling JSON: while decoding JSON: json: unknown field "imports"`},
		{"validate nothing", "validate", 64, "SOURCE is missing"},
		{"validate into an unknown form", "validate team -o yaml", 64, "output format is expected to be text or json but got 'yaml'"},
		{"a wrong reference", "get registry.example.org/A:1", 64, `not a reference to an artifact in a registry`},
		{"push to a digest", "push registry.example.org/a@sha256:0000000000000000000000000000000000000000000000000000000000000000 team", 64, "names a digest: name a tag"},
		{"push nothing", "push registry.example.org/a:1 none", 3, "there is no blueprint none"},
		{"an unknown command", "nonsense", 64, "unknown command"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			terminaltest.WriteFiles(t, team)
			if got := execute(t, strings.Fields(test.args)...); got.code != test.code || got.out != "" || !strings.Contains(got.err, test.err) {
				t.Errorf("%+v", got)
			}
		})
	}
}

func TestImportFiles(t *testing.T) {
	for _, test := range []struct{ reason, imports, err string }{
		{"a Target without anything", "cluster: {}", `imports i.yaml: import "cluster": is no Target: spec.type is missing`},
		{"a text for a Target", "cluster: s3cret", `import "cluster": is no Target: write a map`},
		{"null for a Target", "cluster: null", `import "cluster": is no Target: spec.type is missing`},
		{"another kind", "cluster: {kind: Secret, spec: {type: t}}", `import "cluster": must be a Target, but its kind is "Secret"`},
		{"a field of a wrong type", "cluster: {spec: {type: {a: s3cret}}}", `is no Target: the field spec.type has a value of a wrong type`},
		{"a Target for a list", "list: {spec: {type: t}}", `import "list": must be a list of Targets`},
		{"nothing in a list", "list: [null]", `import "list": element 0: is no Target`},
		{"a list for a map", "map: [1]", `import "map": must be a map of keys and Targets`},
		{"nothing in a map", "map: {a: null}", `import "map": key "a": is no Target`},
		{"a key that is there twice", "{size: 1, size: 2}", "imports i.yaml: line 2, column 13: the key is there twice, first in line 2"},
		{"another type of Target", "cluster: {spec: {type: other, config: s3cret}}", "imported target type is other but expected"},
		{"data of a wrong type", "{size: s3cret, cluster: {spec: {type: landscaper.gardener.cloud/kubernetes-cluster}}}", "root.size: imported datatype does not have the expected schema: (root): Invalid type. Expected: integer, given: string"},
		{"an alias without an anchor", "{size: *s3cret}", "imports i.yaml: "},
		{"no map", "1", "the file has no map imports"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			terminaltest.WriteFiles(t, team)
			if err := os.WriteFile("i.yaml", []byte("imports:\n  "+test.imports+"\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			got := execute(t, "render", "team", "-f", "i.yaml")
			if got.code == 0 || got.out != "" || !strings.Contains(got.err, test.err) || strings.Contains(got.err, "s3cret") {
				t.Errorf("%+v", got)
			}
		})
	}
}

func TestLaterImportsWin(t *testing.T) {
	terminaltest.WriteFiles(t, team)
	if err := errors.Join(os.WriteFile("a.yaml", []byte("imports: {size: 1, typo: 2}"), 0o644), os.WriteFile("b.yaml", []byte("imports: {size: 9007199254740993}"), 0o644)); err != nil {
		t.Fatal(err)
	}
	got := execute(t, "render", "team", "di", "-f", "imports.yaml", "-f", "a.yaml", "-f", "b.yaml", "-o", "json")
	if got.code != 0 || !strings.Contains(got.out, `"size": 9007199254740993`) || !strings.Contains(got.err, `Warning: imports a.yaml: the blueprint has no import "typo"`) {
		t.Errorf("%+v", got)
	}
}

// TestSources has archives with the files of team: a change there needs new ones.
func TestSources(t *testing.T) {
	compressions := map[string]string{"testdata/team.tar.zst": "", "testdata/team.tar.xz": "", "testdata/team.tar.bz2": ""}
	for name := range compressions {
		compressions[name] = absolute(t, name)
	}
	terminaltest.WriteFiles(t, team)
	var packed, zipped bytes.Buffer
	write := func(to io.Writer) error { return archive.PackTree(to, os.DirFS("team"), archive.DefaultLimits()) }
	if err := errors.Join(write(&packed), archive.Gzip(&zipped, write), os.WriteFile("team.tar", packed.Bytes(), 0o644), os.WriteFile("team.any", zipped.Bytes(), 0o644)); err != nil {
		t.Fatal(err)
	}
	want := execute(t, "render", "team", "-f", "imports.yaml")
	sources := []string{"team/blueprint.yaml", "./team/", "team.tar", "team.any"}
	for _, path := range compressions {
		sources = append(sources, path)
	}
	for _, source := range sources {
		if got := execute(t, "render", source, "-f", "imports.yaml"); got != want || got.code != 0 {
			t.Errorf("%s: %+v", source, got)
		}
	}
}

// TestLinksAndPipes has links that lead out of the directory of a blueprint, and a
// pipe on which a reader would wait forever.
func TestLinksAndPipes(t *testing.T) {
	terminaltest.WriteFiles(t, map[string]string{
		"secret":            "s3cret",
		"bp/blueprint.yaml": header + "deployExecutions: [{name: d, type: GoTemplate, file: item.tpl}]",
	})
	for reason, prepare := range map[string]func() error{
		"a link that leads out": func() error { return os.Symlink("../secret", "bp/item.tpl") },
		"an absolute link":      func() error { return os.Symlink("/etc/hostname", "bp/item.tpl") },
		"a pipe":                func() error { return syscall.Mkfifo("bp/item.tpl", 0o600) },
		"a directory":           func() error { return os.Mkdir("bp/item.tpl", 0o755) },
	} {
		t.Run(reason, func(t *testing.T) {
			if err := prepare(); err != nil {
				t.Fatal(err)
			}
			for _, command := range []string{"render", "validate"} {
				got := execute(t, command, "bp")
				if got.code != 1 || !strings.Contains(got.out+got.err, "item.tpl") || strings.Contains(got.out+got.err, "s3cret") {
					t.Errorf("%s: %s %+v", reason, command, got)
				}
			}
			if err := os.Remove("bp/item.tpl"); err != nil {
				t.Fatal(err)
			}
		})
	}
	if err := os.Symlink("blueprint.yaml", "bp/item.tpl"); err != nil {
		t.Fatal(err)
	}
	if got := execute(t, "render", "bp"); got.code != 0 {
		t.Errorf("a link that stays inside: %+v", got)
	}
}

func TestExportTemplates(t *testing.T) {
	const given = "installations: [{name: all, selector: ^root$, dataExports: {report: x}, targetExports: {made: {type: landscaper.gardener.cloud/kubernetes-cluster}}}]"
	for _, test := range []struct {
		reason, templates string
		code              int
		out, err          string
	}{
		{"values for a whole Installation", given, 0, "report: x", ""},
		{"a template for a whole Installation", "installations: [{name: all, selector: ., template: '{dataExports: {report: \"{{ .imports.size }}{{ .installationPath }}{{ .templateName }}\"}, targetExports: {made: {type: landscaper.gardener.cloud/kubernetes-cluster}}}'}]", 0, "report: 3rootall", ""},
		{"the first match wins", "deployItems: [{name: a, selector: server, exports: {host: first}}, {name: b, selector: server, exports: {host: second}}]", 0, "report: <first>", `Warning: export templates: deployItems "b" is not used`},
		{"nothing matches", "deployItems: [{name: a, selector: nothing, exports: {}}]", 1, "", "(-e gives no exports for root/provider/server)"},
		{"no selector", "deployItems: [{name: a, exports: {}}]", 64, "", `deployItems[0] "a": selector is missing`},
		{"a wrong selector", "deployItems: [{name: a, selector: '(', exports: {}}]", 64, "", `deployItems[0] "a": selector: the regular expression is not valid (missing closing )): use the syntax of RE2`},
		{"neither template nor values", "installations: [{name: a, selector: x}]", 64, "", `installations[0] "a": give either template or dataExports or targetExports`},
		{"both", "deployItems: [{name: a, selector: x, template: x, exports: {}}]", 64, "", "give either template or exports"},
		{"fields of the other list", "deployItems: [{name: a, selector: x, dataExports: {}}]", 64, "", `unknown field "dataExports"`},
		{"a template that cannot be parsed", "deployItems: [{name: a, selector: ., template: '{{'}]", 1, "", `export template "a": template execution "a"`},
		{"a template that gives no YAML", "deployItems: [{name: a, selector: ., template: '['}]", 1, "", `export template "a": `},
		{"exports that are not a map", "deployItems: [{name: a, selector: ., template: 'exports: 1'}]", 1, "", "root/provider: "},
		{"a list for exports of an Installation", "installations: [{name: a, selector: ., template: 'dataExports: []'}]", 1, "", `export template "a": `},
		{"a component function without a component", "deployItems: [{name: a, selector: ., template: 'exports: {{ getResource .cd \"name\" \"x\" }}'}]", 1, "", `export template "a": `},
		{"the state", "deployItems: [{name: a, selector: /own, template: 'exports: {{ required \"no\" .state.first }}'}, {name: b, selector: ., exports: {host: h}}]", 0, "report: <h>", ""},
		{"no YAML", "[", 64, "", "export templates e.yaml: "},
		{"nothing", "", 1, "", "(-e gives no exports for"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			terminaltest.WriteFiles(t, team)
			if err := os.WriteFile("e.yaml", []byte(test.templates), 0o644); err != nil {
				t.Fatal(err)
			}
			got := execute(t, "render", "team", "exports", "-f", "imports.yaml", "-e", "e.yaml", "-q")
			if got.code != test.code || !strings.Contains(got.out, test.out) || !strings.Contains(got.err, test.err) || strings.Contains(got.err, "s3cret") || (test.err == "" && got.err != "") {
				t.Errorf("%+v", got)
			}
		})
	}
}

func TestCompletion(t *testing.T) {
	for _, test := range []struct{ line, want string }{
		{"render team \"\"", "all\ndeployitems\nsubinstallations\nimports\nexports\n:4\n"},
		{"render team di,", "di,all\ndi,deployitems\ndi,subinstallations\ndi,imports\ndi,exports\n:4\n"},
		{"render team -o \"\"", "yaml\njson\n:4\n"},
		{"validate team -o \"\"", "text\njson\n:4\n"},
		{"render \"\"", ":0\n"},
	} {
		t.Run(test.line, func(t *testing.T) {
			c := &terminaltest.Console{}
			root := &cobra.Command{Use: "landscaper-cli"}
			root.AddCommand(NewCommand(c.Streams()))
			terminal.Run(t.Context(), root, c.Streams(), append([]string{"__complete", "blueprints"}, terminaltest.Fields(test.line)...))
			if c.Out.String() != test.want {
				t.Errorf("%s: %q", test.line, c.Out.String())
			}
		})
	}
}

// TestUnitPath shows that a name which slipped through becomes one file below its
// directory.
func TestUnitPath(t *testing.T) {
	for name, want := range map[string]string{"../x": "di/%2E.%2Fx", "..": "di/%2E.", "/abs": "di/%2Fabs", "a": "di/a"} {
		t.Run(name, func(t *testing.T) {
			if got := (unit{names: []string{"di", name}}).path(); got != want {
				t.Errorf("%q is written to %s, want %s", name, got, want)
			}
		})
	}
}
