package installation

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/installation/facts"
	"go.landscaper.dev/internal/installation/index"
	"go.landscaper.dev/internal/installation/kin"
	"go.landscaper.dev/internal/job"
)

// observeFamily reads the parent of an Installation and its subinstallations. All
// Installations come by one watch: whoever sees a version of a parent sees the
// children that were written before it.
func (r *Reconciler) observeFamily(ctx context.Context, s *snapshot) error {
	if reference, ok := job.OwnerOf(s.Inst, "Installation"); ok {
		var err error
		if s.Parent, err = job.Parent(ctx, r.Client, s.Inst.Namespace, reference); err != nil {
			return err // names the object
		}
		s.Orphaned = s.Parent == nil
	}
	children, err := r.childrenOf(ctx, s.Inst.Namespace, s.Inst.Name)
	if err != nil {
		return err
	}
	for _, child := range children {
		if facts.AsOwner(s.Inst).Owns(child) {
			s.Subs = append(s.Subs, child)
		}
	}
	return nil
}

// childrenOf returns the Installations that name another one as their parent, also
// those of an earlier one of its name. They must not be changed.
func (r *Reconciler) childrenOf(ctx context.Context, namespace, parent string) ([]*v1alpha1.Installation, error) {
	list := &v1alpha1.InstallationList{}
	if err := r.Client.List(ctx, list, client.InNamespace(namespace), client.MatchingFields{index.ByParent: parent}, client.UnsafeDisableDeepCopy); err != nil {
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
	children, err := r.childrenOf(ctx, inst.Namespace, index.ParentOf(inst)[0])
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

// explain writes into the status what a deleted subinstallation waits for.
func (r *Reconciler) explain(ctx context.Context, s *snapshot) error {
	job.SetCondition(&s.Inst.Status.Conditions, kin.Explanation(s.Family), metav1.NewTime(r.Now()))
	return r.reporter().Save(ctx, s.subject) // says what was written
}
