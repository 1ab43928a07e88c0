package decide

import (
	"go.landscaper.dev/internal/runtime/job"
)

// Step is what to do next.
type Step string

const (
	// Rest means that there is nothing to do until something wakes us.
	Rest Step = "rest"
	// Await tells users what the job waits for.
	Await Step = "await"
	// Admit starts a job: it gets an ID.
	Admit Step = "admit"
	// Repeat starts a job because of spec.automaticReconcile.
	Repeat Step = "repeat"
	// Compare looks whether what is imported has changed.
	Compare Step = "compare"
	// Follow starts a job because it has.
	Follow Step = "follow"
	// Tell asks dependents for a job.
	Tell Step = "tell"
	// Accept ends the admission: the finalizer is set, the request is removed.
	Accept Step = "accept"
	// Dismiss removes a request that has no effect.
	Dismiss Step = "dismiss"
	// Interrupt hands an interruption down.
	Interrupt Step = "interrupt"
	// Adopt takes the job of the parent over.
	Adopt Step = "adopt"
	// Begin enters the first phase of a job that was handed over.
	Begin Step = "begin"
	// Clear waits for the end of children that are being deleted.
	Clear Step = "clear"
	// Look reads what the children are made from.
	Look Step = "look"
	// BringUp renders the blueprint and writes the children.
	BringUp Step = "bring up"
	// HandOver hands the job to all children.
	HandOver Step = "hand over"
	// CarryOn keeps everything as it is and works out the exports again.
	CarryOn Step = "carry on"
	// Pass ends a job that concerns nothing of it.
	Pass Step = "pass"
	// Trace reads what is below children that have failed or do not go on.
	Trace Step = "trace"
	// Show says in the status what the children wait for.
	Show Step = "show"
	// BeginRemovals begins the removal round of the job.
	BeginRemovals Step = "begin removals"
	// Withdraw deletes the subinstallations that were held.
	Withdraw Step = "withdraw"
	// EndRemovals ends the part of a subinstallation in a removal round.
	EndRemovals Step = "end removals"
	// Complete collects the results of the children.
	Complete Step = "complete"
	// Fail ends the job.
	Fail Step = "fail"
	// Survey looks for siblings that have to be gone before.
	Survey Step = "survey"
	// Remove deletes the children.
	Remove Step = "remove"
	// Confirm asks the API server whether the Execution exists.
	Confirm Step = "confirm"
	// Explain tells users that a deletion waits for a job.
	Explain Step = "explain"
	// Tidy deletes what the job had stored for its end.
	Tidy Step = "tidy"
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
	// Wake says what lets the work go on after the step.
	Wake job.Wake
}

func doing(do Step) Decision { return Decision{Do: do, Wake: job.GoesOn()} }

func failure(err error) Decision {
	return Decision{Do: Fail, Err: job.Terminally(err), Wake: job.GoesOn()}
}

func awaiting(wake job.Wake, operation, reason, message string) Decision {
	return Decision{Do: Await, Err: job.WaitFor(wake, operation, reason, message), Wake: wake}
}
