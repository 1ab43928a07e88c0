package siblings_test

import (
	"slices"
	"testing"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/controller/installation/testbuilders"
	"go.landscaper.dev/internal/model/siblings"
	"go.landscaper.dev/internal/runtime/job/reasons"
)

// parentLeaving is a parent at work in job a that does not want some subinstallations any more.
func parentLeaving(removing bool, names ...string) *v1alpha1.Installation {
	parent := testbuilders.ParentWith("a", "")
	parent.Status.InstallationPhase = v1alpha1.InstallationPhases.Progressing
	parent.Status.SubInstCache = &v1alpha1.SubInstCache{OrphanedSubs: names}
	if removing {
		parent.Status.Conditions = []v1alpha1.Condition{{Type: v1alpha1.PendingRemovalsCondition, Status: v1alpha1.ConditionTrue, Reason: string(reasons.Removing)}}
	}
	return parent
}

// TestStaying: a subinstallation that is held exports nothing, and collides with no sibling.
func TestStaying(t *testing.T) {
	self, new, old := testbuilders.Sibling("self x"), testbuilders.Sibling("new => x"), testbuilders.Sibling("old => x")
	all := []*v1alpha1.Installation{self, new, old}
	for _, test := range []struct {
		reason string
		parent *v1alpha1.Installation
		self   *v1alpha1.Installation
		left   int
		waits  []string
		never  bool
	}{
		{"both export the same name, which is a collision", parentLeaving(false), new, 3, nil, true},
		{"a sibling is held, and another one exports the name", parentLeaving(false, "old"), new, 2, nil, false},
		{"a sibling is held, and the importer waits for another one", parentLeaving(false, "old"), self, 2, []string{"new"}, false},
		{"an Installation that is held knows itself", parentLeaving(false, "old"), old, 3, nil, true},
	} {
		t.Run(test.reason, func(t *testing.T) {
			self := test.self.DeepCopy()
			self.Status.JobID = "a"
			staying := siblings.Wanted(self, test.parent, all)
			if len(staying) != test.left {
				t.Errorf("%d stay", len(staying))
			}
			turn := siblings.TurnToDeploy(self, test.parent, staying, siblings.NewRelations(self, staying))
			if (turn.Err != nil) != test.never || !slices.Equal(turn.WaitsFor, test.waits) {
				t.Errorf("%+v", turn)
			}
		})
	}
}

// TestTurnToGoInARound: a subinstallation that is deleted in a removal round waits for importers
// that are deleted with it.
func TestTurnToGoInARound(t *testing.T) {
	for _, test := range []struct {
		reason string
		other  string
		parent *v1alpha1.Installation
		waits  []string
	}{
		{"both are deleted: the importer first", "(b) x", parentLeaving(true, "self", "b"), []string{"b"}},
		{"the importer stays", "b x", parentLeaving(true, "self"), nil},
		{"another client has deleted the importer, which is deleted with the next job", "(b) x", parentLeaving(true, "self"), nil},
		{"another client has deleted the importer before the round", "(b) x", parentLeaving(false, "self"), []string{"b"}},
	} {
		t.Run(test.reason, func(t *testing.T) {
			self := testbuilders.Sibling("(self) => x")
			self.Status.JobID = "a-removal"
			all := []*v1alpha1.Installation{testbuilders.Sibling(test.other), self}
			if got := siblings.TurnToDelete(self, test.parent, all, siblings.NewRelations(self, all)); got.Err != nil || !slices.Equal(got.WaitsFor, test.waits) {
				t.Errorf("%+v", got)
			}
		})
	}
}
