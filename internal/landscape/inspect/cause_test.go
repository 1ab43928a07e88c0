package inspect

import (
	"testing"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/job/cause"
	"go.landscaper.dev/internal/runtime/job/reasons"
)

// TestTroubled: what has failed or does not continue, and what leads there.
func TestTroubled(t *testing.T) {
	failed := Snapshot{
		Installations: []*v1alpha1.Installation{named("good"), named("top", func(i *v1alpha1.Installation) {
			i.Status.ExecutionReference = &v1alpha1.ObjectReference{Name: "x"}
		}), named("failed", partOf("top"), func(i *v1alpha1.Installation) { i.Status.InstallationPhase = "Failed" })},
		Executions:  []*v1alpha1.Execution{execution("x")},
		DeployItems: []*v1alpha1.DeployItem{item("i1", "x", "Succeeded"), item("i2", "x", "DeleteFailed")},
	}
	forest := Forest(failed)
	before := outline(forest)
	if got := outline(Troubled(forest)); got != "top(failed x(i2))" {
		t.Errorf("kept %s", got)
	}
	if outline(forest) != before {
		t.Error("the trees that were given have changed")
	}
	waiting := queue("Progressing", "x=works", "y<x=new")
	if got := outline(Troubled(Forest(waiting))); got != "" {
		t.Errorf("kept %s of a tree in which an item is at work and another one waits for its turn", got)
	}
	blocked := waiting.DeployItems[0]
	blocked.Status.Conditions = []v1alpha1.Condition{{Type: v1alpha1.ReconcilingCondition, Status: v1alpha1.ConditionTrue, Reason: string(reasons.Waiting), Message: "waiting for Deployment ns/web"}}
	if got := outline(Troubled(Forest(waiting))); got != "a(a(x y))" {
		t.Errorf("kept %s of a tree in which an item is blocked and another one waits for its turn", got)
	}
	for _, test := range []struct {
		reason string
		item   func(*v1alpha1.DeployItem)
		kept   string
		want   string
	}{
		{"an item waits", atItem("Progressing", string(reasons.Waiting), "waiting for Deployment ns/web"), "root(a(b(c(c(leaf)))))", "waiting for Deployment ns/web; at item leaf on Target prod; in a > b > c"},
		{"an item tries again", atItem("Progressing", string(reasons.Retrying), "connection refused"), "root(a(b(c(c(leaf)))))", "connection refused; at item leaf on Target prod; in a > b > c"},
		{"an item that no deployer has picked up", atItem("", "", ""), "root(a(b(c(c(leaf)))))", "no deployer has picked it up yet (type x/manifest; if this takes long, landscaper-cli doctor says why); at item leaf on Target prod; in a > b > c"},
		{"an item works", atItem("Progressing", "Progressing", "the job is under way"), "", ""},
		{"an item has failed, the root has not ended yet", func(d *v1alpha1.DeployItem) {
			d.Status.Phase, d.Status.JobIDFinished, d.Status.LastError = "Failed", "j2", &v1alpha1.Error{Message: "refused"}
		}, "root(a(b(c(c(leaf)))))", "refused; at item leaf on Target prod; in a > b > c"},
		{"an item has succeeded with warnings", func(d *v1alpha1.DeployItem) {
			d.Status.Phase, d.Status.JobID, d.Status.JobIDFinished = "Succeeded", "j2", "j2"
			d.Status.Conditions = []v1alpha1.Condition{{Type: v1alpha1.WarningsCondition, Status: v1alpha1.ConditionTrue, Message: "unknown field"}}
		}, "root(a(b(c(c(leaf)))))", ""},
	} {
		t.Run(test.reason, func(t *testing.T) {
			forest := Forest(deep(test.item))
			if got := outline(Troubled(forest)); got != test.kept {
				t.Errorf("kept %s, want %s", got, test.kept)
			}
			var causes []cause.Cause
			for _, found := range Causes(forest[0]) {
				causes = append(causes, found.Cause)
			}
			if got := cause.List(causes); got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}

// TestRemovedExecution: what an Installation says of its Execution that another client has
// removed is more than what the items of that still wait for.
func TestRemovedExecution(t *testing.T) {
	snapshot := deep(atItem("Progressing", string(reasons.Waiting), "waiting for Deployment ns/web"))
	snapshot.Executions = nil
	owner := snapshot.Installations[3]
	owner.Status.InstallationPhase, owner.Status.JobIDFinished = "Failed", owner.Status.JobID
	owner.Status.LastError = &v1alpha1.Error{Message: "Execution c was deleted by another client during the job"}
	var causes []cause.Cause
	for _, found := range Causes(Forest(snapshot)[0]) {
		causes = append(causes, found.Cause)
	}
	if got := cause.List(causes); got != "Execution c was deleted by another client during the job; in a > b > c" {
		t.Errorf("%q", got)
	}
}

// TestRequestNotPickedUp: a request that no server picks up leads to the command that says why.
func TestRequestNotPickedUp(t *testing.T) {
	root := named("root", func(i *v1alpha1.Installation) {
		i.Annotations = map[string]string{v1alpha1.OperationAnnotation: "reconcile"}
		i.Status = v1alpha1.InstallationStatus{}
	})
	found := Causes(Forest(Snapshot{Installations: []*v1alpha1.Installation{root}})[0])
	if len(found) != 1 || found[0].Message != `operation "reconcile" has not been picked up yet (if this takes long, landscaper-cli doctor says why)` {
		t.Errorf("%+v", found)
	}
}

// TestRemovedSubinstallation: a subinstallation that another client has removed is in no tree.
// Its parent says it, beside what others wait for.
func TestRemovedSubinstallation(t *testing.T) {
	snapshot := deep(atItem("Progressing", string(reasons.Waiting), "waiting for Deployment ns/web"))
	parent := snapshot.Installations[1]
	parent.Status.SubInstCache = &v1alpha1.SubInstCache{ActiveSubs: []v1alpha1.SubNamePair{{SpecName: "b", ObjectName: "b"}, {SpecName: "d", ObjectName: "d-x"}}}
	list := func() string {
		var causes []cause.Cause
		for _, found := range Causes(Forest(snapshot)[0]) {
			causes = append(causes, found.Cause)
		}
		return cause.List(causes)
	}
	const others = "waiting for Deployment ns/web; at item leaf on Target prod; in a > b > c"
	if got := list(); got != job.Removed("Installation d-x")+"; in a\n"+others {
		t.Errorf("%q", got)
	}
	parent.Status.InstallationPhase = "Deleting"
	if got := list(); got != others {
		t.Errorf("a deletion is no removal: %q", got)
	}
	parent.Status.JobIDFinished, parent.Status.InstallationPhase = parent.Status.JobID, "Succeeded"
	if got := list(); got != "" {
		t.Errorf("after a job that has succeeded: %q", got)
	}
}

// TestReducedTreeLosesNothing: what is left out of a tree was not removed by anybody.
func TestReducedTreeLosesNothing(t *testing.T) {
	snapshot := deep(atItem("Progressing", string(reasons.Waiting), "waiting for Deployment ns/web"))
	parent := snapshot.Installations[1]
	parent.Status.SubInstCache = &v1alpha1.SubInstCache{ActiveSubs: []v1alpha1.SubNamePair{{SpecName: "b", ObjectName: "b"}, {SpecName: "d", ObjectName: "d"}}}
	snapshot.Installations = append(snapshot.Installations, named("d", partOf("a")))
	for _, found := range Causes(Troubled(Forest(snapshot))[0]) {
		if found.Message != "waiting for Deployment ns/web" {
			t.Errorf("%+v", found.Cause)
		}
	}
}

// TestRemovalRound: an object that has ended the job without anything held gets no removal round,
// and waits for no other object. A held object gets nothing else.
func TestRemovalRound(t *testing.T) {
	for _, test := range []struct {
		reason string
		change func(root *v1alpha1.Installation, exec *v1alpha1.Execution, orphan *v1alpha1.DeployItem)
		want   string
	}{
		{"the orphan is held until all others are done", func(*v1alpha1.Installation, *v1alpha1.Execution, *v1alpha1.DeployItem) {}, "waiting for Deployment ns/web; at item wanted"},
		{"the orphan waits for its turn in the removal round", func(root *v1alpha1.Installation, exec *v1alpha1.Execution, orphan *v1alpha1.DeployItem) {
			root.Status.Conditions = []v1alpha1.Condition{condition(v1alpha1.PendingRemovalsCondition, v1alpha1.ConditionTrue, string(reasons.Removing), "")}
			exec.Status.JobID, exec.Status.JobIDFinished = job.RemovalOf("j2"), "j2"
			orphan.Status.JobID = exec.Status.JobID
			orphan.Status.Conditions = []v1alpha1.Condition{condition(v1alpha1.ReconcilingCondition, v1alpha1.ConditionTrue, string(reasons.Waiting), "waiting for the end of ConfigMap ns/app")}
		}, "waiting for the end of ConfigMap ns/app; at item orphan"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			root := named("root", func(i *v1alpha1.Installation) {
				i.Status.InstallationPhase, i.Status.JobID, i.Status.JobIDFinished = "Progressing", "j2", "j1"
				i.Status.ExecutionReference = &v1alpha1.ObjectReference{Name: "x"}
			})
			exec := execution("x", func(e *v1alpha1.Execution) {
				e.Status.ExecutionPhase, e.Status.JobID, e.Status.JobIDFinished = "Progressing", "j2", "j1"
				e.Status.DeployItemCache = &v1alpha1.DeployItemCache{OrphanedDIs: []string{"orphan"}}
			})
			wanted, orphan := item("wanted", "x", "Progressing"), item("orphan", "x", "Succeeded")
			wanted.Labels[v1alpha1.ExecutionManagedNameLabel], orphan.Labels[v1alpha1.ExecutionManagedNameLabel] = "wanted", "orphan"
			wanted.Status.JobID, wanted.Status.JobIDFinished, orphan.Status.JobID, orphan.Status.JobIDFinished = "j2", "j1", "j1", "j1"
			wanted.Status.Conditions = []v1alpha1.Condition{condition(v1alpha1.ReconcilingCondition, v1alpha1.ConditionTrue, string(reasons.Waiting), "waiting for Deployment ns/web")}
			test.change(root, exec, orphan)
			if job.IsRemoval(exec.Status.JobID) {
				wanted.Status.Phase, wanted.Status.JobIDFinished, wanted.Status.Conditions, orphan.Status.Phase = "Succeeded", "j2", nil, "Deleting"
			}
			var causes []cause.Cause
			for _, found := range Causes(Forest(Snapshot{Installations: []*v1alpha1.Installation{root}, Executions: []*v1alpha1.Execution{exec}, DeployItems: []*v1alpha1.DeployItem{wanted, orphan}})[0]) {
				causes = append(causes, found.Cause)
			}
			if got := cause.List(causes); got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}

// TestWarningsNameTargets: as messages do, by the names that people know.
func TestWarningsNameTargets(t *testing.T) {
	snapshot := deep(func(d *v1alpha1.DeployItem) {
		d.Status.Conditions = []v1alpha1.Condition{{Type: v1alpha1.WarningsCondition, Status: v1alpha1.ConditionTrue, Message: "on Target " + d.Spec.Target.Name}}
	})
	said := ""
	Forest(snapshot)[0].Walk(func(node *Node) { said += node.Warnings })
	if said != "on Target prod" {
		t.Errorf("%q", said)
	}
}

// deep is a tree of depth 3 in the middle of its job, with one item at the bottom.
func deep(change func(*v1alpha1.DeployItem)) Snapshot {
	atWork := func(i *v1alpha1.Installation) {
		i.Status.InstallationPhase, i.Status.JobIDFinished = "Progressing", "j1"
	}
	inst := func(name, parent, imported string, more ...func(*v1alpha1.Installation)) *v1alpha1.Installation {
		i := named(name, append(more, atWork)...)
		i.Labels = map[string]string{v1alpha1.EncompassedByLabel: parent}
		i.Annotations = map[string]string{v1alpha1.SubinstallationNameAnnotation: name}
		i.Spec.Imports.Targets = []v1alpha1.TargetImport{{Name: "cluster", Target: imported}}
		return i
	}
	exec := execution("c", func(e *v1alpha1.Execution) { e.Status.ExecutionPhase, e.Status.JobIDFinished = "Progressing", "j1" })
	leaf := item("leaf", "c", "Progressing")
	leaf.Labels[v1alpha1.ExecutionManagedNameLabel] = "leaf"
	leaf.Spec.Type = "x/manifest"
	leaf.Spec.Target = &v1alpha1.ObjectReference{Name: v1alpha1.GenerateDataObjectName(v1alpha1.InstallationScope("b"), "cluster")}
	leaf.Status.JobIDFinished = "j1"
	change(leaf)
	reference := func(i *v1alpha1.Installation) { i.Status.ExecutionReference = &v1alpha1.ObjectReference{Name: "c"} }
	return Snapshot{
		Installations: []*v1alpha1.Installation{inst("root", "", "prod"), inst("a", "root", "cluster"), inst("b", "a", "cluster"), inst("c", "b", "cluster", reference)},
		Executions:    []*v1alpha1.Execution{exec}, DeployItems: []*v1alpha1.DeployItem{leaf},
	}
}

func atItem(phase v1alpha1.DeployItemPhase, reason, message string) func(*v1alpha1.DeployItem) {
	return func(d *v1alpha1.DeployItem) {
		d.Status.Phase = phase
		if reason != "" {
			d.Status.Conditions = []v1alpha1.Condition{condition(v1alpha1.ReconcilingCondition, v1alpha1.ConditionTrue, reason, message)}
		}
	}
}
