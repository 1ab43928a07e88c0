package installation

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/dataflow"
	"go.landscaper.dev/internal/sources"
)

// objects reads imports from the resource cluster. It is for one attempt: a Secret or
// ConfigMap is read once, however many of its keys are imported.
type objects struct {
	client.Reader
	entries map[dataflow.Object]decoder
}

// decoder returns the value of a key, or without one that of all keys.
type decoder func(key string) (dataflow.DataImport, error)

func newObjects(reader client.Reader) objects {
	return objects{Reader: reader, entries: map[dataflow.Object]decoder{}}
}

// confirming reads from a cache; but whether something does not exist it asks the
// API server: users create objects and the Installation that needs them at once, and
// the caches fill in any order.
//
// For a subinstallation it also asks about what the cache shows from an earlier job: the
// parent and the siblings have written all that is imported before they said so, but
// their status may have come faster.
type confirming struct {
	client.Reader
	live client.Reader
	// scope and jobID are those of a subinstallation.
	scope, jobID string
	// believing takes the word of the cache that an object does not exist.
	believing bool
}

// reading returns what reads the imports of an Installation.
func reading(cached, live client.Reader, inst *v1alpha1.Installation) confirming {
	return confirming{Reader: cached, live: live, scope: dataflow.Scope(inst), jobID: inst.Status.JobID}
}

// Get implements client.Reader.
func (c confirming) Get(ctx context.Context, key client.ObjectKey, into client.Object, options ...client.GetOption) error {
	err := c.Reader.Get(ctx, key, into, options...)
	if apierrors.IsNotFound(err) && !c.believing || err == nil && c.isBehind(into) {
		return c.live.Get(ctx, key, into, options...) //nolint:wrapcheck // the caller tells what was read
	}
	return err //nolint:wrapcheck // the caller tells what was read
}

func (c confirming) isBehind(object client.Object) bool {
	labels := object.GetLabels()
	return c.scope != "" && labels[v1alpha1.DataObjectContextLabel] == c.scope && labels[v1alpha1.DataObjectJobIDLabel] != c.jobID
}

// List implements client.Reader. A cache does not tell that elements are missing.
func (c confirming) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	from := c.Reader
	if c.scope != "" {
		from = c.live
	}
	return from.List(ctx, list, options...) //nolint:wrapcheck // the caller tells what was read
}

// Data implements dataflow.Objects.
func (o objects) Data(ctx context.Context, object dataflow.Object) (dataflow.DataImport, error) {
	if object.Kind == dataflow.KindDataObject {
		data := &v1alpha1.DataObject{}
		if err := o.get(ctx, object, data); err != nil {
			return dataflow.DataImport{}, err
		}
		secret, err := valueOf(ctx, o, data)
		if err != nil {
			return dataflow.DataImport{}, err
		}
		return dataflow.FromDataObject(data, secret) //nolint:wrapcheck // names the object
	}
	value, err := o.entry(ctx, object)
	if err != nil && !errors.Is(err, dataflow.ErrMissing) {
		return value, fmt.Errorf("%s %s: %w", object.Kind, object.Name, err)
	}
	return value, err
}

// entry returns the value of a Secret or ConfigMap, which is read once.
func (o objects) entry(ctx context.Context, object dataflow.Object) (dataflow.DataImport, error) {
	key := dataflow.Object{Kind: object.Kind, Namespace: object.Namespace, Name: object.Name}
	decode, known := o.entries[key]
	if !known {
		var err error
		if decode, err = o.decoder(ctx, object); err != nil {
			return dataflow.DataImport{}, err
		}
		o.entries[key] = decode
	}
	return decode(object.Key)
}

// decoder reads a Secret or ConfigMap.
func (o objects) decoder(ctx context.Context, object dataflow.Object) (decoder, error) {
	if object.Kind == dataflow.KindSecret {
		secret := &corev1.Secret{}
		err := o.get(ctx, object, secret)
		return func(key string) (dataflow.DataImport, error) {
			value, err := dataflow.FromSecret(secret.Data, key)
			value.Salt = string(secret.UID)
			return value, err
		}, err
	}
	configMap := &corev1.ConfigMap{}
	err := o.get(ctx, object, configMap)
	return func(key string) (dataflow.DataImport, error) {
		return dataflow.FromConfigMap(configMap.Data, configMap.BinaryData, key)
	}, err
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
