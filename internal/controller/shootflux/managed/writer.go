package managed

import (
	"context"
	"fmt"
	"regexp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/internal/controller/shootflux/gardener"
	"go.landscaper.dev/internal/runtime/expectations"
)

// Writer writes ManagedResources and their Secrets.
type Writer struct {
	// Client writes, each time bound to the version that was read.
	Client client.Client
	// Read reads ManagedResources.
	Read *expectations.Reader
	// Begins is called before the contents of a ManagedResource are written in a namespace; it may
	// be nil.
	Begins func(namespace string)
}

// NewWriter makes a Writer whose client reads ManagedResources from a cache.
func NewWriter(c client.Client, api client.Reader) *Writer {
	return &Writer{Client: c, Read: &expectations.Reader{Cache: c, API: api}}
}

// Get reads a ManagedResource; nil if it does not exist.
func (w *Writer) Get(ctx context.Context, namespace, name string) (*gardener.ManagedResource, error) {
	resource := &gardener.ManagedResource{}
	return present(w.Read.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, resource), namespace, name, resource)
}

// left reads a ManagedResource that is to be deleted. Its absence is confirmed by the API server: a
// ManagedResource that only the cache lacks would never be deleted.
func (w *Writer) left(ctx context.Context, namespace, name string) (*gardener.ManagedResource, error) {
	resource, err := w.Get(ctx, namespace, name)
	if err != nil || resource != nil {
		return resource, err
	}
	resource = &gardener.ManagedResource{}
	return present(w.Read.GetLive(ctx, client.ObjectKey{Namespace: namespace, Name: name}, resource), namespace, name, resource)
}

func present(err error, namespace, name string, resource *gardener.ManagedResource) (*gardener.ManagedResource, error) {
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read ManagedResource %s/%s: %w", namespace, name, err)
	}
	return resource, nil
}

// Ensure writes a ManagedResource with the contents of a piece and returns its state. It writes
// nothing if the contents exist.
//
// The Secrets are created first, so that a ManagedResource never names a missing Secret. Secrets
// that remain after a crash are not referenced, and have the label of Gardener's garbage
// collection.
func (w *Writer) Ensure(ctx context.Context, namespace string, piece Piece) (Standing, bool, error) {
	present, err := w.Get(ctx, namespace, piece.Name)
	if err != nil {
		return Standing{}, false, err
	}
	secrets, err := piece.Secrets(namespace)
	if err != nil {
		return Standing{}, false, err
	}
	standing := Judge(present)
	if standing.Going {
		return standing, false, nil
	}
	same := present != nil && holds(present, secrets)
	if same && !standing.unreadable {
		return standing, false, nil
	}
	if err := w.store(ctx, secrets); err != nil {
		return standing, false, err
	}
	if same {
		return standing, false, nil
	}
	if w.Begins != nil {
		w.Begins(namespace)
	}
	written, err := w.write(ctx, namespace, piece.Name, present, secrets)
	if err != nil {
		return standing, false, err
	}
	return Judge(written), true, nil
}

// store creates the Secrets with contents. An existing Secret has the same contents, because its
// name is a hash of them.
func (w *Writer) store(ctx context.Context, secrets []*corev1.Secret) error {
	for _, secret := range secrets {
		if err := w.Client.Create(ctx, secret); err != nil && !apierrors.IsAlreadyExists(err) {
			return fmt.Errorf("create Secret %s/%s: %w", secret.Namespace, secret.Name, err)
		}
	}
	return nil
}

// Holds says whether a ManagedResource has the contents of a piece, applied or not.
func (w *Writer) Holds(ctx context.Context, namespace string, piece Piece) (bool, error) {
	present, err := w.Get(ctx, namespace, piece.Name)
	if err != nil || present == nil {
		return false, err
	}
	secrets, err := piece.Secrets(namespace)
	return err == nil && holds(present, secrets), err
}

// holds reports whether a ManagedResource has exactly these contents and is applied.
func holds(resource *gardener.ManagedResource, secrets []*corev1.Secret) bool {
	if frozen(resource) || resource.Spec.KeepObjects == nil || !*resource.Spec.KeepObjects {
		return false
	}
	return slices.EqualFunc(resource.Spec.SecretRefs, secrets, func(reference corev1.LocalObjectReference, secret *corev1.Secret) bool {
		return reference.Name == secret.Name
	})
}

func (w *Writer) write(ctx context.Context, namespace, name string, present *gardener.ManagedResource, secrets []*corev1.Secret) (*gardener.ManagedResource, error) {
	if present == nil {
		made := wanted(&gardener.ManagedResource{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}, secrets)
		made.Spec.InjectLabels = map[string]string{gardener.NoCleanupLabel: "true"}
		err := w.Client.Create(ctx, made)
		if apierrors.IsAlreadyExists(err) {
			// The cache does not show it yet.
			return nil, apierrors.NewConflict(gardener.ResourcesVersion.WithResource("managedresources").GroupResource(), name, err)
		}
		if err != nil {
			return nil, fmt.Errorf("create ManagedResource %s/%s: %w", namespace, name, err)
		}
		w.Read.Record(made)
		return made, nil
	}
	return w.patch(ctx, present, wanted(present, secrets))
}

func (w *Writer) patch(ctx context.Context, present, changed *gardener.ManagedResource) (*gardener.ManagedResource, error) {
	if err := w.Client.Patch(ctx, changed, client.MergeFromWithOptions(present, client.MergeFromWithOptimisticLock{})); err != nil {
		return nil, fmt.Errorf("change ManagedResource %s/%s: %w", present.Namespace, present.Name, err)
	}
	w.Read.Record(changed)
	return changed, nil
}

// Remove deletes a ManagedResource, with its objects or without, and says whether it is deleted.
//
// The setting to keep objects is written before the deletion and bound to the same version: the
// resource manager evaluates it at the deletion.
func (w *Writer) Remove(ctx context.Context, namespace, name string, keep bool) (gone bool, err error) {
	present, err := w.left(ctx, namespace, name)
	if err != nil || present == nil {
		return present == nil, err
	}
	if present.Spec.KeepObjects == nil || *present.Spec.KeepObjects != keep {
		changed := present.DeepCopy()
		changed.Spec.KeepObjects = &keep
		if present, err = w.patch(ctx, present, changed); err != nil {
			return false, err
		}
	}
	if present.DeletionTimestamp != nil {
		return false, nil
	}
	// Deleting is bound to the version: an administrator may just have changed it.
	err = w.Client.Delete(ctx, present, client.Preconditions{UID: &present.UID, ResourceVersion: &present.ResourceVersion})
	if client.IgnoreNotFound(err) != nil {
		return false, fmt.Errorf("delete ManagedResource %s/%s: %w", namespace, name, err)
	}
	return false, nil
}

// Abandon removes the finalizers of a ManagedResource that is being deleted, since its resource
// manager may not exist any more.
func (w *Writer) Abandon(ctx context.Context, namespace, name string) error {
	present, err := w.Get(ctx, namespace, name)
	if err != nil || present == nil || present.DeletionTimestamp == nil || len(present.Finalizers) == 0 {
		return err
	}
	changed := present.DeepCopy()
	changed.Finalizers = nil
	_, err = w.patch(ctx, present, changed)
	return client.IgnoreNotFound(err)
}

// Release is the release of Flux that a ManagedResource of the first implementation installs; "" if
// it is unknown. Unreadable contents are not an error.
func (w *Writer) Release(ctx context.Context, namespace, name string) (string, error) {
	present, err := w.Get(ctx, namespace, name)
	if err != nil || present == nil {
		return "", err
	}
	for _, reference := range present.Spec.SecretRefs {
		secret := &corev1.Secret{}
		err := w.Client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: reference.Name}, secret)
		if client.IgnoreNotFound(err) != nil {
			return "", fmt.Errorf("read Secret %s/%s: %w", namespace, reference.Name, err)
		}
		for _, text := range secret.Data {
			if found := releaseLabel.FindSubmatch(text); found != nil {
				return string(found[1]), nil
			}
		}
	}
	return "", nil
}

// releaseLabel is on each object of an installation.
var releaseLabel = regexp.MustCompile(`app\.kubernetes\.io/version"?: *"?(v[0-9]+\.[0-9]+\.[0-9]+(?:-[0-9A-Za-z.-]+)?)`)

// Clean deletes the extension's Secrets with contents, once they are not referenced any more, and
// those of the first implementation, whose names are fixed.
func (w *Writer) Clean(ctx context.Context, namespace string, before ...string) error {
	secrets := &metav1.PartialObjectMetadataList{}
	secrets.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("SecretList"))
	err := w.Client.List(ctx, secrets, client.InNamespace(namespace), client.MatchingLabels{ManagerLabel: Manager, gardener.GarbageLabel: "true"})
	if err != nil {
		return fmt.Errorf("list the Secrets in %s: %w", namespace, err)
	}
	for i := range secrets.Items {
		if err := w.Client.Delete(ctx, &secrets.Items[i]); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("delete Secret %s/%s: %w", namespace, secrets.Items[i].Name, err)
		}
	}
	for _, name := range before {
		secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: contentsPrefix + name}}
		if err := w.Client.Delete(ctx, secret); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("delete Secret %s/%s: %w", namespace, secret.Name, err)
		}
	}
	return nil
}
