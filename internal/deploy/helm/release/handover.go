package release

import (
	"context"
	"errors"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/deploy/apply"
	"go.landscaper.dev/internal/model/ownership"
)

// keep says on an object that the item does not want it any more.
func (o *Operation) keep(ctx context.Context, object apply.Object, live *unstructured.Unstructured, reason string) (removed, error) {
	entry := entryOf(object, live)
	if live.GetAnnotations()[v1alpha1.ReleasedByAnnotation] == o.desiredState.Item {
		return removed{kept: &entry, reason: reason}, nil
	}
	patch, err := ownership.Release(live, o.desiredState.Item)
	if err != nil {
		return removed{}, err
	}
	stored, err := o.patch(ctx, object, patch)
	if err != nil || stored == nil {
		return removed{}, err
	}
	return removed{kept: &entry, reason: reason}, nil
}

// retain makes an object one that the item has without the release which it gives up: something is in
// the object.
func (o *Operation) retain(ctx context.Context, object apply.Object, live *unstructured.Unstructured, reason string) (removed, error) {
	patch, err := ownership.Transfer(live, ownership.HelmLabel, o.desiredState.Item)
	if err != nil {
		return removed{}, err
	}
	stored, err := o.patch(ctx, object, patch)
	if err != nil || stored == nil {
		return removed{}, err
	}
	entry := entryOf(object, live)
	return removed{kept: &entry, reason: reason}, nil
}

// leave leaves an object without an owner to those who expect it to exist.
func (o *Operation) leave(ctx context.Context, object apply.Object, live *unstructured.Unstructured) error {
	patch, err := ownership.Abandon(live)
	if err != nil || patch == nil {
		return err
	}
	_, err = o.patch(ctx, object, patch)
	return err
}

// bequeathTo makes an item the owner that has something in the object. The item forgets what it has
// recorded and what does not belong to it: so it records the object again after the transfer, unless
// the record still has it.
func (o *Operation) bequeathTo(ctx context.Context, object apply.Object, live *unstructured.Unstructured, heir *v1alpha1.DeployItem) error {
	entry := entryOf(object, live)
	if err := o.others.Bequeath(ctx, heir, entry); err != nil {
		return err
	}
	patch, err := ownership.Transfer(live, ownership.LabelOf(heir), heir.Name)
	if err != nil {
		return err
	}
	stored, err := o.patch(ctx, object, patch)
	if err != nil || stored == nil {
		return err
	}
	if err := o.others.Bequeath(ctx, heir, entry); err != nil {
		// The heir goes, too. The object is judged again with the next attempt.
		patch, encoded := o.takenBack(stored)
		if encoded == nil {
			_, encoded = o.patch(ctx, object, patch)
		}
		return errors.Join(err, encoded)
	}
	o.others.Moved(ctx, describe(live), heir)
	return nil
}

// transferTo makes another item the owner of an object.
//
// That item may drop the object at the same time: it reads the object just before the transfer and
// leaves it alone as foreign. So that item is asked once more: if it does not want the object any
// more, the transfer is reverted.
func (o *Operation) transferTo(ctx context.Context, object apply.Object, live *unstructured.Unstructured, heir *v1alpha1.DeployItem) (removed, error) {
	patch, err := ownership.Transfer(live, ownership.ManifestLabel, heir.Name)
	if err != nil {
		return removed{}, err
	}
	stored, err := o.patch(ctx, object, patch)
	if err != nil || stored == nil {
		return removed{}, err
	}
	claims := o.newClaims()
	again, err := claims.Heir(ctx, object.Reference())
	if err != nil {
		return removed{}, err
	}
	if again != nil {
		o.others.Moved(ctx, describe(live), heir)
		return removed{}, nil
	}
	if patch, err = o.takenBack(stored); err != nil {
		return removed{}, err
	}
	if stored, err = o.patch(ctx, object, patch); err != nil || stored == nil {
		return removed{}, err
	}
	return o.dispose(ctx, object, stored, claims)
}
