package installation

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/installation/facts"
	"go.landscaper.dev/internal/job"
)

// byParent is the index of Installations by the name of their parent.
const byParent = "parent"

// noParent stands for the parent of roots. No Installation can have this name.
const noParent = "-"

func parentOf(object client.Object) []string {
	if owner, ok := job.OwnerOf(object, "Installation"); ok {
		return []string{owner.Name}
	}
	return []string{noParent}
}

// observeFamily reads the parent of an Installation and its subinstallations. All
// Installations come by one watch: whoever sees a version of a parent sees the
// children that were written before it.
func (r *Reconciler) observeFamily(ctx context.Context, s *snapshot) error {
	if reference, ok := job.OwnerOf(s.inst, "Installation"); ok {
		var err error
		if s.parent, err = job.Parent(ctx, r.Client, s.inst.Namespace, reference); err != nil {
			return err // names the object
		}
		s.orphaned = s.parent == nil
	}
	children, err := r.childrenOf(ctx, s.inst.Namespace, s.inst.Name)
	if err != nil {
		return err
	}
	for _, child := range children {
		if asOwner(s.inst).Owns(child) {
			s.subs = append(s.subs, child)
		}
	}
	return nil
}

// childrenOf returns the Installations that name another one as their parent, also
// those of an earlier one of its name. They must not be changed.
func (r *Reconciler) childrenOf(ctx context.Context, namespace, parent string) ([]*v1alpha1.Installation, error) {
	list := &v1alpha1.InstallationList{}
	if err := r.Client.List(ctx, list, client.InNamespace(namespace), client.MatchingFields{byParent: parent}, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list the subinstallations of Installation %s/%s: %w", namespace, parent, err)
	}
	children := make([]*v1alpha1.Installation, len(list.Items))
	for i := range list.Items {
		children[i] = &list.Items[i]
	}
	return children, nil
}

// siblings returns an Installation and its siblings, which must not be changed. The
// Installation is the one that is given, and not what a cache shows of it.
func (r *Reconciler) siblings(ctx context.Context, inst *v1alpha1.Installation) ([]*v1alpha1.Installation, error) {
	children, err := r.childrenOf(ctx, inst.Namespace, parentOf(inst)[0])
	if err != nil {
		return nil, err
	}
	parent, _ := job.OwnerOf(inst, "Installation")
	all := make([]*v1alpha1.Installation, 0, len(children))
	for _, child := range children {
		if of, _ := job.OwnerOf(child, "Installation"); of.UID != parent.UID {
			continue
		}
		if child.Name == inst.Name {
			child = inst
		}
		all = append(all, child)
	}
	return all, nil
}

// family is an Installation with its parent and its children.
type family struct {
	inst *v1alpha1.Installation
	// exec is the Execution of the Installation, or nil.
	exec *v1alpha1.Execution
	// parent is the Installation that this one is a part of, or nil; orphaned says that
	// there was one which is gone.
	parent   *v1alpha1.Installation
	orphaned bool
	// subs are the subinstallations. They are shared and must not be changed.
	subs []*v1alpha1.Installation
}

// awaited reports whether the parent has a job that the Installation does not have
// yet.
func awaited(f family) bool { return job.Awaits(f.inst.Status.JobID, f.parent) }

// handsOver reports whether the parent has a job for the Installation. A parent hands
// its job to all children at once, when the last one is written; it says so with its
// phase. What is to be deleted gets it before: the others wait until it is gone.
func handsOver(f family) bool {
	if !awaited(f) {
		return false
	}
	phases := v1alpha1.InstallationPhases
	phase := f.parent.Status.InstallationPhase
	if facts.BeingDeleted(f.inst) {
		return facts.HasFinalizer(f.inst) && (phase == phases.CleanupOrphaned || phase == phases.Progressing || phase == phases.TriggerDelete || phase == phases.Deleting)
	}
	return job.HandsDown(f.parent)
}

// staysUntilNext reports whether somebody has deleted a subinstallation, which goes with
// the next job of its parent.
func staysUntilNext(f family) bool {
	return f.parent != nil && facts.BeingDeleted(f.inst) && facts.HasFinalizer(f.inst) && !awaited(f) && !f.inst.Status.InstallationPhase.Current().IsDeletion()
}

// explanation is what a deleted subinstallation waits for.
func explanation(f family) v1alpha1.Condition {
	return v1alpha1.Condition{
		Type: v1alpha1.ReconcilingCondition, Status: v1alpha1.ConditionTrue, Reason: "Waiting", ObservedGeneration: f.inst.Status.ObservedGeneration,
		Message: fmt.Sprintf("the deletion begins with the next job of Installation %s: ask its root for one with the annotation %s: reconcile", f.parent.Name, v1alpha1.OperationAnnotation),
	}
}

// explained reports whether the status tells what a deleted subinstallation waits for.
func explained(f family) bool {
	condition := job.GetCondition(f.inst.Status.Conditions, v1alpha1.ReconcilingCondition)
	return condition != nil && condition.Message == explanation(f).Message
}

// explain writes into the status what a deleted subinstallation waits for.
func (r *Reconciler) explain(ctx context.Context, s *snapshot) error {
	job.SetCondition(&s.inst.Status.Conditions, explanation(s.family), metav1.NewTime(r.Now()))
	return r.reporter().Save(ctx, s.subject) // says what was written
}

// leaving returns the subinstallations that are being deleted.
func leaving(f family) []*v1alpha1.Installation {
	var subs []*v1alpha1.Installation
	for _, sub := range f.subs {
		if facts.BeingDeleted(sub) {
			subs = append(subs, sub)
		}
	}
	return subs
}

// busy returns the first of some children that has not finished a job.
func busy(subs []*v1alpha1.Installation, jobID string) (*v1alpha1.Installation, bool) {
	for _, sub := range subs {
		if sub.Status.JobIDFinished != jobID {
			return sub, true
		}
	}
	return nil, false
}
