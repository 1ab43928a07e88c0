package inspect

import (
	"fmt"
	"strings"
	"testing"
	"time"

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

const notPickedUp = "its controller has not picked it up yet (if this takes long, landscaper-cli doctor says why)"

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
		{"what is no longer wanted does not wait for what stays", queue("Progressing", "x!", "y<x=works"), "x: " + queued + " @150"},
		{"what is no longer wanted waits for what goes with it", queue("Progressing", "x!", "y!<x"), "x: waiting for item y, which depends on it, to go|y: " + queued + " @150"},
		{"in a removal round, an item goes after one that has kept something and depends on it", inRound(keptBy(queue("Progressing", "x!", "y<x=done"), 1)), "x: waiting for item y, which depends on it, to go|y: " + queued + " @100"},
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
				if node.Queued() {
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
	released := func(i *v1alpha1.Installation) { i.Finalizers = nil }
	propagates := func(i *v1alpha1.Installation) { i.Status.DataUpdate = &v1alpha1.DataUpdate{} }
	for _, test := range []struct {
		reason        string
		parent, child *v1alpha1.Installation
		want          string
	}{
		{"a child whose parent has propagated the job", named("a", running, phase("Progressing")), named("b", partOf("a"), earlier), notPickedUp},
		{"a child whose parent has not propagated the job", named("a", running, phase("Init")), named("b", partOf("a"), earlier), ""},
		{"a child with the job describes its own wait", named("a", running, phase("Progressing")), named("b", partOf("a"), running, phase("Init")), ""},
		{"the job has ended", named("a", phase("Failed")), named("b", partOf("a"), earlier), ""},
		{"a job that propagates values is not for all children", named("a", running, phase("Progressing"), propagates), named("b", partOf("a"), earlier), ""},
		{"a child that is deleted with its parent", named("a", running, phase("Deleting")), named("b", partOf("a"), earlier, deleting), notPickedUp},
		{"a child that is not deleted yet with its parent", named("a", running, phase("Deleting")), named("b", partOf("a"), earlier), ""},
		{"a child that is deleted before its parent creates others", named("a", running, phase("CleanupOrphaned")), named("b", partOf("a"), earlier, deleting), notPickedUp},
		{"a child that another client deletes during the job", named("a", running, phase("Progressing")), named("b", partOf("a"), earlier, deleting), notPickedUp},
		{"a child that only finalizers of others keep", named("a", running, phase("Progressing")), named("b", partOf("a"), earlier, deleting, released), ""},
		{"a parent that could be deleted before its children", named("a", running, phase("Progressing"), released), named("b", partOf("a"), earlier), ""},
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

// TestStanding: what the tree shows in place of a phase that an object does not have, or that is of an
// earlier job.
func TestStanding(t *testing.T) {
	ended := queue("Failed", "y=works", "x<y=new")
	ended.Executions[0].Status.JobIDFinished = "j2"
	written := queue("Progressing", "x=new")
	written.DeployItems[0].Status.JobID = "j2"
	for _, test := range []struct {
		reason, want string
		given        Snapshot
	}{
		{"an item at work", "Progressing", queue("Progressing", "x=works")},
		{"an item behind another one in its first job", "waits for item y", queue("Progressing", "y=works", "x<y=new")},
		{"an item behind two others in its first job", "waits for items w, y", queue("Progressing", "w=works", "y=works", "x<w,y=new")},
		{"an item behind four others in its first job", "waits for items a, b, c and 1 more", queue("Progressing", "a=works", "b=works", "c=works", "d=works", "x<a,b,c,d=new")},
		{"an item behind another one in a later job", "Succeeded (outdated), waits for item y", queue("Progressing", "y=works", "x<y")},
		{"an item that is deleted after another one", "Succeeded (outdated), waits for item y to go", queue("Deleting", "x!", "y!<x")},
		{"an item that no deployer has picked up in its first job", "not picked up", queue("Progressing", "x=new")},
		{"an item that no deployer has picked up in a later job", "Succeeded (outdated)", queue("Progressing", "x")},
		{"an item with a job that no deployer has picked up", "not picked up", written},
		{"an item whose turn did not come before the job ended", "not started", ended},
	} {
		t.Run(test.reason, func(t *testing.T) {
			Tree(test.given, "ns", "a").Walk(func(node *Node) {
				if node.Kind == KindDeployItem && node.Name == "x" && node.Standing() != test.want {
					t.Errorf("%q, want %q", node.Standing(), test.want)
				}
			})
		})
	}
}

// TestAdvice: an object that is about to be picked up needs no advice.
func TestAdvice(t *testing.T) {
	const advice = "landscaper-cli doctor"
	for _, test := range []struct {
		reason string
		now    time.Time
		want   bool
	}{
		{"the item is new", time.Unix(105, 0), false},
		{"the item waits for a time", time.Unix(111, 0), true},
		{"a user looks only once", time.Time{}, true},
	} {
		t.Run(test.reason, func(t *testing.T) {
			given := queue("Progressing", "x=new")
			given.Now = test.now
			why := Tree(given, "ns", "a").Children[0].Children[0].Why()
			if strings.Contains(why, advice) != test.want || !strings.HasPrefix(why, "no deployer has picked it up yet (type ") || !strings.HasSuffix(why, ")") {
				t.Error(why)
			}
			child := named("b", partOf("a"), func(i *v1alpha1.Installation) { i.Status.JobID, i.Status.JobIDFinished = "j1", "j1" })
			child.CreationTimestamp = metav1.Unix(100, 0)
			tree := Tree(Snapshot{Now: test.now, Installations: []*v1alpha1.Installation{named("a", running, func(i *v1alpha1.Installation) { i.Status.InstallationPhase = "Progressing" }), child}}, "ns", "a")
			if why := tree.Children[0].Why(); strings.Contains(why, advice) != test.want {
				t.Error(why)
			}
		})
	}
}
