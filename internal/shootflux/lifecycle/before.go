package lifecycle

import (
	"context"

	"go.landscaper.dev/internal/gardener"
	"go.landscaper.dev/internal/shootflux/managed"
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
func (w *work) rotated(ctx context.Context) error {
	if w.asked != RequestRotate {
		return nil
	}
	w.after.HandledOperation = w.asked
	return w.report(ctx, w.e, func(status *gardener.ExtensionStatus) { status.State = w.after.Encode() })
}

// stand reads how far the pieces are.
func (w *work) stand(ctx context.Context) error {
	for name, standing := range map[string]*managed.Standing{InstallName: &w.installed, ConfigName: &w.configured, DataName: &w.data} {
		resource, err := w.writer.Get(ctx, w.e.Namespace, name)
		if err != nil {
			return err
		}
		*standing = managed.Judge(resource)
	}
	return nil
}
