// Package target is what the work on one item needs of a cluster. Behind it stands
// a connection, or, in tests of decisions, a cluster in memory.
package target

import (
	"context"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"go.landscaper.dev/internal/cluster"
	"go.landscaper.dev/internal/cluster/watch"
)

// Cluster reads, writes and watches objects. The methods are those of cluster.Connection; it
// documents them.
type Cluster interface {
	Server() string
	Mapping(ctx context.Context, kind schema.GroupVersionKind) (*meta.RESTMapping, error)
	KindOf(ctx context.Context, version schema.GroupVersion, name string) (schema.GroupVersionKind, error)
	Get(ctx context.Context, mapping *meta.RESTMapping, namespace, name string) (*unstructured.Unstructured, error)
	Create(ctx context.Context, mapping *meta.RESTMapping, object *unstructured.Unstructured, owner string) (*unstructured.Unstructured, error)
	Update(ctx context.Context, mapping *meta.RESTMapping, object *unstructured.Unstructured, owner string) (*unstructured.Unstructured, error)
	PreviewNew(ctx context.Context, mapping *meta.RESTMapping, object *unstructured.Unstructured, owner string) (*unstructured.Unstructured, error)
	Preview(ctx context.Context, mapping *meta.RESTMapping, object *unstructured.Unstructured, owner string) (*unstructured.Unstructured, error)
	MergePatch(ctx context.Context, mapping *meta.RESTMapping, namespace, name string, patch []byte, owner string) (*unstructured.Unstructured, error)
	Apply(ctx context.Context, mapping *meta.RESTMapping, object *unstructured.Unstructured, options cluster.ApplyOptions) (*unstructured.Unstructured, error)
	Delete(ctx context.Context, mapping *meta.RESTMapping, namespace, name string, options metav1.DeleteOptions) (*unstructured.Unstructured, error)
	List(ctx context.Context, mapping *meta.RESTMapping, namespace string, selector labels.Set) ([]*unstructured.Unstructured, error)
	// ListSome reads no more objects than limit.
	ListSome(ctx context.Context, mapping *meta.RESTMapping, namespace string, selector labels.Set, limit int64) ([]*unstructured.Unstructured, error)
	ListMetadata(ctx context.Context, mapping *meta.RESTMapping, namespace string) ([]*unstructured.Unstructured, error)
	// Watch watches an object and calls wake on changes.
	Watch(mapping *meta.RESTMapping, namespace, name string, metadataOnly bool, wake func()) Watch
	// WatchSelected watches all objects with the labels.
	WatchSelected(mapping *meta.RESTMapping, namespace string, selector labels.Set, wake func()) SelectedWatch
	// WatchAll watches all objects of a cluster-scoped kind.
	WatchAll(mapping *meta.RESTMapping, wake func()) Watch
}

// Watch reports events of an object until it is closed.
type Watch interface {
	// State returns what is known about the object.
	State() (watch.State, error)
	// Close ends the watch. It may be called again.
	Close() error
}

// SelectedWatch reports events of objects until it is closed.
type SelectedWatch interface {
	// Objects returns the objects, and whether they are known yet.
	Objects() (objects []*unstructured.Unstructured, known bool, err error)
	// Close ends the watch. It may be called again.
	Close() error
}

// On returns the cluster behind a connection.
func On(connection *cluster.Connection) Cluster { return connected{connection} }

// connected is a connection whose watches are seen as Watch.
type connected struct{ *cluster.Connection }

// Watch implements Cluster.
func (c connected) Watch(mapping *meta.RESTMapping, namespace, name string, metadataOnly bool, wake func()) Watch {
	return c.Subscribe(mapping, namespace, name, metadataOnly, wake)
}

// WatchSelected implements Cluster.
func (c connected) WatchSelected(mapping *meta.RESTMapping, namespace string, selector labels.Set, wake func()) SelectedWatch {
	return c.SubscribeSelected(mapping, namespace, selector, wake)
}

// WatchAll implements Cluster.
func (c connected) WatchAll(mapping *meta.RESTMapping, wake func()) Watch {
	return c.SubscribeAny(mapping, wake)
}
