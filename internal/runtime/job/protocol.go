package job

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/uuid"

	"go.landscaper.dev/api/v1alpha1"
)

// NewID returns the ID of a new job.
func NewID() string { return string(uuid.NewUUID()) }

// Unfinished reports whether a job was assigned and has not ended yet.
func Unfinished(jobID, finished string) bool { return jobID != finished }

// Starting reports whether a job was assigned and no work on it has begun: the phase is
// still empty or that of the job before.
func Starting(jobID, finished, phase string) bool {
	current := v1alpha1.InstallationPhase(phase).Current()
	return Unfinished(jobID, finished) && (current.IsEmpty() || current.IsFinal())
}

// Admitted reports whether the first job of an Installation was asked for and the request
// removed, but its status does not show the job yet. What is only a copy of such an
// Installation has another UID.
func Admitted(inst *v1alpha1.Installation) bool {
	return inst.UID != "" && inst.Annotations[v1alpha1.AdmittedAnnotation] == string(inst.UID) && NeverHadJob(inst) && inst.DeletionTimestamp == nil
}

// NeverHadJob reports whether an Installation had no job yet.
func NeverHadJob(inst *v1alpha1.Installation) bool {
	return inst.Status.JobID == "" && inst.Status.InstallationPhase.Current().IsEmpty()
}

// TriggerOf returns what asks for a job of an Installation, as far as that shows.
func TriggerOf(inst *v1alpha1.Installation) v1alpha1.JobTrigger {
	switch operation := v1alpha1.Operation(inst.Annotations[v1alpha1.OperationAnnotation]); {
	case inst.DeletionTimestamp != nil && !inst.Status.InstallationPhase.Current().IsDeletion():
		return v1alpha1.TriggeredByDeletion
	case operation == v1alpha1.ReconcileOperation && inst.Annotations[v1alpha1.ReconcileReasonAnnotation] == v1alpha1.ReconcileReasonExporter:
		return v1alpha1.TriggeredByExporter
	case operation == v1alpha1.ReconcileOperation:
		return v1alpha1.TriggeredByReconcile
	case operation == v1alpha1.ForceReconcileOperation:
		return v1alpha1.TriggeredByForceReconcile
	case operation == v1alpha1.DataUpdateOperation:
		return v1alpha1.TriggeredByExports
	case operation == "" && inst.Generation != inst.Status.ObservedGeneration:
		return v1alpha1.TriggeredByChange
	}
	return ""
}

// Triggered returns the transition times of a job that was just assigned.
func Triggered(now metav1.Time) *v1alpha1.TransitionTimes {
	return &v1alpha1.TransitionTimes{TriggerTime: &now}
}
