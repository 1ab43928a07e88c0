package managed

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/andybalholm/brotli"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kjson "sigs.k8s.io/json"

	"go.landscaper.dev/internal/base/yamltext"
	"go.landscaper.dev/internal/controller/shootflux/gardener"
)

// ObjectsAnnotation of a ManagedResource says who owns its objects once its contents no longer
// follow the configuration.
const ObjectsAnnotation = "flux.extensions.gardener.cloud/objects"

const (
	// left means that the objects belong to the owner of the shoot.
	left = "left-to-owner"
	// reclaimed means that the resource manager takes them back, to delete them.
	reclaimed = "reclaimed"
)

// maxContents limits the decompressed size of a Secret.
const maxContents = 16 << 20

// Freeze leaves the objects of a ManagedResource to the owner of the shoot: the resource
// manager drops them from its management, and deletes none.
//
// The objects are ignored one by one. An annotation on the ManagedResource would do the same, but
// gardenlet turns it into a permanent constraint of the Shoot. A ManagedResource of the first
// implementation with unreadable contents keeps its annotation.
func (w *Writer) Freeze(ctx context.Context, namespace, name string) error {
	present, err := w.Get(ctx, namespace, name)
	if err != nil || present == nil || present.Annotations[ObjectsAnnotation] == left {
		return err
	}
	objects, err := w.objects(ctx, present)
	if errors.As(err, new(unreadable)) && frozen(present) {
		return nil
	}
	if err != nil {
		return err
	}
	// An object that has moved to another ManagedResource is dropped already, and must not be
	// reclaimed.
	objects = slices.DeleteFunc(objects, func(object *unstructured.Unstructured) bool {
		return object.GetAnnotations()[gardener.ModeAnnotation] == gardener.ModeIgnore
	})
	_, err = w.convert(ctx, present, objects, left)
	return err
}

// Reclaim lets the resource manager take back the objects that Freeze has left to the owner
// of the shoot, so that they are deleted with the ManagedResource. It reports whether they
// are taken back; for a ManagedResource that was never frozen, or that is empty, there is nothing to do.
func (w *Writer) Reclaim(ctx context.Context, namespace, name string) (done bool, err error) {
	present, err := w.Get(ctx, namespace, name)
	if err != nil || present == nil || present.DeletionTimestamp != nil {
		return err == nil, err
	}
	switch present.Annotations[ObjectsAnnotation] {
	case reclaimed:
		return Judge(present).Applied, nil
	case left:
		objects, err := w.objects(ctx, present)
		if err != nil {
			return false, err
		}
		written, err := w.convert(ctx, present, objects, reclaimed)
		if err != nil {
			return false, err
		}
		// Without objects, the contents are as before, and the resource manager has nothing to answer.
		return Judge(written).Applied, nil
	}
	return true, nil
}

// convert writes the objects of a ManagedResource with their new owner, and returns it as written.
func (w *Writer) convert(ctx context.Context, present *gardener.ManagedResource, objects []*unstructured.Unstructured, as string) (*gardener.ManagedResource, error) {
	for _, object := range objects {
		annotations := maps.Clone(object.GetAnnotations())
		delete(annotations, gardener.ModeAnnotation)
		object.SetAnnotations(annotations)
		if as == reclaimed {
			suspend(object)
		}
	}
	piece := Piece{Name: present.Name, Objects: objects, Once: as == reclaimed, Left: as == left}
	secrets, err := piece.Secrets(present.Namespace)
	if err != nil {
		return nil, err
	}
	if err := w.store(ctx, secrets); err != nil {
		return nil, err
	}
	changed := wanted(present, secrets)
	metav1.SetMetaDataAnnotation(&changed.ObjectMeta, ObjectsAnnotation, as)
	return w.patch(ctx, present, changed)
}

// suspend prevents a Kustomization from deploying anything right before its deletion. An existing
// Kustomization is not changed by this: only one that its owner has deleted is created again.
func suspend(object *unstructured.Unstructured) {
	if spec, ok := object.Object["spec"].(map[string]any); ok && object.GetKind() == "Kustomization" {
		spec["suspend"] = true
	}
}

// unreadable says that contents cannot be decoded.
type unreadable struct{ error }

// objects reads the contents of a ManagedResource.
func (w *Writer) objects(ctx context.Context, resource *gardener.ManagedResource) ([]*unstructured.Unstructured, error) {
	var objects []*unstructured.Unstructured
	for _, reference := range resource.Spec.SecretRefs {
		secret := &corev1.Secret{}
		err := w.Client.Get(ctx, client.ObjectKey{Namespace: resource.Namespace, Name: reference.Name}, secret)
		if err != nil {
			err = fmt.Errorf("read Secret %s/%s: %w", resource.Namespace, reference.Name, err)
			if apierrors.IsNotFound(err) {
				err = unreadable{err}
			}
			return nil, err
		}
		for _, key := range slices.Sorted(maps.Keys(secret.Data)) {
			found, err := decode(key, secret.Data[key])
			if err != nil {
				return nil, unreadable{fmt.Errorf("the key %s of Secret %s/%s: %w", key, secret.Namespace, secret.Name, err)}
			}
			objects = append(objects, found...)
		}
	}
	return objects, nil
}

// decode reads the objects of a key. An error never quotes them: they may be Secrets.
func decode(key string, text []byte) ([]*unstructured.Unstructured, error) {
	if strings.HasSuffix(key, ".br") {
		unpacked, err := io.ReadAll(io.LimitReader(brotli.NewReader(bytes.NewReader(text)), maxContents+1))
		if err != nil || len(unpacked) > maxContents {
			return nil, fmt.Errorf("cannot be decompressed to at most %d bytes", maxContents)
		}
		text = unpacked
	}
	documents, err := yamltext.Documents(text, yamltext.Lenient())
	if err != nil {
		return nil, errors.New("is not valid YAML")
	}
	var objects []*unstructured.Unstructured
	for _, document := range documents {
		asJSON, err := document.JSON()
		if err != nil {
			return nil, errors.New("is not valid YAML")
		}
		object := &unstructured.Unstructured{}
		if err := kjson.UnmarshalCaseSensitivePreserveInts(asJSON, &object.Object); err != nil {
			return nil, errors.New("has a document that is not an object")
		}
		if len(object.Object) > 0 {
			objects = append(objects, object)
		}
	}
	return objects, nil
}
