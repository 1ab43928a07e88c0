package lifecycle

import (
	"time"

	"go.landscaper.dev/internal/controller/shootflux/gardener"
)

const (
	// Type is the type of Extensions of this controller.
	Type = "shoot-flux"
	// Finalizer blocks the deletion of an Extension until its shoot is cleaned up.
	Finalizer = "extensions.gardener.cloud/shoot-flux"
)

// ours says whether an Extension is for this controller.
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

// unfinished says whether the last operation did not succeed, or no operation ever ran.
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
	// Times in a status have whole seconds only.
	return err == nil && written.Truncate(time.Second).After(e.Status.LastOperation.LastUpdateTime.Time)
}

// incomplete says that gardenlet has yet to write the state of a shoot from another seed. Without
// the state, the shoot would look as if it had never been bootstrapped.
func incomplete(e *gardener.Extension) bool {
	return e.DeletionTimestamp == nil && e.Annotations[gardener.OperationAnnotation] == gardener.OperationWaitForState
}

// migrated says that the shoot is on its way to another seed, or already there.
func migrated(e *gardener.Extension) bool {
	last := e.Status.LastOperation
	return last != nil && last.Type == gardener.Migrate && last.State == gardener.Succeeded
}

// triggersAtStart says whether an Extension triggers a reconcile when it is first observed.
func triggersAtStart(e *gardener.Extension, ignoreAnnotation bool) bool {
	if !ours(e) || incomplete(e) {
		return false
	}
	if e.DeletionTimestamp != nil || unfinished(e) || isRequested(e) {
		return true
	}
	return !migrated(e) && (behind(e) || ignoreAnnotation && e.Status.ObservedGeneration != e.Generation)
}

// triggersReconcile says whether a change of an Extension triggers a reconcile.
//
// A deletion counts only while the status is unchanged: reports of its progress must not trigger it
// again and again.
func triggersReconcile(before, after *gardener.Extension, ignoreAnnotation bool) bool {
	if !ours(after) {
		return false
	}
	deleted := after.DeletionTimestamp != nil && sameStatus(before, after)
	if ignoreAnnotation {
		return before.Generation != after.Generation || deleted || operationAnnotationIsNew(before, after)
	}
	return isRequested(after) && isNew(before, after) || deleted
}

// isNew says whether a request is new. Writes of this controller are not requests: a run works on a
// request until it is done.
func isNew(before, after *gardener.Extension) bool {
	for _, name := range []string{gardener.OperationAnnotation, gardener.TimestampAnnotation} {
		if before.Annotations[name] != after.Annotations[name] {
			return true
		}
	}
	return false
}

// operationAnnotationIsNew finds requests that cannot be ignored: only gardenlet knows that a shoot
// moves.
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

// operation returns the operation for an Extension.
//
// A migration precedes a deletion: gardenlet deletes the Extension of the old seed while the shoot
// stays. An operation that has not succeeded is repeated with the same type, so that an error does
// not turn a creation into a reconciliation.
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

// left says that an Extension must be left alone: its shoot belongs to another seed, it only waits
// for the finalizers of others, or gardenlet has not written all of it.
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
