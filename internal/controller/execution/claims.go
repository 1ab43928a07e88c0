package execution

import (
	"slices"

	"go.landscaper.dev/api/deployer"
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/model/ownership"
	"go.landscaper.dev/internal/model/placement"
	"go.landscaper.dev/internal/model/siblings/itemorder"
	"go.landscaper.dev/internal/runtime/job"
)

// holds reports whether items that are no longer wanted are held: nothing of them is removed before
// everything that is wanted has succeeded, because wanted items may take over what they have
// deployed. Otherwise they are deleted first.
//
// A deletion that has begun continues.
func holds(s snapshot, orphans []itemorder.Member) bool {
	if s.parent != nil && (job.RemovesFirst(s.parent) || slices.ContainsFunc(s.lineage, job.RemovesFirst)) {
		return false
	}
	going := func(orphan itemorder.Member) bool { return orphan.Item.Status.JobID == s.exec.Status.JobID }
	return !slices.ContainsFunc(orphans, going) && slices.ContainsFunc(orphans, func(orphan itemorder.Member) bool { return claimable(s, orphan.Item) })
}

// keeps reports whether a job ends although items exist that are no longer wanted: the root begins
// a removal round for them.
func keeps(s snapshot, orphans []itemorder.Member) bool {
	return s.parent != nil && !job.IsRemoval(s.exec.Status.JobID) && holds(s, orphans)
}

// claimable reports whether another part of the tree, or an item of the Execution, may take over
// what an item has deployed.
//
// The Targets do not count. Different ones may lead to the same cluster, the Target of an item that
// is not wanted any more may be deleted, and what moves to another cluster stays on the one of
// before until everything is there.
func claimable(s snapshot, orphan *v1alpha1.DeployItem) bool {
	if itemorder.StaysInstalled(orphan) || orphan.Spec.Target == nil || len(placement.RecordedAnywhere(orphan.Status.ProviderStatus)) == 0 && !hasMore(orphan) {
		return false
	}
	return s.parent != nil && job.HasOtherParts(s.parent) || slices.ContainsFunc(s.templates, func(template v1alpha1.DeployItemTemplate) bool {
		return template.Target != nil && mayClaim(&template, orphan)
	})
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
	return slices.ContainsFunc(placement.RecordedAnywhere(orphan.Status.ProviderStatus), func(entry deployer.ManagedResourceStatus) bool {
		return ownership.Lists(item, entry.Resource)
	})
}
