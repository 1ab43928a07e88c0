package dataflow

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/labels"

	"go.landscaper.dev/api/v1alpha1"
)

// ErrMissing says that an object does not exist.
var ErrMissing = errors.New("not found")

// Objects finds the objects that imports refer to. A missing object is an ErrMissing.
type Objects interface {
	// Data returns the value of a DataObject, Secret or ConfigMap.
	Data(ctx context.Context, object Object) (DataImport, error)
	Target(ctx context.Context, object Object) (*v1alpha1.Target, error)
	// Targets returns the Targets that a selector selects, in any order.
	Targets(ctx context.Context, namespace string, selector labels.Selector) ([]*v1alpha1.Target, error)
}

// errForeignCopy refuses the copy of a value from a Secret by the name of its object: a blueprint that
// works out the name would read what another Installation imports.
var errForeignCopy = errors.New("the DataObject is a copy of what another Installation imports from a Secret: let the parent import the value, and refer to the import of the parent")

// MissingError says that an import refers to an object that does not exist.
type MissingError struct {
	// Path is the field with the reference, Import the name of the import.
	Path, Import string
	Object       Object
}

// Error implements error.
func (e *MissingError) Error() string {
	return fmt.Sprintf("%s: import %s: there is no %s %q in namespace %s: create it, or correct the reference", e.Path, e.Import, e.Object.Kind, e.Object.Written, e.Object.Namespace)
}

// MissingOf returns the imports that are missing, if nothing else is wrong.
func MissingOf(err error) []*MissingError {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return nil
	}
	var list []*MissingError
	for _, err := range joined.Unwrap() {
		var missing *MissingError
		if !errors.As(err, &missing) {
			return nil
		}
		list = append(list, missing)
	}
	return list
}

// Read reads what an Installation imports, each object once. The error joins a *MissingError for
// each object that does not exist; any other error ends the reading, also a *LimitError. Values
// must not be changed: imports share them.
func Read(ctx context.Context, inst *v1alpha1.Installation, objects Objects) (Imports, error) {
	return ReadWithin(ctx, DefaultLimits(), inst, objects)
}

// ReadWithin is Read with other limits.
//
// Each import is counted before it is read, and its size right after, so that reading ends
// with the first one that is too much.
func ReadWithin(ctx context.Context, limits Limits, inst *v1alpha1.Installation, objects Objects) (Imports, error) {
	r := reading{namespace: inst.Namespace, sub: Scope(inst) != "", objects: newOnce(objects), tally: tally{limits: limits}, imports: Imports{
		Data: map[string]DataImport{}, Targets: map[string]*v1alpha1.Target{},
		TargetLists: map[string][]*v1alpha1.Target{}, TargetMaps: map[string]map[string]*v1alpha1.Target{},
	}}
	for _, reference := range References(inst) {
		if err := r.tally.take(reference); err != nil {
			return r.imports, err
		}
		err := r.read(ctx, reference)
		var limit *LimitError
		if errors.As(err, &limit) {
			return r.imports, err
		}
		if err != nil {
			return r.imports, fmt.Errorf("%s: import %s: %w", reference.Path, reference.Import, err)
		}
	}
	return r.imports, errors.Join(r.missing...)
}

type reading struct {
	namespace string
	// sub says that the Installation has a parent, whose blueprint names the imports.
	sub     bool
	objects Objects
	tally   tally
	imports Imports
	missing []error
}

func (r *reading) read(ctx context.Context, reference Reference) error {
	if reference.Type == v1alpha1.ImportTypeData {
		value, err := r.objects.Data(ctx, reference.Objects[0])
		if r.noted(err, reference, reference.Objects[0]) {
			return nil
		}
		if err != nil {
			return err // the caller names the import
		}
		if r.sub && value.Salt != "" && strings.HasPrefix(reference.Objects[0].Written, v1alpha1.NonContextifiedPrefix) {
			return errForeignCopy
		}
		r.imports.Data[reference.Import] = value
		return r.tally.hold(reference, 0, len(value.Value.RawMessage))
	}
	targets, err := r.targets(ctx, reference)
	if err != nil {
		return err
	}
	switch reference.Type {
	case v1alpha1.ImportTypeTarget:
		r.imports.Targets[reference.Import] = targets[0]
	case v1alpha1.ImportTypeTargetList:
		if reference.Selector != nil {
			targets = OrderList(targets)
		}
		r.imports.TargetLists[reference.Import] = targets
	case v1alpha1.ImportTypeTargetMap:
		r.imports.TargetMaps[reference.Import], err = mapOf(reference, targets)
	}
	return err
}

// noted notes that an object is missing, and continues: users want to know all missing objects at
// once.
func (r *reading) noted(err error, reference Reference, object Object) bool {
	if !errors.Is(err, ErrMissing) {
		return false
	}
	r.missing = append(r.missing, &MissingError{Path: reference.Path, Import: reference.Import, Object: object})
	return true
}

// targets returns one Target for each object of a reference, or those that are
// selected.
func (r *reading) targets(ctx context.Context, reference Reference) ([]*v1alpha1.Target, error) {
	if reference.Selector != nil {
		return r.selected(ctx, reference)
	}
	targets := make([]*v1alpha1.Target, len(reference.Objects))
	for i, object := range reference.Objects {
		target, err := r.objects.Target(ctx, object)
		if r.noted(err, reference, object) {
			continue
		}
		if err != nil {
			return nil, err // the caller names the import
		}
		targets[i] = target
		if err := r.tally.hold(reference, 0, TargetSize(target)); err != nil {
			return nil, err
		}
	}
	return targets, nil
}

// selected returns the Targets that are selected by their labels.
func (r *reading) selected(ctx context.Context, reference Reference) ([]*v1alpha1.Target, error) {
	targets, err := r.objects.Targets(ctx, r.namespace, reference.Selector)
	if err != nil {
		return nil, err // the caller names the import
	}
	size := 0
	for _, target := range targets {
		size += TargetSize(target)
	}
	return targets, r.tally.hold(reference, len(targets), size)
}

func mapOf(reference Reference, targets []*v1alpha1.Target) (map[string]*v1alpha1.Target, error) {
	if reference.Selector != nil {
		return KeyMap(targets)
	}
	elements := make(map[string]*v1alpha1.Target, len(targets))
	for i, object := range reference.Objects {
		elements[object.MapKey] = targets[i]
	}
	return elements, nil
}
