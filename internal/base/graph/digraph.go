// Package graph answers questions about nodes that wait for each other: in which order they can go,
// which of them never can, and what one of them blocks. All functions take linear time, since the
// namespaces of tenants become graphs.
package graph

import (
	"container/heap"
	"slices"
)

// Graph lists for each node those that it waits for. Nodes are numbers from 0; one
// may be listed twice.
type Graph [][]int

// Order returns the nodes so that each comes after all that it waits for, and otherwise by number.
// Held are the nodes that can never come: members of cycles, and all nodes that wait for a member.
func (g Graph) Order() (order, held []int) {
	waiting := g.Reversed()
	open := make([]int, len(g))
	ready := &smallest{}
	for node, waits := range g {
		open[node] = len(waits)
		if len(waits) == 0 {
			heap.Push(ready, node)
		}
	}
	done := make([]bool, len(g))
	for ready.Len() > 0 {
		node := heap.Pop(ready).(int)
		order, done[node] = append(order, node), true
		for _, next := range waiting[node] {
			if open[next]--; open[next] == 0 {
				heap.Push(ready, next)
			}
		}
	}
	for node := range g {
		if !done[node] {
			held = append(held, node)
		}
	}
	return order, held
}

// Reversed returns for each node those that wait for it.
func (g Graph) Reversed() Graph {
	reversed := make(Graph, len(g))
	for node, waits := range g {
		for _, other := range waits {
			reversed[other] = append(reversed[other], node)
		}
	}
	return reversed
}

// Reachable returns all nodes that can be reached from some of them over any number of edges, by
// number. A start node is among them only if it is reached.
func (g Graph) Reachable(from ...int) []int {
	seen := make([]bool, len(g))
	var reached []int
	for rest := slices.Clone(from); len(rest) > 0; {
		node := rest[len(rest)-1]
		rest = rest[:len(rest)-1]
		for _, next := range g[node] {
			if !seen[next] {
				seen[next] = true
				reached, rest = append(reached, next), append(rest, next)
			}
		}
	}
	slices.Sort(reached)
	return reached
}

// smallest is a heap of numbers.
type smallest []int

// Len implements heap.Interface.
func (s *smallest) Len() int { return len(*s) }

// Less implements heap.Interface.
func (s *smallest) Less(i, j int) bool { return (*s)[i] < (*s)[j] }

// Swap implements heap.Interface.
func (s *smallest) Swap(i, j int) { (*s)[i], (*s)[j] = (*s)[j], (*s)[i] }

// Push implements heap.Interface.
func (s *smallest) Push(node any) { *s = append(*s, node.(int)) }

// Pop implements heap.Interface.
func (s *smallest) Pop() any {
	last := (*s)[len(*s)-1]
	*s = (*s)[:len(*s)-1]
	return last
}
