package settle

import (
	"context"

	"go.landscaper.dev/internal/content/template/spiff/eval/aware"
	"go.landscaper.dev/internal/content/template/spiff/eval/expression"
	"go.landscaper.dev/internal/content/template/spiff/eval/scope"
	"go.landscaper.dev/internal/content/template/spiff/eval/work"
	"go.landscaper.dev/internal/content/template/spiff/value"
)

// Runner settles the nodes of one evaluation.
type Runner struct {
	*work.Run
	nesting int // nodes being evaluated in the current drive
	stack   int // nodes being evaluated in all drives
	trying  int // evaluations that may be given up
}

// New begins an evaluation.
func New(ctx context.Context, config *work.Config) *Runner {
	r := &Runner{Run: work.NewRun(ctx, config)}
	r.Nodes = r
	return r
}

// Limits of the recursion, in nodes being evaluated at the same time.
const (
	maxNesting = 500
	maxStack   = 20_000
)

// env makes the evaluator of the expressions of a node.
func (r *Runner) env(s *scope.Level, n *value.Node, t *work.Task) *expression.Env {
	return expression.New(r.Run, work.Surroundings{Doc: t.Doc, Scope: s, Site: &work.Site{Node: n, Task: t}}, aware.Functions)
}
