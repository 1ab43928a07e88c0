package reasons

import (
	"slices"

	"go.landscaper.dev/api/v1alpha1"
)

// The functions of this file are the only place where something follows from a reason: an object that
// was read says no more. A condition or an error that does not exist has no reason.

// IsWait reports whether a condition Reconciling says that something has to happen first.
func IsWait(condition *v1alpha1.Condition) bool { return has(condition, Waiting) }

// IsRetry reports whether a condition Reconciling says that another attempt follows a failed one.
func IsRetry(condition *v1alpha1.Condition) bool { return has(condition, Retrying) }

// IsBlocked reports whether a condition Reconciling says what children wait for.
func IsBlocked(condition *v1alpha1.Condition) bool { return has(condition, ChildrenBlocked) }

// IsNotWanted reports whether a condition PendingRemovals says that the parent does not want the
// object any more.
func IsNotWanted(condition *v1alpha1.Condition) bool { return has(condition, NotWanted) }

// IsRemoving reports whether a condition PendingRemovals says that the removal round is under way.
func IsRemoving(condition *v1alpha1.Condition) bool { return has(condition, Removing) }

// IsExportsPending reports whether a condition CreateExports says that a plan for exports is stored.
func IsExportsPending(condition *v1alpha1.Condition) bool { return has(condition, ExportsPending) }

// WasAborted reports whether a job was ended with the operation abort.
func WasAborted(err *v1alpha1.Error) bool { return of(err, Aborted) }

// WasInterrupted reports whether a job was ended with the operation interrupt.
func WasInterrupted(err *v1alpha1.Error) bool { return of(err, InterruptOperation) }

// FollowsSibling reports whether the state of an Installation follows from that of a sibling, which
// has the cause.
func FollowsSibling(err *v1alpha1.Error) bool {
	return of(err, AllPredecessorsFinished, AllPredecessorsSucceeded, SiblingImport, SiblingDeleteError)
}

// AwaitsSibling reports whether a wait is one for a sibling that comes first.
func AwaitsSibling(err *v1alpha1.Error) bool {
	return of(err, AllPredecessorsFinished, SiblingImport)
}

// AwaitsImport reports whether a wait is one for what a sibling is about to export.
func AwaitsImport(err *v1alpha1.Error) bool { return of(err, ImportsSatisfied) }

// AwaitsContext reports whether a wait is one for the Context.
func AwaitsContext(err *v1alpha1.Error) bool {
	return of(err, CalculateContext, GetLandscaperContext)
}

// AwaitsTarget reports whether a wait is one for the Target or its Secret.
func AwaitsTarget(err *v1alpha1.Error) bool {
	return of(err, NoTargetFound, SecretNotFound, SecretKeyNotFound)
}

// IsAboutCluster reports whether an attempt has failed because the cluster cannot be worked with.
func IsAboutCluster(err *v1alpha1.Error) bool {
	return of(err, ClusterUnreachable, ConnectionRefused, CertificateNotTrusted, Unauthorized, TokenRequestFailed, ConnectionNotAllowed)
}

// Deferrals are the reasons of a condition Deferred.
func Deferrals() []Reason {
	return []Reason{ApprovalRequired, Frozen, InvalidPolicy, OutsideWindow, Paused, PlanFailed, PlanPending, PlanRefused}
}

// IsAboutPlan reports whether a condition Deferred is about the plan of the job.
func IsAboutPlan(condition *v1alpha1.Condition) bool {
	return has(condition, ApprovalRequired) || has(condition, PlanFailed) || has(condition, PlanPending) || has(condition, PlanRefused)
}

// AwaitsTime reports whether a condition Deferred says that the job waits for a time. Its plan may be
// worked out, and approved, before that.
func AwaitsTime(condition *v1alpha1.Condition) bool {
	return has(condition, Frozen) || has(condition, OutsideWindow)
}

// AwaitsApproval reports whether a condition Deferred says that an approval may let the job begin, now or
// at a time.
func AwaitsApproval(condition *v1alpha1.Condition) bool {
	return has(condition, ApprovalRequired) || has(condition, PlanPending) || AwaitsTime(condition)
}

// DeferralOf returns the reason for which a condition Deferred says that a job may not begin; empty for
// another one.
func DeferralOf(condition *v1alpha1.Condition) Reason {
	for _, reason := range Deferrals() {
		if has(condition, reason) {
			return reason
		}
	}
	return ""
}

// AnnouncesJob reports whether an event with a reason says what has started a job.
func AnnouncesJob(reason string) bool {
	return slices.Contains([]Reason{JobStarted, JobRequested}, Reason(reason))
}

func has(condition *v1alpha1.Condition, reason Reason) bool {
	return condition != nil && Reason(condition.Reason) == reason
}

func of(err *v1alpha1.Error, reasons ...Reason) bool {
	return err != nil && slices.Contains(reasons, Reason(err.Reason))
}
