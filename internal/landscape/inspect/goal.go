package inspect

import (
	"cmp"
	"fmt"

	"k8s.io/apimachinery/pkg/types"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/runtime/job"
)

// Goal is the state of an Installation that a user waits for.
type Goal string

// The goals.
const (
	// GoalSucceeded is reached when the newest job has succeeded.
	GoalSucceeded Goal = "succeeded"
	// GoalFailed is reached when the newest job has failed.
	GoalFailed Goal = "failed"
	// GoalFinished is reached when the newest job has ended.
	GoalFinished Goal = "finished"
	// GoalDeleted is reached when the Installation no longer exists.
	GoalDeleted Goal = "deleted"
)

// Goals are all goals.
var Goals = []Goal{GoalSucceeded, GoalFailed, GoalFinished, GoalDeleted}

// Start is where a wait begins. Its zero value accepts the newest job.
type Start struct {
	// UID is the Installation that is waited for, should another one take its name.
	UID types.UID
	// AfterJob asks for a job other than JobID.
	AfterJob bool
	// JobID is the last job that does not count, with AfterJob.
	JobID string
}

// Result says how far a wait has come.
type Result string

// The results.
const (
	// Pending means that the goal can still be reached.
	Pending Result = "Pending"
	// Reached means that the goal is reached.
	Reached Result = "Reached"
	// EndedFailed means that the newest job ended badly instead.
	EndedFailed Result = "EndedFailed"
	// EndedSucceeded means that the newest job ended well instead.
	EndedSucceeded Result = "EndedSucceeded"
	// Gone means that the Installation was deleted instead.
	Gone Result = "Gone"
)

// Verdict is what Judge finds.
type Verdict struct {
	// Result says how far the wait has come.
	Result Result
	// Reason says why the goal is pending, where the protocol of jobs is the reason; it is empty while
	// the job runs.
	Reason string
}

// Judge says whether an Installation, nil if it does not exist, has reached a goal. The result of a
// job never counts when a newer job was requested.
func Judge(installation *v1alpha1.Installation, goal Goal, start Start) Verdict {
	if installation == nil || start.UID != "" && installation.UID != start.UID {
		if goal == GoalDeleted {
			return Verdict{Result: Reached}
		}
		return Verdict{Result: Gone}
	}
	if reason, settled := settled(installation, start); !settled {
		return Verdict{Result: Pending, Reason: reason}
	}
	failed := installation.Status.InstallationPhase.Current().IsFailed()
	if goal == GoalDeleted {
		return judgeDeletion(installation)
	}
	switch {
	case goal == GoalFinished, (goal == GoalFailed) == failed:
		return Verdict{Result: Reached}
	case failed:
		return Verdict{Result: EndedFailed}
	}
	return Verdict{Result: EndedSucceeded}
}

func judgeDeletion(installation *v1alpha1.Installation) Verdict {
	switch {
	case installation.DeletionTimestamp == nil:
		return Verdict{Result: Pending, Reason: "its deletion has not been requested yet: run kubectl delete installation " + installation.Name}
	case installation.Status.InstallationPhase == v1alpha1.InstallationPhases.DeleteFailed:
		return Verdict{Result: EndedFailed}
	}
	return Verdict{Result: Pending, Reason: cmp.Or(Deferral(installation), "the deletion has not begun yet")}
}

// Deferral is why DeliveryPolicies do not let the next job begin; empty if they do.
func Deferral(installation *v1alpha1.Installation) string {
	if said := installationFacts(installation).deferral(); said != nil {
		return said.Message
	}
	return ""
}

// settled reports whether the newest job has ended and none is due; if not, it says what has to
// happen.
//
// A request counts before a job that has ended: between a request and its job, the status still
// shows the end of the job before.
func settled(installation *v1alpha1.Installation, start Start) (reason string, settled bool) {
	status := installation.Status
	phase := status.InstallationPhase.Current()
	operation := v1alpha1.Operation(installation.Annotations[v1alpha1.OperationAnnotation])
	switch {
	case status.JobID != status.JobIDFinished:
		return unfinished(phase, operation), false
	case starts(operation) || operation == v1alpha1.InterruptOperation:
		return cmp.Or(Deferral(installation), fmt.Sprintf("operation %q has not been picked up yet", operation)), false
	case start.AfterJob && status.JobID == start.JobID:
		return cmp.Or(Deferral(installation), "the new job has not begun yet"), false
	case installation.DeletionTimestamp != nil && !phase.IsDeletion():
		return cmp.Or(Deferral(installation), "the deletion has not begun yet"), false
	case job.Admitted(installation):
		return "the job has not begun yet", false
	case status.JobID == "":
		return "no job was started yet: run landscaper-cli installations reconcile " + installation.Name, false
	case !start.AfterJob && status.ObservedGeneration != installation.Generation:
		return "the spec has changed since the last job: run landscaper-cli installations reconcile " + installation.Name, false
	case !phase.IsFinal():
		return fmt.Sprintf("phase %q is not final", status.InstallationPhase), false
	}
	return "", true
}

// unfinished describes a job that has not ended; the tree says why it runs.
func unfinished(phase v1alpha1.InstallationPhase, operation v1alpha1.Operation) string {
	switch {
	case phase.IsFinal() || phase.IsEmpty():
		return "the job has not begun yet"
	case starts(operation):
		return fmt.Sprintf("operation %q follows when the running job has ended", operation)
	}
	return ""
}

func starts(operation v1alpha1.Operation) bool {
	return operation == v1alpha1.ReconcileOperation || operation == v1alpha1.ForceReconcileOperation || operation == v1alpha1.DataUpdateOperation
}
