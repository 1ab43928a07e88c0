// Package itemcontext is where the contents come from that DeployItems name: what the
// Context of an item says about it, and what its Installation has found there.
package itemcontext

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/deployer"
	"go.landscaper.dev/internal/content/component"
	"go.landscaper.dev/internal/landscape/repocontext"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/job/reasons"
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
		return nil, job.NewError(operation, reasons.GetLandscaperContext, fmt.Sprintf("there is no Context %s yet", key))
	case apierrors.IsNotFound(err):
		return nil, deployer.ConfigurationError("spec.context", fmt.Sprintf("there is no Context %s: create it, or correct the name", key))
	case err != nil:
		return nil, &repocontext.ReadError{Object: "Context " + key.String(), Cause: err}
	}
	return landscape, nil
}
