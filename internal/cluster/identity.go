package cluster

import (
	"context"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/api/v1alpha1"
)

var namespaces = corev1.SchemeGroupVersion.WithResource("namespaces")

// identity is the ID of a cluster, once it is known.
type identity struct {
	mutex sync.Mutex
	known bool
	id    string
}

// Address identifies the address of the API server and the authority of its certificate, and
// nothing of the credentials. Two connections with one address lead to the same cluster; one
// cluster may have several addresses.
func (c *Connection) Address() string { return c.address }

// ID identifies the cluster whatever its address is: it is the UID of its Namespace kube-system. It
// is empty if the credentials do not permit to read the Namespace. The cluster is asked once.
func (c *Connection) ID(ctx context.Context) (string, error) {
	c.identity.mutex.Lock()
	defer c.identity.mutex.Unlock()
	if c.identity.known {
		return c.identity.id, nil
	}
	err := c.try(ctx, func(ctx context.Context) error {
		found, err := c.metadata.Resource(namespaces).Get(ctx, metav1.NamespaceSystem, metav1.GetOptions{})
		if err == nil {
			c.identity.id = string(found.GetUID())
		}
		return err
	})
	if err != nil && !apierrors.IsForbidden(err) && !apierrors.IsNotFound(err) {
		return "", err
	}
	c.identity.known = true
	return c.identity.id, nil
}

// AddressOf is the address to which a Target leads, as Connection.Address has it. No
// connection is made.
func (p *Pool) AddressOf(ctx context.Context, target *v1alpha1.Target) (string, error) {
	meant, err := p.access(ctx, target)
	if err != nil {
		return "", err
	}
	return meant.Address(), nil
}
