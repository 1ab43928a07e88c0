package installation

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/dataflow"
	"go.landscaper.dev/internal/installation/facts"
	"go.landscaper.dev/internal/installation/kin"
	"go.landscaper.dev/internal/installation/repetition"
	"go.landscaper.dev/internal/job"
)

// situation is everything that a decision depends on.
type situation struct {
	kin.Family
	// gone says that the API server has no Execution either, so that it is not only
	// missing in the cache.
	gone bool
	// condemned says that this process has deleted the Execution, whatever the cache shows.
	condemned bool
	// turn says whether siblings have to go first; nil as long as nobody looked.
	turn *kin.Turn
	// inputs are what the children are made from; nil as long as nobody looked.
	inputs *inputs
	// current identifies what is imported now; it is empty if nobody knows, and nil as
	// long as nobody looked.
	current *string
	// leftovers are what the last job has left to do.
	leftovers
	// asked is why a job of our own begins that is not stored yet: what asks for it is
	// still there.
	asked v1alpha1.JobTrigger
	// taken says that this process has taken the first job up, also if somebody has
	// replaced all annotations since.
	taken bool
	// now is the time of the decision.
	now time.Time
	// triggers are the settings of the server about what starts jobs.
	triggers facts.Triggers
}

// leftovers are what a job that has ended leaves to do.
type leftovers struct {
	// leftover says that the plan of the job is still stored; tidyAt is when to try again
	// to delete it, if that was tried.
	leftover bool
	tidyAt   time.Time
	// told are the dependents that cannot be asked for a job yet; nil as long as none
	// was asked.
	told []string
	// tellAt is when to try that again, if something went wrong.
	tellAt time.Time
}

// inputs are what the children of an Installation are made from, as far as it is in
// the resource cluster.
type inputs struct {
	// invalid is what is wrong with the Installation itself.
	invalid field.ErrorList
	// turn says whether siblings have to be done before; only then the rest is read.
	turn kin.Turn
	// landscape is the Context, or nil if there is none.
	landscape *v1alpha1.Context
	// imports are what was read, broken is why it cannot be used.
	imports dataflow.Imports
	broken  error
	// hash identifies the imports.
	hash string
	// missing are the imports that refer to objects which do not exist, exporters the
	// siblings that may bring them.
	missing   []*dataflow.MissingError
	exporters []kin.Exporter
}

// step is what to do next.
type step string

const (
	// rest means that there is nothing to do until something wakes us.
	rest step = "rest"
	// await tells users what the job waits for.
	await step = "await"
	// admit starts a job: it gets an ID.
	admit step = "admit"
	// repeat starts a job because of spec.automaticReconcile.
	repeat step = "repeat"
	// compare looks whether what is imported has changed.
	compare step = "compare"
	// follow starts a job because it has.
	follow step = "follow"
	// tell asks dependents for a job.
	tell step = "tell"
	// accept ends the admission: the finalizer is set, the request is removed.
	accept step = "accept"
	// dismiss removes a request that has no effect.
	dismiss step = "dismiss"
	// interrupt hands an interruption down.
	interrupt step = "interrupt"
	// adopt takes the job of the parent over.
	adopt step = "adopt"
	// begin enters the first phase of a job that was handed over.
	begin step = "begin"
	// clear lets subinstallations that are being deleted go first.
	clear step = "clear"
	// look reads what the children are made from.
	look step = "look"
	// bringUp renders the blueprint and writes the children.
	bringUp step = "bring up"
	// handOver hands the job to all children.
	handOver step = "hand over"
	// carryOn keeps everything as it is and works out the exports again.
	carryOn step = "carry on"
	// pass ends a job that concerns nothing of it.
	pass step = "pass"
	// complete collects the results of the children.
	complete step = "complete"
	// fail ends the job.
	fail step = "fail"
	// survey looks for siblings that have to be gone before.
	survey step = "survey"
	// remove deletes the children.
	remove step = "remove"
	// confirm asks the API server whether the children are gone.
	confirm step = "confirm"
	// explain tells users that a deletion waits for a job.
	explain step = "explain"
	// tidy deletes what the job had stored for its end.
	tidy step = "tidy"
	// release removes the finalizer.
	release step = "release"
)

// decision is what to do next and what follows it.
type decision struct {
	do step
	// err is why the job fails, or what it waits for.
	err error
	// wake says what lets the work go on after the step.
	wake job.Wake
}

func act(do step) decision { return decision{do: do, wake: job.GoesOn()} }

func failure(err error) decision {
	return decision{do: fail, err: job.Terminally(err), wake: job.GoesOn()}
}

// decide chooses the next step.
func decide(s situation) decision {
	status := &s.Inst.Status
	operation := v1alpha1.Operation(s.Inst.Annotations[v1alpha1.OperationAnnotation])
	unfinished := job.Unfinished(status.JobID, status.JobIDFinished)
	switch {
	case !unfinished && kin.HandsOver(s.Family):
		return act(adopt)
	case !unfinished && takenUp(s):
		return act(admit)
	case interrupted(s, unfinished):
		return decideInterruption(s, unfinished)
	case !s.Orphaned && facts.InVain(s.Inst):
		return act(dismiss)
	case unfinished && facts.BeingDeleted(s.Inst) && canAbandon(s):
		return failure(job.NewError("handlePhaseInit", "Deleted", "the Installation is being deleted"))
	case !unfinished && asksForJob(s, operation):
		return act(admit)
	case !unfinished:
		return decideAfterwards(s)
	case job.Starting(status.JobID, status.JobIDFinished, string(status.InstallationPhase)):
		return act(begin)
	case needsAcceptance(s):
		return act(accept)
	}
	return decidePhase(s)
}

// decideAfterwards chooses what to do when there is no job.
func decideAfterwards(s situation) decision {
	due := repetition.Due(s.Inst)
	switch {
	case s.told == nil && facts.HasToTell(s.Inst):
		return act(tell)
	case !due.IsZero() && !s.now.Before(due):
		return act(repeat)
	case s.current == nil && followsImports(s):
		return act(compare)
	case s.current != nil && *s.current != "" && *s.current != s.Inst.Status.ImportsHash:
		return act(follow)
	case s.leftover && s.tidyAt.IsZero():
		return act(tidy)
	case kin.StaysUntilNext(s.Family) && !kin.Explained(s.Family):
		return act(explain)
	}
	return resting(s, due)
}

// resting says what wakes an Installation that has nothing to do.
func resting(s situation, due time.Time) decision {
	wake := job.OnChange("Installation", s.told...).By(s.tellAt).By(due)
	if s.leftover {
		wake = wake.By(s.tidyAt)
	}
	if kin.Awaited(s.Family) {
		wake = wake.And(job.OnChange("Installation", s.Parent.Name))
	}
	if !wake.Recorded() {
		wake = job.Settled()
	}
	return decision{do: rest, wake: wake}
}

// decideInterruption hands an interruption down. A job that has not reached its
// children ends with it.
func decideInterruption(s situation, unfinished bool) decision {
	d := act(interrupt)
	status := &s.Inst.Status
	waits := status.InstallationPhase == v1alpha1.InstallationPhases.InitDelete && len(kin.Leaving(s.Family)) == 0 && (s.Exec == nil || s.Exec.DeletionTimestamp == nil)
	if unfinished && (waits || canAbandon(s) || job.Starting(status.JobID, status.JobIDFinished, string(status.InstallationPhase))) {
		d.err = job.Terminally(endedBy(s.Inst))
	}
	return d
}

// asksForJob reports whether an Installation is to get a job of its own. What has lost
// its parent and is being deleted deletes itself.
func asksForJob(s situation, operation v1alpha1.Operation) bool {
	if !s.Orphaned {
		return facts.WantsJob(s.Inst, operation, s.triggers)
	}
	return facts.BeingDeleted(s.Inst) && facts.HasFinalizer(s.Inst) &&
		(operation == v1alpha1.ReconcileOperation || !s.Inst.Status.InstallationPhase.Current().IsDeletion())
}

// interrupted reports whether somebody wants that the job ends. What asks for a job that
// is about to be stored does not; and what comes before the parent hands a job over is
// for that job.
func interrupted(s situation, unfinished bool) bool {
	return s.asked == "" && facts.EndsEarly(s.Inst, unfinished) && (unfinished || !kin.Awaited(s.Family))
}

// needsAcceptance reports whether the admission of the running job was cut short
// before the finalizer was set. The children wait for that.
func needsAcceptance(s situation) bool {
	return s.asked == "" && !facts.BeingDeleted(s.Inst) && !facts.HasFinalizer(s.Inst)
}

// decidePhase chooses the step of a running job. From a phase that we do not know,
// the job begins again.
func decidePhase(s situation) decision {
	phases := v1alpha1.InstallationPhases
	switch s.Inst.Status.InstallationPhase {
	case phases.Init, phases.ObjectsCreated:
		if len(kin.Leaving(s.Family)) > 0 {
			return act(clear)
		}
		return decideInputs(s)
	case phases.CleanupOrphaned:
		return decideLeaving(s)
	case phases.Progressing:
		return decideChildren(s)
	case phases.Completing:
		return decideCompletion(s)
	case phases.InitDelete, phases.TriggerDelete:
		return decideRemoval(s)
	case phases.Deleting:
		return decideDeletion(s)
	}
	return act(begin)
}

// decideInputs chooses what to do before anything is rendered.
func decideInputs(s situation) decision {
	in := s.inputs
	switch {
	case in == nil:
		return act(look)
	case len(in.invalid) > 0:
		return failure(job.Wrap(in.invalid.ToAggregate(), "InitPrerequisites", "ValidateInstallation", "the Installation is not valid", v1alpha1.ErrorForInfoOnly))
	case in.turn.Never != nil:
		return failure(in.turn.Never)
	case len(in.turn.Waits) > 0:
		return awaiting(job.OnChange("Installation", in.turn.Waits...), "init", "AllPredecessorsFinished", "waiting for Installations "+kin.Listed(in.turn.Waits)+", whose exports are imported")
	case in.landscape == nil:
		return decideWithoutContext(s.Inst)
	case in.broken != nil:
		return failure(job.Wrap(in.broken, "init", "ImportsSatisfied", ""))
	case len(in.missing) > 0:
		return decideMissing(s.Parent, in.missing, in.exporters)
	case isAsBefore(s) && isConcerned(s.Inst):
		return act(carryOn)
	case isAsBefore(s):
		return act(pass)
	}
	return act(bringUp)
}

// decideWithoutContext waits for the default Context, which the server makes. Any
// other one is up to the user.
func decideWithoutContext(inst *v1alpha1.Installation) decision {
	name := facts.ContextOf(inst)
	if name != v1alpha1.DefaultContextName {
		return failure(job.NewError("InitPrerequisites", "CalculateContext", fmt.Sprintf("spec.context: there is no Context %q in namespace %s: create it, or name another one", name, inst.Namespace)))
	}
	return awaiting(job.OnChange("Context", name), "InitPrerequisites", "CalculateContext", "waiting for Context default of namespace "+inst.Namespace+", which the server makes unless the administrator has switched that off: create it, or name another one in spec.context")
}

func awaiting(wake job.Wake, operation, reason, message string) decision {
	return decision{do: await, err: job.WaitFor(wake, operation, reason, message), wake: wake}
}

// canAbandon reports whether a job has not reached any child.
func canAbandon(s situation) bool {
	switch s.Inst.Status.InstallationPhase {
	case v1alpha1.InstallationPhases.Init:
		return true
	case v1alpha1.InstallationPhases.CleanupOrphaned:
		return len(kin.Leaving(s.Family)) == 0
	}
	return false
}
