package fakecluster

import (
	"maps"
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"

	"go.landscaper.dev/internal/cluster/watch"
	"go.landscaper.dev/internal/deploy/target"
)

// fakeWatch watches one object, or all of a kind.
type fakeWatch struct {
	cluster *Cluster
	key     string
	kind    string
	wake    func()
	// metadataOnly leaves out what an object has besides its metadata.
	metadataOnly bool
	// The rest is for those who look at several objects.
	mapping   *meta.RESTMapping
	namespace string
	selector  labels.Set
}

// Watch implements target.Cluster.
func (c *Cluster) Watch(mapping *meta.RESTMapping, namespace, name string, metadataOnly bool, wake func()) target.Watch {
	return c.watch(&fakeWatch{cluster: c, key: mapping.GroupVersionKind.Kind + "|" + namespace + "|" + name, wake: wake, metadataOnly: metadataOnly})
}

// WatchAll implements target.Cluster.
func (c *Cluster) WatchAll(mapping *meta.RESTMapping, wake func()) target.Watch {
	return c.watch(&fakeWatch{cluster: c, kind: mapping.GroupVersionKind.Kind, wake: wake})
}

// WatchSelected implements target.Cluster.
func (c *Cluster) WatchSelected(mapping *meta.RESTMapping, namespace string, selector labels.Set, wake func()) target.SelectedWatch {
	return c.watch(&fakeWatch{cluster: c, kind: mapping.GroupVersionKind.Kind, wake: wake, mapping: mapping, namespace: namespace, selector: selector})
}

// Objects implements target.SelectedWatch.
func (w *fakeWatch) Objects() (objects []*unstructured.Unstructured, known bool, err error) {
	w.cluster.mutex.Lock()
	defer w.cluster.mutex.Unlock()
	if w.cluster.NoWatch != nil {
		return nil, false, w.cluster.NoWatch
	}
	return w.cluster.selected(w.mapping, w.namespace, w.selector), true, nil
}

func (c *Cluster) watch(w *fakeWatch) *fakeWatch {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.Requests = append(c.Requests, Request{Verb: "watch", Kind: w.kind})
	c.watches[w] = struct{}{}
	return w
}

// State implements target.Watch.
func (w *fakeWatch) State() (watch.State, error) {
	w.cluster.mutex.Lock()
	defer w.cluster.mutex.Unlock()
	if w.cluster.NoWatch != nil {
		return watch.State{}, w.cluster.NoWatch
	}
	object := w.cluster.objects[w.key].DeepCopy()
	if w.metadataOnly && object != nil {
		object.Object = map[string]any{"apiVersion": object.GetAPIVersion(), "kind": object.GetKind(), "metadata": object.Object["metadata"]}
	}
	return watch.State{Known: true, Object: object, Version: strconv.Itoa(w.cluster.version)}, nil
}

// Close implements target.Watch.
func (w *fakeWatch) Close() error {
	w.cluster.mutex.Lock()
	defer w.cluster.mutex.Unlock()
	delete(w.cluster.watches, w)
	return nil
}

// notify notifies the watches of an object.
func (c *Cluster) notify(object *unstructured.Unstructured) {
	c.mutex.Lock()
	watches := slices.Collect(maps.Keys(c.watches))
	c.mutex.Unlock()
	for _, w := range watches {
		if w.key == keyOf(object) || w.kind == object.GetKind() {
			w.wake()
		}
	}
}
