package lifecycle

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/internal/controller/shootflux/gardener"
	"go.landscaper.dev/internal/controller/shootflux/managed"
)

// inherit remembers what others have left: Flux that they have installed belongs to the
// owner of the shoot. A ManagedResource that is frozen says so even if the rest was lost.
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

// rotated remembers at once that a key was rotated: whatever fails from here on must not
// make another one, which nobody has registered.
//
// So it is remembered also if somebody else has changed the Extension meanwhile, though the
// run ends then. Nobody else writes this field.
func (w *work) rotated(ctx context.Context) error {
	if w.asked != RequestRotate {
		return nil
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
	w.extensionsNow.Wrote(changed)
	return conflict
}

// stand reads how far the pieces are.
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
