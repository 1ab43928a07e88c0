package lifecycle

import (
	"time"

	"go.landscaper.dev/internal/controller/shootflux/gardener"
)

const (
	// Type is the type of Extensions that we look after.
	Type = "shoot-flux"
	// Finalizer keeps an Extension until we are done with its shoot.
	Finalizer = "extensions.gardener.cloud/shoot-flux"
)

// ours says whether an Extension is for us.
func ours(e *gardener.Extension) bool {
	return e.Spec.Type == Type && (e.Spec.Class == nil || *e.Spec.Class == "" || *e.Spec.Class == gardener.ClassShoot)
}

// isRequested says whether gardenlet asks for an operation.
func isRequested(e *gardener.Extension) bool {
	switch e.Annotations[gardener.OperationAnnotation] {
	case gardener.OperationReconcile, gardener.OperationMigrate, gardener.OperationRestore:
		return true
	}
	return false
}

// unfinished says whether an operation has begun that did not succeed, or none ever has.
func unfinished(e *gardener.Extension) bool {
	return e.Status.LastOperation == nil || e.Status.LastOperation.State != gardener.Succeeded
}

// behind says that gardenlet has written the Extension after the last operation ended: a
// crash between the request's removal and the first status leaves such an Extension.
func behind(e *gardener.Extension) bool {
	if e.Status.LastOperation == nil {
		return true
	}
	written, err := time.Parse(time.RFC3339Nano, e.Annotations[gardener.TimestampAnnotation])
	// A status has whole seconds only.
	return err == nil && written.Truncate(time.Second).After(e.Status.LastOperation.LastUpdateTime.Time)
}

// incomplete says that gardenlet has still to write the state of a shoot that comes from
// another seed. Without it, the shoot would look as if it was never bootstrapped.
func incomplete(e *gardener.Extension) bool {
	return e.DeletionTimestamp == nil && e.Annotations[gardener.OperationAnnotation] == gardener.OperationWaitForState
}

// migrated says that the shoot is on its way to another seed, or already there.
func migrated(e *gardener.Extension) bool {
	last := e.Status.LastOperation
	return last != nil && last.Type == gardener.Migrate && last.State == gardener.Succeeded
}

// wakesAtStart says whether an Extension that was just seen for the first time has work.
func wakesAtStart(e *gardener.Extension, ignoreAnnotation bool) bool {
	if !ours(e) || incomplete(e) {
		return false
	}
	if e.DeletionTimestamp != nil || unfinished(e) || isRequested(e) {
		return true
	}
	return !migrated(e) && (behind(e) || ignoreAnnotation && e.Status.ObservedGeneration != e.Generation)
}

// wakes says whether a change of an Extension brings work.
//
// A deletion counts as long as the status stays: our own reports of its progress must not
// start it again and again.
func wakes(before, after *gardener.Extension, ignoreAnnotation bool) bool {
	if !ours(after) {
		return false
	}
	deleted := after.DeletionTimestamp != nil && sameStatus(before, after)
	if ignoreAnnotation {
		return before.Generation != after.Generation || deleted || operationAnnotationIsNew(before, after)
	}
	return isRequested(after) && isNew(before, after) || deleted
}

// isNew says whether a request was not there before. Our own writes meanwhile are none:
// who works on a request goes on until it is done.
func isNew(before, after *gardener.Extension) bool {
	for _, name := range []string{gardener.OperationAnnotation, gardener.TimestampAnnotation} {
		if before.Annotations[name] != after.Annotations[name] {
			return true
		}
	}
	return false
}

// operationAnnotationIsNew finds requests that cannot be ignored: nobody but gardenlet
// can tell that a shoot moves.
func operationAnnotationIsNew(before, after *gardener.Extension) bool {
	operation := after.Annotations[gardener.OperationAnnotation]
	moves := operation == gardener.OperationMigrate || operation == gardener.OperationRestore
	return moves && before.Annotations[gardener.OperationAnnotation] != operation
}

func sameStatus(a, b *gardener.Extension) bool {
	x, y := a.Status.LastOperation, b.Status.LastOperation
	if x == nil || y == nil {
		return x == y
	}
	return *x == *y && (a.Status.LastError == nil) == (b.Status.LastError == nil)
}

// operation says what is to be done with an Extension.
//
// A move goes before a deletion: gardenlet deletes the Extension of the old seed while the
// shoot lives on. An operation that has not succeeded is repeated as what it was, so that
// an error in between does not turn a creation into a reconciliation.
func operation(e *gardener.Extension) gardener.OperationType {
	asked := e.Annotations[gardener.OperationAnnotation]
	last := e.Status.LastOperation
	switch {
	case asked == gardener.OperationMigrate:
		return gardener.Migrate
	case e.DeletionTimestamp != nil:
		return gardener.Delete
	case asked == gardener.OperationRestore:
		return gardener.Restore
	case last == nil:
		return gardener.Create
	case last.State != gardener.Succeeded && (last.Type == gardener.Create || last.Type == gardener.Migrate || last.Type == gardener.Restore):
		return last.Type
	}
	return gardener.Reconcile
}

// left says that there is nothing to do with an Extension whatever is the matter: its
// shoot belongs to another seed, it only waits for the finalizers of others, or gardenlet
// has not written all of it.
func left(e *gardener.Extension, kind gardener.OperationType) bool {
	if kind == gardener.Delete && !hasFinalizer(e) || incomplete(e) {
		return true
	}
	return migrated(e) && kind != gardener.Migrate && kind != gardener.Restore
}

func hasFinalizer(e *gardener.Extension) bool {
	for _, name := range e.Finalizers {
		if name == Finalizer {
			return true
		}
	}
	return false
}
