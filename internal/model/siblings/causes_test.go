package siblings_test

import (
	"testing"
	"time"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/controller/installation/testbuilders"
	"go.landscaper.dev/internal/model/siblings"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/job/cause"
	"go.landscaper.dev/internal/runtime/job/reasons"
)

// node is a subinstallation of a tree, called name in the blueprint.
func node(name string, phase v1alpha1.InstallationPhase, children ...any) siblings.Tree {
	inst := &v1alpha1.Installation{}
	inst.Name, inst.Annotations = "shop-"+name+"-x1y2z", map[string]string{v1alpha1.SubinstallationNameAnnotation: name}
	inst.Status.JobID, inst.Status.InstallationPhase = "a", phase
	if phase.IsFinal() {
		inst.Status.JobIDFinished = "a"
	}
	tree := siblings.Tree{Inst: inst}
	for _, child := range children {
		switch child := child.(type) {
		case siblings.Tree:
			tree.Subs = append(tree.Subs, child)
		case *v1alpha1.Execution:
			tree.Exec = child
		case string:
			tree.Removed = append(tree.Removed, child)
		}
	}
	return tree
}

// failing is one that has failed, with its error.
func failing(name, reason, message string, children ...any) siblings.Tree {
	tree := node(name, "Failed", children...)
	tree.Inst.Status.LastError = &v1alpha1.Error{Reason: reason, Message: message}
	return tree
}

// stuck is one at work that has shown an obstacle for a time.
func stuck(name, reason, message string, lasting time.Duration, children ...any) siblings.Tree {
	tree := node(name, "Progressing", children...)
	testbuilders.Stuck(tree.Inst, reason, message, lasting)
	return tree
}

func exec(phase v1alpha1.ExecutionPhase, message string) *v1alpha1.Execution {
	e := &v1alpha1.Execution{}
	e.Status.JobID, e.Status.ExecutionPhase = "a", phase
	if phase.IsFailed() {
		e.Status.JobIDFinished, e.Status.LastError = "a", &v1alpha1.Error{Message: message}
		return e
	}
	e.Status.Conditions = []v1alpha1.Condition{{Type: v1alpha1.ReconcilingCondition, Status: v1alpha1.ConditionTrue, Reason: string(reasons.ChildrenBlocked), Message: message}}
	return e
}

const atItem = "no such image; at item web on Target prod"

// TestFailures: the cause at the bottom, whatever the levels above repeat.
func TestFailures(t *testing.T) {
	for _, test := range []struct {
		reason string
		tree   siblings.Tree
		want   string
	}{
		{"no child has failed", node("root", "Progressing", node("a", "Succeeded")), ""},
		{"a child was removed at depth 2", node("root", "Progressing", failing("a", "children failed", "x", failing("b", "children failed", "y", "Installation c-x", failing("d", "children failed", "z", exec("Failed", atItem))))),
			job.Removed("Installation c-x") + "; in a > b\n" + atItem + "; in a > b > d"},
		{"an item of the Execution has failed", node("root", "Progressing", exec("Failed", atItem)), atItem},
		{"an item at depth 3", node("root", "Progressing", failing("a", "children failed", "x", failing("b", "children failed", "y", failing("c", "children failed", "z", exec("Failed", atItem))))), atItem + "; in a > b > c"},
		{"a subinstallation itself", node("root", "Progressing", failing("a", "children failed", "x", failing("b", "TemplatingFailed", "no capacity"))), "no capacity; in a > b"},
		{"a failure that follows from a sibling is not a cause", node("root", "Progressing", failing("a", string(reasons.AllPredecessorsSucceeded), "depending on b"), failing("b", "x", "no capacity")), "no capacity; in b"},
		{"a failure that follows from a sibling is a cause if there is no other", node("root", "Progressing", failing("a", string(reasons.AllPredecessorsSucceeded), "depending on b")), "depending on b; in a"},
		{"a failure of an earlier job is not a cause", node("root", "Progressing", failing("a", "x", "the import is missing", former(exec("Failed", atItem)))), "the import is missing; in a"},
		{"two causes", node("root", "Progressing", failing("a", "x", "1"), exec("Failed", atItem)), "1; in a\n" + atItem},
		{"a sibling that succeeds says nothing", node("root", "Progressing", node("b", "Succeeded", exec("Failed", "old")), failing("a", "x", "1")), "1; in a"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			if got := cause.List(siblings.Failures(test.tree, "a")); got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}

// former is an Execution that an earlier job has left.
func former(e *v1alpha1.Execution) *v1alpha1.Execution {
	e.Status.JobID, e.Status.JobIDFinished = "z", "z"
	return e
}

// TestObstacles: why a job does not continue, as its root shows it.
func TestObstacles(t *testing.T) {
	waits := stuck("a", string(reasons.ChildrenBlocked), "x", time.Minute, stuck("b", string(reasons.ChildrenBlocked), "y", time.Minute, stuck("c", string(reasons.ChildrenBlocked), "z", time.Minute, exec("Progressing", "waiting for Deployment ns/web; at item web on Target prod"))))
	sibling := stuck("d", string(reasons.Waiting), "waiting for Installations a", time.Minute)
	sibling.Inst.Status.LastError = &v1alpha1.Error{Reason: string(reasons.AllPredecessorsFinished)}
	for _, test := range []struct {
		reason string
		tree   siblings.Tree
		want   string
		again  time.Duration
	}{
		{"no child is blocked", node("root", "Progressing", node("a", "Progressing"), exec("Progressing", "")), "", 0},
		{"an item of its own", node("root", "Progressing", exec("Progressing", "waiting")), "waiting", 0},
		{"an item at depth 3", node("root", "Progressing", waits), "waiting for Deployment ns/web; at item web on Target prod; in a > b > c", 0},
		{"a child was removed at depth 1, beside one at work", node("root", "Progressing", stuck("a", string(reasons.ChildrenBlocked), "x", time.Minute, "Execution a-x", node("b", "Progressing"))), job.Removed("Execution a-x") + "; in a", 0},
		{"a wait for a sibling is not a cause", node("root", "Progressing", sibling, waits), "waiting for Deployment ns/web; at item web on Target prod; in a > b > c", 0},
		{"a wait for a sibling is not a cause even alone: the sibling is at work", node("root", "Progressing", sibling, node("a", "Progressing")), "", 0},
		{"a subinstallation that waits itself", node("root", "Progressing", stuck("a", string(reasons.Waiting), "waiting for Context default", time.Minute)), "waiting for Context default; in a", 0},
		{"a subinstallation that retries", node("root", "Progressing", stuck("a", string(reasons.Retrying), "the registry does not answer", time.Minute)), "the registry does not answer; in a", 0},
		{"a wait that has begun just now", node("root", "Progressing", stuck("a", string(reasons.Retrying), "x", 2*time.Second), stuck("b", string(reasons.Retrying), "x", time.Second)), "", 3 * time.Second},
		{"the objects below were not read", node("root", "Progressing", stuck("a", string(reasons.ChildrenBlocked), "x; in b", time.Minute)), "x; in b; in a", 0},
		{"a subinstallation has failed, another one is at work", node("root", "Progressing", failing("a", "x", "no capacity"), node("b", "Progressing")), "no capacity; in a", 0},
		{"an item has failed, a subinstallation is at work", node("root", "Progressing", exec("Failed", atItem), node("b", "Progressing")), atItem, 0},
		{"a wait in an earlier job", node("root", "Progressing", former(exec("Progressing", "old"))), "", 0},
	} {
		t.Run(test.reason, func(t *testing.T) {
			found, again := siblings.Obstacles(test.tree, "a", testbuilders.Noon)
			if got := cause.List(found); got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
			if want := testbuilders.Noon.Add(test.again); again.IsZero() != (test.again == 0) || test.again != 0 && !again.Equal(want) {
				t.Errorf("looks again at %s, want %s", again, want)
			}
		})
	}
}
