package descriptor

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

const minimal = `
meta: {schemaVersion: v2}
component: {name: example.org/shop/web, version: 1.4.2, provider: me, repositoryContexts: [], sources: null, componentReferences: null, resources: null}
`

const thirdSchema = `
apiVersion: ocm.software/v3alpha1
kind: ComponentVersion
metadata: {name: example.org/shop/db, version: 3.1.0, provider: {name: shop-team, labels: [{name: a, value: b}]}, labels: [{name: c, value: 1}], creationTime: "2025-11-03T08:00:00Z"}
repositoryContexts: [{type: OCIRegistry, baseUrl: registry.example.org}]
spec:
  sources: [{name: code, type: git, access: {type: none}}]
  references: [{name: lib, componentName: example.org/shop/lib, version: 1.0.0}]
  resources: [{name: image, version: 3.1.0, type: ociImage, relation: external, access: {type: ociArtifact, imageReference: "r.example.org/db:3.1.0"}}]
`

func full(t testing.TB) []byte {
	t.Helper()
	content, err := os.ReadFile("testdata/full-v2.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func decode(t testing.TB, text string) *Descriptor {
	t.Helper()
	d, err := Decode([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// normal returns a document without what carries no meaning.
func normal(t testing.TB, document []byte) any {
	t.Helper()
	raw, err := yaml.YAMLToJSON(document)
	if err != nil {
		t.Fatal(err)
	}
	decoder := json.NewDecoder(strings.NewReader(string(raw)))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		t.Fatal(err)
	}
	return value
}

func TestNothingIsLost(t *testing.T) {
	for _, test := range []struct{ reason, document, through string }{
		{"a descriptor with every field of schema v2", string(full(t)), ""},
		{"a descriptor of the third schema", thirdSchema, ""},
		{"v2 by way of the third schema: the model has what both have", string(full(t)), SchemaV3Alpha1},
		{"the third schema by way of v2", thirdSchema, SchemaV2},
	} {
		t.Run(test.reason, func(t *testing.T) {
			d := decode(t, test.document)
			if test.through != "" {
				encoded, err := d.As(test.through).EncodeYAML()
				if err != nil {
					t.Fatalf("%v", err)
				}
				d = decode(t, string(encoded)).As(d.Schema)
			}
			encoded, err := d.EncodeYAML()
			if err != nil {
				t.Fatalf("%v", err)
			}
			if diff := cmp.Diff(normal(t, []byte(test.document)), normal(t, encoded)); diff != "" {
				t.Errorf("what was written differs from what was read:\n%s", diff)
			}
		})
	}
}

func TestDecode(t *testing.T) {
	withResource := func(resource string) string {
		return strings.Replace(minimal, "resources: null", "resources: ["+resource+"]", 1)
	}
	for _, test := range []struct{ reason, document, wantErr string }{
		{"lists may be null", minimal, ""},
		{"lists may be missing, as in nested descriptors", "meta: {schemaVersion: v2}\ncomponent: {name: example.org/a, version: v1.0.0}", ""},
		{"the name under which early releases wrote the third schema", strings.Replace(thirdSchema, SchemaV3Alpha1, schemaV3Alias, 1), ""},
		{"an access of an unknown type must not break reading", withResource(`{name: x1, version: "1", type: t, access: {type: strange}}`), ""},
		{"the sample version of the documentation; it only cannot become a tag", strings.Replace(minimal, "1.4.2", "v.1.7.2", 1), ""},
		{"two schemas at once", minimal + "apiVersion: hunter2\n", "both meta.schemaVersion"},
		{"no schema", "component: {}", "neither meta.schemaVersion nor apiVersion"},
		{"unknown schema", "meta: {schemaVersion: hunter2}", "a schema that is not known: use v2"},
		{"another kind", strings.Replace(thirdSchema, "ComponentVersion", "hunter2", 1), "another kind than ComponentVersion"},
		{"no name", "meta: {schemaVersion: v2}\ncomponent: {version: 1.0.0}", "name of the component is missing"},
		{"no version", "meta: {schemaVersion: v2}\ncomponent: {name: example.org/a}", "version of the component is missing"},
		{"a name that is not a path of a registry", strings.Replace(minimal, "example.org/shop/web", "../../etc", 1), "not valid"},
		{"a name that is too long", strings.Replace(minimal, "example.org/shop/web", "example.org/"+strings.Repeat("a", 250), 1), "at most 255"},
		{"a resource without access", withResource(`{name: x1, type: t}`), "resources[0].access is missing"},
		{"an access without type", withResource(`{name: x1, type: t, access: {}}`), "resources[0].access.type is missing"},
		{"an unknown relation", withResource(`{name: x1, type: t, relation: near, access: {type: none}}`), `relation is "near"`},
		{"a label twice", withResource(`{name: x1, type: t, labels: [{name: a, value: 1}, {name: a, value: 2}], access: {type: none}}`), `has "a" twice`},
		{"a broken creation time", strings.Replace(minimal, "provider: me", "provider: me, creationTime: today", 1), "creationTime"},
		{"nothing", " ", "is empty"},
		{"neither YAML nor JSON", "a: [", "neither YAML nor JSON"},
		{"a field twice says two things", "meta: {schemaVersion: v2}\nmeta: {schemaVersion: v2}", "neither YAML nor JSON"},
		{"a text where an object belongs", "meta: {schemaVersion: v2}\ncomponent: text", "decode the component descriptor"},
		{"very deep lists", `{"a":` + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + "}", "nested deeper"},
		{"a huge document", strings.Repeat(" ", MaxSize+1), "at most"},
		{"aliases that multiply", bomb(), "neither YAML nor JSON"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			_, err := Decode([]byte(test.document))
			if test.wantErr == "" {
				if err != nil {
					t.Errorf("%v", err)
				}
			} else if err == nil || !strings.Contains(err.Error(), test.wantErr) {
				t.Errorf("got %v, want %q", err, test.wantErr)
			} else if strings.Contains(err.Error(), "hunter2") {
				t.Errorf("the message repeats what is not known: %v", err)
			}
		})
	}
}

// bomb is a small YAML document that stands for a very large one.
func bomb() string {
	text := "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n"
	for i := byte('1'); i <= '9'; i++ {
		text += "a" + string(i) + ": &a" + string(i) + " [" + strings.TrimSuffix(strings.Repeat("*a"+string(i-1)+",", 10), ",") + "]\n"
	}
	return text
}

func TestOldSourceRefs(t *testing.T) {
	d := decode(t, strings.Replace(minimal, "resources: null", "resources: [{name: x1, type: t, access: {type: none}, srcRef: [{identitySelector: {name: code}}]}]", 1))
	if len(d.Resources[0].SourceRefs) != 1 {
		t.Errorf("the old field srcRef was not read: %+v", d.Resources[0])
	}
}

func TestCheckVersion(t *testing.T) {
	for version, reason := range map[string]string{
		"1.4.2": "plain", "v1.4.2": "leading v", "1": "minor and patch may be missing", "1.2.3+build.7": "build metadata",
	} {
		t.Run(reason, func(t *testing.T) {
			if err := CheckVersion(version); err != nil {
				t.Errorf("%s: %v", reason, err)
			}
		})
	}
	if err := CheckVersion("v.1.7.2"); err == nil || !strings.Contains(err.Error(), `component version "v.1.7.2"`) {
		t.Errorf("the message must name the version: %v", err)
	}
}

func TestIdentity(t *testing.T) {
	d := &Descriptor{Name: "example.org/a", Version: "1.0.0", Resources: []Resource{
		{Element: Element{Name: "one", Version: "1"}},
		{Element: Element{Name: "twin", Version: "1"}},
		{Element: Element{Name: "twin", Version: "2"}},
		{Element: Element{Name: "extra", Version: "1", ExtraIdentity: map[string]string{"arch": "arm"}}},
	}}
	for _, test := range []struct {
		reason   string
		lookup   func(Identity) (*Resource, error)
		identity Identity
		want     int
		matches  int
	}{
		{"by name", d.Resource, Named("one"), 0, 1},
		{"by name and version", d.Resource, Identity{"name": "one", "version": "1"}, 0, 1},
		{"an element with extra identity does not match a bare name", d.Resource, Named("extra"), 0, 0},
		{"full identity", d.Resource, Identity{"name": "extra", "arch": "arm"}, 3, 1},
		{"two of a name", d.Resource, Named("twin"), 0, 2},
		{"two of a name, told apart by version", d.Resource, Identity{"name": "twin", "version": "2"}, 2, 1},
		{"an attribute is enough where only some are asked for", d.ResourceBy, Identity{"arch": "arm"}, 3, 1},
		{"a wrong attribute", d.ResourceBy, Identity{"name": "extra", "arch": "amd64"}, 0, 0},
	} {
		t.Run(test.reason, func(t *testing.T) {
			got, err := test.lookup(test.identity)
			if test.matches != 1 {
				if err == nil || !strings.Contains(err.Error(), "failed to get resource with name") {
					t.Errorf("got %v, %v", got, err)
				}
				return
			}
			if err != nil || got != &d.Resources[test.want] {
				t.Errorf("got %+v, %v", got, err)
			}
		})
	}
	if got := IdentityOf(d.Resources[2], d.Resources).String(); got != `{"name":"twin","version":"2"}` {
		t.Errorf("the identity among siblings is %s", got)
	}
	if got := IdentityOf(d.Resources[3], d.Resources).String(); got != `{"arch":"arm","name":"extra"}` {
		t.Errorf("the identity among siblings is %s", got)
	}
}

func TestReferenceBy(t *testing.T) {
	d := &Descriptor{Name: "example.org/a", Version: "1.0.0", References: []Reference{
		{Element: Element{Name: "cache", Version: "1", ExtraIdentity: map[string]string{"tier": "fast"}}},
		{Element: Element{Name: "db", Version: "1", ExtraIdentity: map[string]string{"region": "eu"}}},
		{Element: Element{Name: "db", Version: "1", ExtraIdentity: map[string]string{"region": "us"}}},
	}}
	for _, test := range []struct {
		reason   string
		identity Identity
		want     int
		err      string
	}{
		{"a name that is unique", Named("cache"), 0, ""},
		{"a name and an attribute", Identity{"name": "db", "region": "us"}, 2, ""},
		{"a name that two have", Named("db"), 0, "2 of component version example.org/a:1.0.0 match"},
		{"a name that no reference has", Named("ghost"), 0, "failed to get component reference with name ghost"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			got, err := d.ReferenceBy(test.identity)
			if test.err != "" {
				if err == nil || !strings.Contains(err.Error(), test.err) {
					t.Errorf("got %v, %v, want %q", got, err, test.err)
				}
				return
			}
			if err != nil || got != &d.References[test.want] {
				t.Errorf("got %+v, %v", got, err)
			}
		})
	}
}

func TestEncodeYAMLKeepsDigits(t *testing.T) {
	text := strings.TrimSuffix(strings.TrimSpace(minimal), "}") + `, labels: [{name: a, value: [123456789012345678901234567890, 1.10, 9007199254740993]}]}`
	encoded, err := decode(t, text).EncodeYAML()
	if err != nil || !strings.Contains(string(encoded), "- 123456789012345678901234567890\n    - 1.10\n    - 9007199254740993\n") {
		t.Errorf("got %v\n%s", err, encoded)
	}
	again := decode(t, string(encoded))
	if got, want := string(again.Labels[0].Value), "[123456789012345678901234567890,1.10,9007199254740993]"; got != want {
		t.Errorf("read again it is %s, want %s", got, want)
	}
}

func TestNested(t *testing.T) {
	nest := func(child string) string {
		return `
meta: {schemaVersion: v2}
component:
  name: example.org/dev/app
  version: 0.0.1
  repositoryContexts: [{type: OCIRegistry, baseUrl: registry.example.org/dev}]
  componentReferences:
  - name: lib
    componentName: example.org/dev/lib
    version: 0.2.0
    labels: [{name: landscaper.gardener.cloud/component-descriptor, value: ` + child + `}]
`
	}
	deep := `{meta: {schemaVersion: v2}, component: {name: example.org/dev/lib, version: 0.2.0, componentReferences: [
      {name: base, componentName: example.org/dev/base, version: 1.0.0, labels: [{name: landscaper.gardener.cloud/component-descriptor, value: {meta: {schemaVersion: v2}, component: {name: example.org/dev/base, version: 1.0.0}}}]}]}}`
	all, err := decode(t, nest(deep)).Nested()
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != 3 || all[2].Name != "example.org/dev/base" {
		t.Fatalf("the tree has %d descriptors, want 3", len(all))
	}
	if got := all[2].EffectiveContext().Type(); got != "OCIRegistry" {
		t.Errorf("a nested descriptor without context inherits the one of the top, got %q", got)
	}
	for child, want := range map[string]string{
		`{meta: {schemaVersion: v2}, component: {name: example.org/dev/other, version: 0.2.0}}`: "the reference names example.org/dev/lib:0.2.0",
		`{meta: {schemaVersion: v7}}`: `component reference "lib"`,
	} {
		t.Run(child, func(t *testing.T) {
			if _, err := decode(t, nest(child)).Nested(); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: got %v, want %q", child, err, want)
			}
		})
	}
}
