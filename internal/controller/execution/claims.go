package execution

import (
	"context"
	"fmt"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/deployer"
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/model/ownership"
	"go.landscaper.dev/internal/model/placement"
	"go.landscaper.dev/internal/runtime/job"
)

// holds reports whether items that are no longer wanted are held: nothing of them is removed before
// everything that is wanted has succeeded, because wanted items may take over what they have
// deployed. Otherwise they are deleted first.
//
// A deletion that has begun continues.
func holds(s snapshot, orphans []member) bool {
	if s.parent != nil && (job.RemovesFirst(s.parent) || slices.ContainsFunc(s.lineage, job.RemovesFirst)) {
		return false
	}
	going := func(orphan member) bool { return orphan.item.Status.JobID == s.exec.Status.JobID }
	return !slices.ContainsFunc(orphans, going) && slices.ContainsFunc(orphans, func(orphan member) bool { return claimable(s, orphan.item) })
}

// keeps reports whether a job ends although items exist that are no longer wanted: the root begins
// a removal round for them.
func keeps(s snapshot, orphans []member) bool {
	return s.parent != nil && !job.IsRemoval(s.exec.Status.JobID) && holds(s, orphans)
}

// claimable reports whether another part of the tree, or an item of the Execution, may take over
// what an item has deployed.
func claimable(s snapshot, orphan *v1alpha1.DeployItem) bool {
	if staysInstalled(orphan) || orphan.Spec.Target == nil || len(placement.Recorded(orphan.Status.ProviderStatus)) == 0 && !hasMore(orphan) {
		return false
	}
	return s.parent != nil && job.HasOtherParts(s.parent) || slices.ContainsFunc(s.templates, func(template v1alpha1.DeployItemTemplate) bool {
		return template.Target != nil && s.sharesCluster(template.Target.Name, orphan.Spec.Target.Name) && mayClaim(&template, orphan)
	})
}

// sharesCluster reports whether two Targets lead to the same cluster: an import has another name
// now, and so has its copy.
func (s snapshot) sharesCluster(first, second string) bool {
	one, other := s.targets[first], s.targets[second]
	return first == second || one != nil && other != nil && ownership.SameCluster(one, other)
}

// observeTargets reads the Targets of an Execution with items that are no longer wanted, from the
// cache.
func (r *Reconciler) observeTargets(ctx context.Context, s *snapshot) error {
	_, orphans := members(s.templates, s.items)
	if len(orphans) == 0 || s.exec.DeletionTimestamp != nil {
		return nil
	}
	s.targets = map[string]*v1alpha1.Target{}
	var named []*v1alpha1.ObjectReference
	for _, orphan := range orphans {
		named = append(named, orphan.item.Spec.Target)
	}
	for _, template := range s.templates {
		named = append(named, template.Target)
	}
	for _, reference := range named {
		if reference == nil || s.targets[reference.Name] != nil {
			continue
		}
		target := &v1alpha1.Target{}
		err := r.Client.Get(ctx, client.ObjectKey{Namespace: s.exec.Namespace, Name: reference.Name}, target, client.UnsafeDisableDeepCopy)
		switch {
		case err == nil:
			s.targets[reference.Name] = target
		case client.IgnoreNotFound(err) != nil:
			return fmt.Errorf("read Target %s: %w", reference.Name, err)
		}
	}
	return nil
}

// hasMore reports whether an item may have deployed more than it has recorded: only Helm knows the
// objects of a release.
func hasMore(item *v1alpha1.DeployItem) bool { return item.Spec.Type == v1alpha1.HelmDeployItemType }

// mayClaim reports whether an item may want some of the objects that another one has deployed.
func mayClaim(template *v1alpha1.DeployItemTemplate, orphan *v1alpha1.DeployItem) bool {
	item := &v1alpha1.DeployItem{Spec: v1alpha1.DeployItemSpec{Type: template.Type, Configuration: template.Configuration}}
	if !ownership.KnownWants(item) || hasMore(orphan) && len(ownership.Listed(item)) > 0 {
		return true
	}
	return slices.ContainsFunc(placement.Recorded(orphan.Status.ProviderStatus), func(entry deployer.ManagedResourceStatus) bool {
		return ownership.Lists(item, entry.Resource)
	})
}
