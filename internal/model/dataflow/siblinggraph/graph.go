// Package siblinggraph says which siblings get values from which others, and in which order they
// can run.
package siblinggraph

import (
	"fmt"
	"slices"
	"sync"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/base/graph"
	"go.landscaper.dev/internal/model/dataflow"
)

// Unit is an Installation as the graph of its siblings sees it: one of the
// subinstallations of a blueprint, whether they exist already or not, or one of the
// roots of a namespace.
type Unit struct {
	// Name is unique among the siblings.
	Name    string
	Imports *v1alpha1.InstallationImports
	Exports *v1alpha1.InstallationExports
}

// TemplateUnits returns the units of the subinstallations of a blueprint.
func TemplateUnits(templates []*v1alpha1.InstallationTemplate) []Unit {
	units := make([]Unit, len(templates))
	for i, template := range templates {
		units[i] = Unit{Name: template.Name, Imports: &template.Imports, Exports: &template.Exports}
	}
	return units
}

// InstallationUnits returns the units of Installations by the names of their
// objects. They have to be siblings, see Scope.
func InstallationUnits(siblings []*v1alpha1.Installation) []Unit {
	units := make([]Unit, len(siblings))
	for i, inst := range siblings {
		units[i] = Unit{Name: inst.Name, Imports: &inst.Spec.Imports, Exports: &inst.Spec.Exports}
	}
	return units
}

// Value is the object that one unit exports and another imports.
type Value struct {
	// Kind is KindDataObject or KindTarget.
	Kind   dataflow.Kind
	Object string
}

// Edge says that one unit imports what another one exports.
type Edge struct {
	// To needs what From exports.
	From, To string
	// Value is the object, Name the name under which From exports it.
	Value Value
	Name  string
	// Import is the import that makes the edge, Path the field with the reference,
	// from the imports on.
	Import, Path string
}

// Export is one place where a unit exports a value.
type Export struct {
	Unit string
	// Index is the number of the unit among its siblings.
	Index int
	// Name is that in the scope, Path the field, from the exports on.
	Name, Path string
}

// Collision is a value that two exports claim: the first one, and one other.
type Collision struct {
	Value         Value
	First, Second Export
}

// Graph says which siblings need which values of which others. It follows from their specifications
// alone: whether anything exists or has run does not matter here. A unit that imports its own
// export does not wait for it: the value exists from before, or is missing.
type Graph struct {
	units []Unit
	index map[string]int
	// exports and imports are by unit, in the order of the specification.
	exports [][]claim
	imports [][]need
	// values numbers the exported values; exporters are their exports in the order
	// of the units.
	values    map[Value]int
	exporters [][]Export
	// waits has the values as its first nodes and then the units, so that the size
	// of the graph is that of the specifications, however many share a value.
	waits graph.Graph
	// reversed is waits with all edges reversed; it is made when it is first needed.
	reversed func() graph.Graph
}

// claim is an export with its value; need an import with it.
type (
	claim struct {
		Value
		Export
	}
	need struct {
		Value
		dataflow.Mention
	}
)

// NewGraph returns the graph of siblings. The scope is the one in which their names
// are, see Scope; for templates, whose parent may have no name yet, any text that is
// not empty.
//
// It costs as much as the specifications are long, and keeps them: they must not change as
// long as the graph is used. Any number of goroutines may ask it.
func NewGraph(scope string, units []Unit) *Graph {
	g := &Graph{units: units, index: make(map[string]int, len(units)), values: map[Value]int{}}
	for i, unit := range units {
		if _, taken := g.index[unit.Name]; !taken {
			g.index[unit.Name] = i
		}
		g.exports = append(g.exports, claims(scope, i, unit))
		for _, claim := range g.exports[i] {
			number, known := g.values[claim.Value]
			if !known {
				number = len(g.exporters)
				g.values[claim.Value] = number
				g.exporters = append(g.exporters, nil)
			}
			g.exporters[number] = append(g.exporters[number], claim.Export)
		}
	}
	for i := range units {
		g.imports = append(g.imports, g.needs(scope, i))
	}
	g.connect()
	g.reversed = sync.OnceValue(g.waits.Reversed)
	return g
}

func claims(scope string, index int, unit Unit) []claim {
	var list []claim
	add := func(kind dataflow.Kind, name, path string) {
		if name != "" {
			value := Value{Kind: kind, Object: v1alpha1.GenerateDataObjectName(scope, name)}
			list = append(list, claim{value, Export{Unit: unit.Name, Index: index, Name: name, Path: path}})
		}
	}
	for i, export := range unit.Exports.Data {
		add(dataflow.KindDataObject, export.DataRef, fmt.Sprintf("data[%d].dataRef", i))
	}
	for i, export := range unit.Exports.Targets {
		add(dataflow.KindTarget, export.Target, fmt.Sprintf("targets[%d].target", i))
	}
	return list
}

// needs returns the imports of a unit that others export.
func (g *Graph) needs(scope string, index int) []need {
	own := make(map[Value]bool, len(g.exports[index]))
	for _, claim := range g.exports[index] {
		own[claim.Value] = true
	}
	var list []need
	for _, mention := range dataflow.Mentions(g.units[index].Imports) {
		if mention.Whole != "" {
			continue
		}
		value := Value{Kind: mention.Kind, Object: mention.Object(scope)}
		if _, exported := g.values[value]; exported && !own[value] {
			list = append(list, need{value, mention})
		}
	}
	return list
}

// connect makes the edges: a unit waits for values, a value for its exporter.
func (g *Graph) connect() {
	g.waits = make(graph.Graph, len(g.exporters)+len(g.units))
	for value, exporters := range g.exporters {
		for _, export := range exporters {
			g.waits[value] = append(g.waits[value], g.node(export.Index))
		}
	}
	for unit, needs := range g.imports {
		for _, need := range needs {
			g.waits[g.node(unit)] = append(g.waits[g.node(unit)], g.values[need.Value])
		}
	}
}

func (g *Graph) node(unit int) int { return len(g.exporters) + unit }

// unit returns the number of the unit of a node, if it is one.
func (g *Graph) unit(node int) (int, bool) { return node - len(g.exporters), node >= len(g.exporters) }

// names returns the units among nodes, as they come.
func (g *Graph) names(nodes []int) []string {
	var names []string
	for _, node := range nodes {
		if unit, ok := g.unit(node); ok {
			names = append(names, g.units[unit].Name)
		}
	}
	return names
}

// Exporters returns the exports of a value: more than one is a collision.
func (g *Graph) Exporters(value Value) []Export {
	number, known := g.values[value]
	if !known {
		return nil
	}
	return slices.Clone(g.exporters[number])
}
