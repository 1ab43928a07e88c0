package dataflow

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/base/jsonvalue"
)

const reference = "../../../docs/reference/imports-and-exports.md"

var fence = regexp.MustCompile("(?ms)^```(?:yaml|text) (\\S+)\n(.*?)^```$")

// example is what the blocks of the page have said so far. A blueprint begins a
// new one; an installation replaces the one before.
type example struct {
	info     v1alpha1.Blueprint
	inst     *v1alpha1.Installation
	values   map[string]v1alpha1.AnyJSON
	rendered map[string]any
}

// TestReference reads the examples of the reference page in their order and checks
// the results and messages that it shows for them.
func TestReference(t *testing.T) {
	page, err := os.ReadFile(reference)
	if err != nil {
		t.Fatal(err)
	}
	e := &example{}
	seen := map[string]int{}
	for _, block := range fence.FindAllStringSubmatch(string(page), -1) {
		kind, text := block[1], block[2]
		seen[kind]++
		switch kind {
		case "blueprint":
			*e = example{info: decode[v1alpha1.Blueprint](t, text)}
			e.info.SetDefaults()
		case "installation":
			e.install(t, text)
		case "values":
			e.values = decode[map[string]v1alpha1.AnyJSON](t, text)
		case "imports":
			e.checkImports(t, text)
		case "rendered":
			e.rendered = decode[map[string]any](t, text)
		case "published":
			e.checkPublished(t, text)
		case "messages":
			e.checkMessages(t, text)
		default:
			t.Errorf("what is a block of %s?\n%s", kind, text)
		}
	}
	for kind, atLeast := range map[string]int{"blueprint": 5, "installation": 8, "imports": 4, "published": 2, "messages": 3} {
		t.Run(kind, func(t *testing.T) {
			if seen[kind] < atLeast {
				t.Errorf("only %d blocks of %s were found", seen[kind], kind)
			}
		})
	}
	if all := strings.Count(string(page), "\n```yaml"); all != len(regexp.MustCompile("(?m)^```yaml \\S+$").FindAllString(string(page), -1)) {
		t.Error("an example says not what it is, so that nothing checks it")
	}
}

func (e *example) install(t *testing.T, text string) {
	t.Helper()
	e.inst = installation(t, "", "blueprint: {}\n"+text)
	e.inst.Name = "example"
	e.inst.Spec.Blueprint.Reference = &v1alpha1.RemoteBlueprintReference{ResourceName: "blueprint"}
	e.values, e.rendered = nil, nil
}

// imported is what the controller would have read.
func (e *example) imported(t *testing.T) Imports {
	t.Helper()
	imports := Imports{Data: map[string]DataImport{}, Targets: map[string]*v1alpha1.Target{}}
	for _, from := range References(e.inst) {
		switch from.Type {
		case v1alpha1.ImportTypeData:
			value, ok := e.values[from.Import]
			if !ok {
				t.Fatalf("the page does not tell the value of %s", from.Import)
			}
			imports.Data[from.Import] = DataImport{Value: value}
		case v1alpha1.ImportTypeTarget:
			imports.Targets[from.Import] = target(from.Objects[0].Name, "{}")
		}
	}
	return imports
}

func (e *example) construct(t *testing.T) (Values, []string, error) {
	t.Helper()
	imports := e.imported(t)
	mapped, warnings, err := ApplyImportMappings(t.Context(), e.inst, e.info.Imports, imports, evaluateSpiff)
	if err != nil {
		return Values{}, warnings, err
	}
	values, err := Construct(t.Context(), e.inst.Name, e.info.Imports, imports, mapped, compileType)
	return values, warnings, err
}

func (e *example) checkImports(t *testing.T, text string) {
	t.Helper()
	values, _, err := e.construct(t)
	if err != nil {
		t.Errorf("%v instead of\n%s", err, text)
		return
	}
	got := map[string]any{}
	for name, value := range values.Map() {
		if _, isData := values.Data(name); isData {
			got[name] = value
		}
	}
	want, err := jsonvalue.FromYAML([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, any(got)); diff != "" {
		t.Errorf("imports differ from the page:\n%s", diff)
	}
}

func (e *example) checkPublished(t *testing.T, text string) {
	t.Helper()
	exports, _, err := CheckExports(t.Context(), e.inst.Name, e.info.Exports, e.rendered, compileType)
	if err == nil {
		_, err = ApplyExportMappings(t.Context(), e.inst, exports, evaluateSpiff)
	}
	made := Exports{}
	if err == nil {
		made, err = MakeExports(e.inst, exports)
	}
	if err != nil {
		t.Fatalf("%v instead of\n%s", err, text)
	}
	var objects []metav1.Object
	for _, object := range made.DataObjects {
		objects = append(objects, object)
	}
	for _, object := range made.Targets {
		objects = append(objects, object)
	}
	var shown []any
	if err := yaml.Unmarshal([]byte(text), &shown); err != nil || len(shown) != len(objects) {
		t.Fatalf("%d objects, %v, instead of\n%s", len(objects), err, text)
	}
	for i := range objects {
		whole, err := jsonvalue.FromObject(objects[i])
		if err != nil {
			t.Fatal(err)
		}
		for _, difference := range notIn(whole, shown[i], "") {
			t.Errorf("object %d: %s\n%s", i, difference, text)
		}
	}
}

// notIn returns the fields of a part that the whole does not have.
func notIn(whole, part any, path string) []string {
	fields, isMap := part.(map[string]any)
	if !isMap {
		if cmp.Equal(whole, part) {
			return nil
		}
		return []string{path + " differs"}
	}
	there, isMap := whole.(map[string]any)
	if !isMap {
		return []string{path + " is not a map"}
	}
	var differences []string
	for key, value := range fields {
		differences = append(differences, notIn(there[key], value, path+"/"+key)...)
	}
	return differences
}

func (e *example) checkMessages(t *testing.T, text string) {
	t.Helper()
	_, warnings, err := e.construct(t)
	all := strings.Join(warnings, "\n")
	if err != nil {
		all = errors.Join(err, errors.New(all)).Error()
	}
	for _, line := range strings.Split(strings.TrimRight(text, "\n"), "\n") {
		if !strings.Contains(all, line) {
			t.Errorf("the page shows\n%s\nbut it is\n%s", line, all)
		}
	}
}

// TestReferenceMessages looks up each message of the table in the source.
func TestReferenceMessages(t *testing.T) {
	page, err := os.ReadFile(reference)
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var source strings.Builder
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		source.Write(text)
	}
	_, table, found := strings.Cut(string(page), "| message | what to do |")
	if !found {
		t.Fatal("the table of messages is missing")
	}
	quoted := regexp.MustCompile("`([^`]+)`")
	var checked []string
	for _, row := range strings.Split(table, "\n") {
		cells := strings.Split(row, "|")
		if len(cells) < 3 {
			continue
		}
		for _, message := range quoted.FindAllStringSubmatch(cells[1], -1) {
			for _, part := range strings.Split(message[1], "…") {
				if !strings.Contains(source.String(), strings.TrimSpace(part)) {
					t.Errorf("no message has %q, which is in the table as %q", part, message[1])
				}
			}
			checked = append(checked, message[1])
		}
	}
	slices.Sort(checked)
	if len(slices.Compact(checked)) < 20 {
		t.Errorf("only %d messages were found", len(checked))
	}
}
