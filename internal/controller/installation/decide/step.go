package decide

import (
	"go.landscaper.dev/internal/model/delivery"
	"go.landscaper.dev/internal/runtime/engine"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/job/reasons"
)

// Step is what to do next.
type Step string

const (
	// Rest means that there is nothing to do until the next reconcile is triggered.
	Rest Step = engine.Rest
	// Await reports to users what the job waits for.
	Await Step = "await"
	// Admit starts a job: it gets an ID.
	Admit Step = "admit"
	// Repeat starts a job because of spec.automaticReconcile.
	Repeat Step = "repeat"
	// Compare checks whether the imports have changed.
	Compare Step = "compare"
	// Follow starts a job because the imports have changed.
	Follow Step = "follow"
	// TriggerDependents requests a job of each dependent.
	TriggerDependents Step = "trigger dependents"
	// Accept ends the admission: the finalizer is set, the request is removed.
	Accept Step = "accept"
	// Dismiss removes a request that has no effect.
	Dismiss Step = "dismiss"
	// Interrupt passes an interruption to the children.
	Interrupt Step = "interrupt"
	// Adopt takes over the job of the parent.
	Adopt Step = "adopt"
	// Begin enters the first phase of a job that was assigned.
	Begin Step = "begin"
	// Clear waits for the end of children that are being deleted.
	Clear Step = "clear"
	// ReadInputs reads what the children are made from.
	ReadInputs Step = "read inputs"
	// WriteChildren renders the blueprint and writes the children.
	WriteChildren Step = "write children"
	// Propagate passes the job to all children.
	Propagate Step = "propagate"
	// Refresh keeps all children as they are and computes the exports again.
	Refresh Step = "refresh"
	// Pass ends a job that does not concern the Installation.
	Pass Step = "pass"
	// Trace reads what is below children that have failed or are blocked.
	Trace Step = "trace"
	// Show says in the status what the children wait for.
	Show Step = "show"
	// BeginRemovals begins the removal round of the job.
	BeginRemovals Step = "begin removals"
	// DeleteHeld deletes the subinstallations that were held.
	DeleteHeld Step = "delete held"
	// EndRemovals ends the part of a subinstallation in a removal round.
	EndRemovals Step = "end removals"
	// FindPlan looks whether a job that another release has begun has a plan for its exports.
	FindPlan Step = "find plan"
	// Inherit makes and stores that plan.
	Inherit Step = "inherit"
	// Complete collects the results of the children.
	Complete Step = "complete"
	// Fail ends the job.
	Fail Step = "fail"
	// CheckSiblings looks for siblings that have to be deleted first.
	CheckSiblings Step = "check siblings"
	// Remove deletes the children.
	Remove Step = "remove"
	// Confirm asks the API server whether the Execution exists.
	Confirm Step = "confirm"
	// Explain reports to users that a deletion waits for a job.
	Explain Step = "explain"
	// CleanUp deletes what the job had stored for its end.
	CleanUp Step = "clean up"
	// Defer reports to users that a job may not begin yet, or that none is deferred any more.
	Defer Step = "defer"
	// GoBack judges whether an earlier specification replaces the one whose job has failed, and does so.
	GoBack Step = "go back"
	// PlanAhead works out the plan of the next job, which a policy asks for.
	PlanAhead Step = "plan ahead"
	// Release removes the finalizer.
	Release Step = "release"
)

// Decision is what to do next and what follows it.
type Decision struct {
	Do Step
	// Err is why the job fails, or what it waits for.
	Err error
	// Message is what the status shows about the children.
	Message string
	// Verdict is why a job is deferred, or which plan it may carry out.
	Verdict delivery.Verdict
	// Wake says what triggers the reconcile after the step.
	Wake job.Wake
}

func doing(do Step) Decision { return Decision{Do: do, Wake: job.Continues()} }

func failure(err error) Decision {
	return Decision{Do: Fail, Err: job.AsTerminal(err), Wake: job.Continues()}
}

func awaiting(wake job.Wake, operation string, reason reasons.Reason, message string) Decision {
	return Decision{Do: Await, Err: job.WaitFor(wake, operation, reason, message), Wake: wake}
}
