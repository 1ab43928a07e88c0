package inspect

import (
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/api/v1alpha1"
)

// queue is an Execution at work with items, each written as name, name<predecessor, or
// with the job that it has: name=job. A name with ! is being deleted.
func queue(phase string, items ...string) Snapshot {
	exec := execution("a", func(e *v1alpha1.Execution) {
		began := metav1.Unix(100, 0)
		e.Status.ExecutionPhase, e.Status.JobIDFinished = v1alpha1.ExecutionPhase(phase), "j1"
		e.Status.TransitionTimes = &v1alpha1.TransitionTimes{TriggerTime: &began}
	})
	snapshot := Snapshot{Executions: []*v1alpha1.Execution{exec}, Installations: []*v1alpha1.Installation{
		named("a", running, func(i *v1alpha1.Installation) {
			i.Status.InstallationPhase = "Progressing"
			i.Status.ExecutionReference = &v1alpha1.ObjectReference{Name: "a"}
		}),
	}}
	for _, text := range items {
		text, job, _ := strings.Cut(text, "=")
		text, before, _ := strings.Cut(text, "<")
		name, deleted := strings.CutSuffix(text, "!")
		d := item(name, "a", "Succeeded")
		d.Labels[v1alpha1.ExecutionManagedNameLabel] = name
		d.Annotations = map[string]string{v1alpha1.ExecutionDependsOnAnnotation: before}
		d.Status.JobID, d.Status.JobIDFinished = "j1", "j1"
		switch job {
		case "new":
			d.Status.Phase, d.Status.JobID, d.Status.JobIDFinished = "", "", ""
		case "works":
			d.Status.Phase, d.Status.JobID = "Progressing", "j2"
		case "done":
			finished := metav1.Unix(200, 0)
			d.Status.JobID, d.Status.JobIDFinished = "j2", "j2"
			d.Status.TransitionTimes = &v1alpha1.TransitionTimes{FinishedTime: &finished}
		}
		if deleted {
			at := metav1.Unix(150, 0)
			d.DeletionTimestamp = &at
		}
		snapshot.DeployItems = append(snapshot.DeployItems, d)
	}
	return snapshot
}

// TestTurns: what an item waits for that has not received the job of its Execution. Where
// the deployer works in the same process, no status tells it.
func TestTurns(t *testing.T) {
	const queued = "no deployer has picked it up yet"
	for _, test := range []struct {
		reason string
		given  Snapshot
		// want is what is said of the items, by their names, and since when they wait.
		want string
	}{
		{"an item that was just created", queue("Progressing", "x=new"), "x: " + queued + " @100"},
		{"an item that has done an earlier job", queue("Progressing", "x"), "x: " + queued + " @100"},
		{"an item in work", queue("Progressing", "x=works"), ""},
		{"an item behind another one", queue("Progressing", "x=works", "y<x=new"), "y: waiting for item x, on which it depends"},
		{"an item behind two others", queue("Progressing", "x=works", "y=works", "z<x,y"), "z: waiting for item x, on which it depends, item y, on which it depends"},
		{"an item that nothing is before any more, since then", queue("Progressing", "x=done", "y<x"), "y: " + queued + " @200"},
		{"an item that names itself does not wait for itself", queue("Progressing", "x<x"), "x: " + queued + " @100"},
		{"an item that is no longer wanted is deleted before others begin", queue("Progressing", "x!", "y=new"), "x: " + queued + " @150"},
		{"a deletion", queue("Deleting", "x!", "y!<x"), "x: waiting for item y, which depends on it, to go|y: " + queued + " @150"},
		{"nothing is asked of an item that is not deleted yet", queue("TriggerDelete", "x"), ""},
		{"nothing is asked of an item before its Execution begins", queue("Init", "x"), ""},
	} {
		t.Run(test.reason, func(t *testing.T) {
			var said []string
			Tree(test.given, "ns", "a").Walk(func(node *Node) {
				if node.Kind != KindDeployItem || node.Message == "" {
					return
				}
				text, _, _ := strings.Cut(node.Name+": "+node.Why(), " (")
				if node.Reason == QueuedReason {
					text += fmt.Sprintf(" @%d", node.Since().Unix())
				}
				if node.Ready || node.State != Waiting {
					t.Errorf("%s is %s", node.Name, node.State)
				}
				said = append(said, text)
			})
			if got := strings.Join(said, "|"); got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}

// TestWaitForTheJobOfTheParent: what a child of an Installation waits for that has not taken its job.
func TestWaitForTheJobOfTheParent(t *testing.T) {
	phase := func(phase v1alpha1.InstallationPhase) func(*v1alpha1.Installation) {
		return func(i *v1alpha1.Installation) { i.Status.InstallationPhase = phase }
	}
	earlier := func(i *v1alpha1.Installation) { i.Status.JobID, i.Status.JobIDFinished = "j1", "j1" }
	propagates := func(i *v1alpha1.Installation) { i.Status.DataUpdate = &v1alpha1.DataUpdate{} }
	for _, test := range []struct {
		reason        string
		parent, child *v1alpha1.Installation
		want          string
	}{
		{"a child whose parent has propagated the job", named("a", running, phase("Progressing")), named("b", partOf("a"), earlier), notPickedUpMessage},
		{"a child whose parent has not propagated the job", named("a", running, phase("Init")), named("b", partOf("a"), earlier), ""},
		{"a child with the job describes its own wait", named("a", running, phase("Progressing")), named("b", partOf("a"), running, phase("Init")), ""},
		{"the job has ended", named("a", phase("Failed")), named("b", partOf("a"), earlier), ""},
		{"a job that propagates values is not for all children", named("a", running, phase("Progressing"), propagates), named("b", partOf("a"), earlier), ""},
		{"a child that is deleted with its parent", named("a", running, phase("Deleting")), named("b", partOf("a"), earlier, deleting), notPickedUpMessage},
		{"a child that is not deleted yet with its parent", named("a", running, phase("Deleting")), named("b", partOf("a"), earlier), ""},
		{"a child that its parent no longer wants", named("a", running, phase("Progressing")), named("b", partOf("a"), earlier, deleting), ""},
	} {
		t.Run(test.reason, func(t *testing.T) {
			test.child.CreationTimestamp = metav1.Unix(100, 0)
			tree := Tree(Snapshot{Installations: []*v1alpha1.Installation{test.parent, test.child}}, "ns", "a")
			child := tree.Children[0]
			if got := child.Message; got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
			if blamed := Blockers(tree); test.want != "" && (len(blamed) != 1 || blamed[0] != child || child.Since().Unix() != 100) {
				t.Errorf("%s is to blame since %v", outline(leaves(blamed)), child.Since())
			}
		})
	}
}

// TestTurnsEnd: nothing is said of items whose Execution has ended, or starts nothing new.
func TestTurnsEnd(t *testing.T) {
	ended := queue("Failed", "x")
	ended.Executions[0].Status.JobIDFinished = "j2"
	aborted := queue("Progressing", "x")
	aborted.Executions[0].Annotations = map[string]string{v1alpha1.OperationAnnotation: string(v1alpha1.AbortOperation)}
	kept := queue("Deleting", "x!")
	kept.DeployItems[0].Annotations[v1alpha1.DeleteWithoutUninstallAnnotation] = "true"
	for reason, given := range map[string]Snapshot{"it has ended": ended, "it is aborted": aborted, "what stays installed needs no deployer": kept} {
		t.Run(reason, func(t *testing.T) {
			if got := Tree(given, "ns", "a").Children[0].Children[0]; got.Reason != "" {
				t.Error(got.Message)
			}
		})
	}
	// A job that was written and not begun is described in the same words.
	written := queue("Progressing", "x=new")
	written.DeployItems[0].Status.JobID = "j2"
	node := Tree(written, "ns", "a").Children[0].Children[0]
	if !strings.HasPrefix(node.Why(), "no deployer has picked it up yet") || node.State != Waiting {
		t.Errorf("%s: %s", node.State, node.Why())
	}
}
