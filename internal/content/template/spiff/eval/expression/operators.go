package expression

import (
	"go.landscaper.dev/internal/content/template/spiff/eval/operator"
	"go.landscaper.dev/internal/content/template/spiff/eval/outcome"
	"go.landscaper.dev/internal/content/template/spiff/syntax"
	"go.landscaper.dev/internal/content/template/spiff/value"
)

// binary evaluates operators. Chains of operators of the same kind lean to the
// left and may be long, so they are walked in a loop.
func (e *Env) binary(x *syntax.Binary) (value.Value, error) {
	if lazy(x.Op) {
		return e.lazyBinary(x)
	}
	chain := []*syntax.Binary{x}
	for {
		left, ok := chain[len(chain)-1].L.(*syntax.Binary)
		if !ok || lazy(left.Op) {
			break
		}
		chain = append(chain, left)
	}
	result, err := e.Whole(chain[len(chain)-1].L)
	for i := len(chain) - 1; i >= 0; i-- {
		if err != nil {
			return nil, err
		}
		right, rightErr := e.Whole(chain[i].R)
		if rightErr != nil {
			return nil, rightErr
		}
		if value.IsUndefined(result) || value.IsUndefined(right) {
			result = value.Undefined{}
			continue
		}
		if err := e.Step(); err != nil {
			return nil, err
		}
		result, err = operator.Apply(e.Run, chain[i].Op, result, right)
	}
	return result, err
}

// lazy operators do not always need their right operand.
func lazy(op syntax.Op) bool {
	switch op {
	case syntax.Or, syntax.OrNil, syntax.LogOr, syntax.LogAnd:
		return true
	}
	return false
}

func (e *Env) lazyBinary(x *syntax.Binary) (value.Value, error) {
	var alternatives []*syntax.Binary
	var first syntax.Expr = x
	for {
		b, ok := first.(*syntax.Binary)
		if !ok || !lazy(b.Op) {
			break
		}
		alternatives = append(alternatives, b)
		first = b.L
	}
	result, err := e.Whole(first)
	for i := len(alternatives) - 1; i >= 0; i-- {
		result, err = e.alternative(alternatives[i], result, err)
	}
	return result, err
}

func (e *Env) alternative(x *syntax.Binary, left value.Value, err error) (value.Value, error) {
	if err != nil && outcome.AsFailure(err) == nil {
		return nil, err
	}
	if x.Op == syntax.LogOr || x.Op == syntax.LogAnd {
		return e.logical(x, left, err)
	}
	usable := err == nil && !value.IsUndefined(left) && (x.Op != syntax.OrNil || !value.IsNull(left))
	if usable {
		return left, nil
	}
	right, rightErr := e.Whole(x.R)
	second, first := outcome.AsFailure(rightErr), outcome.AsFailure(err)
	if rightErr != nil && second != nil && err != nil && first.Issue.Message != second.Issue.Message {
		issue := second.Issue
		issue.Nested = append(issue.Nested[:len(issue.Nested):len(issue.Nested)],
			outcome.Issue{Message: "alternative failed: " + first.Issue.Message, Nested: first.Issue.Nested})
		return nil, &outcome.Failure{Issue: issue}
	}
	return right, rightErr
}

// logical evaluates -or and -and. Integers are combined bitwise.
func (e *Env) logical(x *syntax.Binary, left value.Value, err error) (value.Value, error) {
	if err != nil {
		return nil, err
	}
	if value.IsUndefined(left) {
		return left, nil
	}
	a, aIsInt := left.(value.Int)
	truth := value.Truth(left)
	right, err := e.Whole(x.R)
	if outcome.AsFailure(err) != nil && err != nil && !aIsInt && truth == (x.Op == syntax.LogOr) {
		return value.Bool(truth), nil
	}
	if err != nil {
		return nil, err
	}
	if b, ok := right.(value.Int); ok && aIsInt {
		if x.Op == syntax.LogOr {
			return a | b, nil
		}
		return a & b, nil
	}
	if value.IsUndefined(right) {
		return right, nil
	}
	if x.Op == syntax.LogOr {
		return value.Bool(truth || value.Truth(right)), nil
	}
	return value.Bool(truth && value.Truth(right)), nil
}

func (e *Env) conditional(x *syntax.Cond) (value.Value, error) {
	for {
		cond, err := e.Whole(x.If)
		if err != nil || value.IsUndefined(cond) {
			return cond, err
		}
		branch := x.Else
		if value.Truth(cond) {
			branch = x.Then
		}
		next, ok := branch.(*syntax.Cond)
		if !ok {
			return e.Whole(branch)
		}
		x = next
	}
}

func (e *Env) not(x *syntax.Not) (value.Value, error) {
	v, err := e.Whole(x.Operand)
	if err != nil || value.IsUndefined(v) {
		return v, err
	}
	return value.Bool(!value.Truth(v)), nil
}
