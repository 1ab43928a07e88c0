package expression

import (
	"errors"
	"strings"

	"go.landscaper.dev/internal/content/template/spiff/eval/outcome"
	"go.landscaper.dev/internal/content/template/spiff/eval/scope"
	"go.landscaper.dev/internal/content/template/spiff/syntax"
	"go.landscaper.dev/internal/content/template/spiff/value"
)

// lambda evaluates a lambda literal.
func (e *Env) lambda(def *syntax.Lambda) (value.Value, error) {
	defaults := make([]*value.Node, len(def.Params))
	for i, p := range def.Params {
		if p.Default == nil {
			continue
		}
		v, err := e.Whole(p.Default)
		if err != nil {
			return nil, err
		}
		if value.IsUndefined(v) {
			v = value.Null{}
		}
		defaults[i] = value.New(v)
	}
	return scope.NewLambda(def, defaults, e.Scope.Locals(), e.Scope.Lexical()), nil
}

// lambdaOf turns the text of a lambda into a lambda.
func (e *Env) lambdaOf(x *syntax.LambdaOf) (value.Value, error) {
	v, err := e.Whole(x.Operand)
	if err != nil || value.IsUndefined(v) {
		return v, err
	}
	switch v := v.(type) {
	case *scope.Lambda:
		return v, nil
	case value.String:
		return e.lambdaText(v)
	}
	return nil, outcome.Fail("lambda needs a lambda or the text of one, not %s", value.A(v))
}

func (e *Env) lambdaText(s value.String) (value.Value, error) {
	text := value.LambdaText(s.Text)
	expr, err := e.Parse(text)
	if err != nil {
		if e.Settings.Sensitive && s.Data {
			return nil, outcome.Fail("text is not a lambda")
		}
		return nil, outcome.Fail("text is not a lambda: %s", err)
	}
	def, ok := expr.(*syntax.Lambda)
	if !ok {
		return nil, outcome.Fail("text is not a lambda, it must look like |x|->x")
	}
	return e.lambda(def)
}

// Apply calls a lambda with positional arguments.
func (e *Env) Apply(l *scope.Lambda, args []*value.Node) (value.Value, error) {
	names, err := l.Bind(args, nil)
	if err != nil {
		return nil, outcome.Fail("%s: %s", l.ShortText(), err)
	}
	return e.enter(l, names)
}

// enter evaluates the body of a lambda with its arguments bound.
func (e *Env) enter(l *scope.Lambda, names []scope.Local) (value.Value, error) {
	if err := e.EnterCall(); err != nil {
		return nil, err
	}
	defer e.LeaveCall()
	s := e.Scope
	if len(l.Captured) > 0 {
		frame := make([]scope.Local, 0, len(l.Captured))
		for name, n := range l.Captured {
			frame = append(frame, scope.Local{Name: name, Node: n})
		}
		s = s.Push(frame)
	}
	s = &scope.Level{Parent: s, Names: names, Self: l}
	inner := *e
	inner.Scope = s
	inner.element = nil
	v, err := inner.Whole(l.Def.Body)
	if failed, ok := errors.AsType[*outcome.Failure](err); ok {
		return nil, e.traced(l, names, failed)
	}
	return v, err
}

// traced adds the call to the nested issues of a failure.
func (e *Env) traced(l *scope.Lambda, names []scope.Local, failed *outcome.Failure) error {
	nested := failed.Issue.Nested
	if len(nested) >= outcome.MaxTrace {
		return failed
	}
	args := make([]string, len(names))
	for i, n := range names {
		args[i] = n.Name + "=" + syntax.Short(e.Show(n.Node.Value))
	}
	call := outcome.Issue{Message: "... evaluation of " + l.ShortText() + " with " + strings.Join(args, ", ")}
	return &outcome.Failure{Issue: outcome.Issue{
		Message: failed.Issue.Message,
		Nested:  append(nested[:len(nested):len(nested)], call),
	}}
}
