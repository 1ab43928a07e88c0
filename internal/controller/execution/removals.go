package execution

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/model/placement"
	"go.landscaper.dev/internal/model/siblings/itemorder"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/job/reasons"
	"go.landscaper.dev/internal/runtime/reporter"
)

// concerned returns the items of the running job. The first round of a job leaves out items that
// are held, and the removal round those that have kept nothing.
func concerned(s snapshot) []*v1alpha1.DeployItem {
	if s.exec.Status.ExecutionPhase.Current().IsDeletion() {
		return s.items
	}
	wanted, orphans := itemorder.Members(s.templates, s.items)
	if job.IsRemoval(s.exec.Status.JobID) {
		return itemorder.Items(append(itemorder.InRound(s.exec.Status.JobID, wanted), orphans...))
	}
	if !keeps(s, orphans) {
		return s.items
	}
	return itemorder.Items(slices.DeleteFunc(wanted, func(m itemorder.Member) bool { return m.Item == nil }))
}

// decideRemovals judges the items of a removal round: those that are no longer wanted are deleted,
// and those that have kept something remove it. Nothing is removed before what depends on it.
func decideRemovals(s snapshot, wanted, orphans []itemorder.Member, deadline time.Time) decision {
	order := itemorder.ToRemove(s.exec.Status.JobID, wanted, orphans, s.underWay)
	switch order.Verdict() {
	case itemorder.GoOn:
		return removing(order.Of(itemorder.Runnable))
	case itemorder.Stuck:
		// Objects that an item has kept may depend on items that the item does not depend on any
		// more.
		return removing(order.Of(itemorder.Pending))
	case itemorder.Wait:
		return resting(s, itemorder.ChangeOf(order.Of(itemorder.Running)).By(deadline), order)
	}
	lost := slices.DeleteFunc(wanted, func(m itemorder.Member) bool { return m.Item != nil })
	if bad := append(order.Of(itemorder.Failed), lost...); len(bad) > 0 {
		return failedItems(s, reasons.HandlePhaseProgressing, bad)
	}
	return act(complete)
}

// removing chooses the next step of the items whose turn has come in a removal round.
func removing(open []itemorder.Member) decision {
	var leaving, staying []*v1alpha1.DeployItem
	for _, m := range open {
		if m.Unwanted {
			leaving = append(leaving, m.Item)
		} else {
			staying = append(staying, m.Item)
		}
	}
	if len(leaving) > 0 {
		return uninstall(leaving)
	}
	return act(trigger, staying...)
}

// beginRemovals starts a removal round. The items that were held are deleted when it is stored, as those
// of a job: see begin.
func (r *Reconciler) beginRemovals(ctx context.Context, s *snapshot) error {
	reporter.Execution(s.exec).Status.Resume(metav1.NewTime(r.Now()))
	return r.enter(ctx, s, v1alpha1.PhaseStringProgressing)
}

// noteRemovals says in the status of an Execution whose job ends which items are held, which have kept
// something, and what they have inherited from items that this job has deleted. It is stored with the
// end of the job.
func (s *snapshot) noteRemovals(subject *reporter.Subject, now metav1.Time) {
	if s.broken != nil {
		return
	}
	if s.exec.Status.ExecutionPhase.Current().IsDeletion() {
		job.DropCondition(subject.Status.Conditions, v1alpha1.PendingRemovalsCondition)
		return
	}
	wanted, orphans := itemorder.Members(s.templates, s.items)
	var said []string
	for _, orphan := range orphans {
		what := job.NotWanted
		if orphan.Item.DeletionTimestamp != nil {
			what = "being deleted"
		}
		said = append(said, fmt.Sprintf("deploy item %q is %s", orphan.Name, what))
	}
	for _, m := range wanted {
		if m.Item == nil {
			continue
		}
		if kept := job.Pending(m.Item.Status.Conditions); kept != nil {
			said = append(said, fmt.Sprintf("deploy item %q: %s", m.Name, kept.Message))
		}
		if inherited := placement.SayInherited(m.Item); inherited != "" {
			said = append(said, fmt.Sprintf("deploy item %q: %s", m.Name, inherited))
		}
	}
	job.NotePending(subject.Status.Conditions, strings.Join(said, "; "), s.exec.Status.ObservedGeneration, now)
}

// isNewlyHeld reports whether the Installation is held, and its Execution does not say so yet.
func isNewlyHeld(s snapshot) bool {
	if s.parent == nil || !job.IsNotWanted(s.parent) || s.exec.DeletionTimestamp != nil {
		return false
	}
	said := job.Pending(s.exec.Status.Conditions)
	return !reasons.IsNotWanted(said)
}

// disown says that the Installation is held: items that are repeated would take back what others
// have taken over. The next job updates that.
func (r *Reconciler) disown(ctx context.Context, s *snapshot) error {
	job.SetCondition(&s.exec.Status.Conditions, v1alpha1.Condition{
		Type: v1alpha1.PendingRemovalsCondition, Status: v1alpha1.ConditionTrue, Reason: string(reasons.NotWanted), Message: job.NotWanted,
		ObservedGeneration: s.exec.Status.ObservedGeneration,
	}, metav1.NewTime(r.Now()))
	return r.reporter().Save(ctx, reporter.Execution(s.exec))
}
