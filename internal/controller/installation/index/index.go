package index

import (
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/runtime/job"
)

// ByParent is the index of Installations by the name of their parent.
const ByParent = "parent"

// NoParent stands for the parent of roots. No Installation can have this name.
const NoParent = "-"

// ParentOf returns the key of the parent, or that of none.
func ParentOf(object client.Object) []string {
	if owner, ok := job.OwnerOf(object, "Installation"); ok {
		return []string{owner.Name}
	}
	return []string{NoParent}
}

// Waiting is the index of Installations that wait before they reach any child, by
// their parent and phase; and of those that will ask others for a job, by these.
const Waiting = "waiting"

// WaitsAs returns the keys under which an Installation is found that waits.
func WaitsAs(object client.Object) []string {
	inst, ok := object.(*v1alpha1.Installation)
	if !ok {
		return nil
	}
	var entries []string
	for _, dependent := range inst.Status.DependentsToTrigger {
		entries = append(entries, TriggersAs(dependent.Name))
	}
	phases, phase := v1alpha1.InstallationPhases, inst.Status.InstallationPhase
	if phase == phases.CleanupOrphaned {
		// When its blocker no longer exists, it waits for its imports like any other.
		phase = phases.Init
	}
	if phase == phases.Init || phase == phases.InitDelete {
		entries = append(entries, string(phase), WaitingBeside(object, phase))
	}
	return entries
}

// WaitingBeside is the key of those that have the parent of an object, and wait in a phase.
func WaitingBeside(object client.Object, phase v1alpha1.InstallationPhase) string {
	return ParentOf(object)[0] + "/" + string(phase)
}

// TriggersAs is the entry of the index of waiting Installations for those that will ask
// another one for a job.
func TriggersAs(name string) string { return "tells " + name }

// ByApproval is the index of roots by the job that may carry out their approved plan.
const ByApproval = "approval"

// ApprovedFor returns the key of that job.
func ApprovedFor(object client.Object) []string {
	inst, ok := object.(*v1alpha1.Installation)
	if !ok || inst.Status.ApprovedPlan == nil {
		return nil
	}
	return []string{inst.Status.ApprovedPlan.JobID}
}
