package change

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/cli/terminal"
	"go.landscaper.dev/internal/cli/terminal/terminaltest"
	"go.landscaper.dev/internal/landscape/requests"
)

func TestImportValues(t *testing.T) {
	terminaltest.WriteFiles(t, map[string]string{"f.yaml": "a: [1]\n", "bad.yaml": "a: ["})
	for _, test := range []struct{ reason, pair, key, want string }{
		{"a number", "n=1.5", "n", "1.5"},
		{"a number of more digits than a float has", "n=12345678901234567890", "n", "12345678901234567890"},
		{"a number that is too large for anybody is a text", "n=1e999", "n", `"1e999"`},
		{"a number in the notation of people", "n=007", "n", `"007"`},
		{"a number with a blank is a text", "n= 1", "n", `" 1"`},
		{"a text", "t=a=b", "t", `"a=b"`},
		{"true is a text, as it always was", "t=true", "t", `"true"`},
		{"null is a text as well", "t=null", "t", `"null"`},
		{"a list is a text without a colon", "t=[1]", "t", `"[1]"`},
		{"a text in quotes keeps them", `t="1"`, "t", `"\"1\""`},
		{"an empty text", "t=", "t", `""`},
		{"a text that is no UTF-8 is still one", "t=\xff", "t", `"\ufffd"`},
		{"any value", "l:=[a, 1, true]", "l", `["a",1,true]`},
		{"null where any value is meant", "l:=null", "l", "null"},
		{"no value at all is null as well, as in YAML", "l:=", "l", "null"},
		{"a text with the sign of a file behind the equals sign", "t=a@b", "t", `"a@b"`},
		{"from a file", "f@f.yaml", "f", `{"a":[1]}`},
	} {
		t.Run(test.reason, func(t *testing.T) {
			values, err := importValues([]string{test.pair})
			if err != nil || values[0].Name != test.key || string(values[0].Value.RawMessage) != test.want {
				t.Errorf("%+v %v", values, err)
			}
		})
	}
	for _, test := range []struct{ reason, pair, want string }{
		{"no value", "x", `"x": write KEY=VALUE, KEY:=VALUE or KEY@FILE`},
		{"no name", "=1", `"=1": write KEY=VALUE`},
		{"only a colon is not a valid name", ":=1", `":=1": write KEY=VALUE`},
		{"a file that is not there", "f@none", "import f: open none: no such file or directory"},
		{"a file that is no YAML", "f@bad.yaml", "import f: "},
		{"a value that is no YAML", "l:=[", "import l: "},
		{"two documents are no value", "l:=a\n---\nb", "import l: "},
	} {
		t.Run(test.reason, func(t *testing.T) {
			if values, err := importValues([]string{test.pair}); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%+v %v", values, err)
			}
		})
	}
}

const shopManifest = `apiVersion: landscaper.gardener.cloud/v1alpha1
kind: Installation
metadata:
  name: shop # the shop
spec:
  blueprint: {ref: {resourceName: blueprint}}
  imports:
    data:
    - {name: domain, dataRef: d}
    - {name: size, dataRef: s}
`

func TestSetImportParameters(t *testing.T) {
	terminaltest.WriteFiles(t, map[string]string{"shop.yaml": shopManifest})
	run := func(args string) (int, *terminaltest.Console) {
		c := &terminaltest.Console{}
		return terminal.Run(t.Context(), NewSetImportParametersCommand(c.Streams()), c.Streams(), terminaltest.Fields(args)), c
	}
	if code, c := run("shop.yaml domain=example.org x=1"); code == 0 || c.Err.String() != "Error: import parameter 'x' not found in the installation: if its blueprint has it, list it in spec.importDataMappings first\n" {
		t.Errorf("%d %s", code, c.Err.String())
	}
	if code, c := run("shop.yaml domain=example.org size=3 -o new.yaml"); code != 0 || c.Out.String() != "Wrote the Installation to new.yaml\n" {
		t.Errorf("%d %s", code, c.Err.String())
	}
	if code, c := run("new.yaml size=4"); code != 0 {
		t.Errorf("a value that was set before: %s", c.Err.String())
	}
	text, err := os.ReadFile("new.yaml")
	if err != nil {
		t.Fatal(err)
	}
	const want = `apiVersion: landscaper.gardener.cloud/v1alpha1
kind: Installation
metadata:
  name: shop
spec:
  blueprint:
    ref:
      resourceName: blueprint
  exports: {}
  importDataMappings:
    domain: example.org
    size: 4
  imports: {}
`
	if diff := cmp.Diff(want, string(text)); diff != "" {
		t.Error(diff)
	}
}

// TestWrongManifests: a file that is to be written again is not touched if something of it
// would be lost.
func TestWrongManifests(t *testing.T) {
	for _, test := range []struct{ reason, manifest, args, want string }{
		{"no file", "", "none.yaml size=3", "Error: read the Installation: open none.yaml: no such file or directory\n"},
		{"a file without anything", "# nothing\n", "f.yaml size=3", "Error: f.yaml: kind \"\": name the manifest of an Installation\n"},
		{"an object of another kind", "kind: Target\nspec: {}\n", "f.yaml size=3", "Error: f.yaml: kind \"Target\": name the manifest of an Installation\n"},
		{"a list", "- kind: Installation\n", "f.yaml size=3", "Error: f.yaml: "},
		{"a second document would be lost", shopManifest + "---\nkind: Target\n", "f.yaml size=3", "Error: f.yaml: line 12: a second document begins here: leave one\n"},
		{"an import that there is not", shopManifest, "f.yaml size=3 weight=1", "Error: import parameter 'weight' not found in the installation: if its blueprint has it, list it in spec.importDataMappings first\n"},
		{"all that there are not", shopManifest, "f.yaml a=1 b=2", "Error: import parameter 'a' not found in the installation: if its blueprint has it, list it in spec.importDataMappings first\nimport parameter 'b' not found in the installation: if its blueprint has it, list it in spec.importDataMappings first\n"},
		{"no YAML", "a: [", "f.yaml size=3", "Error: f.yaml: "},
		{"a value of another type", strings.Replace(shopManifest, "name: shop #", "name: [] #", 1), "f.yaml size=3", "Error: f.yaml: "},
		{"no value", shopManifest, "f.yaml", "Error: KEY=VALUE is missing\nUsage:   set-import-parameters FILE KEY=VALUE...\n"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			terminaltest.WriteFiles(t, map[string]string{"f.yaml": test.manifest})
			c := &terminaltest.Console{}
			code := terminal.Run(t.Context(), NewSetImportParametersCommand(c.Streams()), c.Streams(), terminaltest.Fields(test.args))
			if code != 1 || !strings.HasPrefix(c.Err.String(), test.want) {
				t.Errorf("code %d: %s", code, c.Err.String())
			}
			if got, err := os.ReadFile("f.yaml"); err != nil || string(got) != test.manifest {
				t.Errorf("written: %q %v", got, err)
			}
		})
	}
}

// TestDigitsStay: what people give and what was there before stays as it is.
func TestDigitsStay(t *testing.T) {
	terminaltest.WriteFiles(t, map[string]string{"f.yaml": strings.Replace(shopManifest, "  imports:", "  importDataMappings: {account: 123456789012345678901, rate: 1.10}\n  imports:", 1)})
	c := &terminaltest.Console{}
	if code := terminal.Run(t.Context(), NewSetImportParametersCommand(c.Streams()), c.Streams(), []string{"f.yaml", "size=9007199254740993", "domain=007"}); code != 0 {
		t.Fatal(c.Err.String())
	}
	text, err := os.ReadFile("f.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"account: 123456789012345678901\n", "size: 9007199254740993\n", "domain: \"007\"\n"} {
		t.Run(want, func(t *testing.T) {
			if !strings.Contains(string(text), want) {
				t.Errorf("%s", text)
			}
		})
	}
}

func TestSetImportsKeepsOthers(t *testing.T) {
	inst := &v1alpha1.Installation{}
	inst.Spec.Imports.Data = []v1alpha1.DataImport{{Name: "a", DataRef: "a"}, {Name: "b", DataRef: "b"}}
	if err := requests.ReplaceImports(inst, []requests.ImportValue{{Name: "a", Value: v1alpha1.NewAnyJSON(json.RawMessage("1"))}}); err != nil || len(inst.Spec.Imports.Data) != 1 || inst.Spec.Imports.Data[0].Name != "b" {
		t.Errorf("%+v %v", inst.Spec, err)
	}
}

// TestReadManifests: what others need comes first.
func TestReadManifests(t *testing.T) {
	terminaltest.WriteFiles(t, map[string]string{
		"d/a.yaml":       shopManifest + "---\n---\napiVersion: v1\nkind: Secret\nmetadata: {name: s}\n",
		"d/b/c.yml":      "apiVersion: landscaper.gardener.cloud/v1alpha1\nkind: Target\nmetadata: {name: t}\n",
		"d/n.json":       `{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"n"}}`,
		"d/README.md":    "no manifest",
		"bad/x.yaml":     "apiVersion: v1\n",
		"broken/x.yaml":  "a: [",
		"any.manifest":   "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n",
		"d/unknown.yaml": "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\n",
	})
	objects, err := readManifests(strings.NewReader("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: i}\n"), []string{"d", "any.manifest", "-"})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, object := range objects {
		names = append(names, object.GetKind()+"/"+object.GetName())
	}
	if got, want := strings.Join(names, " "), "Namespace/n Secret/s ConfigMap/c ConfigMap/i Target/t Pod/p Installation/shop"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	for path, want := range map[string]string{"bad": "line 1: this is not a Kubernetes object", "broken": "broken/x.yaml", "none": "no such file"} {
		t.Run(path, func(t *testing.T) {
			if _, err := readManifests(nil, []string{path}); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v", path, err)
			}
		})
	}
}
