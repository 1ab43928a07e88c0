// Package importreader reads what Installations import: from a cache or from an API server.
package importreader

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/landscape/repocontext"
	"go.landscaper.dev/internal/model/dataflow"
	"go.landscaper.dev/internal/model/dataflow/valueobject"
)

// objects reads imports from the resource cluster. It is for one attempt: a Secret or
// ConfigMap is read once, however many of its keys are imported.
type objects struct {
	client.Reader
	entries map[dataflow.Object]decoder
}

// decoder returns the value of a key, or without one that of all keys.
type decoder func(key string) (dataflow.DataImport, error)

// From returns what reads imports.
func From(reader client.Reader) dataflow.Objects {
	return objects{Reader: reader, entries: map[dataflow.Object]decoder{}}
}

// Data implements dataflow.Objects.
func (o objects) Data(ctx context.Context, object dataflow.Object) (dataflow.DataImport, error) {
	if object.Kind == dataflow.KindDataObject {
		data := &v1alpha1.DataObject{}
		if err := o.get(ctx, object, data); err != nil {
			return dataflow.DataImport{}, err
		}
		secret, err := ValueOf(ctx, o, data)
		if err != nil {
			return dataflow.DataImport{}, err
		}
		return dataflow.FromDataObject(data, secret) // names the object
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
	return AsRead(target), nil
}

// Targets implements dataflow.Objects.
func (o objects) Targets(ctx context.Context, namespace string, selector labels.Selector) ([]*v1alpha1.Target, error) {
	list := &v1alpha1.TargetList{}
	if err := o.List(ctx, list, client.InNamespace(namespace), client.MatchingLabelsSelector{Selector: selector}); err != nil {
		return nil, &repocontext.ReadError{Object: "Targets", Cause: err}
	}
	targets := make([]*v1alpha1.Target, len(list.Items))
	for i := range list.Items {
		targets[i] = AsRead(&list.Items[i])
	}
	return targets, nil
}

// AsRead returns a copy that also has what a cache leaves out, but templates can
// ask for.
func AsRead(target *v1alpha1.Target) *v1alpha1.Target {
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
		return &repocontext.ReadError{Object: fmt.Sprintf("%s %s/%s", object.Kind, object.Namespace, object.Name), Cause: err}
	}
	return nil
}

// ValueOf reads the Secret with the value of a DataObject. The result is nil if the DataObject
// holds its value itself, or if the Secret is missing.
func ValueOf(ctx context.Context, reader client.Reader, object *v1alpha1.DataObject) (*corev1.Secret, error) {
	name := valueobject.SecretOf(object)
	if name == "" {
		return nil, nil
	}
	secret := &corev1.Secret{}
	err := reader.Get(ctx, client.ObjectKey{Namespace: object.Namespace, Name: name}, secret)
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, &repocontext.ReadError{Object: fmt.Sprintf("Secret %s/%s", object.Namespace, name), Cause: err}
	}
	return secret, nil
}

// ValuesOf reads the Secrets with the values of DataObjects.
func ValuesOf(ctx context.Context, reader client.Reader, objects []*v1alpha1.DataObject) ([]*corev1.Secret, error) {
	var secrets []*corev1.Secret
	for _, object := range objects {
		secret, err := ValueOf(ctx, reader, object)
		if err != nil {
			return nil, err
		}
		if secret != nil {
			secrets = append(secrets, secret)
		}
	}
	return secrets, nil
}
