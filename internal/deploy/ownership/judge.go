package ownership

import (
	"context"
	"encoding/json"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"go.landscaper.dev/api/deployer"
	"go.landscaper.dev/api/v1alpha1"
)

// Family are the other DeployItems that may want what an item does not want any more.
type Family interface {
	// Others are the items on the same cluster that stay.
	Others(ctx context.Context) ([]*v1alpha1.DeployItem, error)
	// MayKeep reports whether the item is asked again at the end of the job about what it has
	// kept.
	MayKeep(ctx context.Context) (bool, error)
	// MayMove reports whether somebody may want an object although nobody knows it yet.
	MayMove(ctx context.Context) (bool, error)
}

// Judge decides what becomes of an object that an item does not want any more, and names the
// heir if there is one. Live is the object as it is, nil if it is gone; mine says that it
// belongs to the item. Of an item that goes itself, leaving is set: it cannot keep anything.
//
// An heir inherits what it has recorded, so that it removes the object if it does not want it
// later: a job that fails before its deployment may have been the only one that wanted it.
// Until then the object is kept.
func Judge(ctx context.Context, family Family, live *unstructured.Unstructured, object corev1.ObjectReference, mine, leaving bool) (Fate, *v1alpha1.DeployItem, error) {
	situation := Situation{Exists: live != nil, Mine: mine}
	if family == nil || live == nil || !mine || live.GetDeletionTimestamp() != nil {
		// What is being deleted cannot be kept by anybody.
		return Decide(situation), nil, nil
	}
	others, err := family.Others(ctx)
	if err != nil {
		return "", nil, err // says what was read
	}
	heir := Heir(slices.DeleteFunc(slices.Clone(others), func(other *v1alpha1.DeployItem) bool {
		return !Records(other, object) && !(leaving && isDone(other))
	}), object)
	situation.Heir = heir != nil
	if heir == nil && !leaving {
		if heir = Heir(others, object); heir != nil {
			situation.Open, err = family.MayKeep(ctx)
			situation.Heir = !situation.Open
		} else {
			situation.Open, err = family.MayMove(ctx)
		}
	}
	if err != nil {
		return "", nil, err // says what was read
	}
	fate := Decide(situation)
	if fate != Inherit {
		heir = nil
	}
	return fate, heir, nil
}

// isDone reports whether the last job of an item has deployed what its configuration says. An
// object that it lists and has not recorded belonged to somebody else then.
func isDone(item *v1alpha1.DeployItem) bool {
	return item.Status.ObservedGeneration == item.Generation && item.Status.JobID == item.Status.JobIDFinished && item.Status.Phase == v1alpha1.DeployItemPhases.Succeeded
}

// Records reports whether an item has recorded an object as its own.
func Records(item *v1alpha1.DeployItem, object corev1.ObjectReference) bool {
	var recorded struct {
		ManagedResources deployer.ManagedResourceStatusList `json:"managedResources"`
	}
	if item.Status.ProviderStatus == nil || json.Unmarshal(item.Status.ProviderStatus.Raw, &recorded) != nil {
		return false
	}
	return slices.ContainsFunc(recorded.ManagedResources, func(entry deployer.ManagedResourceStatus) bool {
		ref := entry.Resource
		return ref.Kind == object.Kind && ref.Namespace == object.Namespace && ref.Name == object.Name && groupOf(ref.APIVersion) == groupOf(object.APIVersion)
	})
}

func groupOf(apiVersion string) string { return schema.FromAPIVersionAndKind(apiVersion, "").Group }
