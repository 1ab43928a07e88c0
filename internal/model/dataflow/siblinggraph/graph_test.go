package siblinggraph

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/model/dataflow"
)

// unit builds a sibling from a short text: a name, what it imports and, after an
// arrow, what it exports. A leading @ makes it a Target.
func unit(t *testing.T, text string) Unit {
	t.Helper()
	left, right, _ := strings.Cut(text, "=>")
	fields := strings.Fields(left)
	u := Unit{Name: fields[0], Imports: &v1alpha1.InstallationImports{}, Exports: &v1alpha1.InstallationExports{}}
	for i, word := range fields[1:] {
		name := fmt.Sprintf("i%d", i)
		if target, ok := strings.CutPrefix(word, "@"); ok {
			u.Imports.Targets = append(u.Imports.Targets, targetImport(name, target))
		} else {
			u.Imports.Data = append(u.Imports.Data, v1alpha1.DataImport{Name: name, DataRef: word})
		}
	}
	for _, word := range strings.Fields(right) {
		if target, ok := strings.CutPrefix(word, "@"); ok {
			u.Exports.Targets = append(u.Exports.Targets, v1alpha1.TargetExport{Name: target, Target: target})
		} else {
			u.Exports.Data = append(u.Exports.Data, v1alpha1.DataExport{Name: word, DataRef: word})
		}
	}
	return u
}

// targetImport reads list:a,b and map:a,b and listRef:a and mapRef:a, and single
// names.
func targetImport(name, text string) v1alpha1.TargetImport {
	form, names, _ := strings.Cut(text, ":")
	item := v1alpha1.TargetImport{Name: name}
	switch form {
	case "list":
		item.Targets = strings.Split(names, ",")
	case "map":
		item.TargetMap = map[string]string{}
		for i, name := range strings.Split(names, ",") {
			item.TargetMap[fmt.Sprintf("k%d", i)] = name
		}
	case "listRef":
		item.TargetListReference = names
	case "mapRef":
		item.TargetMapReference = names
	default:
		item.Target = text
	}
	return item
}

func TestGraph(t *testing.T) {
	for _, test := range []struct {
		reason string
		scope  string
		units  []string
		// edges are importer<exporter at the field.
		edges       []string
		order, held string
		cycles      []string
		collisions  []string
	}{
		{reason: "none", scope: "Inst.shop"},
		{
			reason: "data orders, the blueprint's order breaks ties", scope: "Inst.shop",
			units: []string{"web url", "other", "db => url"},
			edges: []string{"web<db data[0].dataRef"}, order: "other db web",
		},
		{
			reason: "Targets in every form", scope: "Inst.shop",
			units: []string{"a @x", "b @list:p,x", "c @map:p,x", "d => @x"},
			edges: []string{"a<d targets[0].target", "b<d targets[0].targets[1]", "c<d targets[0].targetMap[k1]"}, order: "d a b c",
		},
		{
			reason: "lists, maps and elements come from the parent only", scope: "Inst.shop",
			units: []string{"a @listRef:x @mapRef:x @x[0] @x[blue]", "b => @x"}, order: "a b",
		},
		{
			reason: "a DataObject is not a Target", scope: "Inst.shop",
			units: []string{"a x", "b @y", "c => @x y"}, order: "a b c",
		},
		{
			reason: "a real name does not belong to this scope", scope: "Inst.shop",
			units: []string{"a #x", "b => x"}, order: "a b",
		},
		{
			reason: "at the root the real name is the name", scope: "",
			units: []string{"a #x @#t", "b => x @t"},
			edges: []string{"a<b data[0].dataRef", "a<b targets[0].target"}, order: "b a",
		},
		{
			reason: "a root name that no object can have", scope: "",
			units: []string{"a X_y", "b => X_y"},
			edges: []string{"a<b data[0].dataRef"}, order: "b a",
		},
		{
			reason: "a unit's own export exists from before", scope: "",
			units: []string{"a x => x", "b x"},
			edges: []string{"b<a data[0].dataRef"}, order: "a b",
		},
		{
			reason: "a cycle, and the units that it holds", scope: "Inst.shop",
			units: []string{"free => f", "a y f => x", "b x => y", "c y => z", "d z"},
			edges: []string{"a<b data[0].dataRef", "a<free data[1].dataRef", "b<a data[0].dataRef", "c<b data[0].dataRef", "d<c data[0].dataRef"},
			order: "free", held: "a b c d",
			cycles: []string{"a -> b -> a (a imports y of b, b imports x of a) a b"},
		},
		{
			reason: "two cycles", scope: "",
			units:  []string{"a y => x", "b x => y", "c q => p", "d p => q"},
			edges:  []string{"a<b data[0].dataRef", "b<a data[0].dataRef", "c<d data[0].dataRef", "d<c data[0].dataRef"},
			held:   "a b c d",
			cycles: []string{"a -> b -> a (a imports y of b, b imports x of a) a b", "c -> d -> c (c imports q of d, d imports p of c) c d"},
		},
		{
			reason: "a collision leaves the order of all others alone", scope: "",
			units:      []string{"late ok", "a => x", "b => x", "c => ok", "d x", "e => x"},
			edges:      []string{"late<c data[0].dataRef", "d<a data[0].dataRef", "d<b data[0].dataRef", "d<e data[0].dataRef"},
			order:      "a b c late e d",
			collisions: []string{"x: a data[0].dataRef, b data[0].dataRef", "x: a data[0].dataRef, e data[0].dataRef"},
		},
		{
			reason: "a unit that collides with itself", scope: "Inst.shop",
			units: []string{"a => x x"}, order: "a",
			collisions: []string{"x: a data[0].dataRef, a data[1].dataRef"},
		},
	} {
		t.Run(test.reason, func(t *testing.T) {
			units := make([]Unit, len(test.units))
			for i, text := range test.units {
				units[i] = unit(t, text)
			}
			graph := NewGraph(test.scope, units)
			var edges []string
			for _, unit := range units {
				for _, edge := range graph.Needs(unit.Name) {
					edges = append(edges, edge.To+"<"+edge.From+" "+edge.Path)
				}
			}
			if !slices.Equal(edges, test.edges) {
				t.Errorf("edges %q, want %q", edges, test.edges)
			}
			order, held := graph.Order()
			if strings.Join(order, " ") != test.order || strings.Join(held, " ") != test.held {
				t.Errorf("order %q, held %q; want %q, %q", order, held, test.order, test.held)
			}
			var cycles, collisions []string
			for _, cycle := range graph.Cycles() {
				cycles = append(cycles, fmt.Sprintf("%s (%s) %s", cycle, cycle.Explanation(), strings.Join(cycle.Members, " ")))
			}
			if !slices.Equal(cycles, test.cycles) {
				t.Errorf("cycles %q, want %q", cycles, test.cycles)
			}
			for _, c := range graph.Collisions() {
				collisions = append(collisions, fmt.Sprintf("%s: %s %s, %s %s", c.First.Name, c.First.Unit, c.First.Path, c.Second.Unit, c.Second.Path))
			}
			if !slices.Equal(collisions, test.collisions) {
				t.Errorf("collisions %q, want %q", collisions, test.collisions)
			}
		})
	}
}

// TestNeighbours: which units wait, which are triggered, and which are deleted first.
func TestNeighbours(t *testing.T) {
	var units []Unit
	for _, text := range []string{"net => @cluster vpc", "db vpc => url", "web url @cluster", "jobs url", "far vpc => vpc2", "alone"} {
		units = append(units, unit(t, text))
	}
	graph := NewGraph("", units)
	for _, test := range []struct{ reason, got, want string }{
		{"each predecessor once, in the order of the imports", strings.Join(graph.Predecessors("web"), " "), "db net"},
		{"a unit without predecessors", strings.Join(graph.Predecessors("alone"), " "), ""},
		{"predecessors of an unknown unit", strings.Join(graph.Predecessors("unknown"), " "), ""},
		{"direct importers", strings.Join(graph.Importers("net"), " "), "db web far"},
		{"importers of the last unit", strings.Join(graph.Importers("web"), " "), ""},
		{"an unknown unit has no importers", strings.Join(graph.Importers("unknown"), " "), ""},
		{"all units that depend on one", strings.Join(graph.Dependents("net"), " "), "db web jobs far"},
		{"all units that depend on two", strings.Join(graph.Dependents("db", "far"), " "), "web jobs"},
		{"the exporter of an object", fmt.Sprint(graph.Exporters(Value{dataflow.KindTarget, "cluster"})), "[{net 0 cluster targets[0].target}]"},
		{"an object without an exporter", fmt.Sprint(graph.Exporters(Value{dataflow.KindDataObject, "cluster"})), "[]"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			if test.got != test.want {
				t.Errorf("got %q, want %q", test.got, test.want)
			}
		})
	}
}

// grid is a wide graph: each unit imports the exports of ten units before it, so that there are
// more paths than could be followed.
func grid(units int) []Unit {
	list := make([]Unit, units)
	for i := range list {
		list[i] = Unit{Name: fmt.Sprint("u", i), Imports: &v1alpha1.InstallationImports{}, Exports: &v1alpha1.InstallationExports{
			Data: []v1alpha1.DataExport{{Name: "x", DataRef: fmt.Sprint("x", i)}},
		}}
		for j := range 10 {
			ref := fmt.Sprint("x", max(0, i-i%10-10+j))
			list[i].Imports.Data = append(list[i].Imports.Data, v1alpha1.DataImport{Name: fmt.Sprint("i", j), DataRef: ref})
		}
	}
	return list
}

// TestGraphGrowsWithItsUnits counts allocations: ten times the units may cost ten
// times as much, and not a hundred times.
func TestGraphGrowsWithItsUnits(t *testing.T) {
	work := func(units int) float64 {
		list := grid(units)
		return testing.AllocsPerRun(1, func() {
			graph := NewGraph("", list)
			graph.Order()
			graph.Cycles()
			graph.Collisions()
			graph.Dependents("u0")
		})
	}
	small, large := work(100), work(1000)
	if large > 12*small {
		t.Errorf("%.0f allocations for 1,000 units, %.0f for 100", large, small)
	}
	order, held := NewGraph("", grid(1000)).Order()
	if len(order) != 1000 || len(held) > 0 {
		t.Errorf("%d in order, %d held", len(order), len(held))
	}
}

func BenchmarkGraph(b *testing.B) {
	units := grid(1000)
	b.ReportAllocs()
	for b.Loop() {
		graph := NewGraph("", units)
		graph.Order()
		graph.Cycles()
	}
}

// TestCollisionsOfMany: a thousand exporters and importers of one name do not make a million edges.
func TestCollisionsOfMany(t *testing.T) {
	var units []Unit
	for i := range 1000 {
		units = append(units, unit(t, fmt.Sprintf("e%d => x", i)), unit(t, fmt.Sprintf("i%d x", i)))
	}
	graph := NewGraph("", units)
	edges := 0
	for _, waits := range graph.waits {
		edges += len(waits)
	}
	if edges != 2000 || len(graph.Collisions()) != 999 {
		t.Errorf("%d edges, %d collisions", edges, len(graph.Collisions()))
	}
}
