package settle

import (
	"errors"
	"strings"

	"go.landscaper.dev/internal/content/template/spiff/eval/outcome"
	"go.landscaper.dev/internal/content/template/spiff/eval/place"
	"go.landscaper.dev/internal/content/template/spiff/eval/work"
	"go.landscaper.dev/internal/content/template/spiff/value"
)

// start places the content of a document.
func (r *Runner) start(d *work.Document, content *value.Node) {
	d.Tags.Announce(content, nil)
	d.Root = r.Place(content, work.Slot{
		Doc: d, Stubs: place.StubsOf(d.Stubs), Override: true, Inner: true,
	})
}

// maxRounds bounds how often a document is evaluated again because expressions defined tags that
// were not announced.
const maxRounds = 10

// Process evaluates a document completely. The error is an *Errors with all
// nodes that have no value, or an *Abort.
func (r *Runner) Process(d *work.Document, content *value.Node) (value.Value, error) {
	r.start(d, content)
	for round := 0; ; round++ {
		known := d.Tags.Defined
		if err := r.SettleAll(d.Root); err != nil {
			return nil, err
		}
		nodes := report(r.Run, d.Root)
		if len(nodes) == 0 {
			break
		}
		if d.Tags.Defined == known || round == maxRounds || !waitsForTag(nodes) {
			return nil, &outcome.Errors{Nodes: nodes}
		}
		reset(d.Root)
	}
	var v value.Value
	err := r.drive(d.Root, func(n *value.Node) (err error) {
		v, err = r.Deep(n)
		return err
	})
	if err != nil {
		var abort *outcome.Abort
		if errors.As(err, &abort) {
			return nil, abort
		}
		return nil, &outcome.Errors{Nodes: []outcome.Node{{Class: outcome.Local, Message: err.Error(), Source: d.Name}}}
	}
	return v, nil
}

// waitsForTag reports whether a node failed because a tag was unknown.
func waitsForTag(nodes []outcome.Node) bool {
	for _, n := range nodes {
		if n.Class == outcome.Local && strings.Contains(n.Expression, "::") {
			return true
		}
	}
	return false
}

// reset makes all nodes without a value ready for another evaluation.
func reset(n *value.Node) {
	t, ok := n.Work.(*work.Task)
	if ok {
		t.DeepErr = nil
		if t.State == work.Blocked {
			t.State, t.Err, t.Inserts = work.Fresh, nil, nil
			return
		}
	}
	switch v := n.Value.(type) {
	case *value.List:
		for _, item := range v.Items {
			reset(item)
		}
	case *value.Map:
		for _, item := range v.Items {
			reset(item)
		}
	}
}
