package installation

import (
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/job"
)

// snapshot is everything that a decision depends on.
type snapshot struct {
	inst *v1alpha1.Installation
	// exec is the Execution of the Installation, or nil.
	exec *v1alpha1.Execution
	// warnings are what this attempt has noted; no decision depends on them.
	warnings []warnings
}

// step is what to do next.
type step string

const (
	// rest means that there is nothing to do until something changes.
	rest step = "rest"
	// admit starts a job: it gets an ID.
	admit step = "admit"
	// accept ends the admission: the finalizer is set, the request is removed.
	accept step = "accept"
	// dismiss removes a request that has no effect.
	dismiss step = "dismiss"
	// interrupt hands an interruption down.
	interrupt step = "interrupt"
	// begin enters the first phase of a job that was handed over.
	begin step = "begin"
	// bringUp renders the blueprint and writes the children.
	bringUp step = "bring up"
	// complete collects the results of the children.
	complete step = "complete"
	// fail ends the job because a child has failed.
	fail step = "fail"
	// abandon ends a job that has not reached its children yet, because the
	// Installation is being deleted.
	abandon step = "abandon"
	// remove deletes the children.
	remove step = "remove"
	// failDelete ends the deletion because a child could not be deleted.
	failDelete step = "fail delete"
	// release removes the finalizer.
	release step = "release"
)

// decide chooses the next step.
func decide(s snapshot) step {
	status := &s.inst.Status
	operation := v1alpha1.Operation(s.inst.Annotations[v1alpha1.OperationAnnotation])
	unfinished := job.Unfinished(status.JobID, status.JobIDFinished)
	switch {
	case operation == v1alpha1.InterruptOperation:
		return interrupt
	case !isRoot(s.inst) && operation == v1alpha1.ReconcileOperation:
		return dismiss
	case unfinished && deleted(s.inst) && canAbandon(status.InstallationPhase):
		return abandon
	case !unfinished && wantsJob(s.inst, operation):
		return admit
	case !unfinished:
		return rest
	case job.Starting(status.JobID, status.JobIDFinished, string(status.InstallationPhase)):
		return begin
	case needsAcceptance(s.inst):
		return accept
	}
	return decidePhase(s)
}

// wantsJob reports whether a root asks for a job.
func wantsJob(inst *v1alpha1.Installation, operation v1alpha1.Operation) bool {
	if !isRoot(inst) {
		return false
	}
	phase := inst.Status.InstallationPhase.Current()
	if deleted(inst) && !phase.IsDeletion() {
		return hasFinalizer(inst)
	}
	if operation == v1alpha1.ReconcileOperation || operation == v1alpha1.ForceReconcileOperation {
		return true
	}
	return operation == "" && !deleted(inst) && !skipped(inst) &&
		inst.Annotations[v1alpha1.ReconcileIfChangedAnnotation] == "true" && inst.Generation != inst.Status.ObservedGeneration
}

// needsAcceptance reports whether the admission of the running job was cut short
// before the finalizer was set.
func needsAcceptance(inst *v1alpha1.Installation) bool {
	return inst.Status.InstallationPhase == v1alpha1.InstallationPhases.Init && !deleted(inst) && !hasFinalizer(inst)
}

// decidePhase chooses the step of a running job.
func decidePhase(s snapshot) step {
	phases := v1alpha1.InstallationPhases
	switch s.inst.Status.InstallationPhase {
	case phases.Init, phases.CleanupOrphaned, phases.ObjectsCreated:
		return bringUp
	case phases.Progressing:
		return decideChildren(s)
	case phases.Completing:
		return complete
	case phases.InitDelete, phases.TriggerDelete:
		return remove
	case phases.Deleting:
		return decideDeletion(s)
	}
	return rest
}

// decideChildren looks at the Execution of a running job.
func decideChildren(s snapshot) step {
	status := &s.inst.Status
	switch {
	case status.ExecutionReference == nil:
		return complete
	case s.exec == nil || s.exec.Status.JobIDFinished != status.JobID:
		return rest
	case s.exec.Status.ExecutionPhase == v1alpha1.ExecutionPhases.Succeeded:
		return complete
	}
	return fail
}

// decideDeletion looks at what is left of the children.
func decideDeletion(s snapshot) step {
	switch {
	case s.exec == nil:
		return release
	case s.exec.Status.JobIDFinished != s.inst.Status.JobID:
		return rest
	}
	return failDelete
}

// canAbandon reports whether a job in this phase has not reached any child.
func canAbandon(phase v1alpha1.InstallationPhase) bool {
	return phase == v1alpha1.InstallationPhases.Init || phase == v1alpha1.InstallationPhases.CleanupOrphaned
}

func isRoot(inst *v1alpha1.Installation) bool {
	for _, owner := range inst.OwnerReferences {
		if owner.Kind == "Installation" && isOurGroup(owner.APIVersion) {
			return false
		}
	}
	return true
}

func deleted(inst *v1alpha1.Installation) bool { return inst.DeletionTimestamp != nil }

// skipped reports whether the user has switched automatic jobs off.
func skipped(inst *v1alpha1.Installation) bool {
	return inst.Annotations[v1alpha1.SkipAnnotation] == "true" || inst.Annotations[v1alpha1.IgnoreAnnotation] == "true"
}
