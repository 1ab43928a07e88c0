package settle

import (
	"errors"

	"go.landscaper.dev/internal/content/template/spiff/eval/outcome"
	"go.landscaper.dev/internal/content/template/spiff/eval/scope"
	"go.landscaper.dev/internal/content/template/spiff/eval/work"
	"go.landscaper.dev/internal/content/template/spiff/value"
)

// instantiateAt evaluates a dynamic template at its node.
func (r *Runner) instantiateAt(n *value.Node, t *work.Task, tmpl *scope.Template) (value.Value, error) {
	e := r.env(t.Scope, n, t)
	return e.Instance(tmpl, r.Shown(t.Path))
}

// Content evaluates unevaluated content as a document part of its own.
func (r *Runner) Content(content value.Value, level work.Slot) (value.Value, error) {
	if err := r.EnterCall(); err != nil {
		return nil, err
	}
	defer r.LeaveCall()
	root := r.Place(value.New(content), level)
	if level.Doc.Root == nil {
		level.Doc.Root = root
	}
	if root.Work == nil {
		return root.Value, nil
	}
	var v value.Value
	err := r.drive(root, func(n *value.Node) (err error) {
		v, err = r.Deep(n)
		return err
	})
	if err == nil {
		return v, nil
	}
	return nil, r.contentError(root, err)
}

// contentError explains why content has no value: by its failed nodes, or by
// what it waits for.
func (r *Runner) contentError(root *value.Node, err error) error {
	if outcome.Aborted(err) || outcome.Again(err) {
		return err
	}
	if err := r.SettleAll(root); err != nil {
		return err
	}
	cause := r.cause(root)
	if cause == nil {
		return err
	}
	failed, ok := errors.AsType[*outcome.Failure](cause)
	if !ok || r.NestedCalls() > outcome.MaxTrace {
		return cause
	}
	return &outcome.Failure{Issue: outcome.Issue{
		Message: failed.Issue.Message,
		Nested:  outcome.NestedIssues(report(r.Run, root), failed.Issue.Nested),
	}}
}

// cause finds the reason why a node has no value: a failure below it, or else
// what it waits for.
func (r *Runner) cause(n *value.Node) error {
	t, _ := n.Work.(*work.Task)
	if t != nil && t.State == work.Blocked {
		for _, insert := range t.Inserts {
			if err := r.cause(insert); err != nil {
				return err
			}
		}
		return t.Err
	}
	var items []*value.Node
	switch v := n.Value.(type) {
	case *value.List:
		items = v.Items
	case *value.Map:
		items = v.Items
	}
	if !value.IsOpen(n.Value) {
		return nil
	}
	var pending error
	for _, item := range items {
		err := r.cause(item)
		if err == nil {
			continue
		}
		if _, waits := errors.AsType[*outcome.Pending](err); !waits {
			return err
		}
		pending = err
	}
	return pending
}
