package export

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"go.landscaper.dev/internal/deploy/fieldpath"
)

// Sources finds values of objects as they would be after a job.
type Sources interface {
	// Find returns the value of an object that at finds at a path. The error says why only a
	// job can tell.
	Find(ctx context.Context, object corev1.ObjectReference, at func(map[string]any) (any, bool), path string) (any, error)
}

// Source is the object that the value is read from first.
func (v Value) Source() corev1.ObjectReference {
	return corev1.ObjectReference{APIVersion: v.source.APIVersion, Kind: v.source.Kind, Namespace: v.source.Namespace, Name: v.source.Name}
}

// Predict returns the value as a job would read it. The error says why only a job can tell.
func (v Value) Predict(ctx context.Context, from Sources) (any, error) {
	found, err := from.Find(ctx, v.Source(), reader(v.path), v.path.String())
	if err != nil || v.second == nil {
		return found, err
	}
	at, ok := placeOf(found, v.source.Namespace)
	if !ok {
		return nil, fmt.Errorf("%s of %s %s has no reference with a name yet", v.path, v.source.Kind, v.source.Name)
	}
	version, kind := v.second.kind.ToAPIVersionAndKind()
	return from.Find(ctx, corev1.ObjectReference{APIVersion: version, Kind: kind, Namespace: at.namespace, Name: at.name}, reader(v.second.path), v.second.path.String())
}

// reader finds the value at a path.
func reader(path fieldpath.Path) func(map[string]any) (any, bool) {
	return func(object map[string]any) (any, bool) {
		if object == nil {
			return nil, false
		}
		return first(&unstructured.Unstructured{Object: object}, path)
	}
}
