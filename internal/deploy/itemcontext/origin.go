// Package itemcontext is where the contents come from that DeployItems name: what the
// Context of an item says about it, and how resources of components are named.
package itemcontext

import (
	"context"
	"encoding/base64"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/deployer"
	"go.landscaper.dev/internal/base/yamltext"
	"go.landscaper.dev/internal/content/component"
	"go.landscaper.dev/internal/content/component/descriptor"
	"go.landscaper.dev/internal/landscape/repocontext"
	"go.landscaper.dev/internal/runtime/job"
)

// Origins are what all items of a process have in common.
type Origins struct {
	// Contexts reads Contexts. A cache will do.
	Contexts client.Reader
	// Sources reads what a Context refers to.
	Sources *repocontext.Reader
	// Components has the connections, the egress policy behind them, and the cache.
	Components *component.Shared
}

// Of reads the Context of an item, with the credentials for registries. The operation
// is that of errors.
func (o Origins) Of(ctx context.Context, item *v1alpha1.DeployItem, operation string) (*repocontext.Sources, error) {
	landscape, err := o.Context(ctx, item, operation)
	if err != nil {
		return nil, err
	}
	found, err := o.Sources.Read(ctx, landscape)
	if err != nil {
		return nil, err // names the Context
	}
	found.Options.Job = item.Status.JobID
	return found, nil
}

// Context reads the Context of an item.
func (o Origins) Context(ctx context.Context, item *v1alpha1.DeployItem, operation string) (*v1alpha1.Context, error) {
	key := types.NamespacedName{Namespace: item.Namespace, Name: item.Spec.Context}
	if key.Name == "" {
		key.Name = v1alpha1.DefaultContextName
	}
	landscape := &v1alpha1.Context{}
	err := o.Contexts.Get(ctx, key, landscape)
	if apierrors.IsNotFound(err) {
		// A cache may be behind.
		err = o.Sources.Client.Get(ctx, key, landscape)
	}
	switch {
	case apierrors.IsNotFound(err) && key.Name == v1alpha1.DefaultContextName:
		// Every namespace is about to have this one.
		return nil, job.NewError(operation, "GetLandscaperContext", fmt.Sprintf("there is no Context %s yet", key))
	case apierrors.IsNotFound(err):
		return nil, deployer.ConfigurationError("spec.context", fmt.Sprintf("there is no Context %s: create it, or correct the name", key))
	case err != nil:
		return nil, &repocontext.ReadError{Object: "Context " + key.String(), Cause: err}
	}
	return landscape, nil
}

// Key is what the template function getResourceKey returns, decoded.
type Key struct {
	Component struct {
		Name    string `json:"name"`
		Version string `json:"version"`
	} `json:"component"`
	Resource descriptor.Identity `json:"resource"`
}

// ParseKey reads the key of a resource.
func ParseKey(text string) (*Key, error) {
	wrong := func(why string) error {
		return fmt.Errorf("it is not a key of a resource: %s: use what the template function getResourceKey returns", why)
	}
	decoded, err := base64.StdEncoding.DecodeString(strings.TrimSpace(text))
	if err != nil {
		return nil, wrong("it is not base64")
	}
	parsed := &Key{}
	if err := yamltext.Unmarshal(decoded, yamltext.Lenient(), parsed); err != nil {
		return nil, wrong(err.Error())
	}
	if parsed.Component.Name == "" || parsed.Component.Version == "" || parsed.Resource["name"] == "" {
		return nil, wrong("component.name, component.version and resource.name must be set")
	}
	return parsed, nil
}
