package plan

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/yaml"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/base/jsonvalue"
	"go.landscaper.dev/internal/model/dataflow"
	"go.landscaper.dev/internal/model/validation"
)

// blocks are the YAML blocks of the users' documents, verbatim. The test of the API
// server sends them; here is what they lead to.
const blocks = "../../../test/integration/testdata/documents"

// elsewhere are the blocks that have nothing to do with blueprints or components.
var elsewhere = map[string]string{
	"targetsync-01": "a TargetSync makes Targets, it has no blueprint",
	"targetsync-02": "a TargetSync makes Targets, it has no blueprint",
	"targetsync-03": "a TargetSync makes Targets, it has no blueprint",
	"targetsync-04": "the kubeconfig of a Target, which no blueprint looks into",
}

// TestDocumentBlocks works out what the blocks of the users' documents show.
func TestDocumentBlocks(t *testing.T) {
	d := documents{}
	tests := []struct {
		shows string
		run   func(*testing.T, documents)
	}{
		{"the overview of an Installation", overview},
		{"the parts of the overview that are comments", overviewComments},
		{"a component descriptor by reference", remoteDescriptor},
		{"an inline component descriptor", inlineDescriptor},
		{"descriptors nested in labels", nestedDescriptor},
		{"a blueprint as a resource of a component", remoteBlueprint},
		{"an inline blueprint", inlineBlueprint},
		{"imports of data", dataImports},
		{"imports of Targets", targetImports},
		{"import data mappings", importMappings},
		{"the example of import data mappings", importMappingExample},
		{"exports of data", dataExports},
		{"exports of Targets", targetExports},
		{"export data mappings", exportMappings},
		{"the example of export data mappings", exportMappingExample},
		{"a second Target for checks and exports", secondTarget},
	}
	for _, test := range tests {
		t.Run(test.shows, func(t *testing.T) { test.run(t, d) })
	}
	files, err := filepath.Glob(filepath.Join(blocks, "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".yaml")
		if reason := elsewhere[name]; d[name] == (reason != "") {
			t.Errorf("block %s: used %v, left out because %q: it must be one of them", name, d[name], reason)
		}
	}
}

// correction turns a block into something that can be worked out: it fills a
// placeholder, or mends what is broken in the document.
type correction struct {
	why, from, to string
}

// documents remembers which blocks were used.
type documents map[string]bool

// block returns a block with corrections.
func (d documents) block(t *testing.T, name string, corrections ...correction) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(blocks, name+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	d[name] = true
	return corrected(t, string(content), corrections...)
}

func corrected(t *testing.T, text string, corrections ...correction) string {
	t.Helper()
	for _, c := range corrections {
		if !strings.Contains(text, c.from) {
			t.Fatalf("the correction %q (%s) does not apply to\n%s", c.from, c.why, text)
		}
		text = strings.ReplaceAll(text, c.from, c.to)
	}
	return text
}

// anyBlueprint is for blocks that leave the blueprint out.
var anyBlueprint = correction{why: "an Installation has a blueprint", from: "spec:\n", to: "spec:\n  blueprint: {ref: {resourceName: any}}\n"}

// documentInstallation reads an Installation like the API server.
func documentInstallation(t *testing.T, text string) *v1alpha1.Installation {
	t.Helper()
	inst := &v1alpha1.Installation{}
	inst.Name, inst.Namespace, inst.UID = "document", "space", "uid"
	if err := yaml.UnmarshalStrict([]byte(text), inst); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	if errs := validation.Installation(inst, nil); len(errs) > 0 {
		t.Fatalf("%v in\n%s", errs.ToAggregate(), text)
	}
	return inst
}

// part makes an Installation of a part of its specification.
func part(t *testing.T, text string) *v1alpha1.Installation {
	t.Helper()
	return documentInstallation(t, "spec:\n  blueprint: {ref: {resourceName: any}}\n  "+strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n  ")+"\n")
}

// stored holds values of objects by "Kind namespace/name key".
type stored map[string]string

// Data implements dataflow.Objects.
func (s stored) Data(_ context.Context, object dataflow.Object) (dataflow.DataImport, error) {
	value, ok := s[strings.TrimSpace(string(object.Kind)+" "+object.Namespace+"/"+object.Name+" "+object.Key)]
	if !ok {
		return dataflow.DataImport{}, dataflow.ErrMissing
	}
	raw, err := yaml.YAMLToJSON([]byte(value))
	return dataflow.DataImport{Value: v1alpha1.NewAnyJSON(raw)}, err
}

// Target implements dataflow.Objects.
func (s stored) Target(_ context.Context, object dataflow.Object) (*v1alpha1.Target, error) {
	if _, ok := s["Target "+object.Namespace+"/"+object.Name]; !ok {
		return nil, dataflow.ErrMissing
	}
	return target(object.Name), nil
}

// Targets implements dataflow.Objects.
func (s stored) Targets(context.Context, string, labels.Selector) ([]*v1alpha1.Target, error) {
	return nil, nil
}

// documentPlan works out an Installation of a document.
func documentPlan(t *testing.T, inst *v1alpha1.Installation, description string, objects stored) (*Plan, error) {
	t.Helper()
	read, err := dataflow.Read(t.Context(), inst, objects)
	if err != nil {
		return nil, err
	}
	return New(t.Context(), Input{Installation: inst, Blueprint: load(t, description), Imports: read})
}

func mustPlan(t *testing.T, inst *v1alpha1.Installation, description string, objects stored) *Plan {
	t.Helper()
	made, err := documentPlan(t, inst, description, objects)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// wantYAML compares values with YAML.
func wantYAML(t *testing.T, what string, got any, want string) {
	t.Helper()
	value, err := jsonvalue.FromObject(got)
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	text, err := yaml.Marshal(value)
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	wanted, err := jsonvalue.FromYAML([]byte(want))
	if err != nil {
		t.Fatalf("%s: %v in\n%s", what, err, want)
	}
	wantedText, err := yaml.Marshal(wanted)
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	if string(text) != string(wantedText) {
		t.Errorf("%s: got\n%s\nwant\n%s", what, text, wantedText)
	}
}

func wantError(t *testing.T, what string, err error, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%s: got %v, want %q", what, err, part)
		}
	}
}

// configs are the configurations of deploy items by their names.
func configs(t *testing.T, items v1alpha1.DeployItemTemplateList) map[string]any {
	t.Helper()
	all := map[string]any{}
	for i := range items {
		if items[i].Configuration == nil {
			all[items[i].Name] = nil
			continue
		}
		value, err := jsonvalue.FromJSON(items[i].Configuration.Raw)
		if err != nil {
			t.Fatal(err)
		}
		all[items[i].Name] = value
	}
	return all
}
