package inspect

import (
	"testing"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/job/reasons"
)

// keeps lets an Installation keep something.
func keeps(reason string) func(*v1alpha1.Installation) {
	return func(i *v1alpha1.Installation) { i.Status.Conditions = append(i.Status.Conditions, kept(reason)) }
}

func kept(reason string) v1alpha1.Condition {
	return v1alpha1.Condition{Type: v1alpha1.PendingRemovalsCondition, Status: v1alpha1.ConditionTrue, Reason: reason, Message: "kept"}
}

func leavesSub(name string) func(*v1alpha1.Installation) {
	return func(i *v1alpha1.Installation) {
		i.Status.SubInstCache = &v1alpha1.SubInstCache{OrphanedSubs: []string{name}}
	}
}

// held is the queue of an Execution in which some items are not wanted any more.
func heldIn(snapshot Snapshot, names ...string) Snapshot {
	snapshot.Executions[0].Status.DeployItemCache = &v1alpha1.DeployItemCache{OrphanedDIs: names}
	return snapshot
}

// inRound lets the Execution of a queue work for the removal round.
func inRound(snapshot Snapshot) Snapshot {
	keeps(string(reasons.Removing))(snapshot.Installations[0])
	exec := snapshot.Executions[0]
	exec.Status.JobID, exec.Status.JobIDFinished = "j2-removal", "j2"
	return snapshot
}

// inheriting lets an item of a queue have inherited a Namespace.
func inheriting(snapshot Snapshot, at int) Snapshot {
	snapshot.DeployItems[at].Annotations = map[string]string{v1alpha1.InheritedAnnotation: `[{"resource":{"kind":"Namespace","name":"n"}}]`}
	return snapshot
}

// keptBy lets an item of a queue keep something.
func keptBy(snapshot Snapshot, at int) Snapshot {
	snapshot.DeployItems[at].Status.Conditions = []v1alpha1.Condition{kept("Kept")}
	return snapshot
}

// TestHeldItems: what is not wanted any more and kept says so, and nothing else is said of it.
func TestHeldItems(t *testing.T) {
	for _, test := range []struct {
		reason string
		given  Snapshot
		// pending is what is said of the last item, and queued that it waits for its deployer.
		pending                string
		queued, held, outdated bool
	}{
		{"an item that is held gets no job", heldIn(queue("Progressing", "x=works", "y"), "y"), job.NotWanted, false, true, false},
		{"an item that is deleted first waits for its deployer", heldIn(queue("Progressing", "x", "y!"), "y"), "", true, false, true},
		{"an item that has kept something is done", keptBy(queue("Progressing", "x=works", "y=done"), 1), "kept", false, false, false},
		{"an item has kept something and inherited something", inheriting(keptBy(queue("Progressing", "x=works", "y=done"), 1), 1), "kept; Namespace n, which another item had, stays as long as something is in it", false, false, false},
		{"the round is not for one that has kept nothing", inRound(queue("Progressing", "x", "y=done")), "", false, false, false},
		{"the round reaches one that has kept something", keptBy(inRound(queue("Progressing", "y=done")), 0), "kept", true, false, false},
		{"what goes in the round waits for its deployer", inRound(queue("Progressing", "x=done", "y!")), "", true, false, true},
		{"an item that stays is not waited for", inRound(queue("Progressing", "x<y=done", "y!")), "", true, false, true},
	} {
		t.Run(test.reason, func(t *testing.T) {
			items := Tree(test.given, "ns", "a").Children[0].Children
			last := items[len(items)-1]
			if (last.Queued()) != test.queued || !test.queued && last.Message != "" {
				t.Errorf("%s: %s", last.Reason, last.Message)
			}
			if last.PendingRemovals != test.pending || last.Held != test.held || last.Outdated != test.outdated {
				t.Errorf("pending %q, held %t, outdated %t", last.PendingRemovals, last.Held, last.Outdated)
			}
		})
	}
}

// TestHeldSubs: a subinstallation that is not wanted any more is neither outdated nor to blame,
// and a removal round is a part of the job.
func TestHeldSubs(t *testing.T) {
	progressing := func(i *v1alpha1.Installation) { i.Status.InstallationPhase = "Progressing" }
	earlier := func(i *v1alpha1.Installation) { i.Status.JobID, i.Status.JobIDFinished = "j1", "j1" }
	round := func(i *v1alpha1.Installation) {
		i.Status.JobID, i.Status.JobIDFinished = "j2-removal", "j2-removal"
	}
	for _, test := range []struct {
		reason         string
		parent, child  *v1alpha1.Installation
		message        string
		pending        string
		held, outdated bool
	}{
		{"a subinstallation is held while the others are deployed", named("a", running, progressing, leavesSub("b")), named("b", partOf("a"), earlier), "", job.NotWanted, true, false},
		{"the job has failed before anything was removed", named("a", leavesSub("b")), named("b", partOf("a"), earlier), "", job.NotWanted, true, false},
		{"the next job has not come to its children", named("a", running), named("b", partOf("a"), earlier, keeps(string(reasons.NotWanted))), "", job.NotWanted, true, false},
		{"a subinstallation is removed, and its controller has not picked that up", named("a", running, progressing, leavesSub("b"), keeps(string(reasons.Removing))), named("b", partOf("a"), earlier, deleting), notPickedUp, "", false, true},
		{"a subinstallation without anything held in the round", named("a", running, progressing, keeps(string(reasons.Removing))), named("b", partOf("a")), "", "", false, false},
		{"a subinstallation holds something, and has not got the round yet", named("a", running, progressing, keeps(string(reasons.Removing))), named("b", partOf("a"), keeps(string(reasons.Kept))), notPickedUp, "", false, false},
		{"a subinstallation has ended the round", named("a", running, progressing, keeps(string(reasons.Removing))), named("b", partOf("a"), round), "", "", false, false},
		{"the job has ended with the round", named("a"), named("b", partOf("a"), round), "", "", false, false},
	} {
		t.Run(test.reason, func(t *testing.T) {
			tree := Tree(Snapshot{Installations: []*v1alpha1.Installation{test.parent, test.child}}, "ns", "a")
			child := tree.Children[0]
			if child.Message != test.message || child.PendingRemovals != test.pending || child.Held != test.held || child.Outdated != test.outdated {
				t.Errorf("message %q, pending %q, held %t, outdated %t", child.Message, child.PendingRemovals, child.Held, child.Outdated)
			}
			if removing := job.Round(test.parent) != test.parent.Status.JobID; (tree.PendingRemovals == "kept") != removing {
				t.Errorf("the root says %q", tree.PendingRemovals)
			}
		})
	}
}
