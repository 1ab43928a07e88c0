package graph

import "slices"

// Cycle is a group of nodes of which each waits, over some of the others, for
// itself.
type Cycle struct {
	// Members are all nodes of the group, by number.
	Members []int
	// Path is a shortest cycle through the first member: each node waits for the next one, and the
	// last node is the first again.
	Path []int
}

// Cycles returns the groups, in the order of their first members. A node that waits for a group
// without being part of it is in no group.
func (g Graph) Cycles() []Cycle {
	var cycles []Cycle
	search := newGroupSearch(g)
	for _, members := range search.groups() {
		if len(members) == 1 && !slices.Contains(g[members[0]], members[0]) {
			continue
		}
		slices.Sort(members)
		cycles = append(cycles, Cycle{Members: members, Path: g.shortestCycle(members[0], search.group)})
	}
	slices.SortFunc(cycles, func(a, b Cycle) int { return a.Members[0] - b.Members[0] })
	return cycles
}

// shortestCycle returns a shortest path from a node to itself. The path stays in the node's group, so that
// all cycles together are searched in the time of one pass.
func (g Graph) shortestCycle(start int, group []int) []int {
	cameFrom := map[int]int{}
	for rest := []int{start}; len(rest) > 0; rest = rest[1:] {
		for _, next := range g[rest[0]] {
			if next == start {
				return shortestPath(cameFrom, start, rest[0])
			}
			if _, seen := cameFrom[next]; !seen && group[next] == group[start] {
				cameFrom[next] = rest[0]
				rest = append(rest, next)
			}
		}
	}
	return nil
}

func shortestPath(cameFrom map[int]int, start, last int) []int {
	path := []int{start}
	for node := last; node != start; node = cameFrom[node] {
		path = append(path, node)
	}
	slices.Reverse(path[1:])
	return append(path, start)
}

// groupSearch finds strongly connected groups in one pass (Tarjan). It keeps its
// own stack: a chain as long as a namespace is wide must not be deep in ours.
type groupSearch struct {
	graph Graph
	// number is when a node was seen first, from 1; low the earliest node on the
	// stack that it is known to reach.
	number, low []int
	// group is the number of a node's group, from 1, as soon as it is known.
	group   []int
	stack   []int
	calls   []call
	count   int
	found   [][]int
	visited int
}

// call is a node whose edges are being followed.
type call struct{ node, edge int }

func newGroupSearch(g Graph) *groupSearch {
	return &groupSearch{graph: g, number: make([]int, len(g)), low: make([]int, len(g)), group: make([]int, len(g))}
}

func (s *groupSearch) groups() [][]int {
	for node := range s.graph {
		if s.number[node] == 0 {
			s.enter(node)
		}
		for len(s.calls) > 0 {
			s.step()
		}
	}
	return s.found
}

func (s *groupSearch) enter(node int) {
	s.count++
	s.number[node], s.low[node] = s.count, s.count
	s.stack = append(s.stack, node)
	s.calls = append(s.calls, call{node: node})
}

// step follows one edge of the node on top, or leaves it.
func (s *groupSearch) step() {
	s.visited++
	top := &s.calls[len(s.calls)-1]
	node := top.node
	if top.edge == len(s.graph[node]) {
		s.leave(node)
		return
	}
	next := s.graph[node][top.edge]
	top.edge++
	switch {
	case s.number[next] == 0:
		s.enter(next)
	case s.group[next] == 0:
		s.low[node] = min(s.low[node], s.number[next])
	}
}

func (s *groupSearch) leave(node int) {
	s.calls = s.calls[:len(s.calls)-1]
	if len(s.calls) > 0 {
		caller := s.calls[len(s.calls)-1].node
		s.low[caller] = min(s.low[caller], s.low[node])
	}
	if s.low[node] != s.number[node] {
		return
	}
	// From the end: what is left of the stack is searched once in all.
	at := len(s.stack) - 1
	for s.stack[at] != node {
		at--
	}
	members := slices.Clone(s.stack[at:])
	s.stack = s.stack[:at]
	s.found = append(s.found, members)
	for _, member := range members {
		s.group[member] = len(s.found)
	}
}
