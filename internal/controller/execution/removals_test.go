package execution

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/job/reasons"
	"go.landscaper.dev/internal/runtime/reporter"
)

// keptOne lets an item have kept an object for the removal round.
func keptOne(item *v1alpha1.DeployItem) {
	item.Status.Conditions = []v1alpha1.Condition{{Type: v1alpha1.PendingRemovalsCondition, Status: v1alpha1.ConditionTrue, Reason: "Kept", Message: "ConfigMap ns/x is kept"}}
}

// keptSome lets the Execution have kept something.
func keptSome(s *snapshot) {
	s.exec.Status.Conditions = []v1alpha1.Condition{{Type: v1alpha1.PendingRemovalsCondition, Status: v1alpha1.ConditionTrue, Reason: string(reasons.Kept)}}
}

// removingParent has a job whose removal round is under way.
func removingParent(id string) option {
	return func(s *snapshot) {
		parent(id, "", "Progressing")(s)
		s.parent.Status.Conditions = []v1alpha1.Condition{{Type: v1alpha1.PendingRemovalsCondition, Status: v1alpha1.ConditionTrue, Reason: string(reasons.Removing)}}
	}
}

func TestDecideRemovals(t *testing.T) {
	const round = "a-removal"
	top, itself := parent("a", "", "Progressing"), "the step itself"
	old := func(id, finished string, phase v1alpha1.DeployItemPhase, more ...func(*v1alpha1.DeployItem)) option {
		return has("old", id, finished, phase, append([]func(*v1alpha1.DeployItem){deployed}, more...)...)
	}
	tests := []struct {
		reason  string
		options []option
		want    step
		items   string
		wake    string
	}{
		// The first round.
		{"a held item does not keep the new one waiting", []option{jobs("a", "", "Progressing"), top, wants("new"), renders("t"), has("new", "", "", ""), old("z", "z", "Succeeded")}, trigger, "new", itself},
		{"a held item does not count for the end of the job", []option{jobs("a", "", "Progressing"), top, wants("new"), renders("t"), has("new", "a", "a", "Succeeded"), old("z", "z", "Succeeded")}, complete, "", itself},
		{"a held item stays when the new one fails", []option{jobs("a", "", "Progressing"), top, wants("new"), renders("t"), has("new", "a", "a", "Failed"), old("z", "z", "Succeeded")}, fail, "", itself},
		{"an interruption does not change a held item", []option{interrupted, jobs("a", "", "Progressing"), top, wants("new"), renders("t"), has("new", "", "", ""), old("z", "z", "Succeeded")}, interrupt, "new", itself},
		{"an abort that comes too late does not change a held item", []option{abort(time.Minute), jobs("a", "", "Progressing"), top, wants("new"), renders("t"), has("new", "a", "a", "Succeeded"), old("z", "z", "Succeeded")}, complete, "", itself},
		{"without a parent no removal round follows: a held item is deleted at the end of the first one", []option{jobs("a", "", "Progressing"), wants("new"), renders("t"), has("new", "a", "a", "Succeeded"), old("z", "z", "Succeeded")}, erase, "old", itself},
		{"without a parent, a terminating held item gets the job", []option{jobs("a", "", "Progressing"), wants("new"), renders("t"), has("new", "a", "a", "Succeeded"), old("z", "z", "Succeeded", goes)}, trigger, "old", itself},
		{"without a parent, the job ends when the held item is deleted", []option{jobs("a", "", "Progressing"), wants("new"), renders("t"), has("new", "a", "a", "Succeeded"), old("a", "a", "Succeeded", goes)}, rest, "", "DeployItem x-old"},
		{"a data update deploys an item that has kept something", []option{jobs("b", "a", "Succeeded"), updating("b", true), wants("new"), has("new", "a", "a", "Succeeded", keptOne)}, begin, "", itself},

		// How the round comes.
		{"the round begins, and something is kept", []option{jobs("a", "a", "Succeeded"), removingParent("a"), keptSome}, adopt, "", itself},
		{"the round begins, and nothing is kept", []option{jobs("a", "a", "Succeeded"), removingParent("a")}, rest, "", "nothing, the job has ended"},
		{"the removal round has ended here", []option{jobs(round, round, "Succeeded"), removingParent("a")}, rest, "", "nothing, the job has ended"},
		{"the round of a subinstallation", []option{jobs("a", "a", "Succeeded"), parent(round, "a", "Progressing"), keptSome}, adopt, "", itself},
		{"a subinstallation is deleted in the removal round", []option{deleting, finalized, jobs("z", "z", "Succeeded"), parent(round, "z", "Deleting")}, adopt, "", itself},
		{"a job after a round that has failed here", []option{jobs(round, round, "Failed"), parent("b", "a", "Progressing"), keptSome}, adopt, "", itself},
		{"no item is written in the round", []option{jobs(round, "a", "Succeeded"), removingParent("a"), wants("new"), has("new", "a", "a", "Succeeded", keptOne)}, beginRemovals, "", itself},
		{"a user has deleted the Execution before the removal round: the next job deletes it, and not this one", []option{deleting, finalized, jobs(round, "a", "Succeeded"), removingParent("a"), wants("new"), has("new", "a", "a", "Succeeded"), old("z", "z", "Succeeded")}, beginRemovals, "", itself},
		{"a removal round of a terminating Execution deletes what is not wanted", []option{deleting, finalized, jobs(round, "a", "Progressing"), removingParent("a"), wants("new"), has("new", "a", "a", "Succeeded"), old("z", "z", "Succeeded")}, erase, "old", itself},
		{"an Execution is deleted by the removal round of its Installation, which is not wanted any more", []option{deleting, finalized, jobs(round, "z", "Succeeded"), parent(round, "z", "Deleting"), has("one", "z", "z", "Succeeded")}, beginDeletion, "", itself},
		{"a beginning that was cut short", []option{jobs(round, "a", "Init"), removingParent("a")}, beginRemovals, "", itself},
		{"an abort comes before the removal round", []option{abort(time.Minute), jobs(round, "a", "Succeeded"), removingParent("a")}, fail, "", itself},

		// The round.
		{"a held item is deleted", []option{jobs(round, "a", "Progressing"), wants("new"), has("new", "a", "a", "Succeeded"), old("z", "z", "Succeeded")}, erase, "old", itself},
		{"a terminating held item gets the removal round", []option{jobs(round, "a", "Progressing"), wants("new"), has("new", "a", "a", "Succeeded"), old("z", "z", "Succeeded", goes)}, trigger, "old", itself},
		{"a held item that must not be uninstalled is deleted without the removal round", []option{jobs(round, "a", "Progressing"), old("z", "z", "Succeeded", goes, keepsInstalled)}, letGo, "old", itself},
		{"an item that has kept something gets the round", []option{jobs(round, "a", "Progressing"), wants("one", "two"), has("one", "a", "a", "Succeeded"), has("two", "a", "a", "Succeeded", keptOne)}, trigger, "two", itself},
		{"an item is at work in the removal round", []option{jobs(round, "a", "Progressing"), wants("one", "two"), has("one", "a", "a", "Succeeded"), has("two", round, "a", "Progressing", keptOne)}, rest, "", "DeployItem x-two"},
		{"an item has removed all that it had kept", []option{jobs(round, "a", "Progressing"), wants("one", "two"), has("one", "a", "a", "Succeeded"), has("two", round, round, "Succeeded")}, complete, "", itself},
		{"an item has kept something again, which another round would not change", []option{jobs(round, "a", "Progressing"), wants("two"), has("two", round, round, "Succeeded", keptOne)}, complete, "", itself},
		{"an item cannot remove all that it had kept", []option{jobs(round, "a", "Progressing"), wants("two"), has("two", round, round, "Failed", keptOne)}, fail, "", itself},
		{"an item is not deleted before its dependents", []option{jobs(round, "a", "Progressing"), wants("one", "two<one"), has("one", "a", "a", "Succeeded", keptOne), has("two", "a", "a", "Succeeded", keptOne)}, trigger, "two", itself},
		{"an item is deleted after its dependents", []option{jobs(round, "a", "Progressing"), wants("one", "two<one"), has("one", "a", "a", "Succeeded", keptOne), has("two", round, round, "Succeeded")}, trigger, "one", itself},
		{"items that depended on each other at different times do not wait for ever", []option{jobs(round, "a", "Progressing"), wants("one", "two<one"), has("one", "a", "a", "Succeeded", keptOne), has("two", "a", "a", "Succeeded", keptOne), old("z", "z", "Succeeded", goes, after("old2")), has("old2", "z", "z", "Succeeded", goes, after("old"))}, trigger, "two", itself},
		{"items in a cycle are deleted together", []option{jobs(round, "a", "Progressing"), old("z", "z", "Succeeded", goes, after("old2")), has("old2", "z", "z", "Succeeded", goes, after("old"))}, trigger, "old,old2", itself},
		{"a failure does not stop the other items", []option{jobs(round, "a", "Progressing"), wants("one", "two"), has("one", round, round, "Failed", keptOne), has("two", "a", "a", "Succeeded", keptOne)}, trigger, "two", itself},
		{"a wanted item was deleted meanwhile", []option{jobs(round, "a", "Progressing"), wants("one")}, fail, "", itself},
		{"a wanted item that another client has deleted waits for the next job", []option{jobs(round, "a", "Progressing"), wants("one"), has("one", "a", "a", "Succeeded", keptOne, goes)}, complete, "", itself},
		{"no deployer picks up the removal round", []option{jobs(round, "a", "Progressing"), wants("one"), has("one", round, "a", "Succeeded", keptOne, triggeredAt(noon.Add(-time.Hour)))}, expire, "one", itself},
		{"an interruption ends only the items of the removal round", []option{interrupted, jobs(round, "a", "Progressing"), wants("one", "two"), has("one", "a", "a", "Succeeded"), has("two", round, "a", "Progressing", keptOne), old("z", "z", "Succeeded", goes)}, interrupt, "two,old", itself},
		{"an abort waits for items at work", []option{abort(time.Minute), jobs(round, "a", "Progressing"), wants("one"), has("one", round, "a", "Progressing", keptOne)}, rest, "", "DeployItem x-one, the time 2030-01-02T12:04:00Z"},
		{"an abort deletes nothing more", []option{abort(time.Minute), jobs(round, "a", "Progressing"), wants("one"), has("one", round, round, "Succeeded"), old("z", "z", "Succeeded", goes)}, fail, "", itself},
		{"an abort of a round that is over", []option{abort(time.Minute), jobs(round, "a", "Progressing"), wants("one"), has("one", round, round, "Succeeded")}, complete, "", itself},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			got := decide(snapshotWith(test.options...))
			if got.do != test.want || got.wake.String() != test.wake || itemNames(got.items) != test.items {
				t.Errorf("%s (%s) and waits for %s, want %s (%s) and %s: %v", got.do, itemNames(got.items), got.wake, test.want, test.items, test.wake, got.err)
			}
		})
	}
}

// TestNoteRemovals: what the status says of kept and held items, and without any.
func TestNoteRemovals(t *testing.T) {
	for _, test := range []struct {
		reason  string
		options []option
		want    string
	}{
		{"nothing is kept", []option{keptSome, wants("one"), has("one", "a", "a", "Succeeded")}, ""},
		{"an item is held", []option{has("old", "z", "z", "Succeeded")}, `deploy item "old" is not wanted any more: removed at the end of the job unless another part takes its objects over`},
		{"an item is being deleted", []option{has("old", "z", "z", "DeleteFailed", goes)}, `deploy item "old" is being deleted`},
		{"an item has kept something", []option{wants("one"), has("one", "a", "a", "Succeeded", keptOne)}, `deploy item "one": ConfigMap ns/x is kept`},
		{"an item has inherited something", []option{wants("one"), has("one", "a", "a", "Succeeded", func(item *v1alpha1.DeployItem) {
			item.Annotations = map[string]string{v1alpha1.InheritedAnnotation: `[{"resource":{"kind":"Namespace","name":"x"}}]`}
		})}, `deploy item "one": Namespace x, which another item had, stays as long as something is in it`},
		{"a user has deleted the Execution in the middle of a job that holds an item", []option{deleting, jobs("a", "", "Completing"), has("old", "z", "z", "Succeeded")}, `deploy item "old" is not wanted any more: removed at the end of the job unless another part takes its objects over`},
		{"the Execution is deleted with all its items", []option{deleting, jobs("a", "", "Deleting"), keptSome, has("old", "z", "z", "Succeeded")}, ""},
	} {
		t.Run(test.reason, func(t *testing.T) {
			s := snapshotWith(test.options...)
			s.noteRemovals(reporter.Execution(s.exec), metav1.NewTime(noon))
			got := ""
			if found := job.Pending(s.exec.Status.Conditions); found != nil {
				got = found.Message
			}
			if got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}

// TestDisown: the Execution of an Installation that is held says so, once, for those that repeat
// its items.
func TestDisown(t *testing.T) {
	held := func(s *snapshot) {
		s.parent.Status.Conditions = []v1alpha1.Condition{{Type: v1alpha1.PendingRemovalsCondition, Status: v1alpha1.ConditionTrue, Reason: string(reasons.NotWanted)}}
	}
	said := func(s *snapshot) { s.exec.Status.Conditions = s.parent.Status.Conditions }
	ended, above := jobs("job", "job", "Succeeded"), parent("job", "job", "Succeeded")
	for _, test := range []struct {
		reason  string
		options []option
		want    step
	}{
		{"the Installation is wanted", []option{ended, above}, rest},
		{"the Installation is held", []option{ended, above, held}, disown},
		{"the Execution has said so already", []option{ended, above, held, said}, rest},
		{"the Execution is being deleted", []option{ended, above, held, deleting}, rest},
		{"the Execution has no Installation", []option{ended}, rest},
	} {
		t.Run(test.reason, func(t *testing.T) {
			if got := decide(snapshotWith(test.options...)); got.do != test.want {
				t.Errorf("%s, want %s", got.do, test.want)
			}
		})
	}
	inst := &v1alpha1.Installation{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: "parent", UID: "uid-1"}}
	held(&snapshot{parent: inst})
	exec := withItems()
	exec.OwnerReferences = []metav1.OwnerReference{{APIVersion: v1alpha1.GroupVersion.String(), Kind: "Installation", Name: "parent", UID: "uid-1"}}
	b := newBench(t, exec, inst)
	for range 2 {
		b.reconcile(t)
	}
	if said := job.Pending(b.execution(t).Status.Conditions); said == nil || said.Reason != string(reasons.NotWanted) {
		t.Errorf("%+v", said)
	}
}
