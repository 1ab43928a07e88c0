package lifecycle

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/internal/controller/shootflux/access"
	"go.landscaper.dev/internal/controller/shootflux/gardener"
	"go.landscaper.dev/internal/controller/shootflux/managed"
)

// A replica that is replaced may create a ManagedResource, or ask for a token, after the next one has ended
// the deletion of the Extension, or its migration: its request was on the way. The lease does not prevent that, and a look
// right before the request would not either. No Extension is left that would remove such a stray.

// removeStrays removes the ManagedResources of this extension from a namespace without an Extension. What
// they have brought to the shoot stays there: no configuration is left that says otherwise.
func (r *Reconciler) removeStrays(ctx context.Context, namespace string) error {
	strays, err := r.strays(ctx, namespace)
	if err != nil {
		return err
	}
	asked, err := r.asksForToken(ctx, namespace)
	if err != nil || len(strays) == 0 && !asked {
		return err
	}
	// A cache may not show an Extension that has just been created.
	all := &gardener.ExtensionList{}
	if err := r.extensionsNow.API.List(ctx, all, client.InNamespace(namespace)); err != nil {
		return fmt.Errorf("list the Extensions in %s: %w", namespace, err)
	}
	if slices.ContainsFunc(all.Items, func(e gardener.Extension) bool { return ours(&e) }) {
		return nil
	}
	for _, name := range strays {
		if _, err := r.writer.Remove(ctx, namespace, name, true); err != nil {
			return err
		}
	}
	return r.helpers(ctx, namespace)
}

// strays names the ManagedResources of this extension that nothing removes yet, as the cache has them.
func (r *Reconciler) strays(ctx context.Context, namespace string) ([]string, error) {
	var names []string
	for _, name := range []string{ConfigName, DataName, InstallName} {
		resource := &gardener.ManagedResource{}
		err := r.Client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, resource)
		if client.IgnoreNotFound(err) != nil {
			return nil, fmt.Errorf("read ManagedResource %s/%s: %w", namespace, name, err)
		}
		if standing := managed.Judge(resource); err == nil && standing.Ours && !standing.Going {
			names = append(names, name)
		}
	}
	return names, nil
}

// asksForToken reports whether the cache has a request for a token in a namespace.
func (r *Reconciler) asksForToken(ctx context.Context, namespace string) (bool, error) {
	secret := &metav1.PartialObjectMetadata{}
	secret.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Secret"))
	err := r.Client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: access.TokenSecret}, secret)
	if client.IgnoreNotFound(err) != nil {
		return false, fmt.Errorf("read Secret %s/%s: %w", namespace, access.TokenSecret, err)
	}
	return err == nil && secret.DeletionTimestamp == nil, nil
}
