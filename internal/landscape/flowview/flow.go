// Package flowview shows how values flow between the Installations of a landscape: which object
// exports a value, and which ones import it. The view follows from the objects alone.
package flowview

import (
	"cmp"
	"slices"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/landscape/inspect"
	"go.landscaper.dev/internal/model/dataflow"
)

// Scope is where names of values mean the same: the roots of a namespace, or the
// subinstallations of an Installation.
type Scope struct {
	// Units are the Installations of the scope.
	Units []*Unit `json:"units"`
	// Values are what they import and export, in the order in which they are mentioned.
	Values []*Value `json:"values,omitempty"`
}

// Unit is an Installation.
type Unit struct {
	// Name is that of the object; Title is how its blueprint calls it, or else the name.
	Name  string `json:"name"`
	Title string `json:"title"`
	// Phase, State and Why describe its progress.
	Phase string        `json:"phase,omitempty"`
	State inspect.State `json:"state"`
	Why   string        `json:"why,omitempty"`
	// Targets are those on which its items deploy, and those of all below it, in the order of their names.
	Targets []string `json:"targets,omitempty"`
	// Inside is the scope of its subinstallations, nil if it has none.
	Inside *Scope `json:"inside,omitempty"`
}

// Value is a DataObject or Target that is imported or exported, or another object that
// is imported.
type Value struct {
	// Kind is that of the object.
	Kind dataflow.Kind `json:"kind"`
	// Name is the name in the scope.
	Name string `json:"name"`
	// Exporters and Importers are the names of Installations. Without an exporter, the
	// value comes from outside of the scope: from a user, or from the imports of the
	// parent.
	Exporters []string `json:"exporters,omitempty"`
	Importers []string `json:"importers,omitempty"`
}

// Outside means that the value comes from outside of the scope.
func (v *Value) Outside() bool { return len(v.Exporters) == 0 }

// Of returns how values flow among some Installations and inside of them. The nodes are
// siblings.
//
// Names are followed as they are written: an element of a list counts as the list, since the list
// is what an Installation exports.
func Of(nodes []*inspect.Node) *Scope {
	s := &Scope{Units: []*Unit{}}
	values := map[dataflow.Object]*Value{}
	value := func(kind dataflow.Kind, namespace, name string) *Value {
		key := dataflow.Object{Kind: kind, Namespace: namespace, Name: name}
		if values[key] == nil {
			values[key] = &Value{Kind: kind, Name: name}
			s.Values = append(s.Values, values[key])
		}
		return values[key]
	}
	for _, node := range nodes {
		if node.Installation == nil {
			continue
		}
		s.Units = append(s.Units, newUnit(node))
		spec := &node.Installation.Spec
		for _, name := range importedOf(&spec.Imports) {
			v := value(name.kind, node.Namespace, name.name)
			v.Importers = add(v.Importers, node.Name)
		}
		for _, name := range exportedOf(&spec.Exports) {
			v := value(name.kind, node.Namespace, name.name)
			v.Exporters = add(v.Exporters, node.Name)
		}
	}
	return s
}

func newUnit(node *inspect.Node) *Unit {
	u := &Unit{Name: node.Name, Title: cmp.Or(node.TemplateName, node.Name), Phase: node.Phase, State: node.State}
	if !node.Ready {
		u.Why = node.Why()
	}
	node.Walk(func(below *inspect.Node) {
		if below.Target != "" {
			u.Targets = add(u.Targets, below.Target)
		}
	})
	slices.Sort(u.Targets)
	var inside []*inspect.Node
	for _, child := range node.Children {
		if child.Kind == inspect.KindInstallation {
			inside = append(inside, child)
		}
	}
	if len(inside) > 0 {
		u.Inside = Of(inside)
	}
	return u
}

func add(names []string, name string) []string {
	if slices.Contains(names, name) {
		return names
	}
	return append(names, name)
}

// named is a value by its kind and its name in a scope.
type named struct {
	kind dataflow.Kind
	name string
}

func importedOf(imports *v1alpha1.InstallationImports) []named {
	var list []named
	for _, mention := range dataflow.Mentions(imports) {
		list = append(list, named{mention.Kind, mention.Name})
	}
	for i := range imports.Data {
		item := &imports.Data[i]
		switch {
		case item.SecretRef != nil:
			list = append(list, named{dataflow.KindSecret, item.SecretRef.Name})
		case item.ConfigMapRef != nil:
			list = append(list, named{dataflow.KindConfigMap, item.ConfigMapRef.Name})
		}
	}
	return list
}

func exportedOf(exports *v1alpha1.InstallationExports) []named {
	var list []named
	for _, export := range exports.Data {
		if export.DataRef != "" {
			list = append(list, named{dataflow.KindDataObject, export.DataRef})
		}
	}
	for _, export := range exports.Targets {
		if export.Target != "" {
			list = append(list, named{dataflow.KindTarget, export.Target})
		}
	}
	return list
}
