package preview

import (
	"cmp"
	"context"
	"reflect"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/model/dataflow"
)

// future reads the objects of the resource cluster as they are after the jobs that were
// previewed: with what these export.
type future struct {
	client.Reader
	exported map[exportedKey]client.Object
}

type exportedKey struct {
	kind reflect.Type
	name client.ObjectKey
}

func newFuture(reader client.Reader) *future {
	return &future{Reader: reader, exported: map[exportedKey]client.Object{}}
}

func keyOf(object client.Object, name client.ObjectKey) exportedKey {
	return exportedKey{reflect.TypeOf(object), name}
}

// add adds what an Installation would export.
func (f *future) add(ctx context.Context, exports dataflow.Exports) error {
	for _, object := range exports.DataObjects {
		f.put(object)
	}
	for _, secret := range exports.Secrets {
		secret, present := secret.DeepCopy(), &corev1.Secret{}
		if err := client.IgnoreNotFound(f.Reader.Get(ctx, client.ObjectKeyFromObject(secret), present)); err != nil {
			return err // the caller tells what is done
		}
		// Its identity is what a value of a Secret is compared with.
		secret.UID = present.UID
		f.put(secret)
	}
	for _, target := range exports.Targets {
		target, present := target.DeepCopy(), &v1alpha1.Target{}
		if err := client.IgnoreNotFound(f.Reader.Get(ctx, client.ObjectKeyFromObject(target), present)); err != nil {
			return err
		}
		// A Target counts by its generation.
		target.UID, target.Generation = present.UID, present.Generation
		if !equality.Semantic.DeepEqual(target.Spec, present.Spec) {
			target.Generation++
		}
		f.put(target)
	}
	return nil
}

func (f *future) put(object client.Object) {
	f.exported[keyOf(object, client.ObjectKeyFromObject(object))] = object
}

// Get implements client.Reader.
func (f *future) Get(ctx context.Context, name client.ObjectKey, object client.Object, options ...client.GetOption) error {
	exported := f.exported[keyOf(object, name)]
	if exported == nil {
		return f.Reader.Get(ctx, name, object, options...)
	}
	copied := exported.DeepCopyObject()
	reflect.ValueOf(object).Elem().Set(reflect.ValueOf(copied).Elem())
	return nil
}

// List implements client.Reader. Only Targets are found by their labels.
func (f *future) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	if err := f.Reader.List(ctx, list, options...); err != nil {
		return err
	}
	targets, ok := list.(*v1alpha1.TargetList)
	if !ok {
		return nil
	}
	applied := &client.ListOptions{}
	applied.ApplyOptions(options)
	kept := targets.Items[:0:0]
	for _, target := range targets.Items {
		if f.exported[keyOf(&target, client.ObjectKeyFromObject(&target))] == nil {
			kept = append(kept, target)
		}
	}
	for _, exported := range f.exported {
		target, ok := exported.(*v1alpha1.Target)
		if ok && (applied.Namespace == "" || applied.Namespace == target.Namespace) && (applied.LabelSelector == nil || applied.LabelSelector.Matches(labels.Set(target.Labels))) {
			kept = append(kept, *target)
		}
	}
	slices.SortFunc(kept, func(a, b v1alpha1.Target) int { return cmp.Compare(a.Name, b.Name) })
	targets.Items = kept
	return nil
}
