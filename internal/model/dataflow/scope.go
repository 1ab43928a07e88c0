package dataflow

import (
	"cmp"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/model/dataflow/valueobject"
)

// ScopeValues returns what lives in the scope of an Installation as export
// executions see it: DataObjects and Targets by their keys. The elements of a list
// or map share a key, and other releases may have left several objects with one; that
// with the last name is seen, in whichever order they come. The secrets are those that
// DataObjects refer to.
func ScopeValues(objects []*v1alpha1.DataObject, secrets []*corev1.Secret, targets []*v1alpha1.Target) (dataByKey, targetsByKey map[string]any, err error) {
	dataByKey, targetsByKey = map[string]any{}, map[string]any{}
	for _, object := range slices.SortedFunc(slices.Values(objects), func(a, b *v1alpha1.DataObject) int { return cmp.Compare(a.Name, b.Name) }) {
		item, err := FromDataObject(object, named(secrets, valueobject.SecretOf(object)))
		if err != nil {
			return nil, nil, err
		}
		value, err := item.plain()
		if err != nil {
			return nil, nil, fmt.Errorf("DataObject %s: %w", object.Name, err)
		}
		dataByKey[object.Labels[v1alpha1.DataObjectKeyLabel]] = value
	}
	byName := slices.SortedFunc(slices.Values(targets), func(a, b *v1alpha1.Target) int { return cmp.Compare(a.Name, b.Name) })
	for _, target := range byName {
		value, err := valueobject.TargetValue(target)
		if err != nil {
			return nil, nil, err
		}
		targetsByKey[target.Labels[v1alpha1.DataObjectKeyLabel]] = value
	}
	return dataByKey, targetsByKey, nil
}

func named(secrets []*corev1.Secret, name string) *corev1.Secret {
	i := slices.IndexFunc(secrets, func(secret *corev1.Secret) bool { return secret.Name == name })
	if i < 0 {
		return nil
	}
	return secrets[i]
}

// FromDataObject returns the value of a DataObject. Secret is the one that SecretOf names; nil if
// SecretOf names none.
func FromDataObject(object *v1alpha1.DataObject, secret *corev1.Secret) (DataImport, error) {
	value, salt, err := valueobject.ValueOf(object, secret)
	return DataImport{Value: value, Salt: salt}, err
}
