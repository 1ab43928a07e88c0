package access

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/internal/controller/shootflux/config"
	"go.landscaper.dev/internal/controller/shootflux/gardener"
)

// Garden is the API of the garden.
type Garden struct {
	Client client.Client
}

// refused adds the remedy to a refusal.
func refused(err error, verb, kind string, key client.ObjectKey) error {
	if apierrors.IsForbidden(err) {
		return fmt.Errorf("%s %s %s in the garden: the garden does not allow it to the extension; "+
			"let the operator grant it, or refer to the object in spec.resources of the Shoot: %w", verb, kind, key, err)
	}
	return fmt.Errorf("%s %s %s in the garden: %w", verb, kind, key, err)
}

// ConfigMaps reads the configurations of a shoot.
type ConfigMaps struct {
	// Seed has the copies of the Shoot's resources, in this namespace.
	Seed      client.Reader
	Namespace string
	// Garden is nil without access to the garden; the project is in the namespace Project.
	Garden  *Garden
	Project string
}

var _ config.Reader = ConfigMaps{}

// Copied implements config.Reader.
func (c ConfigMaps) Copied(ctx context.Context, name string) (*corev1.ConfigMap, error) {
	cm := &corev1.ConfigMap{}
	key := client.ObjectKey{Namespace: c.Namespace, Name: gardener.ReferencePrefix + name}
	if err := c.Seed.Get(ctx, key, cm); err != nil {
		return nil, fmt.Errorf("read ConfigMap %s of the seed: %w", key, err)
	}
	return cm, nil
}

// OfProject implements config.Reader.
func (c ConfigMaps) OfProject(ctx context.Context, name string) (*corev1.ConfigMap, error) {
	if c.Garden == nil {
		return nil, config.ErrNoGarden
	}
	cm := &corev1.ConfigMap{}
	key := client.ObjectKey{Namespace: c.Project, Name: name}
	if err := c.Garden.Client.Get(ctx, key, cm); err != nil {
		return nil, refused(err, "read", "ConfigMap", key)
	}
	return cm, nil
}
