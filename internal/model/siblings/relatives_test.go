package siblings_test

import (
	"slices"
	"testing"

	"sigs.k8s.io/yaml"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/installation/decide"
	"go.landscaper.dev/internal/installation/given"
	"go.landscaper.dev/internal/model/dataflow"
	"go.landscaper.dev/internal/model/predicates"
	"go.landscaper.dev/internal/model/siblings"
)

// TestRelations: siblings are looked at once as long as they say the same, in whatever
// order they come, and anew when one of them is wired otherwise.
func TestRelations(t *testing.T) {
	self := given.Sibling("self x => y")
	others := func(wired string) []*v1alpha1.Installation {
		return []*v1alpha1.Installation{self, given.Sibling(wired)}
	}
	mapped := given.Sibling("b => x")
	mapped.Spec.Imports.Targets = []v1alpha1.TargetImport{{Name: "t", TargetMap: map[string]string{"k": "y"}}}
	swapped := others("b => x")
	slices.Reverse(swapped)
	ran := others("b => x")
	given.Ended(ran[1], "b", "Succeeded")
	for _, test := range []struct {
		reason   string
		siblings []*v1alpha1.Installation
		same     bool
		waits    []string
	}{
		{"nothing has changed", others("b => x"), true, []string{"b"}},
		{"another order", swapped, true, []string{"b"}},
		{"one has ended its job", ran, true, []string{"b"}},
		{"one exports something else", others("b => z"), false, nil},
		{"one imports something", others("b y => x"), false, []string{"b"}},
		{"one imports a map", []*v1alpha1.Installation{self, mapped}, false, []string{"b"}},
		{"one has another name", others("c => x"), false, []string{"c"}},
		{"one is alone", []*v1alpha1.Installation{self}, false, nil},
	} {
		t.Run(test.reason, func(t *testing.T) {
			var relations siblings.Relations
			first := relations.Of(self, others("b => x"))
			got := relations.Of(self, test.siblings)
			if (got == first) != test.same || !slices.Equal(got.Graph.Predecessors("self"), test.waits) {
				t.Errorf("the same: %t, it waits for %v", got == first, got.Graph.Predecessors("self"))
			}
		})
	}
}

// TestImportsOf: who imports something of whom; the quick answer misses nobody.
func TestImportsOf(t *testing.T) {
	targets := given.Sibling("self")
	targets.Spec.Imports.Targets = []v1alpha1.TargetImport{{Name: "t", Targets: []string{"a", "x"}}}
	direct := given.Sibling("self #" + v1alpha1.GenerateDataObjectName("Inst.parent", "x"))
	for _, test := range []struct {
		reason             string
		importer, exporter *v1alpha1.Installation
		want               bool
	}{
		{"what it exports", given.Sibling("self x"), given.Sibling("b => x"), true},
		{"something else", given.Sibling("self x"), given.Sibling("b => y"), false},
		{"nothing", given.Sibling("self"), given.Sibling("b => x"), false},
		{"a longer name", given.Sibling("self xy"), given.Sibling("b => x"), false},
		{"a Target of that name is something else", targets, given.Sibling("b => x"), false},
		{"the object by its real name", direct, given.Sibling("b => x"), true},
	} {
		t.Run(test.reason, func(t *testing.T) {
			if got := siblings.ImportsFrom(test.importer, test.exporter); got != test.want {
				t.Errorf("got %t", got)
			}
		})
	}
}

// TestImporters: who may follow from the success of a root.
func TestImporters(t *testing.T) {
	one := given.Root(t, "one", []string{"back"}, []string{"x"})
	marked := func(name, annotation string) *v1alpha1.Installation {
		inst := given.Root(t, name, []string{"x"}, nil)
		inst.Annotations = map[string]string{annotation: "true"}
		return inst
	}
	gone := given.Root(t, "gone", []string{"x"}, nil)
	given.Alter(gone, given.Deleting)
	whole := given.Root(t, "target", nil, nil)
	if err := yaml.Unmarshal([]byte(`{targets: [{name: t, targetMap: {a: "#y"}}]}`), &whole.Spec.Imports); err != nil {
		t.Fatal(err)
	}
	one.Spec.Exports.Targets = []v1alpha1.TargetExport{{Name: "y", Target: "y"}}
	all := []*v1alpha1.Installation{
		one, given.Root(t, "two", []string{"x"}, nil), given.Root(t, "other", []string{"z"}, nil), given.Root(t, "circle", []string{"x"}, []string{"back"}),
		marked("skipped", v1alpha1.SkipAnnotation), marked("ignored", v1alpha1.IgnoreAnnotation), gone, whole,
	}
	var names []string
	for _, inst := range siblings.Importers(one, all, siblings.Relate(one, all)) {
		names = append(names, inst.Name)
	}
	if !slices.Equal(names, []string{"target", "two"}) && !slices.Equal(names, []string{"two", "target"}) {
		t.Errorf("%v follow", names)
	}
}

// TestExports: which exporter is under way, and why another one has brought nothing.
func TestExports(t *testing.T) {
	errs := given.Option(func(s *decide.Situation) { s.Inst.Status.LastError = &v1alpha1.Error{Message: "no such image"} })
	for _, test := range []struct {
		reason   string
		options  []given.Option
		underWay bool
		absence  string
	}{
		{"nobody has asked it for anything", nil, false, "has had no job yet: run landscaper-cli installations reconcile x"},
		{"it is triggered", []given.Option{given.Requested("reconcile")}, true, ""},
		{"it is running", []given.Option{given.Jobs("b", "a", "Progressing")}, true, ""},
		{"it has failed", []given.Option{given.Jobs("a", "a", "Failed"), errs}, false, "has failed: no such image"},
		{"it has failed, and does not say why", []given.Option{given.Jobs("a", "a", "Failed")}, false, "has failed"},
		{"it has succeeded without", []given.Option{given.Jobs("a", "a", "Succeeded")}, false, ""},
		{"it is being deleted", []given.Option{given.Deleting, given.Finalized, given.Jobs("b", "a", "InitDelete")}, false, "is being deleted"},
		{"it is about to be deleted", []given.Option{given.Deleting, given.Finalized, given.Jobs("a", "a", "Succeeded")}, false, "is being deleted"},
		{"a deletion of it has been handed over", []given.Option{given.Deleting, given.Finalized, given.Jobs("b", "a", "Succeeded")}, false, "is being deleted"},
		{"its job ends before it is deleted", []given.Option{given.Deleting, given.Finalized, given.Jobs("b", "a", "Progressing")}, true, ""},
	} {
		t.Run(test.reason, func(t *testing.T) {
			inst := given.Situation(test.options...).Inst
			inst.Spec.Exports.Data = []v1alpha1.DataExport{{Name: "x", DataRef: "db"}}
			inst.Spec.Exports.Targets = []v1alpha1.TargetExport{{Name: "y", Target: "cluster"}}
			want := []siblings.Exporter{{Name: "x", Kind: dataflow.KindDataObject, Object: "db", UnderWay: test.underWay, Absence: test.absence}, {Name: "x", Kind: dataflow.KindTarget, Object: "cluster", UnderWay: test.underWay, Absence: test.absence}}
			if got := siblings.Exports(inst, predicates.Triggers{}); !slices.Equal(got, want) {
				t.Errorf("%+v", got)
			}
		})
	}
}
