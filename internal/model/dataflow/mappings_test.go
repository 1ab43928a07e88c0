package dataflow

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/base/suggest"
)

// importMappings applies mappings to imports. Both are written in YAML.
func importMappings(t *testing.T, list, imported, mappings string) (Mapped, []string, error) {
	t.Helper()
	inst := installation(t, "", "blueprint: {}\nimportDataMappings:\n"+indented(mappings))
	imports := Imports{Data: map[string]DataImport{}}
	for name, value := range decode[map[string]v1alpha1.AnyJSON](t, imported) {
		imports.Data[name] = DataImport{Value: value}
	}
	return ApplyImportMappings(t.Context(), inst, definitions(t, list), imports, evaluateSpiff)
}

func indented(text string) string {
	return "  " + strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n  ") + "\n"
}

func TestImportMappings(t *testing.T) {
	const imported = "{site: {domain: north.example, ports: [1, 2], id: 9007199254740993}, 'a.b': x, text: '(( site ))'}"
	tests := []struct{ reason, mapping, want string }{
		{"a fixed value", "3", "3"},
		{"a fixed text", "my-controller", `"my-controller"`},
		{"a part of an import", "(( site.domain ))", `"north.example"`},
		{"expressions at any depth", `{hosts: [(( "api." site.domain ))], fixed: true}`, `{"fixed":true,"hosts":["api.north.example"]}`},
		{"large integers stay what they are", "(( site.id ))", "9007199254740993"},
		{"calculated integers stay integers", "(( site.ports[0] + 1 ))", "2"},
		{"a default", `(( site.zone || "none" ))`, `"none"`},
		{"texts in imports are not expressions", "(( text ))", `"(( site ))"`},
		{"the key of the mapping can be used in it", "(( made ))", `"before"`},
		{"all imports together, for names with dots", `(( imports["a.b"] ))`, `"x"`},
		{"null", "~", "null"},
		{"nothing", "(( ~~ ))", "null"},
		{"temporary nodes are left out", "{tmp: (( &temporary( site ) )), out: (( tmp.domain ))}", `{"out":"north.example"}`},
		{"a field may have the name of what it takes", "{site: (( site.domain ))}", `{"site":"north.example"}`},
		{"a field that hides an import can reach around it", "{site: (( ___.site.domain ))}", `{"site":"north.example"}`},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			results, warnings, err := importMappings(t, "[{name: made, schema: {}}]", strings.Replace(imported, "{", "{made: before, ", 1), "made: "+test.mapping)
			if err != nil || len(warnings) != 0 || asJSON(t, results.Values["made"]) != test.want || len(results.Values) != 1 {
				t.Errorf("%s, %v, %v", asJSON(t, results.Values), warnings, err)
			}
		})
	}
}

func TestImportMappingsOfTargets(t *testing.T) {
	inst := installation(t, "", `
blueprint: {}
importDataMappings:
  made:
    single: (( cluster.metadata.name ))
    second: (( list[1].metadata.name ))
    north: (( map.north.spec.type ))
    again: (( imports.cluster.kind ))
`)
	results, _, err := ApplyImportMappings(t.Context(), inst, definitions(t, "[{name: made, schema: {}}]"), withoutBroken(), evaluateSpiff)
	want := `{"again":"Target","north":"` + clusterType + `","second":"b","single":"host"}`
	if err != nil || asJSON(t, results.Values["made"]) != want {
		t.Errorf("%s, %v, want %s", asJSON(t, results.Values), err, want)
	}
}

func withoutBroken() Imports {
	imports := fleet()
	delete(imports.Data, "broken")
	for _, name := range []string{"mixed", "unreadables"} {
		delete(imports.TargetLists, name)
	}
	delete(imports.Targets, "unreadable")
	delete(imports.Targets, "untyped")
	delete(imports.TargetMaps, "mixedMap")
	return imports
}

func TestImportBindings(t *testing.T) {
	bindings, err := ImportBindings(Imports{Data: map[string]DataImport{"a": data("1"), "imports": data("2")}})
	if err != nil || asJSON(t, bindings) != `{"a":1,"imports":2}` {
		t.Errorf("an import called imports is not hidden: %s, %v", asJSON(t, bindings), err)
	}
	bindings, err = ImportBindings(Imports{Data: map[string]DataImport{"a": data("1")}})
	if err != nil || asJSON(t, bindings) != `{"a":1,"imports":{"a":1}}` {
		t.Errorf("bindings %s, %v", asJSON(t, bindings), err)
	}
	_, err = ImportBindings(fleet())
	wantError(t, "data that cannot be read", err, "unable to get data for import broken: the value is not JSON")
	_, err = ImportBindings(Imports{Targets: map[string]*v1alpha1.Target{"bad": target("x", `{"`+hidden)}})
	wantError(t, "a Target that cannot be encoded", err, "unable to get target data for import bad")
}

// The example of the users' documentation. Its mappings use a name that is not
// among the imports.
func TestDocumentedImportMappings(t *testing.T) {
	const blueprint = `
- name: providers
  schema:
    type: array
    items:
      type: string
- name: identifier
  schema:
    type: string
- name: aws-credentials
  schema:
    type: object
    properties:
      accessKeyID:
        type: string
      accessKeySecret:
        type: string
`
	const mappings = `
identifier: my-controller
providers:
- (( aws-provider-type.type ))
- (( gcp-provider-type ))
aws-credentials: 
  accessKeyID: (( aws-provider-type.creds.accessKeyID ))
  accessKeySecret: (( aws-provider-type.creds.accessKeySec ))
`
	const values = `
%s: { "type": "aws", "creds": { "accessKeyID": "hunter2", "accessKeySec": "hunter2" } }
gcp-provider-type: "gcp"
`
	_, _, err := importMappings(t, blueprint, strings.Replace(values, "%s", "aws-provider", 1), mappings)
	for _, want := range []string{
		"unable to template import mapping template inst.providers (it can use aws-provider, gcp-provider-type, imports): ",
		"unable to template import mapping template inst.aws-credentials (it can use aws-provider, gcp-provider-type, imports): ",
		"aws-provider-type",
	} {
		wantError(t, "verbatim: both mappings that use the name are reported", err, want)
	}
	if strings.Contains(err.Error(), "inst.identifier") {
		t.Errorf("a fixed value is not wrong: %v", err)
	}

	results, warnings, err := importMappings(t, blueprint, strings.Replace(values, "%s", "aws-provider-type", 1), mappings)
	want := `{"aws-credentials":{"accessKeyID":"hunter2","accessKeySecret":"hunter2"},"identifier":"my-controller","providers":["aws","gcp"]}`
	if err != nil || len(warnings) != 0 || asJSON(t, results.Values) != want {
		t.Errorf("with the right name: %s, %v, %v", asJSON(t, results.Values), warnings, err)
	}
	values2, err := Construct(t.Context(), "inst", definitions(t, blueprint), Imports{}, results, compileType)
	if err != nil || asJSON(t, values2.Map()["providers"]) != `["aws","gcp"]` {
		t.Errorf("the results are the imports of the blueprint: %v, %v", values2.Map(), err)
	}
}

func TestImportMappingProblems(t *testing.T) {
	const list = "[{name: region, schema: {}, required: false, imports: [{name: zone, schema: {}}]}, {name: cluster, targetType: kubernetes-cluster}]"
	tests := []struct{ reason, mappings, wantError, warning string }{
		{"a name that does not exist", "region: (( regoin ))", "unable to template import mapping template inst.region (it can use imports, password, site): ", ""},
		{"a part that does not exist", "region: (( site.zone ))", "mapping template inst.region", ""},
		{"a text that is not an expression", "region: (( site. ))", "mapping template inst.region", ""},
		{"a field that hides the import of its name", "region: {site: {domain: (( site.domain ))}}", "its own field site hides the import of this name, which is ___.site", ""},
		{"an error of the author does not show values", `region: (( site + password ))`, "mapping template inst.region", ""},
		{"a key that the blueprint does not know is evaluated, too", "other: (( nothing ))", "mapping template inst.other", ""},
		{"a key that the blueprint does not know has no effect", "regions: 5", "", "spec.importDataMappings: regions has no effect: the blueprint has no import of this name: did you mean region?"},
		{"a key that resembles nothing", "completelyelse: 5", "", "spec.importDataMappings: completelyelse has no effect: the blueprint has no import of this name"},
		{"mappings do not make Targets", "cluster: 5", "", "spec.importDataMappings: cluster has no effect: the import is of type target, and mappings only make data"},
		{"a conditional import is known", "zone: 5", "", ""},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			results, warnings, err := importMappings(t, list, "{site: {domain: hunter2}, password: hunter2}", test.mappings)
			wantError(t, test.reason, err, test.wantError)
			if err != nil {
				return
			}
			var want []string
			if test.warning != "" {
				want = []string{test.warning}
			}
			if !slices.Equal(warnings, want) || (test.warning != "") != (len(results.Values) == 0) {
				t.Errorf("%v, warnings %v, want %v", results.Values, warnings, want)
			}
		})
	}
	results, warnings, err := importMappings(t, list, "{}", "{}")
	if err != nil || len(results.Values) != 0 || len(warnings) != 0 {
		t.Errorf("nothing to do: %v, %v, %v", results.Values, warnings, err)
	}
}

func TestMappingsInOrder(t *testing.T) {
	inst := installation(t, "", "blueprint: {}\nimportDataMappings: {c: 1, a: 2, b: 3}")
	cause := errors.New("no")
	var seen []string
	_, _, err := ApplyImportMappings(t.Context(), inst, nil, Imports{}, func(_ context.Context, name string, _ v1alpha1.AnyJSON, _ map[string]any) (any, error) {
		seen = append(seen, name)
		return nil, cause
	})
	if !slices.Equal(seen, []string{"inst.a", "inst.b", "inst.c"}) || !errors.Is(err, cause) || strings.Count(err.Error(), "no") != 3 {
		t.Errorf("all keys are evaluated, in the order of their names: %v, %v", seen, err)
	}
}

// The example of the users' documentation.
func TestDocumentedExportMappings(t *testing.T) {
	inst := installation(t, "", `
blueprint: {}
exports:
  data:
  - name: identifier
    dataRef: identifier
  - name: creds
    dataRef: creds
exportDataMappings:
  identifier: (( identifier ))
  creds:
  - type: aws
    creds: (( aws-credentials ))
  - type: gcp
    creds: (( gcp-credentials ))
`)
	list := exportDefinitions(t, `
- name: identifier
  schema:
    type: string
- name: aws-credentials
  schema:
    type: object
    properties:
      accessKeyID:
        type: string
      accessKeySecret:
        type: string
- name: gcp-credentials
  schema:
    type: object
    properties:
      serviceaccount.yaml:
        type: string
`)
	rendered := decode[map[string]any](t, "{identifier: a, aws-credentials: {accessKeyID: i, accessKeySecret: s}, gcp-credentials: {serviceaccount.yaml: f}}")
	exports, warnings, err := CheckExports(t.Context(), "inst", list, rendered, compileType)
	if err != nil || len(warnings) != 0 {
		t.Fatal(err, warnings)
	}
	if warnings, err = ApplyExportMappings(t.Context(), inst, exports, evaluateSpiff); err != nil || len(warnings) != 0 {
		t.Fatal(err, warnings)
	}
	made, err := MakeExports(inst, exports)
	if err != nil || len(made.DataObjects) != 2 {
		t.Fatal(made, err)
	}
	var compact strings.Builder
	for _, object := range made.DataObjects {
		compact.WriteString(strings.Join(strings.Fields(string(object.Data.RawMessage)), "") + " ")
	}
	if got := compact.String(); got != `"a" [{"creds":{"accessKeyID":"i","accessKeySecret":"s"},"type":"aws"},{"creds":{"serviceaccount.yaml":"f"},"type":"gcp"}] ` {
		t.Errorf("exports %s", got)
	}
}

func TestExportMappings(t *testing.T) {
	const exports = "{endpoint: 'http://x', net.zone: north, exports: itself, secret: hunter2}"
	tests := []struct{ reason, mapping, want, wantError, warning string }{
		{"a new export", "summary: (( endpoint ))", `"http://x"`, "", ""},
		{"a replaced export", "endpoint: (( endpoint \"/api\" ))", `"http://x/api"`, "", ""},
		{"all exports together, for names with dots", `summary: (( exports["net.zone"] ))`, `"north"`, "", ""},
		{"an export called exports", `summary: (( exports.exports ))`, `"itself"`, "", ""},
		{"a Target", "cluster: {type: a, config: (( secret ))}", `{"config":"hunter2","type":"a"}`, "", ""},
		{"a name that does not exist", "summary: (( endpiont ))", "", "unable to template export mapping template (inst: inst).internalExports.summary (it can use endpoint, exports, net.zone, secret): ", ""},
		{"a field that hides the export of its name", "summary: {endpoint: (( a )), a: (( endpoint ))}", "", "its own field endpoint hides the export of this name", ""},
		{"the result is not published", "summry: 5", "", "", "spec.exportDataMappings: summry has no effect: spec.exports does not list it: did you mean summary?"},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			inst := installation(t, "", "blueprint: {}\nexports: {data: [{name: summary, dataRef: a}, {name: endpoint, dataRef: b}], targets: [{name: cluster, target: c}]}\nexportDataMappings:\n  "+test.mapping)
			values := decode[map[string]any](t, exports)
			warnings, err := ApplyExportMappings(t.Context(), inst, values, evaluateSpiff)
			wantError(t, test.reason, err, test.wantError)
			key, _, _ := strings.Cut(test.mapping, ":")
			if test.want != "" && asJSON(t, values[key]) != test.want {
				t.Errorf("%s, want %s", asJSON(t, values[key]), test.want)
			}
			if strings.Join(warnings, "") != test.warning {
				t.Errorf("warnings %v", warnings)
			}
			if err != nil && asJSON(t, values) != asJSON(t, decode[map[string]any](t, exports)) {
				t.Errorf("exports are not changed after an error: %v", values)
			}
		})
	}
	if got := asJSON(t, ExportBindings(nil)); got != `{"exports":{}}` {
		t.Errorf("without exports: %s", got)
	}
}

func TestDidYouMean(t *testing.T) {
	tests := []struct{ reason, name, want string }{
		{"swapped letters", "regoin", ": did you mean region?"},
		{"another case", "REGION", ": did you mean region?"},
		{"a short name is not like every other one", "ab", ""},
		{"nothing like it", "password", ""},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			if got := suggest.DidYouMean(test.name, []string{"zone-of-it", "region"}); got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
	if got := suggest.Enumerate(strings.Split(strings.Repeat("a ", 30), " ")); strings.Count(got, "a") != 20 || !strings.HasSuffix(got, "…") {
		t.Errorf("a long list is cut: %s", got)
	}
}
