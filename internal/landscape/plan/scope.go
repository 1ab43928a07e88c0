package plan

import (
	"context"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/model/dataflow"
	"go.landscaper.dev/internal/model/dataflow/valueobject"
)

// scope holds what the subinstallations of an Installation can import, as objects
// like those that the controllers write. It implements dataflow.Objects.
type scope struct {
	data    map[string]*v1alpha1.DataObject
	targets map[string]*v1alpha1.Target
	// secrets hold the values of data that refer to them.
	secrets map[string]*corev1.Secret
}

// newScope returns what there is before any subinstallation has exported something:
// the copies of the imports.
func newScope(copies dataflow.Exports) *scope {
	s := &scope{data: map[string]*v1alpha1.DataObject{}, targets: map[string]*v1alpha1.Target{}, secrets: map[string]*corev1.Secret{}}
	s.add(copies)
	return s
}

func (s *scope) add(objects dataflow.Exports) {
	for _, object := range objects.DataObjects {
		s.data[object.Name] = object
	}
	for _, object := range objects.Targets {
		s.targets[object.Name] = object
	}
	for _, secret := range objects.Secrets {
		s.secrets[secret.Name] = secret
	}
}

// Data implements dataflow.Objects.
func (s *scope) Data(_ context.Context, object dataflow.Object) (dataflow.DataImport, error) {
	data, ok := s.data[object.Name]
	if !ok || object.Kind != dataflow.KindDataObject {
		return dataflow.DataImport{}, dataflow.ErrMissing
	}
	return dataflow.FromDataObject(data, s.secrets[valueobject.SecretOf(data)]) // names the object
}

// Target implements dataflow.Objects.
func (s *scope) Target(_ context.Context, object dataflow.Object) (*v1alpha1.Target, error) {
	target, ok := s.targets[object.Name]
	if !ok {
		return nil, dataflow.ErrMissing
	}
	return target, nil
}

// Targets implements dataflow.Objects.
func (s *scope) Targets(_ context.Context, _ string, selector labels.Selector) ([]*v1alpha1.Target, error) {
	var found []*v1alpha1.Target
	for _, name := range slices.Sorted(maps.Keys(s.targets)) {
		if selector.Matches(labels.Set(s.targets[name].Labels)) {
			found = append(found, s.targets[name])
		}
	}
	return found, nil
}
