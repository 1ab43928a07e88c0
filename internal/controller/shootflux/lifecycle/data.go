package lifecycle

import (
	"context"
	"errors"
	"fmt"
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

// writeData writes the data, after a check that no Secret would replace one of another owner. A
// hibernated shoot cannot be read: it gets its new Secrets after its hibernation, when gardenlet
// asks for an operation.
func (w *work) writeData(ctx context.Context, asleep bool) (*pause, error) {
	fresh := newcomers(w.pieces.data, w.data)
	written, err := w.writer.Holds(ctx, w.e.Namespace, w.pieces.data)
	if err != nil {
		return nil, err
	}
	if len(fresh) == 0 || written {
		return nil, w.write(ctx, w.pieces.data, &w.data)
	}
	if err := w.write(ctx, withRights(w.pieces.data, fresh), &w.data); err != nil || asleep {
		return nil, err
	}
	if !w.data.Applied {
		return &pause{why: "waiting for the right to see whether Secrets of the shoot have other owners: " + w.data.Reason, progress: 50, again: lookAgain}, nil
	}
	since := w.Now()
	taken, err := w.Systems.Shoots.Taken(ctx, w.e.Namespace, w.kubeconfig, fresh...)
	switch {
	case errors.Is(err, access.ErrNotYet):
		return &pause{why: "waiting to see whether Secrets of the shoot have other owners: " + err.Error(), progress: 50, again: notBefore(lookSoon, w.Now().Sub(since))}, nil
	case err != nil:
		return nil, err
	case taken != "":
		return nil, withCode(fmt.Errorf("the shoot has a Secret %s that this extension has not written, and the configuration would replace it: "+
			"remove it from the shoot, or give yours another name (targetName, or spec.secretRef of the source)", taken), gardener.RetryableConfigurationProblem)
	}
	return nil, w.write(ctx, w.pieces.data, &w.data)
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
