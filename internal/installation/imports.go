package installation

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/dataflow"
	"go.landscaper.dev/internal/job"
	"go.landscaper.dev/internal/sources"
)

// imports reads what the Installation imports.
func (r *Reconciler) imports(ctx context.Context, inst *v1alpha1.Installation) (dataflow.Imports, error) {
	imports, err := dataflow.Read(ctx, inst, objects{confirming{Reader: r.Client, live: r.Reader}})
	if err != nil {
		return imports, r.final(inst, job.Wrap(err, "init", "ImportsSatisfied", ""))
	}
	return imports, nil
}

// objects reads imports from the resource cluster.
type objects struct{ client.Reader }

// confirming reads from a cache; but whether something does not exist it asks the
// API server: users create objects and the Installation that needs them at once, and
// the caches fill in any order.
type confirming struct {
	client.Reader
	live client.Reader
}

// Get implements client.Reader.
func (c confirming) Get(ctx context.Context, key client.ObjectKey, into client.Object, options ...client.GetOption) error {
	err := c.Reader.Get(ctx, key, into, options...)
	if apierrors.IsNotFound(err) {
		return c.live.Get(ctx, key, into, options...) //nolint:wrapcheck // the caller tells what was read
	}
	return err //nolint:wrapcheck // the caller tells what was read
}

// Data implements dataflow.Objects.
func (o objects) Data(ctx context.Context, object dataflow.Object) (dataflow.DataImport, error) {
	var value dataflow.DataImport
	var err error
	switch object.Kind {
	case dataflow.KindSecret:
		secret := &corev1.Secret{}
		if err := o.get(ctx, object, secret); err != nil {
			return value, err
		}
		value, err = dataflow.FromSecret(secret.Data, object.Key)
	case dataflow.KindConfigMap:
		configMap := &corev1.ConfigMap{}
		if err := o.get(ctx, object, configMap); err != nil {
			return value, err
		}
		value, err = dataflow.FromConfigMap(configMap.Data, configMap.BinaryData, object.Key)
	default:
		data := &v1alpha1.DataObject{}
		err = o.get(ctx, object, data)
		return dataflow.FromDataObject(data), err
	}
	if err != nil {
		return value, fmt.Errorf("%s %s: %w", object.Kind, object.Name, err)
	}
	return value, nil
}

// Target implements dataflow.Objects.
func (o objects) Target(ctx context.Context, object dataflow.Object) (*v1alpha1.Target, error) {
	target := &v1alpha1.Target{}
	if err := o.get(ctx, object, target); err != nil {
		return nil, err
	}
	return asRead(target), nil
}

// Targets implements dataflow.Objects.
func (o objects) Targets(ctx context.Context, namespace string, selector labels.Selector) ([]*v1alpha1.Target, error) {
	list := &v1alpha1.TargetList{}
	if err := o.List(ctx, list, client.InNamespace(namespace), client.MatchingLabelsSelector{Selector: selector}); err != nil {
		return nil, &sources.ReadError{Object: "Targets", Cause: err}
	}
	targets := make([]*v1alpha1.Target, len(list.Items))
	for i := range list.Items {
		targets[i] = asRead(&list.Items[i])
	}
	return targets, nil
}

// asRead returns a copy that also has what a cache leaves out, but templates can
// ask for.
func asRead(target *v1alpha1.Target) *v1alpha1.Target {
	target = target.DeepCopy()
	target.APIVersion, target.Kind = v1alpha1.GroupVersion.String(), "Target"
	target.ManagedFields = nil
	return target
}

func (o objects) get(ctx context.Context, object dataflow.Object, into client.Object) error {
	err := o.Get(ctx, client.ObjectKey{Namespace: object.Namespace, Name: object.Name}, into)
	if apierrors.IsNotFound(err) {
		return dataflow.ErrMissing
	}
	if err != nil {
		return &sources.ReadError{Object: fmt.Sprintf("%s %s/%s", object.Kind, object.Namespace, object.Name), Cause: err}
	}
	return nil
}
