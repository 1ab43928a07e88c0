package inspect

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/api/v1alpha1"
)

func condition(kind v1alpha1.ConditionType, status v1alpha1.ConditionStatus, reason, message string) v1alpha1.Condition {
	return v1alpha1.Condition{Type: kind, Status: status, Reason: reason, Message: message}
}

// object builds an Installation that a job has finished for its present spec;
// changes make it another one.
func object(phase string, changes ...func(*v1alpha1.Installation)) *v1alpha1.Installation {
	i := &v1alpha1.Installation{ObjectMeta: metav1.ObjectMeta{Name: "a", Namespace: "ns", UID: "uid-1", Generation: 3, Finalizers: []string{v1alpha1.Finalizer}}}
	i.Status = v1alpha1.InstallationStatus{InstallationPhase: v1alpha1.InstallationPhase(phase), JobID: "j2", JobIDFinished: "j2", ObservedGeneration: 3}
	for _, change := range changes {
		change(i)
	}
	return i
}

func running(i *v1alpha1.Installation) { i.Status.JobIDFinished = "j1" }
func fresh(i *v1alpha1.Installation)   { i.Status = v1alpha1.InstallationStatus{} }
func takenUp(i *v1alpha1.Installation) {
	i.Annotations = map[string]string{v1alpha1.AdmittedAnnotation: string(i.UID)}
}
func newSpec(i *v1alpha1.Installation)     { i.Generation = 4 }
func deleting(i *v1alpha1.Installation)    { i.DeletionTimestamp = &metav1.Time{} }
func handedOver(i *v1alpha1.Installation)  { i.Status.JobID = "j1" }
func otherObject(i *v1alpha1.Installation) { i.UID = "uid-2" }

func asked(operation string) func(*v1alpha1.Installation) {
	return func(i *v1alpha1.Installation) {
		i.Annotations = map[string]string{v1alpha1.OperationAnnotation: operation}
	}
}

func says(conditions ...v1alpha1.Condition) func(*v1alpha1.Installation) {
	return func(i *v1alpha1.Installation) { i.Status.Conditions = conditions }
}

func broken(message string, codes ...v1alpha1.ErrorCode) func(*v1alpha1.Installation) {
	return func(i *v1alpha1.Installation) { i.Status.LastError = &v1alpha1.Error{Message: message, Codes: codes} }
}

func TestState(t *testing.T) {
	const ready, reconciling, stalled = v1alpha1.ReadyCondition, v1alpha1.ReconcilingCondition, v1alpha1.StalledCondition
	tests := []struct {
		reason string
		given  *v1alpha1.Installation
		state  State
		why    string
	}{
		{"a good job for the present spec", object("Succeeded"), Ready, ""},
		{"a good job as an old release wrote it", object("Completed"), Ready, ""},
		{"the message of a ready object is no blocker", object("Succeeded", says(condition(ready, "True", "Succeeded", "the job has succeeded"))), Ready, ""},
		{"no job was requested", object("", fresh), Waiting, "no job was started yet: run landscaper-cli installations reconcile a"},
		{"the job was for another spec", object("Succeeded", newSpec), Waiting, "the spec has changed since the last job: run landscaper-cli installations reconcile a"},
		{"a deletion is due", object("Succeeded", deleting), Waiting, "the deletion has not begun yet"},
		{"the object itself does not call itself ready", object("Succeeded", says(condition(ready, "False", "ExportsMissing", "no exports"))), Waiting, "no exports"},
		{"a job was assigned and not begun, so the phase is that of the last job", object("Failed", running), Waiting, "the job has not begun yet"},
		{"the first job was assigned and not begun", object("", fresh, handedOver), Waiting, "the job has not begun yet"},
		{"work is under way", object("Progressing", running), Running, ""},
		{"work is under way, with news", object("Progressing", running, says(condition(reconciling, "True", "Progressing", "2 of 3"))), Running, "2 of 3"},
		{"our controllers name what they wait for", object("Init", running, says(condition(ready, "False", "Init", "b is not finished"), condition(reconciling, "True", "Waiting", "b is not finished"))), Waiting, "b is not finished"},
		{"other controllers report a wait by a code", object("Progressing", running, broken("b is not finished", v1alpha1.ErrorUnfinished)), Waiting, "b is not finished"},
		{"an error during a job is tried again", object("Init", running, broken("connection refused")), Running, "connection refused"},
		{"the job failed", object("Failed", broken("template x")), Failed, "template x"},
		{"the deletion failed", object("DeleteFailed", broken("c is in use")), Failed, "c is in use"},
		{"nothing more happens by itself", object("Failed", says(condition(stalled, "True", "Failed", "fix it"))), Stalled, "fix it"},
		{"Ready names the blocker better than Stalled", object("Failed", says(condition(stalled, "True", "Failed", "fix it"), condition(ready, "False", "Failed", "no such file"))), Stalled, "no such file"},
		{"a new job makes up for what was stalled", object("Failed", running, says(condition(stalled, "True", "Failed", ""))), Waiting, "the job has not begun yet"},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			node := Tree(Snapshot{Installations: []*v1alpha1.Installation{test.given}}, "ns", "a")
			if node.State != test.state || node.Why() != test.why || node.Ready != (test.state == Ready) {
				t.Errorf("%s (ready %t) because %q, want %s because %q", node.State, node.Ready, node.Why(), test.state, test.why)
			}
		})
	}
}

func TestStateOfUpstreamExecution(t *testing.T) {
	execution := &v1alpha1.Execution{ObjectMeta: metav1.ObjectMeta{Name: "a", Namespace: "ns", Generation: 1}}
	execution.Status = v1alpha1.ExecutionStatus{ExecutionPhase: "Succeeded", JobID: "j", JobIDFinished: "j"}
	if got := executionFacts(execution).state(); got != Ready {
		t.Errorf("an Execution of the public controller, which observes no generation, is %s", got)
	}
	execution.Generation, execution.Status.ObservedGeneration = 2, 1
	if got := executionFacts(execution).state(); got != Waiting {
		t.Errorf("an Execution of ours with a new spec is %s", got)
	}
}

func TestTimes(t *testing.T) {
	early, late := metav1.Unix(100, 0), metav1.Unix(200, 0)
	node := Tree(Snapshot{Installations: []*v1alpha1.Installation{object("Succeeded", func(i *v1alpha1.Installation) {
		i.Status.TransitionTimes = &v1alpha1.TransitionTimes{InitTime: &early, FinishedTime: &late}
	})}}, "ns", "a")
	if !node.StartTime.Equal(&early) || !node.FinishTime.Equal(&late) {
		t.Errorf("from %v to %v; without a trigger time, the beginning of work counts", node.StartTime, node.FinishTime)
	}
}

func TestJudge(t *testing.T) {
	const succeeded, failed, finished, deleted = GoalSucceeded, GoalFailed, GoalFinished, GoalDeleted
	none, after := Start{}, Start{AfterJob: true, JobID: "j2"}
	tests := []struct {
		reason string
		given  *v1alpha1.Installation
		goal   Goal
		start  Start
		want   Result
	}{
		{"done", object("Succeeded"), succeeded, none, Reached},
		{"done is also finished", object("Succeeded"), finished, none, Reached},
		{"a failure is finished", object("Failed"), finished, none, Reached},
		{"a failure can be what is wanted", object("Failed"), failed, none, Reached},
		{"a failed deletion is a failure", object("DeleteFailed", deleting), failed, none, Reached},
		{"a failed Installation does not succeed by itself", object("Failed"), succeeded, none, EndedFailed},
		{"a succeeded Installation does not fail by itself", object("Succeeded"), failed, none, EndedSucceeded},
		{"a running job", object("Progressing", running), succeeded, none, Pending},
		{"the phase is still that of the job before", object("Succeeded", running), finished, none, Pending},
		{"a job was asked for and comes", object("Succeeded", asked("reconcile")), finished, none, Pending},
		{"the failure of the job before does not count either", object("Failed", asked("force-reconcile")), succeeded, none, Pending},
		{"an interrupt may still change the result", object("Succeeded", asked("interrupt")), finished, none, Pending},
		{"an unknown operation is never removed", object("Succeeded", asked("dance")), succeeded, none, Reached},
		{"a job runs and another job is requested", object("Progressing", running, asked("reconcile")), finished, none, Pending},
		{"there was no job yet", object("", fresh), finished, none, Pending},
		{"the job was for another spec", object("Succeeded", newSpec), succeeded, none, Pending},
		{"a deletion is due", object("Succeeded", deleting), finished, none, Pending},
		{"only the next job counts", object("Succeeded"), succeeded, after, Pending},
		{"the next job has ended", object("Succeeded"), succeeded, Start{AfterJob: true, JobID: "j1"}, Reached},
		{"the first job has ended", object("Failed"), succeeded, Start{AfterJob: true}, EndedFailed},
		{"the job that was asked for counts, even if the spec has changed meanwhile", object("Succeeded", newSpec), succeeded, Start{AfterJob: true, JobID: "j1"}, Reached},
		{"a phase that is not final although the job has ended", object("Progressing"), finished, none, Pending},
		{"an Installation that no longer exists is deleted", nil, deleted, none, Reached},
		{"another object took the name", object("Succeeded", otherObject), deleted, Start{UID: "uid-1"}, Reached},
		{"an Installation that no longer exists cannot succeed", nil, succeeded, none, Gone},
		{"the success of another one is not ours", object("Succeeded", otherObject), succeeded, Start{UID: "uid-1"}, Gone},
		{"the deletion was not requested yet", object("Succeeded"), deleted, none, Pending},
		{"the deletion runs", object("Deleting", running, deleting), deleted, none, Pending},
		{"the deletion failed", object("DeleteFailed", deleting), deleted, none, EndedFailed},
		{"a failed deletion that is tried again", object("DeleteFailed", deleting, asked("reconcile")), deleted, none, Pending},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			if got := Judge(test.given, test.goal, test.start); got.Result != test.want {
				t.Errorf("%s (%s), want %s", got.Result, got.Reason, test.want)
			}
		})
	}
}

func TestJudgeSaysWhatToDo(t *testing.T) {
	tests := []struct {
		reason string
		given  *v1alpha1.Installation
		goal   Goal
		want   string
	}{
		{"nothing starts by itself", object("", fresh), GoalFinished, "no job was started yet: run landscaper-cli installations reconcile a"},
		{"a first job that was picked up", object("", fresh, takenUp), GoalFinished, "the job has not begun yet"},
		{"a change alone starts nothing", object("Succeeded", newSpec), GoalFinished, "the spec has changed since the last job: run landscaper-cli installations reconcile a"},
		{"waiting deletes nothing", object("Succeeded"), GoalDeleted, "its deletion has not been requested yet: run kubectl delete installation a"},
		{"while the job runs, the tree knows more", object("Progressing", running), GoalFinished, ""},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			if got := Judge(test.given, test.goal, Start{}); got.Reason != test.want {
				t.Errorf("%q, want %q", got.Reason, test.want)
			}
		})
	}
}

// TestWaitIsNoError: what the controllers write while a job waits is shown as a wait.
func TestWaitIsNoError(t *testing.T) {
	const why = "waiting for Installation db, whose exports are imported"
	node := &Node{}
	installationFacts(object("Init", running, broken(why, v1alpha1.ErrorUnfinished), says(
		condition(v1alpha1.ReadyCondition, "False", "Init", why), condition(v1alpha1.ReconcilingCondition, "True", "Waiting", why), condition(v1alpha1.StalledCondition, "False", "Init", "nothing stands in the way"),
	))).fill(node)
	if node.State != Waiting || node.Reason != "Waiting" || node.Message != why {
		t.Errorf("%+v", node)
	}
}

// TestAbortedExecution: a job that is being aborted says how long it may still take.
func TestAbortedExecution(t *testing.T) {
	execution := &v1alpha1.Execution{ObjectMeta: metav1.ObjectMeta{Name: "a", Namespace: "ns", Annotations: map[string]string{
		v1alpha1.OperationAnnotation: "abort", v1alpha1.AbortTimeAnnotation: "2030-01-02T12:00:30Z",
	}}}
	execution.Status = v1alpha1.ExecutionStatus{ExecutionPhase: "Progressing", JobID: "j"}
	if _, got := executionFacts(execution).blocker(); got != "nothing new is started, and what is at work has until 12:05:30 UTC to end" {
		t.Errorf("it says %q", got)
	}
	execution.Status.JobIDFinished = "j"
	if _, got := executionFacts(execution).blocker(); got != "" {
		t.Errorf("one that has ended says %q", got)
	}
}

// TestWarnings: they change nothing about how an object stands.
func TestWarnings(t *testing.T) {
	inst := object("Succeeded")
	before := Tree(Snapshot{Installations: []*v1alpha1.Installation{inst}}, inst.Namespace, inst.Name)
	inst.Status.Conditions = append(inst.Status.Conditions, v1alpha1.Condition{Type: v1alpha1.WarningsCondition, Status: v1alpha1.ConditionTrue, Message: "m"})
	after := Tree(Snapshot{Installations: []*v1alpha1.Installation{inst}}, inst.Namespace, inst.Name)
	if after.Warnings != "m" || before.Warnings != "" || after.State != before.State {
		t.Errorf("%q, %s", after.Warnings, after.State)
	}
}
