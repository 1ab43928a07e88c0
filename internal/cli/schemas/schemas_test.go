package schemas

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"go.landscaper.dev/api/schemas"
	"go.landscaper.dev/internal/base/jsonvalue"
	"go.landscaper.dev/internal/cli/terminal"
	"go.landscaper.dev/internal/cli/terminal/terminaltest"
)

// embedded loads schemas from the program: references lead from one file to another.
type embedded struct{}

// Load implements jsonschema.URLLoader.
func (embedded) Load(url string) (any, error) {
	file, err := schemas.Files.Open(strings.TrimPrefix(url, "mem:///"))
	if err != nil {
		return nil, err
	}
	defer file.Close() //nolint:errcheck // nothing is written
	return jsonschema.UnmarshalJSON(file)
}

func compiled(t *testing.T, name string) *jsonschema.Schema {
	t.Helper()
	compiler := jsonschema.NewCompiler()
	compiler.UseLoader(embedded{})
	schema, err := compiler.Compile("mem:///" + name + suffix)
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

// document decodes YAML; numbers and texts are those of JSON.
func document(t *testing.T, text string) any {
	t.Helper()
	value, err := jsonvalue.FromYAML([]byte(text))
	if err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return value
}

// TestCompile: each schema is one of the language, and its references lead somewhere.
func TestCompile(t *testing.T) {
	for _, name := range names() {
		compiled(t, name)
	}
}

// TestMistakes: what editors are to show.
func TestMistakes(t *testing.T) {
	const (
		installation = "apiVersion: landscaper.gardener.cloud/v1alpha1\nkind: Installation\nmetadata: {name: a}\n"
		item         = "apiVersion: landscaper.gardener.cloud/v1alpha1\nkind: DeployItem\nmetadata: {name: a}\nspec:\n  type: x\n  config:\n    apiVersion: manifest.deployer.landscaper.gardener.cloud/v1alpha2\n    kind: ProviderConfiguration\n"
		blueprint    = "apiVersion: landscaper.gardener.cloud/v1alpha1\nkind: Blueprint\n"
		fleet        = "apiVersion: fleet.landscaper.dev/v1alpha1\n"
		local        = "apiVersion: local.landscaper.gardener.cloud/v1alpha1\n"
	)
	for _, test := range []struct {
		reason, text string
		valid        bool
		place        string
	}{
		{"an Installation", installation + "spec: {blueprint: {ref: {resourceName: b}}}", true, ""},
		{"a field that it does not have", installation + "spec: {blueprint: {ref: {resourceName: b}}, import: {}}", false, "/spec"},
		{"a field that is missing", installation + "spec: {}", false, "/spec"},
		{"a text for a list", installation + "spec: {blueprint: {ref: {resourceName: b}}, imports: {data: x}}", false, "/spec/imports/data"},
		{"the configuration of a deployer", item + "    manifests: [{manifest: {apiVersion: v1, kind: ConfigMap}}]", true, ""},
		{"a mistake in it", item + "    manifest: []", false, "/spec/config"},
		{"the configuration of a deployer of others", strings.Replace(item, "manifest.deployer", "other.example", 1) + "    manifest: []", true, ""},
		{"a blueprint", blueprint + "imports: [{name: a, type: data, schema: {type: string}}, {name: b, targetType: t, required: false, imports: [{name: c, schema: true}]}]", true, ""},
		{"an unknown type of import", blueprint + "imports: [{name: a, type: datum}]", false, "/imports/0/type"},
		{"an import without a name", blueprint + "imports: [{schema: {}}]", false, "/imports/0"},
		{"a subinstallation in a file", blueprint + "subinstallations: [{file: a.yaml}]", true, ""},
		{"a template of another engine", blueprint + "deployExecutions: [{name: a, type: Jinja, file: a}]", false, "/deployExecutions/0/type"},
		{"rules for clusters", local + "kind: LocalLandscape\nobjects: [{match: {kind: Service}, after: 2s}]", true, ""},
		{"a rule that does not exist", local + "kind: LocalLandscape\nobjects: [{match: {kind: Service}, later: 2s}]", false, "/objects/0"},
		{"a test", local + "kind: LandscapeTest\nblueprint: .\ncases: [{name: a, expect: {phase: Failed}, table: [{name: b}]}]", true, ""},
		{"a case without a name", local + "kind: LandscapeTest\ncases: [{expect: {}}]", false, "/cases/0"},
		{"a Fleet", fleet + "kind: Fleet\nmetadata: {name: a}\nspec: {targets: {all: true}, template: {targetImport: cluster, spec: {blueprint: {ref: {resourceName: b}}}}}", true, ""},
		{"a field that a Channel does not have", fleet + "kind: Channel\nmetadata: {name: a}\nspec: {component: example.org/a, version: 1.x}", false, "/spec"},
		{"a document of another program", "apiVersion: v1\nkind: ConfigMap\nanything: [1]", true, ""},
	} {
		t.Run(test.reason, func(t *testing.T) {
			err := compiled(t, schemas.Any).Validate(document(t, test.text))
			if (err == nil) != test.valid || (err != nil && !strings.Contains(err.Error(), "at '"+test.place)) {
				t.Errorf("%v", err)
			}
		})
	}
}

// TestDescriptions: an editor shows what a field is for.
func TestDescriptions(t *testing.T) {
	for name, want := range map[string]string{
		"installation": `"description": "Blueprint names the blueprint to bring up: exactly one of ref and inline."`,
		"helm":         `"description": "Chart is the chart."`, "landscapetest": `"description": "Waits is a part of what`,
	} {
		if text, err := schemas.Files.ReadFile(name + suffix); err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%s has no %s, %v", name, want, err)
		}
	}
}

// wrong is a document that is recorded with its mistake: its fields are not where they belong.
const wrong = "test/integration/testdata/documents/targetsync-03.yaml"

// TestExamples: all documents of ours in the repository, and on its pages, are valid.
func TestExamples(t *testing.T) {
	schema := compiled(t, schemas.Any)
	files, documents := 0, 0
	check := func(name, text string) {
		for _, one := range ours(text) {
			documents++
			if err := schema.Validate(one); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	for _, folder := range []string{"examples", "hack", "docs", "tools/release/component", "internal", "charts", "test"} {
		err := filepath.WalkDir(filepath.Join("../../..", folder), func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || strings.HasSuffix(path, wrong) {
				return err
			}
			text, err := os.ReadFile(path)
			switch filepath.Ext(path) {
			case ".yaml":
				files++
				check(path, string(text))
			case ".md":
				for _, block := range block.FindAllStringSubmatch(string(text), -1) {
					check(path, block[1])
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if files < 200 || documents < 300 {
		t.Errorf("only %d documents in %d files", documents, files)
	}
}

var block = regexp.MustCompile("(?ms)^```yaml[^\n]*\n(.*?)^```$")

// ours are the documents of a text with a version of ours, and those in them. Templates need not be YAML.
func ours(text string) []any {
	var all []any
	for part := range strings.SplitSeq("\n"+text, "\n---") {
		var value any
		if yaml.Unmarshal([]byte(part), &value) == nil {
			all = append(all, within(value)...)
		}
	}
	return all
}

// within are the documents in a value: blueprints in Installations, and configurations in blueprints.
func within(value any) (all []any) {
	switch value := value.(type) {
	case map[string]any:
		version, _ := value["apiVersion"].(string)
		if group, _, _ := strings.Cut(version, "/"); strings.Contains(group, "landscaper.") || group == "flux.extensions.gardener.cloud" {
			if decoded, err := jsonvalue.FromObject(value); err == nil {
				all = append(all, decoded)
			}
		}
		for name, part := range value {
			if !strings.HasSuffix(strings.ToLower(name), "ref") && name != "ownerReferences" { // these only name objects
				all = append(all, within(part)...)
			}
		}
	case []any:
		for _, part := range value {
			all = append(all, within(part)...)
		}
	case string:
		if strings.Contains(value, "apiVersion: ") {
			return ours(value)
		}
	}
	return all
}

func TestCommand(t *testing.T) {
	for _, test := range []struct {
		reason, args string
		code         int
		out, err     string
	}{
		{"a list", "", 0, "landscapetest                local.landscaper.gardener.cloud/v1alpha1                LandscapeTest", ""},
		{"one schema, by its kind", "Installation", 0, `"title": "Installation"`, ""},
		{"all of them", "--all schemas", 0, "schemas to schemas\n", ""},
		{"one that is not there", "pod", 3, "", "there is no schema pod: there are blueprint,"},
		{"one and all", "pod --all x", 64, "", "leave out NAME"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			t.Chdir(t.TempDir())
			c := &terminaltest.Console{}
			root := &cobra.Command{Use: "landscaper-cli"}
			root.AddCommand(NewCommand(c.Streams()))
			code := terminal.Run(t.Context(), root, c.Streams(), append([]string{"schemas"}, strings.Fields(test.args)...))
			if code != test.code || !strings.Contains(c.Out.String(), test.out) || !strings.Contains(c.Err.String(), test.err) {
				t.Errorf("%d, %s, %s", code, c.Out.String(), c.Err.String())
			}
			if _, err := os.Stat("schemas/landscaper.json"); strings.HasPrefix(test.args, "--all") && errors.Is(err, fs.ErrNotExist) {
				t.Error("the schemas are not written")
			}
		})
	}
}
