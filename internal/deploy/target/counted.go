package target

import (
	"context"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"

	"go.landscaper.dev/deployer"
	"go.landscaper.dev/internal/cluster"
)

// Counted notes what is changed on a cluster: what the cluster has answered, so that a write which changes
// nothing does not count.
func Counted(on Cluster, note func(change deployer.Change, object string)) Cluster {
	return &counted{Cluster: on, note: note, versions: map[string]string{}}
}

// counted is a cluster whose objects are counted.
type counted struct {
	Cluster
	note func(deployer.Change, string)

	mu sync.Mutex
	// versions are those that were read or written last.
	versions map[string]string
}

// releaseRecord is how names of the Secrets begin in which Helm records releases: they do not count.
const releaseRecord = "sh.helm.release.v1."

func (c *counted) name(mapping *meta.RESTMapping, namespace, name string) string {
	return c.Server() + " " + mapping.Resource.GroupResource().String() + " " + namespace + "/" + name
}

// saw keeps the version of an object, and returns the one before; empty if it was not seen.
func (c *counted) saw(object, version string) (before string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	before = c.versions[object]
	c.versions[object] = version
	return before
}

func (c *counted) count(change deployer.Change, object string) {
	if !strings.Contains(object, " secrets ") || !strings.Contains(object, "/"+releaseRecord) {
		c.note(change, object)
	}
}

// Get implements Cluster.
func (c *counted) Get(ctx context.Context, mapping *meta.RESTMapping, namespace, name string) (*unstructured.Unstructured, error) {
	live, err := c.Cluster.Get(ctx, mapping, namespace, name)
	if err == nil {
		c.saw(c.name(mapping, namespace, name), live.GetResourceVersion())
	}
	return live, err
}

// List implements Cluster.
func (c *counted) List(ctx context.Context, mapping *meta.RESTMapping, namespace string, selector labels.Set) ([]*unstructured.Unstructured, error) {
	found, err := c.Cluster.List(ctx, mapping, namespace, selector)
	for _, live := range found {
		c.saw(c.name(mapping, live.GetNamespace(), live.GetName()), live.GetResourceVersion())
	}
	return found, err
}

// ListMetadata implements Cluster.
func (c *counted) ListMetadata(ctx context.Context, mapping *meta.RESTMapping, namespace string) ([]*unstructured.Unstructured, error) {
	found, err := c.Cluster.ListMetadata(ctx, mapping, namespace)
	for _, live := range found {
		c.saw(c.name(mapping, live.GetNamespace(), live.GetName()), live.GetResourceVersion())
	}
	return found, err
}

// Create implements Cluster.
func (c *counted) Create(ctx context.Context, mapping *meta.RESTMapping, object *unstructured.Unstructured, owner string) (*unstructured.Unstructured, error) {
	stored, err := c.Cluster.Create(ctx, mapping, object, owner)
	if err == nil {
		name := c.name(mapping, stored.GetNamespace(), stored.GetName())
		c.saw(name, stored.GetResourceVersion())
		c.count(deployer.ObjectCreated, name)
	}
	return stored, err
}

// Update implements Cluster.
func (c *counted) Update(ctx context.Context, mapping *meta.RESTMapping, object *unstructured.Unstructured, owner string) (*unstructured.Unstructured, error) {
	stored, err := c.Cluster.Update(ctx, mapping, object, owner)
	c.wrote(mapping, object.GetResourceVersion(), stored, err)
	return stored, err
}

// MergePatch implements Cluster.
func (c *counted) MergePatch(ctx context.Context, mapping *meta.RESTMapping, namespace, name string, patch []byte, owner string) (*unstructured.Unstructured, error) {
	stored, err := c.Cluster.MergePatch(ctx, mapping, namespace, name, patch, owner)
	c.wrote(mapping, "", stored, err)
	return stored, err
}

// wrote counts a write to an object that exists, unless the version is the same as before.
func (c *counted) wrote(mapping *meta.RESTMapping, sent string, stored *unstructured.Unstructured, err error) {
	if err != nil || stored == nil {
		return
	}
	name := c.name(mapping, stored.GetNamespace(), stored.GetName())
	before := c.saw(name, stored.GetResourceVersion())
	if stored.GetResourceVersion() != sent && stored.GetResourceVersion() != before {
		c.count(deployer.ObjectChanged, name)
	}
}

// Apply implements Cluster.
func (c *counted) Apply(ctx context.Context, mapping *meta.RESTMapping, object *unstructured.Unstructured, options cluster.ApplyOptions) (*unstructured.Unstructured, error) {
	stored, err := c.Cluster.Apply(ctx, mapping, object, options)
	if err != nil || options.DryRun {
		return stored, err
	}
	name := c.name(mapping, stored.GetNamespace(), stored.GetName())
	switch before := c.saw(name, stored.GetResourceVersion()); {
	case before == "" && isNew(stored):
		c.count(deployer.ObjectCreated, name)
	case before != stored.GetResourceVersion():
		c.count(deployer.ObjectChanged, name)
	}
	return stored, err
}

// isNew reports whether nothing was written to an object since it was created.
func isNew(stored *unstructured.Unstructured) bool {
	created := stored.GetCreationTimestamp()
	for _, entry := range stored.GetManagedFields() {
		if entry.Time != nil && created.Before(entry.Time) {
			return false
		}
	}
	return true
}

// Delete implements Cluster.
func (c *counted) Delete(ctx context.Context, mapping *meta.RESTMapping, namespace, name string, options metav1.DeleteOptions) (*unstructured.Unstructured, error) {
	left, err := c.Cluster.Delete(ctx, mapping, namespace, name, options)
	object := c.name(mapping, namespace, name)
	// An object that did not exist is answered in the same way as one that does not exist any more.
	if err == nil && len(options.DryRun) == 0 && (c.saw(object, "") != "" || left != nil) {
		c.count(deployer.ObjectDeleted, object)
	}
	return left, err
}
