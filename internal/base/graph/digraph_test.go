package graph

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
)

func TestGraph(t *testing.T) {
	for _, test := range []struct {
		reason      string
		graph       Graph
		order, held []int
		cycles      []Cycle
	}{
		{"nothing", nil, nil, nil, nil},
		{"a node that waits for none keeps its place", Graph{{}, {}, {}}, []int{0, 1, 2}, nil, nil},
		{"a chain that is written from its end", Graph{{1}, {2}, {}}, []int{2, 1, 0}, nil, nil},
		{"a diamond", Graph{{1, 2}, {3}, {3}, {}}, []int{3, 1, 2, 0}, nil, nil},
		{"what is listed twice counts once", Graph{{1, 1}, {}}, []int{1, 0}, nil, nil},
		{"a node that waits for itself", Graph{{0}, {}}, []int{1}, []int{0}, []Cycle{{[]int{0}, []int{0, 0}}}},
		{"a node that waits for a cycle is held, but no member", Graph{{1}, {2}, {1}, {}}, []int{3}, []int{0, 1, 2}, []Cycle{{[]int{1, 2}, []int{1, 2, 1}}}},
		{"a node that a cycle waits for is free", Graph{{1}, {0, 2}, {}}, []int{2}, []int{0, 1}, []Cycle{{[]int{0, 1}, []int{0, 1, 0}}}},
		{"two cycles are two groups", Graph{{1}, {0}, {3}, {2}}, nil, []int{0, 1, 2, 3}, []Cycle{{[]int{0, 1}, []int{0, 1, 0}}, {[]int{2, 3}, []int{2, 3, 2}}}},
		{"two cycles with a common node are one group with the shorter path", Graph{{1, 3}, {2}, {0}, {0}}, nil, []int{0, 1, 2, 3}, []Cycle{{[]int{0, 1, 2, 3}, []int{0, 3, 0}}}},
	} {
		t.Run(test.reason, func(t *testing.T) {
			order, held := test.graph.Order()
			if !slices.Equal(order, test.order) || !slices.Equal(held, test.held) {
				t.Errorf("order %v, held %v; want %v, %v", order, held, test.order, test.held)
			}
			if cycles := test.graph.Cycles(); !reflect.DeepEqual(cycles, test.cycles) {
				t.Errorf("cycles %v, want %v", cycles, test.cycles)
			}
		})
	}
}

func TestReach(t *testing.T) {
	graph := Graph{{1}, {2}, {1}, {0}}
	for _, test := range []struct {
		reason     string
		from, want []int
	}{
		{"over several edges", []int{0}, []int{1, 2}},
		{"back to the start", []int{1}, []int{1, 2}},
		{"from several", []int{0, 3}, []int{0, 1, 2}},
		{"from nowhere", nil, nil},
	} {
		t.Run(test.reason, func(t *testing.T) {
			if got := graph.Reachable(test.from...); !slices.Equal(got, test.want) {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
}

// TestRandom: the order respects any graph, and exactly the nodes are held that wait for a member
// of a cycle.
func TestRandom(t *testing.T) {
	for seed := range uint64(300) {
		random := rand.New(rand.NewPCG(seed, 0))
		graph := make(Graph, 1+random.IntN(12))
		for range random.IntN(20) {
			from := random.IntN(len(graph))
			graph[from] = append(graph[from], random.IntN(len(graph)))
		}
		order, held := graph.Order()
		place := map[int]int{}
		for i, node := range order {
			place[node] = i
		}
		for _, node := range order {
			for _, before := range graph[node] {
				if at, ok := place[before]; !ok || at >= place[node] {
					t.Errorf("seed %d: %v: %d comes before %d", seed, graph, node, before)
				}
			}
		}
		var members []int
		for _, cycle := range graph.Cycles() {
			members = append(members, cycle.Members...)
			for i := range len(cycle.Path) - 1 {
				if !slices.Contains(graph[cycle.Path[i]], cycle.Path[i+1]) || !slices.Contains(cycle.Members, cycle.Path[i]) {
					t.Errorf("seed %d: %v: there is no way %v", seed, graph, cycle.Path)
				}
			}
		}
		want := append(graph.Reversed().Reachable(members...), members...)
		slices.Sort(want)
		if want = slices.Compact(want); !slices.Equal(held, want) {
			t.Errorf("seed %d: %v: held %v, want %v", seed, graph, held, want)
		}
	}
}

// TestWorkIsLinear counts the steps: a graph in which the paths are without number
// costs no more than it has nodes and edges.
func TestWorkIsLinear(t *testing.T) {
	const layers, width = 100, 10
	graph := make(Graph, layers*width)
	edges := 0
	for node := width; node < len(graph); node++ {
		for i := range width {
			graph[node] = append(graph[node], node/width*width-width+i)
			edges++
		}
	}
	graph[0] = []int{len(graph) - 1} // all paths are parts of cycles
	search := newGroupSearch(graph)
	search.groups()
	if most := len(graph) + edges + 1; search.visited > most {
		t.Errorf("%d steps for %d nodes and edges", search.visited, most)
	}
	if cycles := graph.Cycles(); len(cycles) != 1 || len(cycles[0].Path) != layers+1 {
		t.Errorf("%d cycles", len(cycles))
	}
}
