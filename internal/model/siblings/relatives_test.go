package siblings_test

import (
	"slices"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/controller/installation/decide"
	"go.landscaper.dev/internal/controller/installation/testbuilders"
	"go.landscaper.dev/internal/model/dataflow"
	"go.landscaper.dev/internal/model/predicates"
	"go.landscaper.dev/internal/model/siblings"
	"go.landscaper.dev/internal/runtime/job/reasons"
)

// TestRelations: the relations of siblings are computed once as long as these have the same imports
// and exports, in any order, and again when one of them changes.
func TestRelations(t *testing.T) {
	self := testbuilders.Sibling("self x => y")
	others := func(wired string) []*v1alpha1.Installation {
		return []*v1alpha1.Installation{self, testbuilders.Sibling(wired)}
	}
	mapped := testbuilders.Sibling("b => x")
	mapped.Spec.Imports.Targets = []v1alpha1.TargetImport{{Name: "t", TargetMap: map[string]string{"k": "y"}}}
	swapped := others("b => x")
	slices.Reverse(swapped)
	ran := others("b => x")
	testbuilders.Ended(ran[1], "b", "Succeeded")
	for _, test := range []struct {
		reason   string
		siblings []*v1alpha1.Installation
		same     bool
		waits    []string
	}{
		{"nothing has changed", others("b => x"), true, []string{"b"}},
		{"another order", swapped, true, []string{"b"}},
		{"a sibling has ended its job", ran, true, []string{"b"}},
		{"a sibling exports something else", others("b => z"), false, nil},
		{"a sibling imports something", others("b y => x"), false, []string{"b"}},
		{"a sibling imports a map", []*v1alpha1.Installation{self, mapped}, false, []string{"b"}},
		{"a sibling has another name", others("c => x"), false, []string{"c"}},
		{"a single Installation", []*v1alpha1.Installation{self}, false, nil},
	} {
		t.Run(test.reason, func(t *testing.T) {
			var relations siblings.Cache
			first := relations.Get(self, others("b => x"))
			got := relations.Get(self, test.siblings)
			if (got == first) != test.same || !slices.Equal(got.Graph.Predecessors("self"), test.waits) {
				t.Errorf("the same: %t, it waits for %v", got == first, got.Graph.Predecessors("self"))
			}
		})
	}
}

// TestImportsOf: which sibling imports something of another; the quick answer misses none.
func TestImportsOf(t *testing.T) {
	targets := testbuilders.Sibling("self")
	targets.Spec.Imports.Targets = []v1alpha1.TargetImport{{Name: "t", Targets: []string{"a", "x"}}}
	direct := testbuilders.Sibling("self #" + v1alpha1.GenerateDataObjectName("Inst.parent", "x"))
	for _, test := range []struct {
		reason             string
		importer, exporter *v1alpha1.Installation
		want               bool
	}{
		{"an import of an export", testbuilders.Sibling("self x"), testbuilders.Sibling("b => x"), true},
		{"an import of something else", testbuilders.Sibling("self x"), testbuilders.Sibling("b => y"), false},
		{"nothing", testbuilders.Sibling("self"), testbuilders.Sibling("b => x"), false},
		{"a longer name", testbuilders.Sibling("self xy"), testbuilders.Sibling("b => x"), false},
		{"a Target of that name is another object", targets, testbuilders.Sibling("b => x"), false},
		{"an import of the object by its real name", direct, testbuilders.Sibling("b => x"), true},
	} {
		t.Run(test.reason, func(t *testing.T) {
			if got := siblings.ImportsFrom(test.importer, test.exporter); got != test.want {
				t.Errorf("got %t", got)
			}
		})
	}
}

// TestImporters: which roots get a job after the success of another one.
func TestImporters(t *testing.T) {
	one := testbuilders.Root(t, "one", []string{"back"}, []string{"x"})
	marked := func(name, annotation string) *v1alpha1.Installation {
		inst := testbuilders.Root(t, name, []string{"x"}, nil)
		inst.Annotations = map[string]string{annotation: "true"}
		return inst
	}
	gone := testbuilders.Root(t, "gone", []string{"x"}, nil)
	testbuilders.Alter(gone, testbuilders.Deleting)
	whole := testbuilders.Root(t, "target", nil, nil)
	if err := yaml.Unmarshal([]byte(`{targets: [{name: t, targetMap: {a: "#y"}}]}`), &whole.Spec.Imports); err != nil {
		t.Fatal(err)
	}
	one.Spec.Exports.Targets = []v1alpha1.TargetExport{{Name: "y", Target: "y"}}
	all := []*v1alpha1.Installation{
		one, testbuilders.Root(t, "two", []string{"x"}, nil), testbuilders.Root(t, "other", []string{"z"}, nil), testbuilders.Root(t, "cycle", []string{"x"}, []string{"back"}),
		marked("skipped", v1alpha1.SkipAnnotation), marked("ignored", v1alpha1.IgnoreAnnotation), gone, whole,
	}
	var names []string
	for _, inst := range siblings.Importers(one, all, siblings.NewRelations(one, all)) {
		names = append(names, inst.Name)
	}
	if !slices.Equal(names, []string{"target", "two"}) && !slices.Equal(names, []string{"two", "target"}) {
		t.Errorf("%v follow", names)
	}
}

// TestExports: what the job of an exporter waits for, and why one without a job has exported nothing.
func TestExports(t *testing.T) {
	errs := testbuilders.Option(func(s *decide.Situation) { s.Inst.Status.LastError = &v1alpha1.Error{Message: "no such image"} })
	stuck := func(reason string) testbuilders.Option {
		return func(s *decide.Situation) { testbuilders.Stuck(s.Inst, reason, "no such kind", time.Minute) }
	}
	for _, test := range []struct {
		reason   string
		options  []testbuilders.Option
		underWay bool
		obstacle string
		absence  string
	}{
		{"an exporter without any request", nil, false, "", "has had no job yet: run landscaper-cli installations reconcile x"},
		{"an exporter that is triggered", []testbuilders.Option{testbuilders.Requested("reconcile")}, true, "", ""},
		{"an exporter that is triggered once more", []testbuilders.Option{testbuilders.Requested("reconcile"), testbuilders.Jobs("a", "a", "Succeeded")}, true, "", ""},
		{"an exporter that has not begun with its job", []testbuilders.Option{testbuilders.Jobs("b", "a", "Succeeded")}, true, "", ""},
		{"an exporter that is at work", []testbuilders.Option{testbuilders.Jobs("b", "a", "Progressing")}, true, "", ""},
		{"an exporter that waits itself", []testbuilders.Option{testbuilders.Jobs("b", "a", "Init"), stuck(string(reasons.Waiting))}, true, "no such kind", ""},
		{"an exporter whose children are blocked", []testbuilders.Option{testbuilders.Jobs("b", "a", "Progressing"), stuck(string(reasons.ChildrenBlocked))}, true, "no such kind", ""},
		{"an exporter that has failed", []testbuilders.Option{testbuilders.Jobs("a", "a", "Failed"), errs}, false, "", "has failed: no such image"},
		{"an exporter that has failed without an error", []testbuilders.Option{testbuilders.Jobs("a", "a", "Failed")}, false, "", "has failed"},
		{"an exporter that has succeeded without the export", []testbuilders.Option{testbuilders.Jobs("a", "a", "Succeeded")}, false, "", ""},
		{"an exporter that is being deleted", []testbuilders.Option{testbuilders.Deleting, testbuilders.Finalized, testbuilders.Jobs("b", "a", "InitDelete")}, false, "", "is being deleted"},
		{"an exporter that is about to be deleted", []testbuilders.Option{testbuilders.Deleting, testbuilders.Finalized, testbuilders.Jobs("a", "a", "Succeeded")}, false, "", "is being deleted"},
		{"an exporter with a job for its deletion", []testbuilders.Option{testbuilders.Deleting, testbuilders.Finalized, testbuilders.Jobs("b", "a", "Succeeded")}, false, "", "is being deleted"},
		{"an exporter whose job ends before its deletion", []testbuilders.Option{testbuilders.Deleting, testbuilders.Finalized, testbuilders.Jobs("b", "a", "Progressing")}, true, "", ""},
	} {
		t.Run(test.reason, func(t *testing.T) {
			inst := testbuilders.Situation(test.options...).Inst
			inst.Spec.Exports.Data = []v1alpha1.DataExport{{Name: "x", DataRef: "db"}}
			inst.Spec.Exports.Targets = []v1alpha1.TargetExport{{Name: "y", Target: "cluster"}}
			first := siblings.Exporter{Name: "x", Kind: dataflow.KindDataObject, Object: "db", Active: test.underWay, Obstacle: test.obstacle, Absence: test.absence}
			if since := inst.Status.PhaseTransitionTime; test.obstacle != "" {
				first.Since = since.Time
			}
			second := first
			second.Kind, second.Object = dataflow.KindTarget, "cluster"
			if got := siblings.Exports(inst, predicates.Triggers{}); !slices.Equal(got, []siblings.Exporter{first, second}) {
				t.Errorf("%+v", got)
			}
		})
	}
}
