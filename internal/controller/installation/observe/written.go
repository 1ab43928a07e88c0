package observe

import (
	"context"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/model/dataflow"
)

// ObjectKey names an object of a kind.
type ObjectKey struct {
	Target bool
	Name   string
}

// KeysOf names the objects that were written.
func KeysOf(written dataflow.Exports) map[ObjectKey]bool {
	names := map[ObjectKey]bool{}
	for _, object := range written.DataObjects {
		names[ObjectKey{false, object.Name}] = true
	}
	for _, target := range written.Targets {
		names[ObjectKey{true, target.Name}] = true
	}
	return names
}

// ExportsOf are the objects that a root exports.
func ExportsOf(inst *v1alpha1.Installation) map[ObjectKey]bool {
	names := map[ObjectKey]bool{}
	for _, export := range inst.Spec.Exports.Data {
		names[ObjectKey{false, strings.TrimPrefix(export.DataRef, "#")}] = true
	}
	for _, export := range inst.Spec.Exports.Targets {
		names[ObjectKey{true, strings.TrimPrefix(export.Target, "#")}] = true
	}
	return names
}

// WrittenReader reads from a cache, but what was written just now from the API server, once:
// the cache may be behind.
type WrittenReader struct {
	Cached, Live client.Reader
	Written      map[ObjectKey]bool
	Read         map[ObjectKey]client.Object
}

// Get implements client.Reader.
func (p *WrittenReader) Get(ctx context.Context, key client.ObjectKey, into client.Object, options ...client.GetOption) error {
	var name ObjectKey
	switch into.(type) {
	case *v1alpha1.DataObject:
		name = ObjectKey{false, key.Name}
	case *v1alpha1.Target:
		name = ObjectKey{true, key.Name}
	default:
		return p.Cached.Get(ctx, key, into, options...) // nothing else is written; the caller says what was read
	}
	if !p.Written[name] {
		return p.Cached.Get(ctx, key, into, options...) // the caller says what was read
	}
	if p.Read[name] == nil {
		if err := p.Live.Get(ctx, key, into, options...); err != nil {
			return err // the caller says what was read
		}
		p.Read[name], _ = into.DeepCopyObject().(client.Object)
		return nil
	}
	switch known := p.Read[name].DeepCopyObject().(type) {
	case *v1alpha1.DataObject:
		known.DeepCopyInto(into.(*v1alpha1.DataObject)) // the key has the kind
	case *v1alpha1.Target:
		known.DeepCopyInto(into.(*v1alpha1.Target)) // the key has the kind
	}
	return nil
}

// List implements client.Reader. Roots import nothing by a list.
func (p *WrittenReader) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	return p.Cached.List(ctx, list, options...) // the caller says what was read
}
