package dataflow

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/model/dataflow/valueobject"
)

// DataCopies returns the copies of data imports that live in the scope of an Installation, where
// its children and tools find them, sorted by import. Values from Secrets are in Secrets again, to
// which the DataObjects refer. Null has no copy, because a DataObject cannot hold it.
func DataCopies(inst *v1alpha1.Installation, values Values) (Exports, error) {
	var copies Exports
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(values.declared)) {
		value := values.declared[name]
		if values.types[name] != v1alpha1.ImportTypeData || values.isNull(name, value) {
			continue
		}
		if err := copies.addCopy(inst, valueobject.Imported(inst, name), value); err != nil {
			errs = append(errs, fmt.Errorf("copy of import %q: %w", name, err))
		}
	}
	return copies, errors.Join(errs...)
}

func (e *Exports) addCopy(inst *v1alpha1.Installation, place valueobject.Place, value declaredValue) error {
	if value.salt != "" {
		object, secret, err := valueobject.Concealed(inst, place, value.data, value.salt)
		if err != nil {
			return err
		}
		e.DataObjects, e.Secrets = append(e.DataObjects, object), append(e.Secrets, secret)
		return nil
	}
	object, err := valueobject.DataObject(inst, place, value.data)
	if err != nil {
		return err
	}
	e.DataObjects = append(e.DataObjects, object)
	return nil
}

// TargetCopies returns the copies of imported Targets that live in the scope of an
// Installation, one for each element of a list or map, sorted by import.
//
// A list or map has one object for each element, so that a change of one element is a write
// of one object, and a subinstallation can import a single one.
func TargetCopies(inst *v1alpha1.Installation, values Values) ([]*v1alpha1.Target, error) {
	var copies []*v1alpha1.Target
	var errs []error
	add := func(place valueobject.Place, source *v1alpha1.Target) {
		target, err := valueobject.TargetCopy(inst, place, source)
		if err != nil {
			errs = append(errs, fmt.Errorf("copy of import %q: %w", place.Key, err))
			return
		}
		copies = append(copies, target)
	}
	for _, name := range slices.Sorted(maps.Keys(values.declared)) {
		value := values.declared[name]
		if value.target != nil {
			add(valueobject.Imported(inst, name), value.target)
		}
		for i, source := range value.list {
			place := valueobject.Imported(inst, name)
			place.Name, place.Index = v1alpha1.GenerateDataObjectNameWithIndex(place.Scope, name, i), strconv.Itoa(i)
			add(place, source)
		}
		for _, key := range slices.Sorted(maps.Keys(value.byKey)) {
			place := valueobject.Imported(inst, name)
			place.Name, place.MapKey = v1alpha1.GenerateDataObjectNameWithKey(place.Scope, name, key), key
			add(place, value.byKey[key])
		}
	}
	return copies, errors.Join(errs...)
}
