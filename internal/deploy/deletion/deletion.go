// Package deletion removes deployed objects in the order that keeps them working
// until the end, and waits for their end without asking again and again.
package deletion

import (
	"context"
	"errors"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"go.landscaper.dev/api/deployer"
	"go.landscaper.dev/internal/cluster"
	"go.landscaper.dev/internal/deploy/apply"
	"go.landscaper.dev/internal/deploy/parallel"
	"go.landscaper.dev/internal/job"
)

// Deletion removes recorded objects.
type Deletion struct {
	target *cluster.Connection
	owner  Owner
	wake   func()
	// groups are deleted one after the other.
	groups [][]*doomed
	gone   []corev1.ObjectReference
}

// Owner says whose objects are removed.
type Owner struct {
	// Label is the label that says whose an object is.
	Label string
	// Name is its value.
	Name string
}

// doomed is an object to remove.
type doomed struct {
	entry   deployer.ManagedResourceStatus
	mapping *meta.RESTMapping
	// left is what the API server said is left of the object.
	left         *unstructured.Unstructured
	subscription *cluster.Subscription
	gone         bool
}

// New returns the deletion of recorded objects. It calls wake when there is news.
// Objects that are to be kept count as gone at once.
func New(target *cluster.Connection, inventory apply.Inventory, owner Owner, wake func()) *Deletion {
	d := &Deletion{target: target, owner: owner, wake: wake, groups: make([][]*doomed, 3)}
	for i := len(inventory) - 1; i >= 0; i-- {
		entry := inventory[i]
		if entry.Policy == deployer.KeepPolicy || entry.Policy == deployer.IgnorePolicy {
			d.gone = append(d.gone, entry.Resource)
			continue
		}
		group := groupOf(entry.Resource)
		d.groups[group] = append(d.groups[group], &doomed{entry: entry})
	}
	return d
}

// Await adds an object that somebody else is deleting.
func (d *Deletion) Await(mapping *meta.RESTMapping, left *unstructured.Unstructured) {
	ref := corev1.ObjectReference{APIVersion: left.GetAPIVersion(), Kind: left.GetKind(), Namespace: left.GetNamespace(), Name: left.GetName()}
	d.groups[0] = append(d.groups[0], &doomed{entry: deployer.ManagedResourceStatus{Resource: ref}, mapping: mapping, left: left})
}

// groupOf returns the place of an object in the order: what is in namespaces
// first, the definitions of kinds last.
func groupOf(ref corev1.ObjectReference) int {
	switch {
	case ref.Kind == apply.CRDKind:
		return 2
	case ref.Namespace == "":
		return 1
	}
	return 0
}

// Gone returns the objects that need not be remembered any more.
func (d *Deletion) Gone() []corev1.ObjectReference { return d.gone }

// Continue goes as far as it can and returns what it waits for.
func (d *Deletion) Continue(ctx context.Context) ([]string, error) {
	for _, group := range d.groups {
		waiting, err := d.remove(ctx, group)
		if err != nil || len(waiting) > 0 {
			return waiting, err
		}
	}
	return nil, nil
}

// remove removes the objects of a group.
func (d *Deletion) remove(ctx context.Context, group []*doomed) ([]string, error) {
	errs := make([]error, len(group))
	var mutex sync.Mutex
	parallel.Do(len(group), func(i int) {
		object := group[i]
		if object.gone {
			return
		}
		err := d.step(ctx, object)
		if err != nil {
			errs[i] = job.Wrap(err, "delete", "DeleteWithUninstall", "delete "+describe(object.entry.Resource))
			return
		}
		if object.gone {
			mutex.Lock()
			defer mutex.Unlock()
			d.gone = append(d.gone, object.entry.Resource)
		}
	})
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	var waiting []string
	for _, object := range group {
		if !object.gone {
			waiting = append(waiting, "the end of "+describe(object.entry.Resource)+finalizers(object.left))
		}
	}
	return waiting, nil
}

func describe(ref corev1.ObjectReference) string {
	return apply.Describe(ref.Kind, ref.Namespace, ref.Name)
}

// finalizers says who still has to do something.
func finalizers(left *unstructured.Unstructured) string {
	if left == nil || len(left.GetFinalizers()) == 0 {
		return ""
	}
	return " (finalizer " + left.GetFinalizers()[0] + ")"
}

// step goes as far as possible with one object.
func (d *Deletion) step(ctx context.Context, object *doomed) error {
	if object.left == nil {
		if err := d.request(ctx, object); err != nil || object.gone {
			return err
		}
	}
	return d.look(ctx, object)
}

// request asks the API server to delete an object.
func (d *Deletion) request(ctx context.Context, object *doomed) error {
	ref := object.entry.Resource
	mapping, err := d.target.Mapping(ctx, schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind))
	if meta.IsNoMatchError(err) {
		// With the kind, its objects are gone, too.
		object.gone = true
		return nil
	}
	if err != nil {
		return err
	}
	object.mapping = mapping
	uid := ref.UID
	if uid == "" || object.entry.Policy == deployer.FallbackPolicy {
		// It was never confirmed that the object is ours.
		uid, err = d.ownUID(ctx, object)
	}
	if err != nil || object.gone {
		return err
	}
	err = d.delete(ctx, object, uid)
	if apierrors.IsConflict(err) {
		// Somebody has made another object of this name. It is ours only if it says so.
		if uid, err = d.ownUID(ctx, object); err != nil || object.gone {
			return err
		}
		err = d.delete(ctx, object, uid)
	}
	return err
}

func (d *Deletion) delete(ctx context.Context, object *doomed, uid types.UID) error {
	ref := object.entry.Resource
	background := metav1.DeletePropagationBackground
	left, err := d.target.Delete(ctx, object.mapping, ref.Namespace, ref.Name, metav1.DeleteOptions{
		// The default of some kinds leaves their dependents behind.
		PropagationPolicy: &background,
		Preconditions:     &metav1.Preconditions{UID: &uid},
	})
	if err != nil {
		return err
	}
	object.left, object.gone = left, left == nil
	return nil
}

// ownUID returns the identity of an object if it belongs to the item. If it does
// not, it counts as gone.
func (d *Deletion) ownUID(ctx context.Context, object *doomed) (types.UID, error) {
	ref := object.entry.Resource
	live, err := d.target.Get(ctx, object.mapping, ref.Namespace, ref.Name)
	if apierrors.IsNotFound(err) || (err == nil && live.GetLabels()[d.owner.Label] != d.owner.Name) {
		object.gone = true
		return "", nil
	}
	if err != nil {
		return "", err
	}
	return live.GetUID(), nil
}

// look finds out whether an object whose deletion was asked for is gone.
func (d *Deletion) look(ctx context.Context, object *doomed) error {
	ref := object.entry.Resource
	if object.subscription == nil {
		object.subscription = d.target.Subscribe(object.mapping, ref.Namespace, ref.Name, true, d.wake)
	}
	state, err := object.subscription.State()
	if err != nil {
		return d.ask(ctx, object)
	}
	switch {
	case !state.Known:
	case state.Object == nil:
		object.gone = cluster.AtLeast(state.Version, object.left.GetResourceVersion())
	case state.Object.GetUID() != object.left.GetUID():
		object.gone = cluster.AtLeast(state.Object.GetResourceVersion(), object.left.GetResourceVersion())
	case cluster.AtLeast(state.Object.GetResourceVersion(), object.left.GetResourceVersion()):
		object.left = state.Object
	}
	if object.gone {
		_ = object.subscription.Close()
	}
	return nil
}

// ask reads an object that cannot be watched.
func (d *Deletion) ask(ctx context.Context, object *doomed) error {
	ref := object.entry.Resource
	live, err := d.target.Get(ctx, object.mapping, ref.Namespace, ref.Name)
	switch {
	case apierrors.IsNotFound(err), err == nil && live.GetUID() != object.left.GetUID():
		object.gone = true
		_ = object.subscription.Close()
		return nil
	case err != nil:
		return err
	}
	object.left = live
	return errors.New("it still exists" + finalizers(live) + " and cannot be watched")
}

// Close ends all watches.
func (d *Deletion) Close() {
	for _, group := range d.groups {
		for _, object := range group {
			if object.subscription != nil {
				_ = object.subscription.Close()
			}
		}
	}
}
