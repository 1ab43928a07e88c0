package release

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"go.landscaper.dev/api/deployer"
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/deploy/apply"
	"go.landscaper.dev/internal/model/ownership"
)

// Others is what an item knows of other DeployItems that may want its objects, or whose
// objects it wants.
type Others interface {
	ownership.Family
	// Yields reports whether the owner of an object gives it up, or has released it for an item such
	// as this one. If not, holder names the owner, as far as it is known.
	Yields(ctx context.Context, live *unstructured.Unstructured) (yields bool, holder string, err error)
	// Keep records objects that are kept until the end of the job, before they say so
	// themselves.
	Keep(ctx context.Context, kept apply.Inventory) error
	// Moved reports that an object belongs to another item from now on.
	Moved(ctx context.Context, object string, to *v1alpha1.DeployItem)
	// Bequeath lets another item record an object, so that it removes the object later.
	Bequeath(ctx context.Context, heir *v1alpha1.DeployItem, entry deployer.ManagedResourceStatus) error
}

// Alone is an item that knows of no others.
type Alone struct{}

// Others implements ownership.Family.
func (Alone) Others(context.Context) ([]*v1alpha1.DeployItem, error) { return nil, nil }

// Stays implements ownership.Family.
func (Alone) Stays(context.Context, *v1alpha1.DeployItem) (bool, error) { return true, nil }

// MayKeep implements ownership.Family.
func (Alone) MayKeep(context.Context) (bool, error) { return false, nil }

// MayMove implements ownership.Family.
func (Alone) MayMove(context.Context) (bool, error) { return false, nil }

// Yields implements Others.
func (Alone) Yields(context.Context, *unstructured.Unstructured) (bool, string, error) {
	return false, "", nil
}

// Keep implements Others.
func (Alone) Keep(context.Context, apply.Inventory) error { return nil }

// Moved implements Others.
func (Alone) Moved(context.Context, string, *v1alpha1.DeployItem) {}

// Bequeath implements Others.
func (Alone) Bequeath(context.Context, *v1alpha1.DeployItem, deployer.ManagedResourceStatus) error {
	return nil
}
