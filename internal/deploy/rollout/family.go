package rollout

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"go.landscaper.dev/api/deployer"
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/deploy/apply"
	"go.landscaper.dev/internal/deploy/deletion"
)

// family asks the job of the present attempt who else may want an object: the work is kept
// longer than an attempt.
type family struct{ job *Job }

var (
	_ deletion.Family = family{}
	_ apply.Neighbors = family{}
)

// Others implements deletion.Family.
func (f family) Others(ctx context.Context) ([]*v1alpha1.DeployItem, error) {
	return (*f.job).Others(ctx)
}

// Stays implements deletion.Family.
func (f family) Stays(ctx context.Context, other *v1alpha1.DeployItem) (bool, error) {
	return (*f.job).Stays(ctx, other)
}

// MayKeep implements deletion.Family.
func (f family) MayKeep(ctx context.Context) (bool, error) { return (*f.job).MayKeep(ctx) }

// MayMove implements deletion.Family.
func (f family) MayMove(ctx context.Context) (bool, error) { return (*f.job).MayMove(ctx) }

// Moved implements deletion.Family.
func (f family) Moved(ctx context.Context, object string, to *v1alpha1.DeployItem) {
	(*f.job).Moved(ctx, object, to)
}

// Bequeath implements deletion.Family.
func (f family) Bequeath(ctx context.Context, heir *v1alpha1.DeployItem, entry deployer.ManagedResourceStatus) error {
	return (*f.job).Bequeath(ctx, heir, entry)
}

// Yields implements apply.Neighbors.
func (f family) Yields(ctx context.Context, holder string, object corev1.ObjectReference) (bool, error) {
	return (*f.job).Yields(ctx, holder, object)
}

// IsNeighbor implements apply.Neighbors.
func (f family) IsNeighbor(ctx context.Context, name string) (bool, error) {
	return (*f.job).IsNeighbor(ctx, name)
}

// foreseen are the other items as a plan sees them.
type foreseen struct{ Outlook }

var _ apply.Neighbors = foreseen{}

// Yields implements apply.Neighbors.
func (f foreseen) Yields(_ context.Context, holder string, object corev1.ObjectReference) (bool, error) {
	return f.Outlook.Yields(holder, object), nil
}

// IsNeighbor implements apply.Neighbors.
func (f foreseen) IsNeighbor(_ context.Context, name string) (bool, error) {
	return f.Outlook.IsNeighbor(name), nil
}

// earlierFamily are the items that deploy to an earlier cluster of an item. The item has left that
// cluster for them, as if it were deleted.
type earlierFamily struct {
	work    *EarlierRemovalJob
	cluster deployer.ClusterIdentity
}

var _ deletion.Family = earlierFamily{}

// Others implements deletion.Family.
func (f earlierFamily) Others(ctx context.Context) ([]*v1alpha1.DeployItem, error) {
	return (*f.work).OthersOn(ctx, f.cluster)
}

// Stays implements deletion.Family.
func (f earlierFamily) Stays(ctx context.Context, other *v1alpha1.DeployItem) (bool, error) {
	return (*f.work).Stays(ctx, other)
}

// MayKeep implements deletion.Family: the removal round has come.
func (earlierFamily) MayKeep(context.Context) (bool, error) { return false, nil }

// MayMove implements deletion.Family.
func (earlierFamily) MayMove(context.Context) (bool, error) { return false, nil }

// Moved implements deletion.Family.
func (f earlierFamily) Moved(ctx context.Context, object string, to *v1alpha1.DeployItem) {
	(*f.work).Moved(ctx, object, to)
}

// Bequeath implements deletion.Family.
func (f earlierFamily) Bequeath(ctx context.Context, heir *v1alpha1.DeployItem, entry deployer.ManagedResourceStatus) error {
	return (*f.work).Bequeath(ctx, heir, entry)
}

// names names objects.
func names(objects []corev1.ObjectReference) []string {
	var all []string
	for _, object := range objects {
		all = append(all, apply.Describe(object.Kind, object.Namespace, object.Name))
	}
	return all
}
