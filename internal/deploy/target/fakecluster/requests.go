package fakecluster

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	jsonpatch "github.com/evanphx/json-patch/v5"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"

	"go.landscaper.dev/internal/cluster"
)

// Server implements target.Cluster.
func (c *Cluster) Server() string { return "https://memory.example" }

// Mapping implements target.Cluster.
func (c *Cluster) Mapping(_ context.Context, kind schema.GroupVersionKind) (*meta.RESTMapping, error) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	var found *meta.RESTMapping
	for known, mapping := range c.kinds {
		if known == kind {
			return mapping, nil
		}
		if kind.Version == "" && known.GroupKind() == kind.GroupKind() && (found == nil || version.CompareKubeAwareVersionStrings(known.Version, found.GroupVersionKind.Version) > 0) {
			found = mapping // an API server prefers the newest version, too
		}
	}
	if found != nil {
		return found, nil
	}
	return nil, &meta.NoKindMatchError{GroupKind: kind.GroupKind(), SearchedVersions: []string{kind.Version}}
}

// KindOf implements target.Cluster.
func (c *Cluster) KindOf(_ context.Context, version schema.GroupVersion, name string) (schema.GroupVersionKind, error) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	for kind, mapping := range c.kinds {
		if kind.GroupVersion() == version && (strings.EqualFold(kind.Kind, name) || strings.EqualFold(mapping.Resource.Resource, name)) {
			return kind, nil
		}
	}
	return version.WithKind(name), nil
}

// Get implements target.Cluster.
func (c *Cluster) Get(_ context.Context, mapping *meta.RESTMapping, namespace, name string) (*unstructured.Unstructured, error) {
	return c.request("get", mapping, namespace, name, func() (*unstructured.Unstructured, error) {
		found, err := c.find(mapping, namespace, name)
		return found.DeepCopy(), err
	})
}

// inVersion refuses an object that is not in the version in which it is sent.
func inVersion(mapping *meta.RESTMapping, object *unstructured.Unstructured) error {
	if sent := object.GroupVersionKind(); sent != mapping.GroupVersionKind {
		return apierrors.NewBadRequest(fmt.Sprintf("the API version in the data (%s) does not match the expected API version (%s)", sent.GroupVersion(), mapping.GroupVersionKind.GroupVersion()))
	}
	return nil
}

// isNew refuses what cannot be created.
func (c *Cluster) isNew(mapping *meta.RESTMapping, object *unstructured.Unstructured) error {
	if _, known := c.kinds[mapping.GroupVersionKind]; !known {
		return apierrors.NewNotFound(mapping.Resource.GroupResource(), object.GetName())
	}
	if err := inVersion(mapping, object); err != nil {
		return err
	}
	if c.objects[keyOf(object)] != nil {
		return apierrors.NewAlreadyExists(mapping.Resource.GroupResource(), object.GetName())
	}
	return nil
}

// Create implements target.Cluster.
func (c *Cluster) Create(_ context.Context, mapping *meta.RESTMapping, object *unstructured.Unstructured, manager string) (*unstructured.Unstructured, error) {
	return c.request("create", mapping, object.GetNamespace(), object.GetName(), func() (*unstructured.Unstructured, error) {
		if err := c.isNew(mapping, object); err != nil {
			return nil, err
		}
		stored := object.DeepCopy()
		stored.SetUID(c.nextUID())
		stored.SetGeneration(1)
		stored.SetManagedFields([]metav1.ManagedFieldsEntry{{Manager: manager, Operation: metav1.ManagedFieldsOperationUpdate}})
		c.put(stored)
		return stored.DeepCopy(), nil
	})
}

// Update implements target.Cluster.
func (c *Cluster) Update(_ context.Context, mapping *meta.RESTMapping, object *unstructured.Unstructured, _ string) (*unstructured.Unstructured, error) {
	return c.request("update", mapping, object.GetNamespace(), object.GetName(), func() (*unstructured.Unstructured, error) {
		old, err := c.find(mapping, object.GetNamespace(), object.GetName())
		if err == nil {
			err = inVersion(mapping, object)
		}
		if err != nil {
			return nil, err
		}
		if version := object.GetResourceVersion(); version != "" && version != old.GetResourceVersion() {
			return nil, apierrors.NewConflict(mapping.Resource.GroupResource(), object.GetName(), fmt.Errorf("it was changed"))
		}
		return c.replace(old, object.DeepCopy()), nil
	})
}

// PreviewNew implements target.Cluster.
func (c *Cluster) PreviewNew(_ context.Context, mapping *meta.RESTMapping, object *unstructured.Unstructured, _ string) (*unstructured.Unstructured, error) {
	return c.request("previewnew", mapping, object.GetNamespace(), object.GetName(), func() (*unstructured.Unstructured, error) {
		if err := c.isNew(mapping, object); err != nil {
			return nil, err
		}
		return object.DeepCopy(), nil
	})
}

// Preview implements target.Cluster.
func (c *Cluster) Preview(_ context.Context, mapping *meta.RESTMapping, object *unstructured.Unstructured, _ string) (*unstructured.Unstructured, error) {
	return c.request("preview", mapping, object.GetNamespace(), object.GetName(), func() (*unstructured.Unstructured, error) {
		if _, err := c.find(mapping, object.GetNamespace(), object.GetName()); err != nil {
			return nil, err
		}
		return object.DeepCopy(), nil
	})
}

// MergePatch implements target.Cluster.
func (c *Cluster) MergePatch(_ context.Context, mapping *meta.RESTMapping, namespace, name string, patch []byte, _ string) (*unstructured.Unstructured, error) {
	return c.request("patch", mapping, namespace, name, func() (*unstructured.Unstructured, error) {
		old, err := c.find(mapping, namespace, name)
		if err != nil {
			return nil, err
		}
		if err := meantFor(old, mapping, patch); err != nil {
			return nil, err
		}
		before, err := json.Marshal(old.Object)
		if err != nil {
			return nil, err
		}
		after, err := jsonpatch.MergePatch(before, patch)
		if err != nil {
			return nil, apierrors.NewBadRequest(err.Error())
		}
		changed := &unstructured.Unstructured{}
		if err := changed.UnmarshalJSON(after); err != nil {
			return nil, err
		}
		return c.replace(old, changed), nil
	})
}

// meantFor refuses a patch that names another identity or version of the object.
func meantFor(old *unstructured.Unstructured, mapping *meta.RESTMapping, patch []byte) error {
	var named struct {
		Metadata struct{ UID, ResourceVersion string } `json:"metadata"`
	}
	if err := json.Unmarshal(patch, &named); err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	uid, version := named.Metadata.UID, named.Metadata.ResourceVersion
	if uid != "" && uid != string(old.GetUID()) || version != "" && version != old.GetResourceVersion() {
		return apierrors.NewConflict(mapping.Resource.GroupResource(), old.GetName(), fmt.Errorf("it was changed"))
	}
	return nil
}

// Delete implements target.Cluster.
func (c *Cluster) Delete(_ context.Context, mapping *meta.RESTMapping, namespace, name string, options metav1.DeleteOptions) (*unstructured.Unstructured, error) {
	left, err := c.request("delete", mapping, namespace, name, func() (*unstructured.Unstructured, error) {
		old, err := c.find(mapping, namespace, name)
		if err != nil {
			return nil, err
		}
		if wanted := options.Preconditions; wanted != nil && wanted.UID != nil && *wanted.UID != old.GetUID() {
			return nil, apierrors.NewConflict(mapping.Resource.GroupResource(), name, fmt.Errorf("the UID is another one"))
		}
		if wanted := options.Preconditions; wanted != nil && wanted.ResourceVersion != nil && *wanted.ResourceVersion != old.GetResourceVersion() {
			return nil, apierrors.NewConflict(mapping.Resource.GroupResource(), name, fmt.Errorf("the resourceVersion is another one"))
		}
		changed := old.DeepCopy()
		now := metav1.Now()
		changed.SetDeletionTimestamp(&now)
		return c.replace(old, changed), nil
	})
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	return left, err
}

// Apply implements target.Cluster as a merge of maps: who applied which field is not
// known, so nothing conflicts, and what is no longer applied stays. That is for the tests
// with real API servers.
func (c *Cluster) Apply(_ context.Context, mapping *meta.RESTMapping, object *unstructured.Unstructured, options cluster.ApplyOptions) (*unstructured.Unstructured, error) {
	return c.request("apply", mapping, object.GetNamespace(), object.GetName(), func() (*unstructured.Unstructured, error) {
		old := c.objects[keyOf(object)]
		if options.DryRun {
			merged := object.DeepCopy()
			if old != nil {
				merged = old.DeepCopy()
				merge(merged.Object, object.DeepCopy().Object)
			}
			return merged, nil
		}
		if old == nil {
			stored := object.DeepCopy()
			stored.SetUID(c.nextUID())
			stored.SetGeneration(1)
			c.put(stored)
			return stored.DeepCopy(), nil
		}
		changed := old.DeepCopy()
		merge(changed.Object, object.DeepCopy().Object)
		if reflect.DeepEqual(changed.Object, old.Object) {
			return changed, nil
		}
		return c.replace(old, changed), nil
	})
}

func merge(into, from map[string]any) {
	for key, value := range from {
		inner, isMap := value.(map[string]any)
		present, wasMap := into[key].(map[string]any)
		if isMap && wasMap {
			merge(present, inner)
			continue
		}
		into[key] = value
	}
}

// List implements target.Cluster.
func (c *Cluster) List(_ context.Context, mapping *meta.RESTMapping, namespace string, selector labels.Set) ([]*unstructured.Unstructured, error) {
	return c.list("list", mapping, namespace, selector)
}

// ListSome implements target.Cluster.
func (c *Cluster) ListSome(_ context.Context, mapping *meta.RESTMapping, namespace string, selector labels.Set, limit int64) ([]*unstructured.Unstructured, error) {
	objects, err := c.list("list", mapping, namespace, selector)
	return objects[:min(len(objects), int(limit))], err
}

// ListMetadata implements target.Cluster.
func (c *Cluster) ListMetadata(_ context.Context, mapping *meta.RESTMapping, namespace string) ([]*unstructured.Unstructured, error) {
	return c.list("list", mapping, namespace, nil)
}

func (c *Cluster) list(verb string, mapping *meta.RESTMapping, namespace string, selector labels.Set) (objects []*unstructured.Unstructured, err error) {
	_, err = c.request(verb, mapping, namespace, "", func() (*unstructured.Unstructured, error) {
		objects = c.selected(mapping, namespace, selector)
		return nil, nil
	})
	if err != nil {
		return nil, err
	}
	return objects, nil
}

// selected returns the objects of a kind, sorted by name.
func (c *Cluster) selected(mapping *meta.RESTMapping, namespace string, selector labels.Set) []*unstructured.Unstructured {
	var objects []*unstructured.Unstructured
	for _, key := range slices.Sorted(maps.Keys(c.objects)) {
		object := c.objects[key]
		if object.GetKind() == mapping.GroupVersionKind.Kind && (namespace == "" || object.GetNamespace() == namespace) && selector.AsSelector().Matches(labels.Set(object.GetLabels())) {
			objects = append(objects, object.DeepCopy())
		}
	}
	return objects
}
