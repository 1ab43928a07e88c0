package installation

import (
	"slices"
	"testing"

	"sigs.k8s.io/yaml"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/installation/kin"
)

// root is a root with data of given names that it imports and exports.
func root(t *testing.T, name string, imports, exports []string) *v1alpha1.Installation {
	t.Helper()
	inst := &v1alpha1.Installation{}
	inst.Namespace, inst.Name = "n", name
	for _, from := range imports {
		inst.Spec.Imports.Data = append(inst.Spec.Imports.Data, v1alpha1.DataImport{Name: "in-" + from, DataRef: from})
	}
	for _, to := range exports {
		inst.Spec.Exports.Data = append(inst.Spec.Exports.Data, v1alpha1.DataExport{Name: "out-" + to, DataRef: to})
	}
	return inst
}

// TestImporters: who may follow from the success of a root.
func TestImporters(t *testing.T) {
	one := root(t, "one", []string{"back"}, []string{"x"})
	marked := func(name, annotation string) *v1alpha1.Installation {
		inst := root(t, name, []string{"x"}, nil)
		inst.Annotations = map[string]string{annotation: "true"}
		return inst
	}
	gone := root(t, "gone", []string{"x"}, nil)
	alter(gone, deleting)
	whole := root(t, "target", nil, nil)
	if err := yaml.Unmarshal([]byte(`{targets: [{name: t, targetMap: {a: "#y"}}]}`), &whole.Spec.Imports); err != nil {
		t.Fatal(err)
	}
	one.Spec.Exports.Targets = []v1alpha1.TargetExport{{Name: "y", Target: "y"}}
	all := []*v1alpha1.Installation{
		one, root(t, "two", []string{"x"}, nil), root(t, "other", []string{"z"}, nil), root(t, "circle", []string{"x"}, []string{"back"}),
		marked("skipped", v1alpha1.SkipAnnotation), marked("ignored", v1alpha1.IgnoreAnnotation), gone, whole,
	}
	var names []string
	for _, inst := range kin.Importers(one, all, kin.Relate(one, all)) {
		names = append(names, inst.Name)
	}
	if !slices.Equal(names, []string{"target", "two"}) && !slices.Equal(names, []string{"two", "target"}) {
		t.Errorf("%v follow", names)
	}
}

// TestToAsk: what becomes of a root that a job concerns.
func TestToAsk(t *testing.T) {
	for _, test := range []struct {
		reason  string
		options []option
		want    verdict
	}{
		{"it has never run", nil, compareFirst},
		{"it has ended", []option{jobs("a", "a", "Failed")}, compareFirst},
		{"it works, perhaps with the new values already", []option{jobs("b", "a", "Progressing")}, askLater},
		{"it works and will do so again", []option{requested("reconcile"), jobs("b", "a", "Progressing")}, askNever},
		{"it is about to begin", []option{requested("force-reconcile"), jobs("a", "a", "Failed")}, askNever},
		{"an interruption must not be lost", []option{requested("interrupt"), jobs("a", "a", "Failed")}, askLater},
		{"what nobody knows says nothing", []option{requested("dance"), jobs("a", "a", "Failed")}, compareFirst},
		{"somebody has switched that off", []option{annotated(v1alpha1.SkipAnnotation, "true")}, askNever},
		{"it is being deleted", []option{deleting, jobs("a", "a", "Failed")}, askNever},
		{"a subinstallation follows its parent", []option{sub}, askNever},
	} {
		t.Run(test.reason, func(t *testing.T) {
			if got := toAsk(situationWith(test.options...).Inst); got != test.want {
				t.Errorf("%d, want %d", got, test.want)
			}
		})
	}
}
