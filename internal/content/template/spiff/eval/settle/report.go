package settle

import (
	"errors"
	"sort"

	"go.landscaper.dev/internal/content/template/spiff/eval/outcome"
	"go.landscaper.dev/internal/content/template/spiff/eval/work"
	"go.landscaper.dev/internal/content/template/spiff/value"
)

// report lists the nodes below n that have no value: local failures first,
// then what waits, then what follows from failures; in document order.
func report(r *work.Run, n *value.Node) []outcome.Node {
	w := &reporter{Run: r}
	w.walk(n, 0)
	rank := map[outcome.Class]int{outcome.Local: 0, outcome.Waiting: 1, outcome.Follower: 2}
	sort.SliceStable(w.nodes, func(i, j int) bool {
		a, b := w.nodes[i], w.nodes[j]
		if a.Class != b.Class {
			return rank[a.Class] < rank[b.Class]
		}
		return a.At < b.At
	})
	return w.nodes
}

type reporter struct {
	*work.Run
	nodes []outcome.Node
}

func (w *reporter) walk(n *value.Node, line int32) {
	if n.Line > 0 {
		line = n.Line
	}
	t, _ := n.Work.(*work.Task)
	if t != nil && t.State == work.Blocked {
		w.blocked(n, t, line)
		return
	}
	if t == nil && !value.IsOpen(n.Value) {
		return
	}
	switch v := n.Value.(type) {
	case *value.List:
		for _, item := range v.Items {
			w.walk(item, line)
		}
	case *value.Map:
		for _, item := range v.Items {
			w.walk(item, line)
		}
	}
}

func (w *reporter) blocked(n *value.Node, t *work.Task, line int32) {
	found := len(w.nodes)
	for _, insert := range t.Inserts {
		w.walk(insert, line)
	}
	if len(w.nodes) > found {
		return
	}
	node := outcome.Node{
		Path: t.Path.Report(w.Settings.Sensitive), RefPath: t.Refers, Expression: t.Shown(),
		Class: outcome.Local, At: line, Source: t.Doc.Name,
	}
	if n.Source != nil {
		node.Source = n.Source.Name
	}
	if pending, ok := errors.AsType[*outcome.Pending](t.Err); ok {
		node.Class, node.Message, node.Nested = pending.Class, pending.Issue.Message, pending.Issue.Nested
	} else if failed, ok := errors.AsType[*outcome.Failure](t.Err); ok {
		node.Message, node.Nested = failed.Issue.Message, failed.Issue.Nested
	} else {
		node.Message = t.Err.Error()
	}
	if node.Message == "" {
		node.Message = "failed without a message"
	}
	w.nodes = append(w.nodes, node)
}
