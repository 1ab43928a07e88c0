package siblings_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/controller/installation/decide"
	"go.landscaper.dev/internal/controller/installation/testbuilders"
	"go.landscaper.dev/internal/model/predicates"
	"go.landscaper.dev/internal/model/siblings"
)

func TestTurnToDeploy(t *testing.T) {
	hint := testbuilders.Sibling("self x")
	hint.Spec.Optimization = &v1alpha1.Optimization{HasNoSiblingImports: true}
	for _, test := range []struct {
		reason string
		self   *v1alpha1.Installation
		others []*v1alpha1.Installation
		parent *v1alpha1.Installation
		never  string
		waits  []string
	}{
		{"no siblings", testbuilders.Sibling("self x"), nil, testbuilders.ParentWith("a", ""), "", nil},
		{"a sibling exports something else", testbuilders.Sibling("self x"), []*v1alpha1.Installation{testbuilders.Sibling("b => y")}, testbuilders.ParentWith("a", ""), "", nil},
		{"the exporter is at work", testbuilders.Sibling("self x"), []*v1alpha1.Installation{testbuilders.Sibling("b => x")}, testbuilders.ParentWith("a", ""), "", []string{"b"}},
		{"the exporter has succeeded", testbuilders.Sibling("self x"), []*v1alpha1.Installation{testbuilders.Ended(testbuilders.Sibling("b => x"), "a", "Succeeded")}, testbuilders.ParentWith("a", ""), "", nil},
		{"the exporter has succeeded in an earlier job: the value is old", testbuilders.Sibling("self x"), []*v1alpha1.Installation{testbuilders.Ended(testbuilders.Sibling("b => x"), "z", "Succeeded")}, testbuilders.ParentWith("a", ""), "", []string{"b"}},
		{"the exporter has succeeded in an earlier job, and the parent does not assign the job any more", testbuilders.Sibling("self x"), []*v1alpha1.Installation{testbuilders.Ended(testbuilders.Sibling("b => x"), "z", "Succeeded")}, testbuilders.ParentWith("a", "a"), "depending on Installation b,", nil},
		{"the parent has begun another job", testbuilders.Sibling("self x"), []*v1alpha1.Installation{testbuilders.Ended(testbuilders.Sibling("b => x"), "z", "Succeeded")}, testbuilders.ParentWith("c", ""), "depending on Installation b,", nil},
		{"the exporter has failed", testbuilders.Sibling("self x"), []*v1alpha1.Installation{testbuilders.Ended(testbuilders.Sibling("b => x"), "a", "Failed")}, testbuilders.ParentWith("a", ""), "depending on Installation b,", nil},
		{"an exporter is at work, and another one has failed: waiting would not help", testbuilders.Sibling("self x y"), []*v1alpha1.Installation{testbuilders.Sibling("b => x"), testbuilders.Ended(testbuilders.Sibling("c => y"), "a", "Failed")}, testbuilders.ParentWith("a", ""), "depending on Installation c,", []string{"b"}},
		{"several exporters are at work", testbuilders.Sibling("self x y"), []*v1alpha1.Installation{testbuilders.Sibling("c => y"), testbuilders.Sibling("b => x")}, testbuilders.ParentWith("a", ""), "", []string{"b", "c"}},
		{"the hint that no sibling is imported from", hint, []*v1alpha1.Installation{testbuilders.Sibling("b => x")}, testbuilders.ParentWith("a", ""), "", nil},
		{"the subinstallation is in a cycle", testbuilders.Sibling("self x => y"), []*v1alpha1.Installation{testbuilders.Sibling("b y => x")}, testbuilders.ParentWith("a", ""), "in a cycle: b -> self -> b: b imports y of self, self imports x of b", nil},
		{"siblings are in a cycle", testbuilders.Sibling("self"), []*v1alpha1.Installation{testbuilders.Sibling("b y => x"), testbuilders.Sibling("c x => y")}, testbuilders.ParentWith("a", ""), "", nil},
		{"an importer from a cycle waits until the cycle has failed", testbuilders.Sibling("self x"), []*v1alpha1.Installation{testbuilders.Sibling("b y => x"), testbuilders.Sibling("c x => y")}, testbuilders.ParentWith("a", ""), "", []string{"b"}},
		{"the subinstallation and a sibling export the same name", testbuilders.Sibling("self => x"), []*v1alpha1.Installation{testbuilders.Sibling("b => x")}, testbuilders.ParentWith("a", ""), "x is exported by Installation b and by Installation self: choose another name", nil},
		{"two siblings export the same name", testbuilders.Sibling("self => y"), []*v1alpha1.Installation{testbuilders.Sibling("b => x"), testbuilders.Sibling("c => x")}, testbuilders.ParentWith("a", ""), "", nil},
	} {
		t.Run(test.reason, func(t *testing.T) {
			all := append(test.others, test.self)
			got := siblings.TurnToDeploy(test.self, test.parent, all, siblings.NewRelations(test.self, all))
			check(t, got, test.never, test.waits)
		})
	}
}

func check(t *testing.T, got siblings.Turn, never string, waits []string) {
	t.Helper()
	if (got.Err == nil) != (never == "") || got.Err != nil && !strings.Contains(got.Err.Error(), never) || !slices.Equal(got.WaitsFor, waits) {
		t.Errorf("%v, %v", got.Err, got.WaitsFor)
	}
}

func TestTurnToGo(t *testing.T) {
	going := testbuilders.ParentWith("a", "")
	going.Status.InstallationPhase = "Deleting"
	later := testbuilders.ParentWith("a", "")
	later.DeletionTimestamp, later.Status.InstallationPhase = &metav1.Time{Time: time.Unix(1, 0)}, "Progressing"
	ignoring, hint := testbuilders.Sibling("(self) => x"), testbuilders.Sibling("(self) => x")
	ignoring.Annotations = map[string]string{v1alpha1.DeleteIgnoreSuccessorsAnnotation: "true"}
	hint.Spec.Optimization = &v1alpha1.Optimization{HasNoSiblingExports: true}
	for _, test := range []struct {
		reason string
		self   *v1alpha1.Installation
		others []*v1alpha1.Installation
		parent *v1alpha1.Installation
		never  string
		waits  []string
	}{
		{"no sibling imports the export", testbuilders.Sibling("(self) => x"), []*v1alpha1.Installation{testbuilders.Sibling("(b) y")}, going, "", nil},
		{"an importer is being deleted", testbuilders.Sibling("(self) => x"), []*v1alpha1.Installation{testbuilders.Sibling("(b) x")}, going, "", []string{"b"}},
		{"an importer that is not reached yet", testbuilders.Sibling("(self) => x"), []*v1alpha1.Installation{testbuilders.Sibling("b x")}, going, "", []string{"b"}},
		{"an importer could not be deleted", testbuilders.Sibling("(self) => x"), []*v1alpha1.Installation{testbuilders.Ended(testbuilders.Sibling("(b) x"), "a", "DeleteFailed")}, going, "deletion of a sibling failed: Installation b imports", nil},
		{"an importer could not be deleted in an earlier job", testbuilders.Sibling("(self) => x"), []*v1alpha1.Installation{testbuilders.Ended(testbuilders.Sibling("(b) x"), "z", "DeleteFailed")}, going, "", []string{"b"}},
		{"members of a cycle do not wait for each other", testbuilders.Sibling("(self) y => x"), []*v1alpha1.Installation{testbuilders.Sibling("(b) x => y")}, going, "", nil},
		{"the user lets the deletion ignore importers", ignoring, []*v1alpha1.Installation{testbuilders.Sibling("(b) x")}, going, "", nil},
		{"the hint that no sibling imports the exports", hint, []*v1alpha1.Installation{testbuilders.Sibling("(b) x")}, going, "", nil},
		{"the exporter is no longer wanted, and a sibling that stays imports from another one", testbuilders.Sibling("(self) => x"), []*v1alpha1.Installation{testbuilders.Sibling("b x")}, testbuilders.ParentWith("a", ""), "", nil},
		{"neither the exporter nor the importer is wanted", testbuilders.Sibling("(self) => x"), []*v1alpha1.Installation{testbuilders.Sibling("(b) x")}, testbuilders.ParentWith("a", ""), "", []string{"b"}},
		{"the parent is deleted later", testbuilders.Sibling("(self) => x"), []*v1alpha1.Installation{testbuilders.Sibling("b x")}, later, "", nil},
		{"an importer that has ended the job is deleted in another one", testbuilders.Sibling("(self) => x"), []*v1alpha1.Installation{testbuilders.Ended(testbuilders.Sibling("(b) x"), "a", "Failed")}, testbuilders.ParentWith("a", ""), "", nil},
		{"a root waits until importers are deleted", testbuilders.Sibling("(self) => x"), []*v1alpha1.Installation{testbuilders.Sibling("b x")}, nil, "", []string{"b"}},
		{"a root waits for importers that could not be deleted", testbuilders.Sibling("(self) => x"), []*v1alpha1.Installation{testbuilders.Ended(testbuilders.Sibling("(b) x"), "a", "DeleteFailed")}, nil, "", []string{"b"}},
	} {
		t.Run(test.reason, func(t *testing.T) {
			all := append(test.others, test.self)
			got := siblings.TurnToDelete(test.self, test.parent, all, siblings.NewRelations(test.self, all))
			check(t, got, test.never, test.waits)
		})
	}
}

// TestCycleOfRoots: a root that waits in a cycle does not export a missing object, unless its job
// has got beyond that.
func TestCycleOfRoots(t *testing.T) {
	importer, exporter := testbuilders.Sibling("self x => y"), testbuilders.Sibling("b y => x")
	exporter.Status.InstallationPhase = "Init"
	all := []*v1alpha1.Installation{importer, exporter}
	missing := testbuilders.Missing("x")
	if got := decide.ByMissing(nil, &decide.Inputs{Missing: missing, Exporters: siblings.ExportersAmong(importer, all, siblings.NewRelations(importer, all), predicates.Triggers{})}, time.Time{}); got.Do != decide.Fail || !strings.Contains(got.Err.Error(), "self -> b -> self") {
		t.Errorf("%s, %v", got.Do, got.Err)
	}
	exporter.Status.InstallationPhase = "Progressing"
	if got := decide.ByMissing(nil, &decide.Inputs{Missing: missing, Exporters: siblings.ExportersAmong(importer, all, siblings.NewRelations(importer, all), predicates.Triggers{})}, time.Time{}); got.Do != decide.Await {
		t.Errorf("%s, %v", got.Do, got.Err)
	}
	if got := decide.ByMissing(testbuilders.ParentWith("a", ""), &decide.Inputs{Missing: missing}, time.Time{}); got.Do != decide.Fail || !strings.Contains(got.Err.Error(), "neither the imports of Installation parent") {
		t.Errorf("%s, %v", got.Do, got.Err)
	}
}

// TestTurnToGoWithTargets: each Target of a list and of a map counts. Upstream overlooks those of a
// map.
func TestTurnToGoWithTargets(t *testing.T) {
	self := testbuilders.Sibling("self")
	self.Spec.Exports.Targets = []v1alpha1.TargetExport{{Name: "made", Target: "made"}}
	for reason, item := range map[string]v1alpha1.TargetImport{
		"one Target":       {Name: "cluster", Target: "made"},
		"an element":       {Name: "clusters", Targets: []string{"other", "made"}},
		"a value of a map": {Name: "clusters", TargetMap: map[string]string{"blue": "other", "green": "made"}},
	} {
		importer := testbuilders.Sibling("b")
		importer.Spec.Imports.Targets = []v1alpha1.TargetImport{item}
		all := []*v1alpha1.Installation{importer, self}
		if got := siblings.TurnToDelete(self, nil, all, siblings.NewRelations(self, all)); len(got.WaitsFor) != 1 || got.WaitsFor[0] != "b" {
			t.Errorf("%s: it waits for %v", reason, got.WaitsFor)
		}
	}
}

// TestImportersFirst: siblings that are to be deleted come after their importers, however far these are,
// and a cycle ends.
func TestImportersFirst(t *testing.T) {
	named := func(name, imports, exports string) *v1alpha1.Installation {
		inst := &v1alpha1.Installation{}
		inst.Name = name
		if imports != "" {
			inst.Spec.Imports.Data = []v1alpha1.DataImport{{Name: "in", DataRef: imports}}
		}
		if exports != "" {
			inst.Spec.Exports.Data = []v1alpha1.DataExport{{Name: "out", DataRef: exports}}
		}
		return inst
	}
	first, second, third, alone := named("first", "", "a"), named("second", "a", "b"), named("third", "b", ""), named("alone", "", "")
	one, other := named("one", "y", "x"), named("other", "x", "y")
	for _, test := range []struct {
		reason  string
		deleted []*v1alpha1.Installation
		want    string
	}{
		{"none", nil, ""},
		{"a chain in the order of its exports", []*v1alpha1.Installation{first, second, third}, "third second first"},
		{"a chain in any order, and one that nothing concerns", []*v1alpha1.Installation{second, alone, third, first}, "third second alone first"},
		{"one that stays says nothing about the others", []*v1alpha1.Installation{first, third}, "first third"},
		{"a cycle", []*v1alpha1.Installation{one, other}, "other one"},
	} {
		all := []*v1alpha1.Installation{first, second, third, alone, one, other}
		var got []string
		for _, inst := range siblings.ImportersFirst(test.deleted, siblings.NewRelations(first, all)) {
			got = append(got, inst.Name)
		}
		if strings.Join(got, " ") != test.want {
			t.Errorf("%s: %q, want %q", test.reason, got, test.want)
		}
	}
}
