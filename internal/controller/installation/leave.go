package installation

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/model/predicates"
	"go.landscaper.dev/internal/model/siblings"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/job/published"
	"go.landscaper.dev/internal/runtime/job/reasons"
	"go.landscaper.dev/internal/runtime/reporter"
)

// checkSiblings looks for siblings that have to be deleted first.
func (r *Reconciler) checkSiblings(ctx context.Context, s *snapshot) error {
	all, err := r.reader().Siblings(ctx, s.Inst)
	if err != nil {
		return err
	}
	now := siblings.TurnToDelete(s.Inst, s.Parent, all, r.memory.relations.Get(s.Inst, all))
	s.Turn = &now
	return nil
}

// explain writes into the status what a deleted subinstallation waits for.
func (r *Reconciler) explain(ctx context.Context, s *snapshot) error {
	job.SetCondition(&s.Inst.Status.Conditions, siblings.DeletionCondition(s.Family), metav1.NewTime(r.Now()))
	return r.reporter().Save(ctx, s.subject) // says what was written
}

// remove deletes all children. A child that must not be uninstalled is marked first.
func (r *Reconciler) remove(ctx context.Context, s *snapshot) error {
	if len(s.Subs) > 0 {
		// A child that is deleted without a job of its parent says that it waits for one.
		if err := r.saveOwn(ctx, s); err != nil {
			return err
		}
	}
	for _, child := range s.children() {
		if s.Inst.Annotations[v1alpha1.DeleteWithoutUninstallAnnotation] == "true" {
			if err := r.annotate(ctx, child.Object, v1alpha1.DeleteWithoutUninstallAnnotation, "true"); err != nil {
				return err
			}
		}
		if err := r.deleteChild(ctx, child.Object); err != nil {
			return job.Wrap(err, published.HandlePhaseInitDelete, reasons.DeleteExecution, "delete "+child.kind+" "+child.GetName())
		}
	}
	if s.Exec != nil {
		s.ExecutionDeleted = true
		r.memory.Of(s.Inst.UID).marks.note(executionDeleted, true)
	}
	s.markDeleted(metav1.NewTime(r.Now()))
	if r.isStored(s, v1alpha1.PhaseStringDeleting) {
		return nil // a cache has shown a child only now
	}
	return r.enter(ctx, s, v1alpha1.PhaseStringDeleting)
}

// isStored reports whether the stored status is the one with which a phase is entered.
func (r *Reconciler) isStored(s *snapshot, phase string) bool {
	if s.unsaved || s.PendingTrigger != "" {
		return false
	}
	entered := s.Inst.DeepCopy()
	reporter.Installation(entered).Status.Enter(phase, nil, metav1.NewTime(r.Now()))
	return equality.Semantic.DeepEqual(s.Inst.Status, entered.Status)
}

func (r *Reconciler) deleteChild(ctx context.Context, child client.Object) error {
	if child.GetDeletionTimestamp() != nil {
		return nil
	}
	uid := child.GetUID()
	return client.IgnoreNotFound(r.Client.Delete(ctx, child, client.Preconditions{UID: &uid}))
}

// confirm asks the API server whether the Execution exists: the cache may be behind, unless it has
// shown that the Execution was being deleted. The answer is remembered, so that not each reconcile
// asks again.
func (r *Reconciler) confirm(ctx context.Context, s *snapshot) error {
	if r.memory.Of(s.Inst.UID).marks.has(terminating) {
		s.ExecutionAbsent = true
		return nil
	}
	exec := &v1alpha1.Execution{}
	reference := s.Inst.Status.ExecutionReference
	switch err := r.Reader.Get(ctx, reference.NamespacedName(), exec); {
	case err == nil && predicates.AsOwner(s.Inst).Owns(exec):
		s.Exec = exec
		r.memory.Of(s.Inst.UID).created.Expect(exec.Name, r.Now())
	case client.IgnoreNotFound(err) != nil:
		return fmt.Errorf("read Execution %s: %w", reference.Name, err)
	default:
		r.memory.Of(s.Inst.UID).marks.note(terminating, true)
	}
	s.ExecutionAbsent = true
	return nil
}

// release removes the finalizer, so that the object disappears.
func (r *Reconciler) release(ctx context.Context, s *snapshot) error {
	s.released = true
	return r.patchOwn(ctx, s, func(inst *v1alpha1.Installation) {
		controllerutil.RemoveFinalizer(inst, v1alpha1.Finalizer)
	})
}
