package server

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
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
		if err := awaitServed(ctx, mapper, v1alpha1.GroupVersion.WithKind(kind), &retries, log); err != nil {
			return err
		}
	}
	return nil
}

// errNotServed says that the cluster does not serve a kind.
var errNotServed = errors.New("it is not served")

func awaitServed(ctx context.Context, mapper meta.RESTMapper, gvk schema.GroupVersionKind, retries *wait.Backoff, log logr.Logger) error {
	for {
		_, err := mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
		switch {
		case err == nil:
			return nil
		case meta.IsNoMatchError(err):
			return notServed{gvk.Kind}
		case apierrors.IsUnauthorized(err), apierrors.IsForbidden(err), retries.Steps == 0:
			return fmt.Errorf("look for kind %s: %w", gvk.Kind, err)
		}
		log.Info("the API server does not say which kinds it serves, and is asked again", "reason", err.Error())
		select {
		case <-ctx.Done():
			return fmt.Errorf("look for kind %s: %w; last: %w", gvk.Kind, ctx.Err(), err)
		case <-time.After(retries.Step()):
		}
	}
}

// notServed is the error of a kind that the cluster does not serve.
type notServed struct{ kind string }

// Error implements error.
func (n notServed) Error() string {
	return fmt.Sprintf("the cluster does not serve kind %s: run \"landscaper install\" with the same kubeconfig first", n.kind)
}

// Is implements what errors.Is asks.
func (notServed) Is(target error) bool { return target == errNotServed }
