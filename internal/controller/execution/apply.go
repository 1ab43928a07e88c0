package execution

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/model/siblings/itemorder"
	"go.landscaper.dev/internal/runtime/expectations"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/job/published"
	"go.landscaper.dev/internal/runtime/job/reasons"
	"go.landscaper.dev/internal/runtime/parallelize"
	"go.landscaper.dev/internal/runtime/reporter"
)

// stepFuncs carry out the steps that are about an Execution as a whole.
var stepFuncs = map[step]func(*Reconciler, context.Context, *snapshot) error{
	adopt: (*Reconciler).adopt, accept: (*Reconciler).accept, begin: (*Reconciler).begin, collect: (*Reconciler).collectOnly,
	beginRemovals: (*Reconciler).beginRemovals, beginDeletion: (*Reconciler).beginDeletion, dismiss: (*Reconciler).dismiss,
	complete: (*Reconciler).complete, remove: (*Reconciler).remove, release: (*Reconciler).release, releaseStrays: (*Reconciler).releaseStrays, disown: (*Reconciler).disown,
}

// apply carries a decision out.
func (r *Reconciler) apply(ctx context.Context, s *snapshot, d decision) error {
	if way, ok := stepFuncs[d.do]; ok {
		return way(r, ctx, s)
	}
	switch d.do {
	case fail:
		return d.err
	case interrupt:
		return r.interrupt(ctx, s, d.items)
	case sayPause:
		return r.sayPause(ctx, s, d.message)
	case show:
		s.show(d.message)
		return r.reporter().Save(ctx, reporter.Execution(s.exec))
	}
	for _, item := range d.items {
		if err := r.applyToItem(ctx, s, d.do, item); err != nil {
			return err
		}
	}
	return nil
}

// applyToItem carries a step out that is about items.
func (r *Reconciler) applyToItem(ctx context.Context, s *snapshot, do step, item *v1alpha1.DeployItem) error {
	switch do {
	case trigger:
		return r.trigger(ctx, s.exec, s.own(item))
	case expire:
		return r.endItem(ctx, s.own(item), item.Status.JobID, lateError(item, *s))
	case giveUp:
		return r.endItem(ctx, s.own(item), item.Status.JobID, abortError("operation was aborted, and the item has not ended in time"))
	case erase:
		return r.deleteItem(ctx, s, item)
	case letGo:
		return r.letGo(ctx, s, s.own(item))
	}
	return fmt.Errorf("step %q is unknown", do)
}

// adopt takes over the job of the parent, or makes one if the parent no longer exists. It is stored
// when the job begins.
func (r *Reconciler) adopt(_ context.Context, s *snapshot) error {
	id := ""
	if s.parent != nil {
		id = job.Round(s.parent)
	} else {
		id = r.NewJobID()
	}
	reporter.Execution(s.exec).Status.Trigger(id, metav1.NewTime(r.Now()))
	s.adopted = true
	return nil
}

// accept stores a job that was requested before it removes the request: a crash in between repeats
// the job rather than losing it. A job that is stored already, because of such a crash or a lost
// answer, is not written again.
func (r *Reconciler) accept(ctx context.Context, s *snapshot) error {
	if s.adopted {
		if err := r.reporter().Save(ctx, reporter.Execution(s.exec)); err != nil {
			return err // says what was written
		}
	}
	return r.dismiss(ctx, s)
}

// begin starts a job: the items are written, then the job is stored, then the first items get the
// job, and those that are no longer wanted are deleted. Nothing is deleted before: an Execution that
// a cache shows as it was before this job would not want items that the job wants, and only the store
// of the job refuses it.
//
// A crash before the status is stored repeats all of that: the job is taken over again, names of
// items follow from the Execution, and existing items are only compared. After it, every item is
// known by its name in the status.
func (r *Reconciler) begin(ctx context.Context, s *snapshot) error {
	if err := r.writeItems(ctx, s); err != nil {
		return classified(err)
	}
	now := metav1.NewTime(r.Now())
	subject := reporter.Execution(s.exec)
	subject.Status.Begin(s.exec.Generation, now)
	subject.Status.Wait(now)
	s.noteDuplicates(subject, now)
	return r.reporter().Enter(ctx, subject, v1alpha1.PhaseStringProgressing)
}

// writeItems creates and updates the items, and notes all of them, also those that are no longer
// wanted. One that is wanted and terminating stays as it is and is not noted: it is deleted first, and
// written anew then.
func (r *Reconciler) writeItems(ctx context.Context, s *snapshot) error {
	wanted, orphans := itemorder.Members(s.templates, s.items)
	cache := &v1alpha1.DeployItemCache{}
	items := make([]*v1alpha1.DeployItem, len(s.templates))
	err := parallelize.Until(r.Parallelizer, len(s.templates), func(i int) (err error) {
		if items[i] = wanted[i].Item; isTerminating(wanted[i]) {
			return nil
		}
		items[i], err = r.ensureItem(ctx, s.exec, &s.templates[i], wanted[i].Item)
		return err
	})
	if err != nil {
		return err
	}
	for i, item := range items {
		if isTerminating(wanted[i]) {
			continue
		}
		cache.ActiveDIs = append(cache.ActiveDIs, v1alpha1.DiNamePair{SpecName: s.templates[i].Name, ObjectName: item.Name})
	}
	for _, orphan := range orphans {
		items = append(items, orphan.Item)
		cache.OrphanedDIs = append(cache.OrphanedDIs, orphan.Item.Name)
	}
	s.items, s.exec.Status.DeployItemCache = items, cache
	return nil
}

// classified marks errors that another attempt would only repeat: what the API
// server refuses because of its content.
func classified(err error) error {
	wrapped := job.Wrap(err, published.HandleReconcilePhase, reasons.HandlePhaseInit, "write deploy items")
	if job.IsRefusal(err) {
		return job.AsTerminal(wrapped)
	}
	return wrapped
}

// beginDeletion starts a job that deletes. The job is stored when the items are deleted: until
// then, the parent assigns it again.
func (r *Reconciler) beginDeletion(_ context.Context, s *snapshot) error {
	// A deletion works on no generation: the observed generation of the last job stays.
	status, now := reporter.Execution(s.exec).Status, metav1.NewTime(r.Now())
	status.Begin(s.exec.Status.ObservedGeneration, now)
	s.exec.Status.DeployItemCache = nil
	status.Enter(v1alpha1.PhaseStringInitDelete, nil, now)
	return nil
}

// remove deletes all items. Each of them stays until its deployer has cleaned up.
func (r *Reconciler) remove(ctx context.Context, s *snapshot) error {
	for _, item := range s.items {
		if err := r.deleteItem(ctx, s, item); err != nil {
			return err
		}
	}
	reporter.Execution(s.exec).Status.Wait(metav1.NewTime(r.Now()))
	return r.enter(ctx, s, v1alpha1.PhaseStringDeleting)
}

// interrupt fails every item that has not finished, so that the job ends.
func (r *Reconciler) interrupt(ctx context.Context, s *snapshot, items []*v1alpha1.DeployItem) error {
	for _, item := range items {
		cause := job.Interrupted(item.Status.Conditions, item.Status.LastError)
		if err := r.endItem(ctx, s.own(item), s.exec.Status.JobID, cause); err != nil {
			return err
		}
	}
	// The request is removed last: after a crash before that, it is found again.
	return r.dismiss(ctx, s)
}

// dismiss removes a request that is done, or that has no effect, in the version that was read:
// another one may have replaced it meanwhile.
func (r *Reconciler) dismiss(ctx context.Context, s *snapshot) error {
	patch := client.MergeFromWithOptions(s.exec.DeepCopy(), client.MergeFromWithOptimisticLock{})
	delete(s.exec.Annotations, v1alpha1.OperationAnnotation)
	delete(s.exec.Annotations, v1alpha1.AbortTimeAnnotation)
	// The answer to the patch replaces the object, with a status that does not know yet
	// what we have noted in memory, such as a job that was just taken over.
	status := s.exec.Status
	if err := r.Client.Patch(ctx, s.exec, patch); err != nil {
		if apierrors.IsNotFound(err) {
			return expectations.StaleCacheError{Deleted: true}
		}
		return fmt.Errorf("remove the requested operation of Execution %s/%s: %w", s.exec.Namespace, s.exec.Name, err)
	}
	s.exec.Status = status
	r.memory.wrote(s.exec)
	return nil
}

// release removes the finalizer of the version that was read, so that the object disappears. A new
// one of its name may exist that the cache does not show.
func (r *Reconciler) release(ctx context.Context, s *snapshot) error {
	patch := client.MergeFromWithOptions(s.exec.DeepCopy(), client.MergeFromWithOptimisticLock{})
	if controllerutil.RemoveFinalizer(s.exec, v1alpha1.Finalizer) {
		if err := r.Client.Patch(ctx, s.exec, patch); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("remove the finalizer of Execution %s/%s: %w", s.exec.Namespace, s.exec.Name, err)
		}
	}
	s.released = true
	return nil // the object disappears
}

// enter stores the status in a new phase.
func (r *Reconciler) enter(ctx context.Context, s *snapshot, phase string) error {
	subject := reporter.Execution(s.exec)
	var notes []func(metav1.Time)
	if phase == v1alpha1.PhaseStringSucceeded {
		notes = append(notes, func(now metav1.Time) { s.noteEnd(subject, now) })
	}
	return r.reporter().Enter(ctx, subject, phase, notes...)
}
