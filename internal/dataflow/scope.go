package dataflow

import (
	"cmp"
	"fmt"
	"slices"

	"go.landscaper.dev/api/v1alpha1"
)

// ScopeValues returns what lives in the scope of an Installation as export
// executions see it: DataObjects and Targets by their keys. The elements of a list
// or map share a key; that with the last name is seen.
func ScopeValues(objects []*v1alpha1.DataObject, targets []*v1alpha1.Target) (dataByKey, targetsByKey map[string]any, err error) {
	dataByKey, targetsByKey = map[string]any{}, map[string]any{}
	for _, object := range objects {
		value, err := FromDataObject(object).plain()
		if err != nil {
			return nil, nil, fmt.Errorf("DataObject %s: %w", object.Name, err)
		}
		dataByKey[object.Labels[v1alpha1.DataObjectKeyLabel]] = value
	}
	byName := slices.SortedFunc(slices.Values(targets), func(a, b *v1alpha1.Target) int { return cmp.Compare(a.Name, b.Name) })
	for _, target := range byName {
		value, err := targetValue(target)
		if err != nil {
			return nil, nil, err
		}
		targetsByKey[target.Labels[v1alpha1.DataObjectKeyLabel]] = value
	}
	return dataByKey, targetsByKey, nil
}
