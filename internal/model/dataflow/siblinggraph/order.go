package siblinggraph

import (
	"fmt"
	"slices"
	"strings"
)

// Needs returns the values that a unit needs of others, in the order of its imports.
func (g *Graph) Needs(name string) []Edge {
	unit, known := g.index[name]
	if !known {
		return nil
	}
	var edges []Edge
	for _, need := range g.imports[unit] {
		for _, export := range g.exporters[g.values[need.Value]] {
			edges = append(edges, edge(export, name, need))
		}
	}
	return edges
}

func edge(from Export, to string, need need) Edge {
	return Edge{From: from.Unit, To: to, Value: need.Value, Name: from.Name, Import: need.Import, Path: need.Path}
}

// Predecessors returns the units that a unit waits for, in the order of its imports.
func (g *Graph) Predecessors(name string) []string {
	var names []string
	seen := map[string]bool{}
	for _, edge := range g.Needs(name) {
		if !seen[edge.From] {
			seen[edge.From] = true
			names = append(names, edge.From)
		}
	}
	return names
}

// Importers returns the units that need something of a unit directly: its success triggers them,
// and they have to be deleted before it.
//
// The first step from a unit in the reversed graph leads to the values that it exports, the
// second one to those that import them.
func (g *Graph) Importers(name string) []string {
	unit, known := g.index[name]
	if !known {
		return nil
	}
	reversed := g.reversed()
	var nodes []int
	for _, value := range reversed[g.node(unit)] {
		nodes = append(nodes, reversed[value]...)
	}
	slices.Sort(nodes)
	return g.names(slices.Compact(nodes))
}

// Dependents returns all units that need something of some units, directly or over others: they
// cannot continue if these fail.
func (g *Graph) Dependents(names ...string) []string {
	nodes := make([]int, 0, len(names))
	for _, name := range names {
		if unit, known := g.index[name]; known {
			nodes = append(nodes, g.node(unit))
		}
	}
	return g.names(g.reversed().Reachable(nodes...))
}

// Order returns the units so that each comes after all that it needs something of, and otherwise as
// they were given. Held are units that never can run: members of cycles and all that need something
// of one.
//
// A held unit is not in the order: nothing that needs it could ever run, and a caller that iterates
// over the order need not know cycles.
func (g *Graph) Order() (order, held []string) {
	nodes, stuck := g.waits.Order()
	return g.names(nodes), g.names(stuck)
}

// Cycle is a group of units that wait for each other.
type Cycle struct {
	// Members are all of them, in the order in which they were given.
	Members []string
	// Path is one path through the cycle: each edge begins where the one before it ends.
	Path []Edge
}

// String returns the path: a -> b -> a, where a waits for b.
func (c Cycle) String() string {
	if len(c.Path) == 0 {
		return ""
	}
	text := c.Path[0].To
	for _, edge := range c.Path {
		text += " -> " + edge.From
	}
	return text
}

// Explanation says which imports make the cycle. A long path is cut: its rest explains nothing.
func (c Cycle) Explanation() string {
	const most = 10
	parts := make([]string, 0, most)
	for i, edge := range c.Path {
		if i == most {
			parts = append(parts, "…")
			break
		}
		parts = append(parts, fmt.Sprintf("%s imports %s of %s", edge.To, edge.Name, edge.From))
	}
	return strings.Join(parts, ", ")
}

// Cycles returns the groups of units that wait for each other. A unit that only waits for a group
// is in none.
func (g *Graph) Cycles() []Cycle {
	var cycles []Cycle
	for _, found := range g.waits.Cycles() {
		cycle := Cycle{Members: g.names(found.Members)}
		path := g.rotated(found.Path)
		// Units and values take turns.
		for i := 0; i+2 < len(path); i += 2 {
			cycle.Path = append(cycle.Path, g.between(path[i], path[i+1], path[i+2]))
		}
		cycles = append(cycles, cycle)
	}
	return cycles
}

// rotated lets a cycle begin with the unit that was given first.
func (g *Graph) rotated(cycle []int) []int {
	open := cycle[:len(cycle)-1]
	first := -1
	for i, node := range open {
		if _, ok := g.unit(node); ok && (first < 0 || node < open[first]) {
			first = i
		}
	}
	path := append(slices.Clone(open[first:]), open[:first]...)
	return append(path, path[0])
}

// between returns the edge from one unit over a value to another.
func (g *Graph) between(to, value, from int) Edge {
	importer, _ := g.unit(to)
	exporter, _ := g.unit(from)
	for _, need := range g.imports[importer] {
		if g.values[need.Value] != value {
			continue
		}
		for _, export := range g.exporters[value] {
			if export.Index == exporter {
				return edge(export, g.units[importer].Name, need)
			}
		}
	}
	return Edge{From: g.units[exporter].Name, To: g.units[importer].Name}
}

// Collisions returns the values that several exports claim, one for each export after the first
// one. They do not concern other units: all others keep their order.
func (g *Graph) Collisions() []Collision {
	var collisions []Collision
	for _, claims := range g.exports {
		for _, claim := range claims {
			first := g.exporters[g.values[claim.Value]][0]
			if first != claim.Export {
				collisions = append(collisions, Collision{Value: claim.Value, First: first, Second: claim.Export})
			}
		}
	}
	return collisions
}
