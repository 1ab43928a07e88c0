package lifecycle

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/internal/controller/shootflux/gardener"
	"go.landscaper.dev/internal/controller/shootflux/managed"
	"go.landscaper.dev/internal/runtime/job/reasons"
)

// inherit records an installation of Flux by another tool: it belongs to the owner of the shoot. A
// frozen ManagedResource shows this even if the state was lost.
func (w *work) inherit(ctx context.Context) error {
	others := w.installed.Exists && !w.installed.Ours
	if w.before.Bootstrapped || !w.installed.Frozen && !others {
		return nil
	}
	w.after.Bootstrapped = true
	if !others {
		return nil
	}
	var err error
	w.after.BootstrappedVersion, err = w.writer.Release(ctx, w.e.Namespace, InstallName)
	return err
}

// rotated stores at once that a key was rotated, or cannot be: later failures must not cause another
// rotation to an unregistered key.
//
// It is stored even if another client has changed the Extension meanwhile, though the run ends
// then. Only this controller writes this field.
func (w *work) rotated(ctx context.Context) error {
	if found := w.credentials; found != nil && found.unrotated != "" {
		w.warn(w.run, reasons.SSHKeyNotRotated, found.unrotated)
	}
	w.after.HandledOperation = w.asked
	remember := func(status *gardener.ExtensionStatus) { status.State = w.after.Encode() }
	conflict := w.report(ctx, w.e, remember)
	if !apierrors.IsConflict(conflict) {
		return conflict
	}
	changed := w.e.DeepCopy()
	remember(&changed.Status)
	if err := w.Client.Status().Patch(ctx, changed, client.MergeFrom(w.e)); err != nil {
		return fmt.Errorf("remember in Extension %s/%s that the key was rotated: %w", w.e.Namespace, w.e.Name, err)
	}
	w.extensionsNow.Record(changed)
	return conflict
}

// stand reads the state of the pieces.
func (w *work) stand(ctx context.Context) error {
	for _, piece := range []struct {
		name     string
		standing *managed.Standing
	}{{InstallName, &w.installed}, {ConfigName, &w.configured}, {DataName, &w.data}} {
		resource, err := w.writer.Get(ctx, w.e.Namespace, piece.name)
		if err != nil {
			return err
		}
		*piece.standing = managed.Judge(resource)
	}
	return nil
}
