package release

import (
	"time"

	helmchart "helm.sh/helm/v4/pkg/chart/v2"
	helmrelease "helm.sh/helm/v4/pkg/release/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"go.landscaper.dev/internal/deploy/apply"
	"go.landscaper.dev/internal/deploy/helm/storage"
	"go.landscaper.dev/internal/deploy/readiness"
	"go.landscaper.dev/internal/model/ownership"
)

// Options say how a release is made.
type Options struct {
	// Atomic undoes what fails: an upgrade is rolled back, an installation removed.
	Atomic bool
	// Wait waits for the objects before the release counts as deployed.
	Wait bool
	// Force replaces objects instead of changing them.
	Force bool
	// TakeOwnership takes objects that belong to no release or to another one.
	TakeOwnership bool
	// Limit is how long the operation may take, without what undoes it; 0 is no limit.
	Limit time.Duration
}

// Remaining is what an item has besides a release that it gives up.
type Remaining struct {
	// Content is what must not be removed with a Namespace or a definition.
	Content []ownership.Content
	// Expected are objects that the item expects to exist.
	Expected []corev1.ObjectReference
}

func (r *Remaining) content() []ownership.Content {
	if r == nil {
		return nil
	}
	return r.Content
}

// expected are the keys of the objects that the item expects.
func (r *Remaining) expected() map[key]bool {
	found := map[key]bool{}
	if r == nil {
		return found
	}
	for _, ref := range r.Expected {
		found[key{ref.GroupVersionKind().GroupKind(), ref.Namespace, ref.Name}] = true
	}
	return found
}

// DesiredState is the desired state of a release.
type DesiredState struct {
	Options
	Name, Namespace string
	// CreateNamespace creates the namespace if it is missing.
	CreateNamespace bool
	// Chart and Values are stored with the release.
	Chart  *helmchart.Chart
	Values map[string]any
	// Manifest, Hooks and Notes are what the chart makes.
	Manifest string
	Hooks    []*helmrelease.Hook
	Notes    string
	// Definitions are the texts of the folders crds.
	Definitions []string
	// Rule says when an object is ready.
	Rule readiness.Rule
	// Marks say who deploys what.
	Marks storage.Marks
	// Item is the name of the item.
	Item string
	// Former are releases that the item had under other names: what it has kept of them has their
	// marks.
	Former []ownership.HelmRelease
	// Leaving says that the item itself is being deleted, or gives the release up for Remaining.
	Leaving bool
	// Remaining is what an item keeps that gives the release up; nil if the item itself is being deleted.
	Remaining *Remaining
	// Contested are objects that another item has recorded, too.
	Contested []corev1.ObjectReference
	// ReleasedOnly leaves alone what does not say that the item has released it.
	ReleasedOnly bool
	// Ours reports objects that the item has deployed without a release before.
	Ours func(object *unstructured.Unstructured) bool
	// Before is what it has deployed so, and what an earlier operation has kept, as far as it is not
	// deleted.
	Before apply.Inventory
}
