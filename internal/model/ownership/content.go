package ownership

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"go.landscaper.dev/api/deployer"
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/model/placement"
)

// With a Namespace, everything in it is deleted, and with the definition of a kind all resources of
// the kind. So neither is removed as long as another item has something there.

// Content is something that an item has in a Namespace, or of a kind that a definition defines.
type Content struct {
	Object corev1.ObjectReference
	// Release, without an object, is the release of Helm whose namespace it is.
	Release HelmRelease
}

// String names the content.
func (c Content) String() string {
	if c.Object.Name == "" {
		return "release " + c.Release.Namespace + "/" + c.Release.Name
	}
	if c.Object.Namespace == "" {
		return c.Object.Kind + " " + c.Object.Name
	}
	return c.Object.Kind + " " + c.Object.Namespace + "/" + c.Object.Name
}

// Cluster is what the content of an object is looked up on.
type Cluster interface {
	// Look returns an object as it is, nil if it does not exist.
	Look(ctx context.Context, object corev1.ObjectReference) (*unstructured.Unstructured, error)
	// Resources returns the metadata of all resources of a kind.
	Resources(ctx context.Context, kind schema.GroupKind) ([]*unstructured.Unstructured, error)
}

// HasContent reports whether more than the object itself is deleted with it.
func HasContent(live *unstructured.Unstructured) bool {
	return placement.HasContent(live.GroupVersionKind().GroupKind())
}

// Within reports whether an object is in a Namespace, or of the kind of a definition.
func Within(live *unstructured.Unstructured, object corev1.ObjectReference) bool {
	if !placement.IsDefinition(live.GroupVersionKind().GroupKind()) {
		return object.Namespace == live.GetName()
	}
	return schema.FromAPIVersionAndKind(object.APIVersion, object.Kind).GroupKind() == defined(live)
}

// defined returns the kind that a definition defines.
func defined(definition *unstructured.Unstructured) (kind schema.GroupKind) {
	kind.Group, _, _ = unstructured.NestedString(definition.Object, "spec", "group")
	kind.Kind, _, _ = unstructured.NestedString(definition.Object, "spec", "names", "kind")
	return kind
}

// ContentOf returns what an item has recorded in a Namespace, or of the kind of a definition. Of a
// release, only workloads are recorded, and in which namespace it is.
func ContentOf(item *v1alpha1.DeployItem, live *unstructured.Unstructured) (found []Content) {
	for _, entry := range placement.Recorded(item.Status.ProviderStatus) {
		if entry.Policy != deployer.IgnorePolicy && Within(live, entry.Resource) {
			found = append(found, Content{Object: entry.Resource})
		}
	}
	if release := currentRelease(item); release.Name != "" && !placement.IsDefinition(live.GroupVersionKind().GroupKind()) && release.Namespace == live.GetName() {
		found = append(found, Content{Release: release})
	}
	return found
}

// currentRelease is the release of Helm that an item has, as its status names it.
func currentRelease(item *v1alpha1.DeployItem) HelmRelease {
	var status struct {
		Release deployer.ReleaseReference `json:"release"`
	}
	if item.Spec.Type != v1alpha1.HelmDeployItemType || item.Status.ProviderStatus == nil || json.Unmarshal(item.Status.ProviderStatus.Raw, &status) != nil {
		return HelmRelease{}
	}
	return HelmRelease{Name: status.Release.Name, Namespace: status.Release.Namespace}
}

// Knowing lets claims look for what is in a Namespace, or of a kind, before it is removed: on the
// cluster, and among what the item itself wants.
func (c *Claims) Knowing(cluster Cluster, wanted func() []Content) *Claims {
	c.cluster, c.wanted = cluster, wanted
	return c
}

// tenant is who has something in an object that is to be removed. Without an item it is the item
// itself that wants to remove the object.
type tenant struct {
	item    *v1alpha1.DeployItem
	content Content
}

// reason says why an object stays.
func (t *tenant) reason() string {
	who := "the deploy item itself"
	if t.item != nil {
		who = "deploy item " + cmp.Or(t.item.Labels[v1alpha1.ExecutionManagedNameLabel], t.item.Name)
	}
	return "as long as " + who + " has " + t.content.String() + " in it"
}

// tenant finds out who has something in an object; nil if no item has.
func (c *Claims) tenant(ctx context.Context, live *unstructured.Unstructured) (*tenant, error) {
	if c.wanted != nil {
		for _, content := range c.wanted() {
			if content.Object.Name == "" && content.Release.Namespace == live.GetName() || content.Object.Name != "" && Within(live, content.Object) {
				return &tenant{content: content}, nil
			}
		}
	}
	others := slices.Clone(c.others)
	// An item without a release can always remove what it inherits.
	slices.SortStableFunc(others, func(a, b *v1alpha1.DeployItem) int { return rankOf(a) - rankOf(b) })
	for _, other := range others {
		found, err := c.present(ctx, ContentOf(other, live))
		if err == nil && found == nil {
			found, err = c.released(ctx, other, live)
		}
		if err != nil {
			return nil, err // names the object
		}
		if found == nil {
			continue
		}
		if stays, err := c.family.Stays(ctx, other); err != nil || stays {
			return &tenant{other, *found}, err
		}
	}
	return nil, nil
}

func rankOf(item *v1alpha1.DeployItem) int {
	return map[bool]int{true: 1}[currentRelease(item).Name != ""]
}

// present returns the first content that exists and that its item has not released. A record may
// name objects that the item is about to remove.
func (c *Claims) present(ctx context.Context, recorded []Content) (*Content, error) {
	for i, content := range recorded {
		if content.Object.Name == "" || c.cluster == nil {
			return &recorded[i], nil
		}
		live, err := c.cluster.Look(ctx, content.Object)
		if err != nil {
			return nil, err
		}
		if live != nil && live.GetDeletionTimestamp() == nil && !IsReleased(live) {
			return &recorded[i], nil
		}
	}
	return nil, nil
}

// released returns a resource of a kind that the release of an item has. It is recorded nowhere.
func (c *Claims) released(ctx context.Context, other *v1alpha1.DeployItem, definition *unstructured.Unstructured) (*Content, error) {
	release := currentRelease(other)
	if release.Name == "" || c.cluster == nil || !placement.IsDefinition(definition.GroupVersionKind().GroupKind()) {
		return nil, nil
	}
	kind := defined(definition)
	resources, known := c.resources[kind]
	if !known {
		var err error
		if resources, err = c.cluster.Resources(ctx, kind); err != nil {
			return nil, err
		}
		if c.resources == nil {
			c.resources = map[schema.GroupKind][]*unstructured.Unstructured{}
		}
		c.resources[kind] = resources
	}
	for _, resource := range resources {
		if ReleaseOf(resource) == release && !IsReleased(resource) {
			return &Content{Object: corev1.ObjectReference{Kind: resource.GetKind(), Namespace: resource.GetNamespace(), Name: resource.GetName()}}, nil
		}
	}
	return nil, nil
}

// LabelOf is the label by which the deployer of an item marks its objects; empty for other deployers,
// whose items inherit nothing.
func LabelOf(item *v1alpha1.DeployItem) string {
	return map[v1alpha1.DeployItemType]string{
		v1alpha1.ManifestDeployItemType: ManifestLabel, v1alpha1.HelmDeployItemType: HelmLabel, v1alpha1.KustomizeDeployItemType: KustomizeLabel,
	}[item.Spec.Type]
}
