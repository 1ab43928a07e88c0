package siblings_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/installation/decide"
	"go.landscaper.dev/internal/installation/given"
	"go.landscaper.dev/internal/model/predicates"
	"go.landscaper.dev/internal/model/siblings"
)

func TestTurnToDeploy(t *testing.T) {
	hint := given.Sibling("self x")
	hint.Spec.Optimization = &v1alpha1.Optimization{HasNoSiblingImports: true}
	for _, test := range []struct {
		reason string
		self   *v1alpha1.Installation
		others []*v1alpha1.Installation
		parent *v1alpha1.Installation
		never  string
		waits  []string
	}{
		{"nobody else", given.Sibling("self x"), nil, given.ParentWith("a", ""), "", nil},
		{"who exports something else", given.Sibling("self x"), []*v1alpha1.Installation{given.Sibling("b => y")}, given.ParentWith("a", ""), "", nil},
		{"who exports it works", given.Sibling("self x"), []*v1alpha1.Installation{given.Sibling("b => x")}, given.ParentWith("a", ""), "", []string{"b"}},
		{"who exports it has succeeded", given.Sibling("self x"), []*v1alpha1.Installation{given.Ended(given.Sibling("b => x"), "a", "Succeeded")}, given.ParentWith("a", ""), "", nil},
		{"in an earlier job: the value is old", given.Sibling("self x"), []*v1alpha1.Installation{given.Ended(given.Sibling("b => x"), "z", "Succeeded")}, given.ParentWith("a", ""), "", []string{"b"}},
		{"and the parent hands the job over no more", given.Sibling("self x"), []*v1alpha1.Installation{given.Ended(given.Sibling("b => x"), "z", "Succeeded")}, given.ParentWith("a", "a"), "depending on Installations b", nil},
		{"the parent has gone on to another job", given.Sibling("self x"), []*v1alpha1.Installation{given.Ended(given.Sibling("b => x"), "z", "Succeeded")}, given.ParentWith("c", ""), "depending on Installations b", nil},
		{"who exports it has failed", given.Sibling("self x"), []*v1alpha1.Installation{given.Ended(given.Sibling("b => x"), "a", "Failed")}, given.ParentWith("a", ""), "depending on Installations b", nil},
		{"one works, one has failed: it is of no use to wait", given.Sibling("self x y"), []*v1alpha1.Installation{given.Sibling("b => x"), given.Ended(given.Sibling("c => y"), "a", "Failed")}, given.ParentWith("a", ""), "depending on Installations c", []string{"b"}},
		{"several work", given.Sibling("self x y"), []*v1alpha1.Installation{given.Sibling("c => y"), given.Sibling("b => x")}, given.ParentWith("a", ""), "", []string{"b", "c"}},
		{"the hint that no sibling is imported from", hint, []*v1alpha1.Installation{given.Sibling("b => x")}, given.ParentWith("a", ""), "", nil},
		{"a circle", given.Sibling("self x => y"), []*v1alpha1.Installation{given.Sibling("b y => x")}, given.ParentWith("a", ""), "in a circle: b -> self -> b: b imports y of self, self imports x of b", nil},
		{"others are in a circle", given.Sibling("self"), []*v1alpha1.Installation{given.Sibling("b y => x"), given.Sibling("c x => y")}, given.ParentWith("a", ""), "", nil},
		{"who needs something of a circle waits until it has failed", given.Sibling("self x"), []*v1alpha1.Installation{given.Sibling("b y => x"), given.Sibling("c x => y")}, given.ParentWith("a", ""), "", []string{"b"}},
		{"two export the same", given.Sibling("self => x"), []*v1alpha1.Installation{given.Sibling("b => x")}, given.ParentWith("a", ""), "x is exported by Installation b and by Installation self: choose another name", nil},
		{"two others export the same", given.Sibling("self => y"), []*v1alpha1.Installation{given.Sibling("b => x"), given.Sibling("c => x")}, given.ParentWith("a", ""), "", nil},
	} {
		t.Run(test.reason, func(t *testing.T) {
			all := append(test.others, test.self)
			got := siblings.TurnToDeploy(test.self, test.parent, all, siblings.Relate(test.self, all))
			check(t, got, test.never, test.waits)
		})
	}
}

func check(t *testing.T, got siblings.Turn, never string, waits []string) {
	t.Helper()
	if (got.Never == nil) != (never == "") || got.Never != nil && !strings.Contains(got.Never.Error(), never) || !slices.Equal(got.Waits, waits) {
		t.Errorf("%v, %v", got.Never, got.Waits)
	}
}

func TestTurnToGo(t *testing.T) {
	going := given.ParentWith("a", "")
	going.Status.InstallationPhase = "Deleting"
	later := given.ParentWith("a", "")
	later.DeletionTimestamp, later.Status.InstallationPhase = &metav1.Time{Time: time.Unix(1, 0)}, "Progressing"
	ignoring, hint := given.Sibling("(self) => x"), given.Sibling("(self) => x")
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
		{"nobody imports it", given.Sibling("(self) => x"), []*v1alpha1.Installation{given.Sibling("(b) y")}, going, "", nil},
		{"an importer is being deleted", given.Sibling("(self) => x"), []*v1alpha1.Installation{given.Sibling("(b) x")}, going, "", []string{"b"}},
		{"an importer that is not reached yet", given.Sibling("(self) => x"), []*v1alpha1.Installation{given.Sibling("b x")}, going, "", []string{"b"}},
		{"an importer could not be deleted", given.Sibling("(self) => x"), []*v1alpha1.Installation{given.Ended(given.Sibling("(b) x"), "a", "DeleteFailed")}, going, "deletion of a sibling failed: Installations b", nil},
		{"in an earlier job", given.Sibling("(self) => x"), []*v1alpha1.Installation{given.Ended(given.Sibling("(b) x"), "z", "DeleteFailed")}, going, "", []string{"b"}},
		{"in a circle nobody is the first", given.Sibling("(self) y => x"), []*v1alpha1.Installation{given.Sibling("(b) x => y")}, going, "", nil},
		{"the user does not mind", ignoring, []*v1alpha1.Installation{given.Sibling("(b) x")}, going, "", nil},
		{"the hint that nobody imports it", hint, []*v1alpha1.Installation{given.Sibling("(b) x")}, going, "", nil},
		{"it is no longer wanted, who stays gets it elsewhere", given.Sibling("(self) => x"), []*v1alpha1.Installation{given.Sibling("b x")}, given.ParentWith("a", ""), "", nil},
		{"none of both is wanted", given.Sibling("(self) => x"), []*v1alpha1.Installation{given.Sibling("(b) x")}, given.ParentWith("a", ""), "", []string{"b"}},
		{"the parent goes later", given.Sibling("(self) => x"), []*v1alpha1.Installation{given.Sibling("b x")}, later, "", nil},
		{"who has ended the job goes in another one", given.Sibling("(self) => x"), []*v1alpha1.Installation{given.Ended(given.Sibling("(b) x"), "a", "Failed")}, given.ParentWith("a", ""), "", nil},
		{"a root waits until importers are gone", given.Sibling("(self) => x"), []*v1alpha1.Installation{given.Sibling("b x")}, nil, "", []string{"b"}},
		{"also if they cannot be deleted", given.Sibling("(self) => x"), []*v1alpha1.Installation{given.Ended(given.Sibling("(b) x"), "a", "DeleteFailed")}, nil, "", []string{"b"}},
	} {
		t.Run(test.reason, func(t *testing.T) {
			all := append(test.others, test.self)
			got := siblings.TurnToGo(test.self, test.parent, all, siblings.Relate(test.self, all))
			check(t, got, test.never, test.waits)
		})
	}
}

// TestCircleOfRoots: who waits in a circle does not bring what is missing, unless it has
// got beyond that.
func TestCircleOfRoots(t *testing.T) {
	importer, exporter := given.Sibling("self x => y"), given.Sibling("b y => x")
	exporter.Status.InstallationPhase = "Init"
	all := []*v1alpha1.Installation{importer, exporter}
	missing := given.Missing("x")
	if got := decide.ByMissing(nil, &decide.Inputs{Missing: missing, Exporters: siblings.ExportersAmong(importer, all, siblings.Relate(importer, all), predicates.Triggers{})}); got.Do != decide.Fail || !strings.Contains(got.Err.Error(), "self -> b -> self") {
		t.Errorf("%s, %v", got.Do, got.Err)
	}
	exporter.Status.InstallationPhase = "Progressing"
	if got := decide.ByMissing(nil, &decide.Inputs{Missing: missing, Exporters: siblings.ExportersAmong(importer, all, siblings.Relate(importer, all), predicates.Triggers{})}); got.Do != decide.Await {
		t.Errorf("%s, %v", got.Do, got.Err)
	}
	if got := decide.ByMissing(given.ParentWith("a", ""), &decide.Inputs{Missing: missing}); got.Do != decide.Fail || !strings.Contains(got.Err.Error(), "neither the imports of Installation parent") {
		t.Errorf("%s, %v", got.Do, got.Err)
	}
}

// TestTurnToGoWithTargets: each Target of a list and of a map counts. The public system
// overlooks those of a map.
func TestTurnToGoWithTargets(t *testing.T) {
	self := given.Sibling("self")
	self.Spec.Exports.Targets = []v1alpha1.TargetExport{{Name: "made", Target: "made"}}
	for reason, item := range map[string]v1alpha1.TargetImport{
		"one Target":       {Name: "cluster", Target: "made"},
		"an element":       {Name: "clusters", Targets: []string{"other", "made"}},
		"a value of a map": {Name: "clusters", TargetMap: map[string]string{"blue": "other", "green": "made"}},
	} {
		importer := given.Sibling("b")
		importer.Spec.Imports.Targets = []v1alpha1.TargetImport{item}
		all := []*v1alpha1.Installation{importer, self}
		if got := siblings.TurnToGo(self, nil, all, siblings.Relate(self, all)); len(got.Waits) != 1 || got.Waits[0] != "b" {
			t.Errorf("%s: it waits for %v", reason, got.Waits)
		}
	}
}
