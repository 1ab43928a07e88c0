package server

import (
	"context"
	"fmt"
	"time"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/util/wait"

	"go.landscaper.dev/api/v1alpha1"
)

// installedKinds are what the controllers cannot run without.
var installedKinds = []string{"Installation", "Execution", "DeployItem", "Target", "DataObject", "Context", "TargetSync"}

// discoveryRetries take 23 s: enough for an API server that is being restarted, and not too long for
// a person who has named the wrong one.
var discoveryRetries = wait.Backoff{Duration: 200 * time.Millisecond, Factor: 1.5, Steps: 10}

// awaitInstalled fails early if the cluster does not serve the kinds of Landscaper. An API server
// that fails is asked again, because a start that fails for one answer is a restart for nothing.
func awaitInstalled(ctx context.Context, mapper meta.RESTMapper, retries wait.Backoff, log logr.Logger) error {
	for _, kind := range installedKinds {
		if err := awaitServed(ctx, mapper, kind, &retries, log); err != nil {
			return err
		}
	}
	return nil
}

func awaitServed(ctx context.Context, mapper meta.RESTMapper, kind string, retries *wait.Backoff, log logr.Logger) error {
	for {
		_, err := mapper.RESTMapping(v1alpha1.GroupVersion.WithKind(kind).GroupKind(), v1alpha1.GroupVersion.Version)
		switch {
		case err == nil:
			return nil
		case meta.IsNoMatchError(err):
			return fmt.Errorf("the cluster does not serve kind %s: run \"landscaper install\" with the same kubeconfig first", kind)
		case apierrors.IsUnauthorized(err), apierrors.IsForbidden(err), retries.Steps == 0:
			return fmt.Errorf("look for kind %s: %w", kind, err)
		}
		log.Info("the API server does not say which kinds it serves, and is asked again", "reason", err.Error())
		select {
		case <-ctx.Done():
			return fmt.Errorf("look for kind %s: %w; last: %w", kind, ctx.Err(), err)
		case <-time.After(retries.Step()):
		}
	}
}
