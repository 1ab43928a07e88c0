package installation

import (
	"context"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/landscape/plan"
	"go.landscaper.dev/internal/model/predicates"
	"go.landscaper.dev/internal/model/siblings"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/job/ancestor"
	"go.landscaper.dev/internal/runtime/job/reasons"
)

// holdOrDrop holds or deletes subinstallations that are no longer wanted. Where nothing wanted
// could take over what they have deployed, they are deleted first.
func (r *Reconciler) holdOrDrop(ctx context.Context, s *snapshot, orphans []*v1alpha1.Installation, made *renderedJob) error {
	others := s.Parent != nil || len(made.children.Subinstallations)+len(made.children.DeployItems) > 0
	if len(orphans) == 0 || !others {
		return r.dropSubs(ctx, s, orphans)
	}
	lineage, err := ancestor.Lineage(ctx, r.Client, s.Inst, plan.MaxDepth)
	if err != nil {
		return err // names the object
	}
	if slices.ContainsFunc(lineage, job.RemovesFirst) {
		return r.dropSubs(ctx, s, orphans)
	}
	for _, orphan := range orphans {
		if predicates.BeingDeleted(orphan) {
			continue
		}
		if err := r.hold(ctx, s, orphan); err != nil {
			return fmt.Errorf("keep subinstallation %s until the end of the job: %w", orphan.Name, err)
		}
	}
	return nil
}

// hold keeps a subinstallation until the removal round, and says so in its status. Its exports are
// deleted at once, as with its deletion: no sibling is to import them any more.
func (r *Reconciler) hold(ctx context.Context, s *snapshot, orphan *v1alpha1.Installation) error {
	if exports := &orphan.Spec.Exports; len(exports.Data)+len(exports.Targets) > 0 {
		if err := r.exportWriter().DeleteExports(ctx, orphan); err != nil {
			return err
		}
	}
	held, err := r.markNotWanted(ctx, orphan, 0)
	if err != nil || held == nil {
		return err
	}
	s.Subs[slices.Index(s.Subs, orphan)] = held
	return nil
}

// markNotWanted says in the status of a subinstallation that it is held, and of all below it:
// their items would otherwise be repeated, and take back what others take over from them. It
// returns the subinstallation as it was written, or nil if that was not necessary.
func (r *Reconciler) markNotWanted(ctx context.Context, sub *v1alpha1.Installation, depth int) (*v1alpha1.Installation, error) {
	if depth < plan.MaxDepth { // names could form a cycle
		below, err := r.reader().Children(ctx, sub.Namespace, sub.Name)
		if err != nil {
			return nil, err // names the object
		}
		for _, child := range below {
			if !metav1.IsControlledBy(child, sub) {
				continue // it belonged to an earlier one of this name
			}
			if _, err := r.markNotWanted(ctx, child, depth+1); err != nil {
				return nil, err
			}
		}
	}
	if job.IsNotWanted(sub) || predicates.BeingDeleted(sub) {
		return nil, nil
	}
	held := sub.DeepCopy()
	job.SetCondition(&held.Status.Conditions, v1alpha1.Condition{
		Type: v1alpha1.PendingRemovalsCondition, Status: v1alpha1.ConditionTrue, Reason: string(reasons.NotWanted), Message: job.NotWanted,
		ObservedGeneration: held.Status.ObservedGeneration,
	}, metav1.NewTime(r.Now()))
	if err := r.Client.Status().Update(ctx, held); err != nil {
		return nil, client.IgnoreNotFound(err)
	}
	r.memory.Of(held.UID).Written.Record(held)
	return held, nil
}

// beginRemovals begins the removal round of the job: everything that is wanted has succeeded.
func (r *Reconciler) beginRemovals(ctx context.Context, s *snapshot) error {
	now := metav1.NewTime(r.Now())
	if job.IsRemoval(s.Inst.Status.JobID) {
		s.subject.Status.Resume(now)
	}
	job.SetCondition(&s.Inst.Status.Conditions, v1alpha1.Condition{
		Type: v1alpha1.PendingRemovalsCondition, Status: v1alpha1.ConditionTrue, Reason: string(reasons.Removing), ObservedGeneration: s.Inst.Status.ObservedGeneration,
		Message: "everything that is wanted has succeeded, and objects that no item has taken over are removed now: " + s.kept(),
	}, now)
	return r.enter(ctx, s, v1alpha1.PhaseStringProgressing)
}

// deleteHeld deletes the subinstallations that were held.
func (r *Reconciler) deleteHeld(ctx context.Context, s *snapshot) error {
	return r.deleteSubs(ctx, s, siblings.Held(s.Family))
}

// needsCopies reports whether deploy items here or below are kept beyond the end of the job:
// they may name Targets that are no longer imported, and are removed with them.
func (s *snapshot) needsCopies() bool {
	return s.Parent != nil && siblings.HasPendingRemovals(s.Family)
}

// endRemovals ends the part of a subinstallation in a removal round. Its results are published
// already.
func (r *Reconciler) endRemovals(ctx context.Context, s *snapshot) error {
	if err := r.exportWriter().DeleteStaleCopies(ctx, s.Inst); err != nil {
		return err
	}
	return r.enter(ctx, s, v1alpha1.PhaseStringSucceeded)
}

// noteRemovals says in the status of an Installation whose job ends what is kept below it. It
// is stored with the end of the job.
func (s *snapshot) noteRemovals(now metav1.Time) {
	if job.IsNotWanted(s.Inst) {
		return
	}
	said := s.kept()
	if s.Inst.Status.InstallationPhase.Current().IsDeletion() {
		said = ""
	}
	job.NotePending(s.subject.Status.Conditions, said, s.Inst.Status.ObservedGeneration, now)
}

// kept says what is kept below an Installation.
func (s *snapshot) kept() string {
	var said []string
	if s.Exec != nil {
		if pending := job.Pending(s.Exec.Status.Conditions); pending != nil {
			said = append(said, pending.Message)
		}
	}
	for _, sub := range s.Subs {
		pending := job.Pending(sub.Status.Conditions)
		switch leaves := job.HasDropped(s.Inst, sub.Name); {
		case leaves && predicates.BeingDeleted(sub):
			said = append(said, fmt.Sprintf("subinstallation %q is being deleted", siblings.NameOf(sub)))
		case leaves || job.IsNotWanted(sub):
			said = append(said, fmt.Sprintf("subinstallation %q is %s", siblings.NameOf(sub), job.NotWanted))
		case pending != nil:
			said = append(said, fmt.Sprintf("subinstallation %q: %s", siblings.NameOf(sub), pending.Message))
		}
	}
	return strings.Join(said, "; ")
}
