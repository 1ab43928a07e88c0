package expression

import (
	"time"

	"go.landscaper.dev/internal/content/template/spiff/builtin/call"
	"go.landscaper.dev/internal/content/template/spiff/eval/outcome"
	"go.landscaper.dev/internal/content/template/spiff/eval/scope"
	"go.landscaper.dev/internal/content/template/spiff/syntax"
	"go.landscaper.dev/internal/content/template/spiff/value"
)

// Timing of sync.
const (
	defaultSyncTimeout = 300
	syncPause          = time.Second
)

// attemptResult is one try of the expression that sync waits for.
type attemptResult struct{ value, message value.Value }

// waiter repeats an expression until a condition holds.
type waiter struct {
	env     *Env
	source  syntax.Expr
	timeout syntax.Expr
	// condition and result work on the outcome of a try.
	condition, result func(attemptResult) (value.Value, error)
}

func (e *Env) sync(x *syntax.Sync) (value.Value, error) {
	w := &waiter{env: e, source: x.Source, timeout: x.Timeout}
	w.condition = e.syncFunction(x.Cond, "condition")
	if x.Shared {
		inline := x.Cond.(*syntax.Lambda)
		w.result = e.syncFunction(&syntax.Lambda{Params: inline.Params, Body: x.Value, Inline: true}, "value")
	} else if x.Value != nil {
		w.result = e.syncFunction(x.Value, "value")
	}
	return w.run()
}

// syncFunction applies a lambda with the parameters (value) or (value, error).
func (e *Env) syncFunction(fn syntax.Expr, what string) func(attemptResult) (value.Value, error) {
	return func(try attemptResult) (value.Value, error) {
		f, err := e.function(fn)
		if err != nil {
			return nil, err
		}
		low, high := f.arity()
		if low > 2 || high == 0 {
			return nil, outcome.Fail("%s of sync needs a lambda with 1 or 2 parameters", what)
		}
		args := []*value.Node{value.New(try.value), value.New(try.message)}
		if high == 1 {
			args = args[:1]
		}
		return f.invoke(args)
	}
}

// SyncCall is the old form, in which condition and value are expressions that
// see the fields of the last try.
func (e *Env) SyncCall(args []syntax.Expr) (value.Value, error) {
	w := &waiter{env: e, source: args[0]}
	within := func(x syntax.Expr) func(attemptResult) (value.Value, error) {
		return func(try attemptResult) (value.Value, error) {
			valid := value.Bool(value.IsNull(try.message))
			names := []scope.Local{
				{Name: "valid", Node: value.New(valid)}, {Name: "error", Node: value.New(try.message)}, {Name: "value", Node: value.New(try.value)},
			}
			return e.within(e.Scope.Push(names)).Whole(x)
		}
	}
	w.condition = within(args[1])
	if len(args) > 2 {
		w.result = within(args[2])
	}
	if len(args) > 3 {
		w.timeout = args[3]
	}
	return w.run()
}

func (w *waiter) run() (value.Value, error) {
	limit, err := w.limit()
	if err != nil {
		return nil, err
	}
	deadline := time.Now().Add(limit)
	for {
		v, message, err := w.env.Attempt(w.source)
		if err != nil {
			return nil, err
		}
		try := attemptResult{v, message}
		holds, err := w.holds(try)
		if err != nil {
			return nil, err
		}
		if holds {
			return w.finish(try)
		}
		if w.env.Settings.Access < call.Full || time.Now().Add(syncPause).After(deadline) {
			if s, ok := message.(value.String); ok {
				return nil, outcome.Fail("%s", s.Text)
			}
			return nil, outcome.Fail("sync timeout reached")
		}
		if err := w.pause(); err != nil {
			return nil, err
		}
	}
}

func (w *waiter) finish(try attemptResult) (value.Value, error) {
	if w.result != nil {
		return w.result(try)
	}
	if s, ok := try.message.(value.String); ok {
		return nil, outcome.Fail("%s", s.Text)
	}
	return try.value, nil
}

func (w *waiter) limit() (time.Duration, error) {
	if w.timeout == nil {
		return defaultSyncTimeout * time.Second, nil
	}
	v, err := w.env.Whole(w.timeout)
	if err != nil {
		return 0, err
	}
	n, ok := v.(value.Int)
	if !ok || n < 0 || n > 1<<31 {
		return 0, outcome.Fail("timeout of sync must be a number of seconds, not %s", value.A(v))
	}
	return time.Duration(n) * time.Second, nil
}

func (w *waiter) holds(try attemptResult) (bool, error) {
	v, err := w.condition(try)
	if err != nil {
		if failed := outcome.AsFailure(err); failed != nil {
			return false, outcome.Fail("condition of sync cannot be evaluated: %s", failed.Issue.Message)
		}
		return false, err
	}
	b, ok := v.(value.Bool)
	if !ok {
		return false, outcome.Fail("condition of sync must evaluate to bool, not %s", value.TypeName(v))
	}
	return bool(b), nil
}

// pause waits between two tries and ends early if the run is over.
func (w *waiter) pause() error {
	timer := time.NewTimer(syncPause)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-w.env.Meter.Context().Done():
	}
	return w.env.CheckTime()
}
