// Package fakecluster is a cluster in memory for tests of decisions: it stores objects
// as an API server does (versions, identities, finalizers, preconditions), knows
// the kinds that it was told or that its CustomResourceDefinitions define, and
// fails where a test wants it to. What real API servers do beyond that is for the
// tests in the lab.
package fakecluster

import (
	"slices"
	"strconv"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
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
	// Meanwhile is how another client changes the object just before the request takes effect.
	Meanwhile func(*unstructured.Unstructured)
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
	watches map[*fakeWatch]struct{}
}

// New returns an empty cluster that knows ConfigMaps, Secrets, Namespaces, Pods,
// Jobs, Deployments and CustomResourceDefinitions.
func New() *Cluster {
	c := &Cluster{kinds: map[schema.GroupVersionKind]*meta.RESTMapping{}, objects: map[string]*unstructured.Unstructured{}, watches: map[*fakeWatch]struct{}{}}
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

// Put stores an object as another client would, and returns what is stored.
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
	c.notify(stored)
	return stored.DeepCopy()
}

// Find returns an object, or nil.
func (c *Cluster) Find(kind, namespace, name string) *unstructured.Unstructured {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return c.objects[kind+"|"+namespace+"|"+name].DeepCopy()
}

// Remove deletes an object at once, finalizers or not.
func (c *Cluster) Remove(kind, namespace, name string) {
	c.mutex.Lock()
	removed := c.objects[kind+"|"+namespace+"|"+name]
	delete(c.objects, kind+"|"+namespace+"|"+name)
	c.version++
	c.mutex.Unlock()
	if removed != nil {
		c.notify(removed)
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
	if found := c.objects[request.Kind+"|"+namespace+"|"+name]; found != nil && fault.Meanwhile != nil {
		changed := found.DeepCopy()
		fault.Meanwhile(changed)
		c.replace(found, changed)
	}
	before := c.version
	object, err := effect()
	changed := c.version != before
	key := &unstructured.Unstructured{Object: map[string]any{"kind": request.Kind, "metadata": map[string]any{"name": name, "namespace": namespace}}}
	c.mutex.Unlock()
	if changed {
		c.notify(key)
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
