package plan

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/labels"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/dataflow"
	"go.landscaper.dev/internal/plain"
)

// scope holds what the subinstallations of an Installation can import, as objects
// like those that the controllers write.
type scope struct {
	data    map[string]*v1alpha1.DataObject
	targets map[string]*v1alpha1.Target
}

func newScope(p *Plan) (*scope, error) {
	s := &scope{data: map[string]*v1alpha1.DataObject{}, targets: map[string]*v1alpha1.Target{}}
	copies, err := p.Copies()
	if err != nil {
		return nil, err
	}
	s.add(copies)
	return s, nil
}

func (s *scope) add(objects dataflow.Exports) {
	for _, object := range objects.DataObjects {
		s.data[object.Name] = object
	}
	for _, object := range objects.Targets {
		s.targets[object.Name] = object
	}
}

// imports returns the imports of a subinstallation, or the names of those that
// nobody has given yet.
func (s *scope) imports(inst *v1alpha1.Installation) (dataflow.Imports, []string, error) {
	imports := dataflow.Imports{
		Data: map[string]dataflow.DataImport{}, Targets: map[string]*v1alpha1.Target{},
		TargetLists: map[string][]*v1alpha1.Target{}, TargetMaps: map[string]map[string]*v1alpha1.Target{},
	}
	var missing []string
	for _, reference := range dataflow.References(inst) {
		absent, err := s.resolve(reference, &imports)
		if err != nil {
			return imports, nil, fmt.Errorf("%s: %w", reference.Path, err)
		}
		missing = append(missing, absent...)
	}
	return imports, missing, nil
}

func (s *scope) resolve(reference dataflow.Reference, imports *dataflow.Imports) ([]string, error) {
	if reference.Type == v1alpha1.ImportTypeData {
		object, ok := s.data[reference.Objects[0].Name]
		if !ok {
			return []string{reference.Objects[0].Written}, nil
		}
		imports.Data[reference.Import] = dataflow.FromDataObject(object)
		return nil, nil
	}
	targets, missing := s.find(reference)
	if len(missing) > 0 {
		return missing, nil
	}
	switch reference.Type {
	case v1alpha1.ImportTypeTarget:
		imports.Targets[reference.Import] = targets[0]
	case v1alpha1.ImportTypeTargetList:
		if reference.Selector != nil {
			targets = dataflow.OrderList(targets)
		}
		imports.TargetLists[reference.Import] = targets
	case v1alpha1.ImportTypeTargetMap:
		return nil, targetMap(reference, targets, imports)
	}
	return nil, nil
}

func targetMap(reference dataflow.Reference, targets []*v1alpha1.Target, imports *dataflow.Imports) error {
	if reference.Selector != nil {
		elements, err := dataflow.KeyMap(targets)
		imports.TargetMaps[reference.Import] = elements
		return err //nolint:wrapcheck // the caller names the import
	}
	elements := make(map[string]*v1alpha1.Target, len(targets))
	for i, object := range reference.Objects {
		elements[object.MapKey] = targets[i]
	}
	imports.TargetMaps[reference.Import] = elements
	return nil
}

func (s *scope) find(reference dataflow.Reference) (found []*v1alpha1.Target, missing []string) {
	if reference.Selector != nil {
		for _, name := range sortedKeys(s.targets) {
			if reference.Selector.Matches(labels.Set(s.targets[name].Labels)) {
				found = append(found, s.targets[name])
			}
		}
		return found, nil
	}
	for _, object := range reference.Objects {
		target, ok := s.targets[object.Name]
		if !ok {
			missing = append(missing, object.Written)
			continue
		}
		found = append(found, target)
	}
	return found, missing
}

// results returns what export executions see of the scope.
func (s *scope) results() (Results, error) {
	results := Results{DataObjects: map[string]any{}, Targets: map[string]any{}}
	for _, name := range sortedKeys(s.data) {
		object := s.data[name]
		value, err := plain.FromJSON(object.Data.RawMessage)
		if err != nil {
			return results, fmt.Errorf("DataObject %s: %w", name, err)
		}
		results.DataObjects[object.Labels[v1alpha1.DataObjectKeyLabel]] = value
	}
	for _, name := range sortedKeys(s.targets) {
		object := s.targets[name]
		value, err := plain.Of(object)
		if err != nil {
			return results, fmt.Errorf("Target %s: %w", name, err)
		}
		results.Targets[object.Labels[v1alpha1.DataObjectKeyLabel]] = value
	}
	return results, nil
}

// inOrder sorts nodes as the blueprint lists them.
func inOrder(nodes []*Node, subs []Subinstallation) {
	place := make(map[string]int, len(subs))
	for i, sub := range subs {
		place[sub.Name] = i
	}
	slices.SortFunc(nodes, func(a, b *Node) int { return place[a.Name()] - place[b.Name()] })
}
