// Package memory is a cluster in memory for tests of decisions: it stores objects
// as an API server does (versions, identities, finalizers, preconditions), knows
// the kinds that it was told or that its CustomResourceDefinitions define, and
// fails where a test wants it to. What real API servers do beyond that is for the
// tests in the lab.
package memory

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	jsonpatch "github.com/evanphx/json-patch/v5"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"go.landscaper.dev/internal/cluster"
	"go.landscaper.dev/internal/deploy/target"
)

// Request is a request as tests see it.
type Request struct {
	Verb, Kind, Namespace, Name string
}

// Fault is what happens to a request.
type Fault struct {
	// Before is an error instead of an effect.
	Before error
	// After is an error although the request took effect: the answer is lost.
	After error
}

// Cluster is a cluster in memory.
type Cluster struct {
	// Fault, if it is set, decides what happens to each request.
	Fault func(Request) Fault
	// Requests are all requests that were made.
	Requests []Request
	// NoWatch lets all watches fail.
	NoWatch error

	mutex   sync.Mutex
	version int
	kinds   map[schema.GroupVersionKind]*meta.RESTMapping
	objects map[string]*unstructured.Unstructured
	watches map[*watch]struct{}
}

// New returns an empty cluster that knows ConfigMaps, Secrets, Namespaces, Pods,
// Jobs, Deployments and CustomResourceDefinitions.
func New() *Cluster {
	c := &Cluster{kinds: map[schema.GroupVersionKind]*meta.RESTMapping{}, objects: map[string]*unstructured.Unstructured{}, watches: map[*watch]struct{}{}}
	for _, kind := range []struct {
		apiVersion, kind, resource string
		scope                      meta.RESTScope
	}{
		{"v1", "ConfigMap", "configmaps", meta.RESTScopeNamespace},
		{"v1", "Secret", "secrets", meta.RESTScopeNamespace},
		{"v1", "Pod", "pods", meta.RESTScopeNamespace},
		{"v1", "Namespace", "namespaces", meta.RESTScopeRoot},
		{"batch/v1", "Job", "jobs", meta.RESTScopeNamespace},
		{"apps/v1", "Deployment", "deployments", meta.RESTScopeNamespace},
		{"apiextensions.k8s.io/v1", "CustomResourceDefinition", "customresourcedefinitions", meta.RESTScopeRoot},
	} {
		c.Know(schema.FromAPIVersionAndKind(kind.apiVersion, kind.kind), kind.resource, kind.scope)
	}
	return c
}

// Know adds a kind.
func (c *Cluster) Know(kind schema.GroupVersionKind, resource string, scope meta.RESTScope) *meta.RESTMapping {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	mapping := &meta.RESTMapping{GroupVersionKind: kind, Resource: kind.GroupVersion().WithResource(resource), Scope: scope}
	c.kinds[kind] = mapping
	return mapping
}

// Put stores an object as somebody else would, and returns what is stored.
func (c *Cluster) Put(object *unstructured.Unstructured) *unstructured.Unstructured {
	c.mutex.Lock()
	stored := object.DeepCopy()
	if old := c.objects[keyOf(object)]; old != nil {
		stored.SetUID(old.GetUID())
		stored.SetDeletionTimestamp(old.GetDeletionTimestamp())
	} else {
		stored.SetUID(c.nextUID())
	}
	c.put(stored)
	c.mutex.Unlock()
	c.tell(stored)
	return stored.DeepCopy()
}

// Find returns an object, or nil.
func (c *Cluster) Find(kind, namespace, name string) *unstructured.Unstructured {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return c.objects[kind+"|"+namespace+"|"+name].DeepCopy()
}

// Remove takes an object away, finalizers or not.
func (c *Cluster) Remove(kind, namespace, name string) {
	c.mutex.Lock()
	removed := c.objects[kind+"|"+namespace+"|"+name]
	delete(c.objects, kind+"|"+namespace+"|"+name)
	c.version++
	c.mutex.Unlock()
	if removed != nil {
		c.tell(removed)
	}
}

// Names returns "Kind namespace/name" of all objects, sorted.
func (c *Cluster) Names() []string {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	var names []string
	for _, object := range c.objects {
		names = append(names, object.GetKind()+" "+object.GetNamespace()+"/"+object.GetName())
	}
	slices.Sort(names)
	return names
}

// Counts returns how often each verb was used since the last call.
func (c *Cluster) Counts() map[string]int {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	counts := map[string]int{}
	for _, request := range c.Requests {
		counts[request.Verb]++
	}
	c.Requests = nil
	return counts
}

// Watched returns the number of open watches.
func (c *Cluster) Watched() int {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return len(c.watches)
}

// Server implements target.Cluster.
func (c *Cluster) Server() string { return "https://memory.example" }

// Mapping implements target.Cluster.
func (c *Cluster) Mapping(_ context.Context, kind schema.GroupVersionKind) (*meta.RESTMapping, error) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if mapping, ok := c.kinds[kind]; ok {
		return mapping, nil
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

// Create implements target.Cluster.
func (c *Cluster) Create(_ context.Context, mapping *meta.RESTMapping, object *unstructured.Unstructured, _ string) (*unstructured.Unstructured, error) {
	return c.request("create", mapping, object.GetNamespace(), object.GetName(), func() (*unstructured.Unstructured, error) {
		if _, known := c.kinds[mapping.GroupVersionKind]; !known {
			return nil, apierrors.NewNotFound(mapping.Resource.GroupResource(), object.GetName())
		}
		if c.objects[keyOf(object)] != nil {
			return nil, apierrors.NewAlreadyExists(mapping.Resource.GroupResource(), object.GetName())
		}
		stored := object.DeepCopy()
		stored.SetUID(c.nextUID())
		stored.SetGeneration(1)
		c.put(stored)
		return stored.DeepCopy(), nil
	})
}

// Update implements target.Cluster.
func (c *Cluster) Update(_ context.Context, mapping *meta.RESTMapping, object *unstructured.Unstructured, _ string) (*unstructured.Unstructured, error) {
	return c.request("update", mapping, object.GetNamespace(), object.GetName(), func() (*unstructured.Unstructured, error) {
		old, err := c.find(mapping, object.GetNamespace(), object.GetName())
		if err != nil {
			return nil, err
		}
		if version := object.GetResourceVersion(); version != "" && version != old.GetResourceVersion() {
			return nil, apierrors.NewConflict(mapping.Resource.GroupResource(), object.GetName(), fmt.Errorf("it was changed"))
		}
		return c.replace(old, object.DeepCopy()), nil
	})
}

// MergePatch implements target.Cluster.
func (c *Cluster) MergePatch(_ context.Context, mapping *meta.RESTMapping, namespace, name string, patch []byte, _ string) (*unstructured.Unstructured, error) {
	return c.request("patch", mapping, namespace, name, func() (*unstructured.Unstructured, error) {
		old, err := c.find(mapping, namespace, name)
		if err != nil {
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

// Apply implements target.Cluster, as far as maps go: it merges, takes away what the
// same owner applied before, and knows the owners of fields.
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

// request makes a request, with the fault that is meant for it.
func (c *Cluster) request(verb string, mapping *meta.RESTMapping, namespace, name string, effect func() (*unstructured.Unstructured, error)) (*unstructured.Unstructured, error) {
	c.mutex.Lock()
	request := Request{Verb: verb, Kind: mapping.GroupVersionKind.Kind, Namespace: namespace, Name: name}
	c.Requests = append(c.Requests, request)
	var fault Fault
	if c.Fault != nil {
		fault = c.Fault(request)
	}
	if fault.Before != nil {
		c.mutex.Unlock()
		return nil, fault.Before
	}
	before := c.version
	object, err := effect()
	changed := c.version != before
	key := &unstructured.Unstructured{Object: map[string]any{"kind": request.Kind, "metadata": map[string]any{"name": name, "namespace": namespace}}}
	c.mutex.Unlock()
	if changed {
		c.tell(key)
	}
	if fault.After != nil {
		return nil, fault.After
	}
	return object, err
}

func (c *Cluster) find(mapping *meta.RESTMapping, namespace, name string) (*unstructured.Unstructured, error) {
	if found := c.objects[mapping.GroupVersionKind.Kind+"|"+namespace+"|"+name]; found != nil {
		return found, nil
	}
	return nil, apierrors.NewNotFound(mapping.Resource.GroupResource(), name)
}

// replace stores another state of an object, or ends it; then it returns nil.
func (c *Cluster) replace(old, changed *unstructured.Unstructured) *unstructured.Unstructured {
	changed.SetUID(old.GetUID())
	if changed.GetDeletionTimestamp() == nil {
		changed.SetDeletionTimestamp(old.GetDeletionTimestamp())
	}
	if changed.GetDeletionTimestamp() != nil && len(changed.GetFinalizers()) == 0 {
		delete(c.objects, keyOf(old))
		c.version++
		return nil
	}
	changed.SetGeneration(old.GetGeneration() + 1)
	c.put(changed)
	return changed.DeepCopy()
}

// put stores an object with a new version. A definition makes its kinds known at
// once, but says that it is established only when a test says so.
func (c *Cluster) put(object *unstructured.Unstructured) {
	c.version++
	object.SetResourceVersion(strconv.Itoa(c.version))
	c.objects[keyOf(object)] = object
	if object.GetKind() != "CustomResourceDefinition" {
		return
	}
	group, _, _ := unstructured.NestedString(object.Object, "spec", "group")
	kind, _, _ := unstructured.NestedString(object.Object, "spec", "names", "kind")
	plural, _, _ := unstructured.NestedString(object.Object, "spec", "names", "plural")
	versions, _, _ := unstructured.NestedSlice(object.Object, "spec", "versions")
	for _, version := range versions {
		name, _ := version.(map[string]any)["name"].(string)
		gvk := schema.GroupVersionKind{Group: group, Version: name, Kind: kind}
		c.kinds[gvk] = &meta.RESTMapping{GroupVersionKind: gvk, Resource: gvk.GroupVersion().WithResource(plural), Scope: meta.RESTScopeNamespace}
	}
}

func (c *Cluster) nextUID() types.UID { return types.UID("uid-" + strconv.Itoa(c.version+1)) }

func keyOf(object *unstructured.Unstructured) string {
	return object.GetKind() + "|" + object.GetNamespace() + "|" + object.GetName()
}

// watch looks out for one object, or for all of a kind.
type watch struct {
	cluster *Cluster
	key     string
	kind    string
	wake    func()
	// The rest is for those who look at several objects.
	mapping   *meta.RESTMapping
	namespace string
	selector  labels.Set
}

// Watch implements target.Cluster.
func (c *Cluster) Watch(mapping *meta.RESTMapping, namespace, name string, _ bool, wake func()) target.Watch {
	return c.watch(&watch{cluster: c, key: mapping.GroupVersionKind.Kind + "|" + namespace + "|" + name, wake: wake})
}

// WatchAll implements target.Cluster.
func (c *Cluster) WatchAll(mapping *meta.RESTMapping, wake func()) target.Watch {
	return c.watch(&watch{cluster: c, kind: mapping.GroupVersionKind.Kind, wake: wake})
}

// WatchSelected implements target.Cluster.
func (c *Cluster) WatchSelected(mapping *meta.RESTMapping, namespace string, selector labels.Set, wake func()) target.SelectedWatch {
	return c.watch(&watch{cluster: c, kind: mapping.GroupVersionKind.Kind, wake: wake, mapping: mapping, namespace: namespace, selector: selector})
}

// Objects implements target.SelectedWatch.
func (w *watch) Objects() (objects []*unstructured.Unstructured, known bool, err error) {
	w.cluster.mutex.Lock()
	defer w.cluster.mutex.Unlock()
	if w.cluster.NoWatch != nil {
		return nil, false, w.cluster.NoWatch
	}
	return w.cluster.selected(w.mapping, w.namespace, w.selector), true, nil
}

func (c *Cluster) watch(w *watch) *watch {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.Requests = append(c.Requests, Request{Verb: "watch", Kind: w.kind})
	c.watches[w] = struct{}{}
	return w
}

// State implements target.Watch.
func (w *watch) State() (cluster.State, error) {
	w.cluster.mutex.Lock()
	defer w.cluster.mutex.Unlock()
	if w.cluster.NoWatch != nil {
		return cluster.State{}, w.cluster.NoWatch
	}
	return cluster.State{Known: true, Object: w.cluster.objects[w.key].DeepCopy(), Version: strconv.Itoa(w.cluster.version)}, nil
}

// Close implements target.Watch.
func (w *watch) Close() error {
	w.cluster.mutex.Lock()
	defer w.cluster.mutex.Unlock()
	delete(w.cluster.watches, w)
	return nil
}

// tell wakes those who look out for an object.
func (c *Cluster) tell(object *unstructured.Unstructured) {
	c.mutex.Lock()
	watches := slices.Collect(maps.Keys(c.watches))
	c.mutex.Unlock()
	for _, w := range watches {
		if w.key == keyOf(object) || w.kind == object.GetKind() {
			w.wake()
		}
	}
}
