package predicates

import (
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/runtime/job"
)

// Triggers are the settings of the server about what starts jobs without a request.
type Triggers struct {
	// OnSpecChange starts a job of a root that is new or whose spec was changed.
	OnSpecChange bool
	// OnImportChange starts a job of a root when what it imports was changed.
	OnImportChange bool
}

// RequestsJob reports whether a root requests a job.
func RequestsJob(inst *v1alpha1.Installation, operation v1alpha1.Operation, triggers Triggers) bool {
	if !IsRoot(inst) {
		return false
	}
	phase := inst.Status.InstallationPhase.Current()
	if BeingDeleted(inst) && !phase.IsDeletion() {
		return HasFinalizer(inst)
	}
	switch operation {
	case v1alpha1.ReconcileOperation, v1alpha1.ForceReconcileOperation, v1alpha1.DataUpdateOperation:
		return true
	}
	return Admitted(inst) || operation == "" && !BeingDeleted(inst) && !AutomationDisabled(inst) && inst.Generation != inst.Status.ObservedGeneration &&
		(triggers.OnSpecChange || inst.Annotations[v1alpha1.ReconcileIfChangedAnnotation] == "true")
}

// Admitted reports whether the first job of a root was picked up and is not stored yet.
func Admitted(inst *v1alpha1.Installation) bool { return IsRoot(inst) && job.Admitted(inst) }

// RequestsFirstJob reports whether a root that never had a job has a request for one, and for nothing
// else.
func RequestsFirstJob(inst *v1alpha1.Installation) bool {
	return IsRoot(inst) && !BeingDeleted(inst) && job.NeverHadJob(inst) &&
		v1alpha1.Operation(inst.Annotations[v1alpha1.OperationAnnotation]) == v1alpha1.ReconcileOperation
}

// Forced reports whether a root requests a job that does not wait for the running one.
func Forced(inst *v1alpha1.Installation) bool {
	return IsRoot(inst) && v1alpha1.Operation(inst.Annotations[v1alpha1.OperationAnnotation]) == v1alpha1.ForceReconcileOperation
}

// IsInterrupted reports whether a request ends the running job.
func IsInterrupted(inst *v1alpha1.Installation, unfinished bool) bool {
	operation := v1alpha1.Operation(inst.Annotations[v1alpha1.OperationAnnotation])
	return operation == v1alpha1.InterruptOperation || operation == v1alpha1.AbortOperation || unfinished && Forced(inst)
}

// HidesDataUpdate reports whether a user has interrupted a root while a deployer was asking it for a
// data update. An object has one operation only, and the deployer does not ask again.
func HidesDataUpdate(inst *v1alpha1.Installation) bool {
	return IsInterrupted(inst, false) && inst.Annotations[v1alpha1.ChangedExportsAnnotation] != "" && IsRoot(inst) && !BeingDeleted(inst)
}

// HasIneffectiveRequest reports whether a request asks a subinstallation for a job of its own, or a terminating
// Installation for a job that propagates values.
func HasIneffectiveRequest(inst *v1alpha1.Installation) bool {
	switch v1alpha1.Operation(inst.Annotations[v1alpha1.OperationAnnotation]) {
	case v1alpha1.ReconcileOperation, v1alpha1.ForceReconcileOperation:
		return !IsRoot(inst)
	case v1alpha1.DataUpdateOperation:
		return !IsRoot(inst) || BeingDeleted(inst)
	}
	return false
}

// IsAborting reports whether a request lets nothing new start, but lets everything at work end.
func IsAborting(inst *v1alpha1.Installation) bool {
	return v1alpha1.Operation(inst.Annotations[v1alpha1.OperationAnnotation]) == v1alpha1.AbortOperation
}

// Follows reports whether an Installation may get a job because of what it imports.
func Follows(inst *v1alpha1.Installation) bool {
	return IsRoot(inst) && !BeingDeleted(inst) && !AutomationDisabled(inst)
}
