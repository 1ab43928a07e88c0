package cluster

import (
	"context"
	"fmt"
	"io"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"go.landscaper.dev/internal/cluster/watch"
)

// SubscribeSelected calls wake whenever there is news about an object with the
// labels. Without a namespace all namespaces are watched.
func (c *Connection) SubscribeSelected(mapping *meta.RESTMapping, namespace string, selector labels.Set, wake func()) *watch.Subscription {
	key := watch.Key{Resource: mapping.Resource, Selector: selector.String()}
	if mapping.Scope.Name() == meta.RESTScopeNameNamespace {
		key.Namespace = namespace
	}
	return c.watches.Subscribe(key, watch.AnyObject, wake)
}

// SubscribeNamespace calls wake whenever there is news about any object of a kind in a
// namespace. Only metadata is watched, and no discovery is needed.
func (c *Connection) SubscribeNamespace(resource schema.GroupVersionResource, namespace string, wake func()) *watch.Subscription {
	return c.watches.Subscribe(watch.Key{Resource: resource, Namespace: namespace, MetadataOnly: true}, watch.AnyObject, wake)
}

// SubscribeAny calls wake whenever there is news about any object of a
// cluster-scoped kind.
func (c *Connection) SubscribeAny(mapping *meta.RESTMapping, wake func()) *watch.Subscription {
	return c.Subscribe(mapping, "", watch.AnyObject, true, wake)
}

// Watch calls wake whenever there is news about an object of a kind, until it is closed. A
// change that the connection has seen before does not call it: read the object afterwards.
func (c *Connection) Watch(ctx context.Context, kind schema.GroupVersionKind, namespace, name string, wake func()) (io.Closer, error) {
	mapping, err := c.Mapping(ctx, kind)
	if err != nil {
		return nil, fmt.Errorf("watch %s %s: %w", kind.Kind, name, err)
	}
	return c.Subscribe(mapping, namespace, name, true, wake), nil
}

// Subscribe watches an object and calls wake whenever there is news about it: at the latest when
// its state is known, and when the watch fails. A running watch may know the state already; then
// wake is not called, and State returns the state. With metadataOnly the object has no more than
// its metadata.
func (c *Connection) Subscribe(mapping *meta.RESTMapping, namespace, name string, metadataOnly bool, wake func()) *watch.Subscription {
	key := watch.Key{Resource: mapping.Resource, MetadataOnly: metadataOnly}
	object := name
	if mapping.Scope.Name() == meta.RESTScopeNameNamespace {
		key.Namespace, object = namespace, namespace+"/"+name
	}
	return c.watches.Subscribe(key, object, wake)
}
