package dependents

import (
	"testing"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/controller/installation/testbuilders"
	"go.landscaper.dev/internal/model/dataflow"
)

// TestUsed: what shows that a job has used the present value of an import.
func TestUsed(t *testing.T) {
	dependent := testbuilders.Importer(t, "dep", nil)
	target := func(name, kind string) *v1alpha1.Target {
		object := testbuilders.TargetOf(name, kind)
		object.Labels = map[string]string{v1alpha1.DataObjectKeyLabel: "in", v1alpha1.DataObjectJobIDLabel: "a"}
		return object
	}
	inSecret := testbuilders.ImportCopy("dep", `"v"`, "a")
	inSecret.Annotations = map[string]string{v1alpha1.DataObjectSecretAnnotation: "secret"}
	data := dataflow.Reference{Import: "in-x", Type: v1alpha1.ImportTypeData}
	imports := dataflow.Imports{
		Data:    map[string]dataflow.DataImport{"in-x": {Value: v1alpha1.NewAnyJSON([]byte(`{"a": 1, "b": 2}`))}},
		Targets: map[string]*v1alpha1.Target{"in": testbuilders.TargetOf("t", "example.org/x")},
	}
	for _, test := range []struct {
		reason    string
		reference dataflow.Reference
		copies    dataflow.Exports
		want      bool
	}{
		{"an equal value in another form", data, dataflow.Exports{DataObjects: []*v1alpha1.DataObject{testbuilders.ImportCopy("dep", `{"b":2,"a":1}`, "a")}}, true},
		{"another value", data, dataflow.Exports{DataObjects: []*v1alpha1.DataObject{testbuilders.ImportCopy("dep", `{"b":2}`, "a")}}, false},
		{"the value cannot be read", data, dataflow.Exports{DataObjects: []*v1alpha1.DataObject{testbuilders.ImportCopy("dep", `{`, "a")}}, false},
		{"the value is in a Secret", data, dataflow.Exports{DataObjects: []*v1alpha1.DataObject{inSecret}}, false},
		{"an unchanged Target", dataflow.Reference{Import: "in", Type: v1alpha1.ImportTypeTarget}, dataflow.Exports{Targets: []*v1alpha1.Target{target("copy", "example.org/x")}}, true},
		{"another Target", dataflow.Reference{Import: "in", Type: v1alpha1.ImportTypeTarget}, dataflow.Exports{Targets: []*v1alpha1.Target{target("copy", "example.org/y")}}, false},
		{"the elements of a list are not compared", dataflow.Reference{Import: "in", Type: v1alpha1.ImportTypeTargetList}, dataflow.Exports{Targets: []*v1alpha1.Target{target("copy", "example.org/x")}}, false},
	} {
		t.Run(test.reason, func(t *testing.T) {
			if got := used(dependent, test.reference, imports, test.copies); got != test.want {
				t.Errorf("got %t", got)
			}
		})
	}
}
