package lifecycle

import (
	"context"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"go.landscaper.dev/internal/controller/shootflux/access"
	"go.landscaper.dev/internal/controller/shootflux/gardener"
	"go.landscaper.dev/internal/controller/shootflux/managed"
)

// lookSoon is for changes of the resource manager that the shoot may not show yet.
const lookSoon = time.Second

// newcomers returns the Secrets of a piece that were not applied to the shoot before.
func newcomers(data managed.Piece, standing managed.Standing) []*unstructured.Unstructured {
	var list []*unstructured.Unstructured
	for _, object := range data.Objects {
		if object.GetKind() == "Secret" && !standing.Has(object) {
			list = append(list, object)
		}
	}
	return list
}

// withRights returns a piece without the newcomers, and with the permission to check whether
// Secrets of these names exist already. The permission ends with the next piece.
func withRights(data managed.Piece, newcomers []*unstructured.Unstructured) managed.Piece {
	data.Objects = slices.DeleteFunc(slices.Clone(data.Objects), func(object *unstructured.Unstructured) bool {
		return slices.Contains(newcomers, object)
	})
	data.Objects = append(data.Objects, access.RightsToSee(newcomers)...)
	return data
}

// findData looks whether the data is written already.
func (w *work) findData(ctx context.Context) (err error) {
	w.written, err = w.writer.Holds(ctx, w.e.Namespace, w.pieces.data)
	return err
}

// findOwners looks for new Secrets that the shoot has already from another owner.
func (w *work) findOwners(ctx context.Context) (err error) {
	since := w.Now()
	w.taken, w.unseen, err = w.Systems.Shoots.Taken(ctx, w.e.Namespace, w.kubeconfig, w.fresh...)
	w.took = w.Now().Sub(since)
	return err
}

// moved are the Secrets of the data that the first implementation had beside source and
// kustomization. They must not be deleted when they leave that ManagedResource.
func moved(data managed.Piece, configured managed.Standing) []*unstructured.Unstructured {
	var list []*unstructured.Unstructured
	for _, secret := range data.Objects {
		if secret.GetKind() != "Secret" || !configured.Has(secret) {
			continue
		}
		object := &unstructured.Unstructured{Object: map[string]any{"apiVersion": secret.GetAPIVersion(), "kind": secret.GetKind()}}
		object.SetNamespace(secret.GetNamespace())
		object.SetName(secret.GetName())
		object.SetAnnotations(map[string]string{gardener.ModeAnnotation: gardener.ModeIgnore})
		list = append(list, object)
	}
	return list
}
