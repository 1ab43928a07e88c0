package inspect

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	deliveryv1alpha1 "go.landscaper.dev/api/delivery/v1alpha1"
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/job/reasons"
)

// facts are what all kinds publish about themselves, in one shape.
type facts struct {
	phase                v1alpha1.InstallationPhase
	jobID, jobIDFinished string
	generation, observed int64
	deleting             bool
	conditions           []v1alpha1.Condition
	lastError            *v1alpha1.Error
	times                *v1alpha1.TransitionTimes
	// aborting says until when an abort waits for what is at work.
	aborting  string
	phaseTime *metav1.Time
}

func installationFacts(i *v1alpha1.Installation) facts {
	return facts{
		phase: i.Status.InstallationPhase, jobID: i.Status.JobID, jobIDFinished: i.Status.JobIDFinished,
		generation: i.Generation, observed: i.Status.ObservedGeneration, deleting: i.DeletionTimestamp != nil,
		conditions: i.Status.Conditions, lastError: i.Status.LastError, times: i.Status.TransitionTimes, phaseTime: i.Status.PhaseTransitionTime,
	}
}

func executionFacts(e *v1alpha1.Execution) facts {
	f := facts{
		phase: v1alpha1.InstallationPhase(e.Status.ExecutionPhase), jobID: e.Status.JobID, jobIDFinished: e.Status.JobIDFinished,
		generation: e.Generation, observed: e.Status.ObservedGeneration, deleting: e.DeletionTimestamp != nil,
		conditions: e.Status.Conditions, lastError: e.Status.LastError, times: e.Status.TransitionTimes, phaseTime: e.Status.PhaseTransitionTime,
	}
	if at, asked := job.AbortedAt(e); asked {
		f.aborting = "nothing new is started, and what is at work has until " + at.Add(job.AbortGracePeriod).UTC().Format(time.TimeOnly) + " UTC to end"
	}
	// The public controller never writes it for Executions.
	if f.observed == 0 {
		f.observed = f.generation
	}
	return f
}

func deployItemFacts(d *v1alpha1.DeployItem) facts {
	return facts{
		phase: v1alpha1.InstallationPhase(d.Status.Phase), jobID: d.Status.JobID, jobIDFinished: d.Status.JobIDFinished,
		generation: d.Generation, observed: d.Status.ObservedGeneration, deleting: d.DeletionTimestamp != nil,
		conditions: d.Status.Conditions, lastError: d.Status.LastError, times: d.Status.TransitionTimes, phaseTime: d.Status.PhaseTransitionTime,
	}
}

// fill writes into a node what the facts say.
func (f facts) fill(n *Node) {
	n.Phase, n.JobID, n.JobIDFinished, n.LastError = string(f.phase), f.jobID, f.jobIDFinished, f.lastError
	n.State = f.state()
	n.Ready = n.State == Ready
	if !n.Ready {
		n.Reason, n.Message = f.blocker()
		if !f.aborts() && f.saidWait() != nil {
			n.obstacle = itsOwnWait
		}
	}
	if f.holds(v1alpha1.WarningsCondition) {
		n.Warnings = f.condition(v1alpha1.WarningsCondition).Message
	}
	if pending := job.Pending(f.conditions); pending != nil && n.Kind == KindDeployItem {
		// Objects above only repeat the message.
		n.PendingRemovals = pending.Message
	}
	n.StartTime, n.FinishTime = f.period()
	n.PhaseTime, n.times, n.conditions, n.observed = f.phaseTime, f.times, f.conditions, f.observed
}

// state judges in the order of what matters most to a user.
//
// Phase and job IDs are asked before conditions, since objects of upstream have none of ours; a
// final phase beside a job that is not finished is that of the job before.
func (f facts) state() State {
	phase := f.phase.Current()
	finished := f.jobID == f.jobIDFinished
	switch {
	case job.Starting(f.jobID, f.jobIDFinished, string(f.phase)):
		return Waiting
	case f.deferral() != nil:
		return Waiting
	case f.holds(v1alpha1.StalledCondition):
		return Stalled
	case !finished && f.waits():
		return Waiting
	case !finished:
		return Running
	case phase.IsFailed():
		return Failed
	case f.jobID == "", f.observed != f.generation, f.deleting:
		return Waiting
	case phase != v1alpha1.InstallationPhases.Succeeded, f.denies(v1alpha1.ReadyCondition):
		return Waiting
	}
	return Ready
}

// waits reports whether a running job waits for something outside. Objects without our conditions
// say so by the codes of their last error.
func (f facts) waits() bool {
	if reconciling := f.condition(v1alpha1.ReconcilingCondition); reconciling != nil {
		return reasons.IsWait(reconciling)
	}
	return job.SaysWait(f.lastError)
}

// blocker returns what the object publishes about why it is not ready.
func (f facts) blocker() (reason, message string) {
	if f.aborts() {
		return v1alpha1.AbortedReason, f.aborting
	}
	if waits := f.saidWait(); waits != nil {
		// The other conditions say the same, but not that it is a wait.
		return waits.Reason, waits.Message
	}
	for _, candidate := range []struct {
		condition v1alpha1.ConditionType
		when      v1alpha1.ConditionStatus
	}{
		{v1alpha1.ReadyCondition, v1alpha1.ConditionFalse},
		{v1alpha1.ReadyCondition, v1alpha1.ConditionUnknown},
		{v1alpha1.ReadyCondition, v1alpha1.ConditionProgressing},
		{v1alpha1.StalledCondition, v1alpha1.ConditionTrue},
		{v1alpha1.ReconcilingCondition, v1alpha1.ConditionTrue},
	} {
		found := f.condition(candidate.condition)
		if found != nil && found.Status == candidate.when && found.Message != "" {
			return found.Reason, found.Message
		}
	}
	if f.lastError != nil {
		return f.lastError.Reason, ""
	}
	return "", ""
}

// aborts reports whether an abort waits for what is at work.
func (f facts) aborts() bool { return f.aborting != "" && f.jobID != f.jobIDFinished }

// saidWait returns the condition that says what the object waits for, or nil.
func (f facts) saidWait() *v1alpha1.Condition {
	if found := f.deferral(); found != nil {
		return found
	}
	if found := f.condition(v1alpha1.ReconcilingCondition); reasons.IsWait(found) && found.Message != "" {
		return found
	}
	return nil
}

// deferral returns the condition that says why a DeliveryPolicy does not let a job begin, or go on; nil
// without one.
func (f facts) deferral() *v1alpha1.Condition {
	return f.condition(deliveryv1alpha1.DeferredCondition)
}

func (f facts) condition(wanted v1alpha1.ConditionType) *v1alpha1.Condition {
	at := slices.IndexFunc(f.conditions, func(c v1alpha1.Condition) bool { return c.Type == wanted })
	if at < 0 {
		return nil
	}
	return &f.conditions[at]
}

func (f facts) holds(wanted v1alpha1.ConditionType) bool {
	condition := f.condition(wanted)
	return condition != nil && condition.Status == v1alpha1.ConditionTrue
}

func (f facts) denies(wanted v1alpha1.ConditionType) bool {
	condition := f.condition(wanted)
	return condition != nil && condition.Status != v1alpha1.ConditionTrue
}

func (f facts) period() (start, finish *metav1.Time) {
	if f.times == nil {
		return nil, nil
	}
	start = f.times.TriggerTime
	if start == nil {
		start = f.times.InitTime
	}
	return start, f.times.FinishedTime
}
