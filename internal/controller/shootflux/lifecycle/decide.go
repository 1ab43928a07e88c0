package lifecycle

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/internal/controller/shootflux/gardener"
	"go.landscaper.dev/internal/runtime/engine"
	"go.landscaper.dev/internal/runtime/job"
)

// snapshot is everything that a decision depends on.
type snapshot struct {
	e *gardener.Extension
	// kind is the operation that Gardener asks for.
	kind gardener.OperationType
	// shoot is nil if it does not exist, and absence says why.
	shoot   *gardener.Shoot
	absence error
	// unread says why nothing is known about the shoot.
	unread error
	// work is what a shoot gets, and what is known of it; nil until it is prepared.
	work *work
	// waiting is what the removal waits for.
	waiting removalWait
	// done has the steps of this attempt that need not be repeated.
	done map[step]bool
	now  time.Time
}

// step is what to do next.
type step string

const (
	// rest means that there is nothing to do until something changes.
	rest step = engine.Rest
	// fail ends the attempt with an error.
	fail step = "fail"
	// begin reports that the operation is in progress.
	begin step = "begin"
	// adopt adds the finalizer, and removes the request for the operation.
	adopt step = "adopt"
	// await reports what the operation waits for.
	await step = "await"

	// prepare reads what the shoot is to get, and what it has.
	prepare step = "prepare"
	// makeKey generates the credentials of the source, and stores them.
	makeKey step = "make a key"
	// noteRotation records that a key was rotated.
	noteRotation step = "note the rotation"
	// showKey publishes a generated key in the project.
	showKey step = "show the key"
	// collect makes the pieces that the shoot gets.
	collect step = "collect the pieces"
	// writeManifests writes the manifests of Flux.
	writeManifests step = "write the manifests"
	// findData looks whether the data is written already.
	findData step = "find the data"
	// askRights writes the data without new Secrets, with the right to see whether these exist already.
	askRights step = "ask for rights"
	// findOwners looks into the shoot for Secrets of other owners.
	findOwners step = "find owners"
	// askToken requests the token for later looks into the shoot.
	askToken step = "ask for a token"
	// writeData writes Secrets and ConfigMaps.
	writeData step = "write the data"
	// configure writes source and kustomization.
	configure step = "configure"
	// look reads the health of Flux in the shoot.
	look step = "look"
	// remember stores since when the shoot waits.
	remember step = "remember"
	// record stores what was reached, and begins anew.
	record step = "record"
	// freeze leaves the pieces that are not kept up to date to the owner of the shoot.
	freeze step = "freeze"
	// finish reports the success.
	finish step = "finish"

	// depart removes the ManagedResources, in order.
	depart step = "depart"
	// sweep removes the objects on the seed.
	sweep step = "sweep"
	// release reports the success of a deletion or migration, and removes the finalizer.
	release step = "release"
)

// decision is what to do next, and what brings the attempt after it.
type decision struct {
	do step
	// cause is what a failure reports.
	cause error
	// pause is what the status says about a wait.
	pause pause
	wake  job.Wake
}

func act(do step) decision { return decision{do: do, wake: job.Continues()} }

// failing ends the attempt with an error, which the queue retries.
func failing(cause error) decision { return decision{do: fail, cause: cause, wake: job.Continues()} }

// ended rests until the Extension changes.
func ended(s snapshot, do step) decision {
	return decision{do: do, wake: job.OnChange("Extension", s.e.Name)}
}

// concerns reports whether an Extension has work for this controller.
func concerns(e *gardener.Extension, kind gardener.OperationType) bool {
	return ours(e) && !left(e, kind)
}

// decide chooses the next step.
func decide(s snapshot) decision {
	leaving := s.kind == gardener.Delete || s.kind == gardener.Migrate
	switch {
	case !concerns(s.e, s.kind):
		return ended(s, rest)
	case s.unread != nil:
		return failing(s.unread)
	case s.shoot == nil && !leaving:
		return failing(s.absence)
	case s.shoot != nil && s.shoot.HasFailed():
		return ended(s, rest)
	case leaving:
		return decideRemoval(s)
	}
	return decideBeginning(s)
}

// decideBeginning chooses the next step of a shoot that gets something. The status says that the
// operation is in progress before the request is removed, so that a crash repeats an operation rather than
// losing it.
func decideBeginning(s snapshot) decision {
	e := s.e
	asked := isRequested(e) || behind(e) || !hasFinalizer(e) || e.Status.ObservedGeneration != e.Generation
	switch {
	case asked && !s.done[begin] && !inProgress(e, s.kind):
		return act(begin)
	case !hasFinalizer(e) || e.Annotations[gardener.OperationAnnotation] == gardener.OperationReconcile:
		return act(adopt)
	case s.work == nil:
		return act(prepare)
	}
	if next := decideKey(s); next.do != "" {
		return next
	}
	return decidePieces(s)
}

// decideKey chooses what is done about a generated key before anything of it gets to the shoot. A rotation
// is recorded before the key is shown: otherwise, a garden that does not answer then would get a new key
// at each attempt.
func decideKey(s snapshot) decision {
	w := s.work
	switch {
	case w.credentials != nil && w.credentials.due != nil && !s.done[makeKey]:
		return act(makeKey)
	case w.asked == RequestRotate && !s.done[noteRotation]:
		return act(noteRotation)
	case w.hidden() && !s.done[showKey]:
		return act(showKey)
	case !s.done[collect]:
		return act(collect)
	}
	return decision{}
}

// decidePieces chooses which piece is written next. A hibernated shoot has no API server: it gets
// everything after its hibernation.
//
// A piece follows only when the resource manager has applied the one before it, and existing contents are
// not written again: so an attempt may be repeated at any time, and continues where the last one ended.
func decidePieces(s snapshot) decision {
	w, asleep := s.work, s.shoot.Hibernates()
	if w.plan.install.handle() != leave && !s.done[writeManifests] {
		return act(writeManifests)
	}
	mayHaveData, mayBeConfigured := w.plan.mayFollow(w.installed)
	if next := decideData(s, mayHaveData, asleep); next.do != "" {
		return next
	}
	owned := w.plan.config.handle() == leave
	if (mayBeConfigured || asleep) && !owned && !s.done[configure] {
		return act(configure)
	}
	if asleep {
		return ended(s, finish) // it has made no progress
	}
	return decideHealth(s, mayBeConfigured, owned)
}

// decideHealth waits until everything is in the shoot, and works if that is waited for.
func decideHealth(s snapshot, mayBeConfigured, owned bool) decision {
	w := s.work
	if wait := w.missing(mayBeConfigured); wait != nil {
		return decideWait(s, *wait)
	}
	if len(readiness(w.config)) > 0 && !owned && !s.done[look] {
		return act(look)
	}
	if wait := w.unreadiness(); wait != nil {
		return decideWait(s, *wait)
	}
	return decideEnd(s)
}

// decideData chooses how the data is written, if there is something to do about it now: when its namespace
// may exist, or, for a hibernated shoot, in any case. Until then, only a token is asked for.
func decideData(s snapshot, may, asleep bool) decision {
	switch {
	case (may || asleep) && !s.done[writeData]:
		return decideSecrets(s, asleep)
	case !may && !asleep && len(s.work.fresh) > 0 && !s.done[askToken]:
		return act(askToken)
	}
	return decision{}
}

// decideSecrets lets the data be written after a check that no Secret would replace one of another owner.
// A hibernated shoot cannot be read: it gets its new Secrets after its hibernation, when gardenlet asks for
// an operation. There is no step then.
func decideSecrets(s snapshot, asleep bool) decision {
	w := s.work
	switch {
	case !s.done[findData]:
		return act(findData)
	case len(w.fresh) == 0 || w.written:
		return act(writeData)
	case !s.done[askRights]:
		return act(askRights)
	case asleep:
		return decision{}
	case !w.data.Applied:
		return decideWait(s, pause{why: "waiting for the right to see whether Secrets of the shoot have other owners: " + w.data.Reason, progress: 50, again: lookAgain})
	case !s.done[findOwners]:
		return act(findOwners)
	case w.unseen != "":
		return decideWait(s, pause{why: "waiting to see whether Secrets of the shoot have other owners: " + w.unseen, progress: 50, again: notBefore(lookSoon, w.took)})
	case w.taken != "":
		return failing(withCode(fmt.Errorf("the shoot has a Secret %s that this extension has not written, and the configuration would replace it: "+
			"remove it from the shoot, or give yours another name (targetName, or spec.secretRef of the source)", w.taken), gardener.RetryableConfigurationProblem))
	}
	return act(writeData)
}

// decideWait waits, or fails when that takes too long. Then, the time since when the shoot waits is stored
// before: the error says what is wrong, and the state since when.
func decideWait(s snapshot, on pause) decision {
	remembered := s.work.after
	since, left := wait(&remembered, s.work.config.Checksum(), metav1.NewTime(s.now).Rfc3339Copy().Time)
	switch {
	case left > 0:
		on.again = min(on.again, left)
		return decision{do: await, pause: on, wake: onPieces(s).By(s.now.Add(on.again))}
	case !s.done[remember]:
		return act(remember)
	}
	return failing(on.expired(since))
}

// onPieces is the wake by a change of a ManagedResource.
func onPieces(s snapshot) job.Wake {
	return job.OnChange("ManagedResource", InstallName, ConfigName, DataName).And(job.OnChange("Extension", s.e.Name))
}

// decideEnd chooses the last steps of an operation. What was reached is stored before anything is frozen,
// and after a request the contents are written once more. An attempt begins anew after that, but no second
// time: if the record was lost, a pause is due.
func decideEnd(s snapshot) decision {
	w := s.work
	switch {
	case s.done[freeze]:
		return ended(s, finish)
	case !w.advances() || w.plan.install.continuous && w.plan.config.continuous:
		return act(freeze)
	case s.done[record]:
		return failing(errNotKept)
	}
	return act(record)
}

// decideRemoval chooses the next step of a shoot that is left. The success is reported before the finalizer
// is removed, since the Extension may not exist afterwards. A crash in between repeats all of it, with
// nothing left to do.
func decideRemoval(s snapshot) decision {
	switch {
	case !s.done[begin] && !inProgress(s.e, s.kind):
		return act(begin)
	case !s.done[depart]:
		return act(depart)
	case s.waiting.name != "":
		if s.departingFor() > pruning {
			return failing(s.waiting.overdue())
		}
		return decision{do: await, pause: pause{why: s.waiting.String(), progress: 50}, wake: onPieces(s).By(s.now.Add(lookAgain))}
	case !s.done[sweep]:
		return act(sweep)
	}
	return ended(s, release)
}

// departingFor is how long a deletion takes; 0 for a migration.
func (s snapshot) departingFor() time.Duration {
	if s.kind == gardener.Migrate {
		return 0
	}
	return s.now.Sub(s.e.DeletionTimestamp.Time)
}

// inProgress reports whether the status says that an operation is in progress.
func inProgress(e *gardener.Extension, kind gardener.OperationType) bool {
	last := e.Status.LastOperation
	return last != nil && last.Type == kind && last.State != gardener.Succeeded && !behind(e)
}
