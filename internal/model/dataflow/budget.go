package dataflow

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/labels"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/model/dataflow/valueobject"
)

// Limits bound what one Installation imports. A short text can name one large
// object many times, and every import has a value of its own for templates and a
// copy for children.
type Limits struct {
	// Imports is how many imports there may be, Elements how many objects they may
	// name together, and Bytes how large all values may be, each counted as often as
	// it is imported.
	Imports, Elements, Bytes int
}

// DefaultLimits are far above what blueprints in use import.
func DefaultLimits() Limits { return Limits{Imports: 2_000, Elements: 5_000, Bytes: 16 << 20} }

// LimitError says that an Installation imports more than it may.
type LimitError struct {
	// Path is the field of the import that exceeded the limit, Import its name.
	Path, Import string
	// What is counted, and Limit how many there may be.
	What  string
	Limit int
}

// Error implements error.
func (e *LimitError) Error() string {
	return fmt.Sprintf("%s: import %s: with it the Installation imports more than %d %s: import less, or distribute it over several Installations", e.Path, e.Import, e.Limit, e.What)
}

// tally counts what is imported.
type tally struct {
	limits         Limits
	imports        int
	elements, size int
}

// take counts an import, before anything of it is read.
func (t *tally) take(reference Reference) error {
	t.imports++
	if t.imports > t.limits.Imports {
		return &LimitError{Path: reference.Path, Import: reference.Import, What: "values", Limit: t.limits.Imports}
	}
	return t.hold(reference, len(reference.Objects), 0)
}

// hold counts objects and the size of values.
func (t *tally) hold(reference Reference, elements, size int) error {
	t.elements += elements
	t.size += size
	switch {
	case t.elements > t.limits.Elements:
		return &LimitError{Path: reference.Path, Import: reference.Import, What: "objects", Limit: t.limits.Elements}
	case t.size > t.limits.Bytes:
		return &LimitError{Path: reference.Path, Import: reference.Import, What: "bytes", Limit: t.limits.Bytes}
	}
	return nil
}

// TargetSize returns how large a Target is, roughly.
func TargetSize(target *v1alpha1.Target) int {
	size := len(target.Name) + len(target.Namespace) + textSize(target.Labels) + textSize(target.Annotations)
	if target.Spec.Configuration != nil {
		size += len(target.Spec.Configuration.RawMessage)
	}
	return size
}

func textSize(texts map[string]string) int {
	size := 0
	for key, text := range texts {
		size += len(key) + len(text)
	}
	return size
}

// once reads each object one time, however often it is imported. All imports of an object share its
// value: values that were read are never changed.
type once struct {
	Objects
	data    map[Object]DataImport
	targets map[Object]*v1alpha1.Target
	lists   map[string][]*v1alpha1.Target
}

func newOnce(objects Objects) *once {
	return &once{Objects: objects, data: map[Object]DataImport{}, targets: map[Object]*v1alpha1.Target{}, lists: map[string][]*v1alpha1.Target{}}
}

// identity is what an object is, however it is written.
func identity(object Object) Object {
	return Object{Kind: object.Kind, Namespace: object.Namespace, Name: object.Name, Key: object.Key}
}

// Data implements Objects.
func (o *once) Data(ctx context.Context, object Object) (DataImport, error) {
	return remember(o.data, identity(object), func() (DataImport, error) { return o.Objects.Data(ctx, object) })
}

// Target implements Objects.
func (o *once) Target(ctx context.Context, object Object) (*v1alpha1.Target, error) {
	return remember(o.targets, identity(object), func() (*v1alpha1.Target, error) { return o.Objects.Target(ctx, object) })
}

// Targets implements Objects.
func (o *once) Targets(ctx context.Context, namespace string, selector labels.Selector) ([]*v1alpha1.Target, error) {
	return remember(o.lists, namespace+" "+selector.String(), func() ([]*v1alpha1.Target, error) { return o.Objects.Targets(ctx, namespace, selector) })
}

func remember[K comparable, V any](known map[K]V, key K, read func() (V, error)) (V, error) {
	if value, ok := known[key]; ok {
		return value, nil
	}
	value, err := read()
	if err == nil {
		known[key] = value
	}
	return value, err
}

// shared keeps the plain forms of values, so that imports of one object share them.
// Templates get copies of what they see.
//
// A value is known by the address of its first byte. Imports of one object share the bytes;
// equal bytes elsewhere are only decoded once more.
type shared struct {
	targets map[*v1alpha1.Target]any
	data    map[*byte]any
	clean   map[*byte]v1alpha1.AnyJSON
}

func newShared() *shared {
	return &shared{targets: map[*v1alpha1.Target]any{}, data: map[*byte]any{}, clean: map[*byte]v1alpha1.AnyJSON{}}
}

func (s *shared) target(target *v1alpha1.Target) (any, error) {
	return remember(s.targets, target, func() (any, error) { return valueobject.TargetValue(target) })
}

func (s *shared) plain(item DataImport) (any, error) {
	if len(item.Value.RawMessage) == 0 {
		return nil, nil
	}
	return remember(s.data, &item.Value.RawMessage[0], item.plain)
}

// normalized returns a value as it is copied.
func (s *shared) normalized(item DataImport) v1alpha1.AnyJSON {
	if len(item.Value.RawMessage) == 0 {
		return v1alpha1.AnyJSON{}
	}
	value, _ := remember(s.clean, &item.Value.RawMessage[0], func() (v1alpha1.AnyJSON, error) { return normalized(item.Value), nil })
	return value
}

func (s *shared) list(list []*v1alpha1.Target) (any, error) {
	values := make([]any, 0, len(list))
	for _, target := range list {
		value, err := s.target(target)
		if err != nil {
			return nil, err
		}
		values = append(values, value)
	}
	return values, nil
}

func (s *shared) byKey(byKey map[string]*v1alpha1.Target) (any, error) {
	values := make(map[string]any, len(byKey))
	for _, key := range slices.Sorted(maps.Keys(byKey)) {
		target := byKey[key]
		value, err := s.target(target)
		if err != nil {
			return nil, err
		}
		values[key] = value
	}
	return values, nil
}
