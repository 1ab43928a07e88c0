package deletion

import (
	"context"
	"errors"
	"fmt"

	jsonpatch "github.com/evanphx/json-patch/v5"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"go.landscaper.dev/api/deployer"
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/deploy/target"
	"go.landscaper.dev/internal/model/ownership"
	"go.landscaper.dev/internal/runtime/parallelize"
)

// Family are the other items that may want what is to be removed.
type Family interface {
	ownership.Family
	// Moved receives which item has become the owner of an object.
	Moved(ctx context.Context, object string, to *v1alpha1.DeployItem)
	// Bequeath lets another item record an object, so that it removes the object later.
	Bequeath(ctx context.Context, heir *v1alpha1.DeployItem, entry deployer.ManagedResourceStatus) error
}

// Kept returns the objects that are not removed for the moment: another item may want them.
func (d *Deletion) Kept() []corev1.ObjectReference {
	kept, _ := d.kept()
	return kept
}

// InUse says which objects are not removed because something is in them, and why.
func (d *Deletion) InUse() []string {
	_, used := d.kept()
	return used
}

func (d *Deletion) kept() (kept []corev1.ObjectReference, used []string) {
	for _, step := range d.steps {
		for _, object := range step.objects {
			switch {
			case object.kept && object.reason != "":
				used = append(used, object.describe()+" stays "+object.reason)
			case object.kept:
				kept = append(kept, object.entry.Resource)
			}
		}
	}
	return kept, used
}

// judge decides what becomes of all objects before anything is prepared or deleted, and transfers
// or releases those that are not to be removed: objects that are deleted first may be needed by
// others.
//
// An object that cannot be read is judged when its turn comes.
func (d *Deletion) judge(ctx context.Context) error {
	d.claims = d.newClaims()
	var todo []*deletionObject
	for _, step := range d.steps {
		for _, object := range step.objects {
			if !object.foreign && !object.judged && !object.gone && object.left == nil {
				todo = append(todo, object)
			}
		}
	}
	d.see(ctx, todo)
	errs := make([]error, len(todo))
	parallelize.Do(len(todo), func(i int) {
		if errs[i] = todo[i].anew(todo[i].judge(ctx, d)); errs[i] != nil {
			errs[i] = fmt.Errorf("decide what becomes of %s: %w", todo[i].describe(), errs[i])
		}
	})
	for _, step := range d.steps {
		for _, object := range step.objects {
			d.note(object)
		}
	}
	return errors.Join(errs...)
}

func (d *Deletion) newClaims() *ownership.Claims {
	return ownership.NewClaims(d.plan.Family, d.plan.Terminating).Knowing(target.ContentOn(d.plan.Cluster), d.plan.Wanted)
}

// judge looks at the object and decides what becomes of it.
func (o *deletionObject) judge(ctx context.Context, d *Deletion) error {
	if err := o.find(ctx); err != nil || o.gone {
		return nil //nolint:nilerr // reported when it is its turn
	}
	if o.seen == nil {
		if err := o.read(ctx); err != nil {
			return nil //nolint:nilerr // reported when it is its turn
		}
	}
	return o.raced(ctx, d, o.settle(ctx, d, d.claims))
}

// raced settles an object again that another client has changed between the read and the write.
func (o *deletionObject) raced(ctx context.Context, d *Deletion, err error) error {
	for range deleteAttempts - 1 {
		if !apierrors.IsConflict(err) {
			return err
		}
		if err = o.read(ctx); err == nil {
			err = o.settle(ctx, d, d.claims)
		}
	}
	return err
}

// read reads the object; one that does not exist counts as deleted.
func (o *deletionObject) read(ctx context.Context) error {
	ref := o.entry.Resource
	live, err := o.cluster.Get(ctx, o.mapping, ref.Namespace, ref.Name)
	if apierrors.IsNotFound(err) {
		o.seen, o.gone = nil, true
		return nil
	}
	o.seen = live
	return err // the caller names the object
}

// settle decides what becomes of the object that was read, and does it unless that is the
// deletion.
func (o *deletionObject) settle(ctx context.Context, d *Deletion, claims *ownership.Claims) error {
	if o.gone {
		return nil
	}
	verdict, err := claims.Judge(ctx, o.seen, o.entry.Resource, o.isOwn(o.seen, d.plan.Owner))
	if err != nil {
		return err // says what was asked
	}
	switch verdict.Fate {
	case ownership.Spare:
		err = o.spare(ctx, d.plan.Owner)
	case ownership.Leave:
		err = o.leave(ctx, d.plan.Owner)
	case ownership.Inherit:
		err = o.transferTo(ctx, d, verdict.Heir)
	case ownership.Bequeath:
		err = o.bequeathTo(ctx, d, verdict.Heir)
	case ownership.Keep:
		o.reason = verdict.Reason
		err = o.keep(ctx, d.plan.Owner)
	}
	if err != nil {
		o.seen = nil
		return err
	}
	o.judged, o.by = true, claims
	return nil
}

// spare leaves the object to its owner. An object with the labels of two items is in the middle of
// a move: if each left it to the other, it would have no owner. So the item removes its own label,
// and the other item is the only owner.
func (o *deletionObject) spare(ctx context.Context, owner Owner) error {
	patch, err := ownership.Disown(o.seen, owner.Name)
	if err != nil {
		return fmt.Errorf("encode the labels: %w", err)
	}
	if patch != nil {
		if err := o.patch(ctx, patch, owner); err != nil {
			return err
		}
	}
	o.gone = true
	return nil
}

// leave leaves the object without an owner to those who expect it to exist.
func (o *deletionObject) leave(ctx context.Context, owner Owner) error {
	patch, err := ownership.Abandon(o.seen)
	if err != nil {
		return fmt.Errorf("encode its metadata: %w", err)
	}
	if patch != nil {
		if err := o.patch(ctx, patch, owner); err != nil {
			return err
		}
	}
	o.gone = true
	return nil
}

// transferTo makes another item the owner.
//
// That item may drop the object at the same time: it reads the object just before the transfer and
// leaves it alone as foreign. So that item is asked once more: if it does not want the object any
// more, the transfer is reverted.
func (o *deletionObject) transferTo(ctx context.Context, d *Deletion, heir *v1alpha1.DeployItem) error {
	if err := o.transfer(ctx, d.plan.Owner, ownership.ManifestLabel, heir.Name); err != nil || o.gone {
		return err
	}
	now := d.newClaims()
	wants, err := now.Wants(ctx, heir, o.entry.Resource)
	if err != nil {
		return err // says what was asked
	}
	if !wants {
		if err := o.transfer(ctx, d.plan.Owner, d.plan.Owner.Label, d.plan.Owner.Name); err != nil || o.gone {
			return err
		}
		return o.settle(ctx, d, now)
	}
	o.gone = true
	d.plan.Family.Moved(ctx, o.describe(), heir)
	return nil
}

// bequeathTo makes an item the owner that has something in the object. The item forgets what it has
// recorded and what does not belong to it: so it records the object again after the transfer, unless
// the record still has it.
func (o *deletionObject) bequeathTo(ctx context.Context, d *Deletion, heir *v1alpha1.DeployItem) error {
	entry := o.entry
	entry.Resource.UID = o.seen.GetUID()
	if err := d.plan.Family.Bequeath(ctx, heir, entry); err != nil {
		return err // names the heir
	}
	if err := o.transfer(ctx, d.plan.Owner, ownership.LabelOf(heir), heir.Name); err != nil || o.gone {
		return err
	}
	if err := d.plan.Family.Bequeath(ctx, heir, entry); err != nil {
		// The heir goes, too. The object is judged again with the next attempt.
		return errors.Join(err, o.transfer(ctx, d.plan.Owner, d.plan.Owner.Label, d.plan.Owner.Name))
	}
	o.gone = true
	d.plan.Family.Moved(ctx, o.describe(), heir)
	return nil
}

// transfer makes an item the owner of the object, in the version that was read.
func (o *deletionObject) transfer(ctx context.Context, owner Owner, label, item string) error {
	patch, err := ownership.Transfer(o.seen, label, item)
	if err != nil {
		return fmt.Errorf("encode the new owner: %w", err)
	}
	return o.patch(ctx, patch, owner)
}

// keep says on the object that the item does not want it any more.
func (o *deletionObject) keep(ctx context.Context, owner Owner) error {
	o.kept = true
	if o.seen.GetAnnotations()[v1alpha1.ReleasedByAnnotation] == owner.Name {
		return nil
	}
	patch, err := ownership.Release(o.seen, owner.Name)
	if err != nil {
		return fmt.Errorf("encode the release: %w", err)
	}
	err = o.patch(ctx, patch, owner)
	if apierrors.IsForbidden(err) {
		// The object stays without the mark: the record of the item has it.
		return nil
	}
	o.kept = err == nil && !o.gone
	return err
}

func (o *deletionObject) patch(ctx context.Context, patch []byte, owner Owner) error {
	ref := o.entry.Resource
	stored, err := o.cluster.MergePatch(ctx, o.mapping, ref.Namespace, ref.Name, patch, owner.FieldManager)
	if apierrors.IsForbidden(err) {
		stored, err = o.update(ctx, patch, owner)
	}
	if apierrors.IsNotFound(err) {
		o.gone = true
		return nil
	}
	if err == nil {
		o.seen = stored
	}
	return err // the caller names the object
}

// update changes the object as a patch would: an item that deploys with updates alone need not have
// the right to patch.
func (o *deletionObject) update(ctx context.Context, patch []byte, owner Owner) (*unstructured.Unstructured, error) {
	before, err := o.seen.MarshalJSON()
	if err != nil {
		return nil, fmt.Errorf("encode the live object: %w", err)
	}
	after, err := jsonpatch.MergePatch(before, patch)
	if err != nil {
		return nil, fmt.Errorf("change its metadata: %w", err)
	}
	changed := &unstructured.Unstructured{}
	if err := changed.UnmarshalJSON(after); err != nil {
		return nil, fmt.Errorf("read what its metadata becomes: %w", err)
	}
	return o.cluster.Update(ctx, o.mapping, changed, owner.FieldManager)
}
