package config

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// DefaultConfigMap is the name of the ConfigMap of a project, and of the resource of a
// Shoot that stands for one.
const DefaultConfigMap = "flux-config"

// Request is the input of Load.
type Request struct {
	// ProviderConfig is that of the Extension.
	ProviderConfig []byte
	// Resources are those of the Shoot.
	Resources []Resource
	// RequireConfig says that a shoot without a configuration is an error.
	RequireConfig bool
}

// Reader reads the sources of configurations. A NotFound says that there is no such object; all
// other errors are returned.
type Reader interface {
	// Copied reads the copy of a ConfigMap that the Shoot refers to by this name.
	Copied(ctx context.Context, name string) (*corev1.ConfigMap, error)
	// OfProject reads a ConfigMap of the project. Without access to the garden it
	// returns ErrNoGarden.
	OfProject(ctx context.Context, name string) (*corev1.ConfigMap, error)
}

// ErrNoGarden says that the extension has no access to the garden.
var ErrNoGarden = errors.New("the extension has no access to the garden")

// ErrNotConfigured says that a shoot has no configuration and needs one.
var ErrNotConfigured = errors.New("there is no configuration: write a providerConfig for the extension, " +
	"or a ConfigMap " + DefaultConfigMap + " for the project")

// Load returns the configuration of a shoot; the first existing one counts: the provider
// configuration, a ConfigMap that the Shoot refers to, the one of the project, Flux alone. A
// configuration that cannot be read is an error, never a reason to go on to the next.
func Load(ctx context.Context, request Request, from Reader) (*Config, error) {
	if raw := bytes.TrimSpace(request.ProviderConfig); len(raw) > 0 && string(raw) != "null" {
		return loadProviderConfig(ctx, raw, request.Resources, from)
	}
	cm, origin, err := find(ctx, DefaultConfigMap, request.Resources, from)
	switch {
	case err != nil:
		return nil, err
	case cm == nil && request.RequireConfig:
		return nil, ErrNotConfigured
	case cm == nil:
		return Default(), nil
	}
	c, err := FromConfigMap(cm)
	if err != nil {
		return nil, err
	}
	c.Origin = origin
	return c, nil
}

func loadProviderConfig(ctx context.Context, raw []byte, resources []Resource, from Reader) (*Config, error) {
	name, err := RefersTo(raw)
	if err != nil {
		return nil, err
	}
	if name == "" {
		return FromProviderConfig(raw, nil)
	}
	cm, _, err := find(ctx, name, resources, from)
	if err != nil {
		return nil, err
	}
	if cm == nil {
		// The ConfigMap may be created at any time, so the Shoot need not change.
		return nil, &Invalid{Of: sharedConfig, Problems: []Problem{{
			Field:   "configMapRef.name",
			Message: "names " + name + ", which neither the Shoot's spec.resources nor the project has: create the ConfigMap, or remove the reference",
		}}}
	}
	base, err := FromConfigMap(cm)
	if err != nil {
		return nil, err
	}
	return FromProviderConfig(raw, base)
}

// find returns nil if there is no such ConfigMap.
func find(ctx context.Context, name string, resources []Resource, from Reader) (*corev1.ConfigMap, Origin, error) {
	for _, resource := range resources {
		if resource.Name != name || resource.Kind != "ConfigMap" {
			continue
		}
		cm, err := from.Copied(ctx, resource.Object)
		if err != nil {
			return nil, "", fmt.Errorf("read ConfigMap %s of the Shoot's spec.resources: %w", resource.Object, err)
		}
		return cm, ShootResource, nil
	}
	cm, err := from.OfProject(ctx, name)
	switch {
	case errors.Is(err, ErrNoGarden), apierrors.IsNotFound(err):
		return nil, "", nil
	case err != nil:
		return nil, "", fmt.Errorf("read ConfigMap %s of the project: %w", name, err)
	}
	return cm, ProjectConfigMap, nil
}
