package metrics

import (
	"slices"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/job/reasons"
	"go.landscaper.dev/internal/runtime/reporter"
)

// Reason is a word for what a job waits for.
type Reason string

// The reasons for waits.
const (
	// Working means that it waits for nothing.
	Working Reason = ""
	// Import is an object that a sibling is about to export.
	Import Reason = "import"
	// Sibling is another subinstallation of the same parent that has to go first.
	Sibling Reason = "sibling"
	// Context is the default Context of the namespace.
	Context Reason = "context"
	// Children are the subinstallations, Executions and items below.
	Children Reason = "children"
	// Deployer is one that takes the item up.
	Deployer Reason = "deployer"
	// Target is the Target with its Secret, or the cluster that it leads to.
	Target Reason = "target"
	// Readiness is that of objects on the target cluster, or their deletion.
	Readiness Reason = "readiness"
	// Retry is the next attempt after an error.
	Retry Reason = "retry"
	// Other is something else.
	Other Reason = "other"
)

// possible are the reasons that each kind may have.
var possible = map[string][]Reason{
	"Installation": {Import, Sibling, Context, Children, Retry, Other},
	"Execution":    {Children, Retry, Other},
	"DeployItem":   {Deployer, Target, Context, Readiness, Retry, Other},
}

// waitsFor returns what the unfinished job of an object waits for.
//
// A word that is not among those of its kind would be a new series of a metric: it becomes
// "other".
func waitsFor(kind string, status reporter.Status) Reason {
	reason := waitOf(kind, status)
	if reason != Working && !slices.Contains(possible[kind], reason) {
		return Other
	}
	return reason
}

func waitOf(kind string, status reporter.Status) Reason {
	if kind == "DeployItem" && job.Starting(*status.JobID, *status.JobIDFinished, *status.Phase) {
		return Deployer
	}
	if err := *status.LastError; err != nil {
		return waitAfter(err)
	}
	phases := v1alpha1.InstallationPhases
	switch phase := v1alpha1.InstallationPhase(*status.Phase); {
	case kind != "DeployItem" && slices.Contains([]v1alpha1.InstallationPhase{phases.CleanupOrphaned, phases.Progressing, phases.TriggerDelete, phases.Deleting}, phase):
		return Children
	case kind == "DeployItem" && saysWaiting(status):
		return Readiness
	}
	return Working
}

// waitAfter returns what follows from the error that a status shows.
func waitAfter(err *v1alpha1.Error) Reason {
	switch waits := job.SaysWait(err); {
	case waits && reasons.AwaitsSibling(err):
		return Sibling
	case waits && reasons.AwaitsImport(err):
		return Import
	case waits && reasons.AwaitsContext(err):
		return Context
	case waits && reasons.AwaitsTarget(err), !waits && reasons.IsAboutCluster(err):
		return Target
	case waits:
		return Other
	}
	return Retry
}

// saysWaiting reports whether the conditions show a wait.
func saysWaiting(status reporter.Status) bool {
	return reasons.IsWait(job.GetCondition(*status.Conditions, v1alpha1.ReconcilingCondition))
}
