package eval

import (
	"go.landscaper.dev/internal/spiff/syntax"
	"go.landscaper.dev/internal/spiff/value"
)

// binary evaluates operators. Chains of operators of the same kind lean to the
// left and may be long, so they are walked in a loop.
func (e *env) binary(x *syntax.Binary) (value.Value, error) {
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
	result, err := e.whole(chain[len(chain)-1].L)
	for i := len(chain) - 1; i >= 0; i-- {
		if err != nil {
			return nil, err
		}
		right, rightErr := e.whole(chain[i].R)
		if rightErr != nil {
			return nil, rightErr
		}
		if value.IsUndefined(result) || value.IsUndefined(right) {
			result = value.Undefined{}
			continue
		}
		if err := e.step(1); err != nil {
			return nil, err
		}
		result, err = e.apply(chain[i].Op, result, right)
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

func (e *env) lazyBinary(x *syntax.Binary) (value.Value, error) {
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
	result, err := e.whole(first)
	for i := len(alternatives) - 1; i >= 0; i-- {
		result, err = e.alternative(alternatives[i], result, err)
	}
	return result, err
}

func (e *env) alternative(x *syntax.Binary, left value.Value, err error) (value.Value, error) {
	if err != nil && failure(err) == nil {
		return nil, err
	}
	if x.Op == syntax.LogOr || x.Op == syntax.LogAnd {
		return e.logical(x, left, err)
	}
	usable := err == nil && !value.IsUndefined(left) && (x.Op != syntax.OrNil || !value.IsNull(left))
	if usable {
		return left, nil
	}
	right, rightErr := e.whole(x.R)
	second, first := failure(rightErr), failure(err)
	if rightErr != nil && second != nil && err != nil && first.Issue.Message != second.Issue.Message {
		issue := second.Issue
		issue.Nested = append(issue.Nested[:len(issue.Nested):len(issue.Nested)],
			Issue{Message: "alternative failed: " + first.Issue.Message, Nested: first.Issue.Nested})
		return nil, &Failure{Issue: issue}
	}
	return right, rightErr
}

// logical evaluates -or and -and. Integers are combined bitwise.
func (e *env) logical(x *syntax.Binary, left value.Value, err error) (value.Value, error) {
	if err != nil {
		return nil, err
	}
	if value.IsUndefined(left) {
		return left, nil
	}
	a, aIsInt := left.(value.Int)
	truth := value.Truth(left)
	right, err := e.whole(x.R)
	if failure(err) != nil && err != nil && !aIsInt && truth == (x.Op == syntax.LogOr) {
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

func (e *env) conditional(x *syntax.Cond) (value.Value, error) {
	for {
		cond, err := e.whole(x.If)
		if err != nil || value.IsUndefined(cond) {
			return cond, err
		}
		branch := x.Else
		if value.Truth(cond) {
			branch = x.Then
		}
		next, ok := branch.(*syntax.Cond)
		if !ok {
			return e.whole(branch)
		}
		x = next
	}
}

func (e *env) not(x *syntax.Not) (value.Value, error) {
	v, err := e.whole(x.Operand)
	if err != nil || value.IsUndefined(v) {
		return v, err
	}
	return value.Bool(!value.Truth(v)), nil
}

// apply computes an operator whose operands are there.
func (e *env) apply(op syntax.Op, a, b value.Value) (value.Value, error) {
	switch op {
	case syntax.Join:
		return e.join(a, b)
	case syntax.Equal, syntax.Unequal:
		if err := e.step(value.ShapeOf(a).Size / 16); err != nil {
			return nil, err
		}
		same, err := value.Equal(a, b)
		if err != nil {
			return nil, fail("%s: %s %s %s", err, a.TypeName(), op, b.TypeName())
		}
		return value.Bool(same == (op == syntax.Equal)), nil
	case syntax.Less, syntax.LessEq, syntax.Greater, syntax.GreaterEq:
		return ordered(op, a, b)
	}
	return e.arithmetic(op, a, b)
}

func ordered(op syntax.Op, a, b value.Value) (value.Value, error) {
	order, ok, err := compare(a, b)
	if err != nil {
		return nil, fail("%s: %s %s %s", err, a.TypeName(), op, b.TypeName())
	}
	if !ok {
		return value.Bool(false), nil
	}
	switch op {
	case syntax.Less:
		return value.Bool(order < 0), nil
	case syntax.LessEq:
		return value.Bool(order <= 0), nil
	case syntax.Greater:
		return value.Bool(order > 0), nil
	}
	return value.Bool(order >= 0), nil
}

// compare orders two numbers or two texts. ok is false for operands that have
// no order.
func compare(a, b value.Value) (order int, ok bool, err error) {
	switch a := a.(type) {
	case value.String:
		if b, same := b.(value.String); same {
			return compareOrdered(a.Text, b.Text), true, nil
		}
		return 0, false, value.ErrUncomparable
	case value.Int:
		switch b := b.(type) {
		case value.Int:
			return compareOrdered(a, b), true, nil
		case value.Float:
			order = value.CompareIntFloat(a, b)
			return order, order != 2, nil
		}
		return 0, false, value.ErrUncomparable
	case value.Float:
		switch b := b.(type) {
		case value.Int:
			order = value.CompareIntFloat(b, a)
			return -order, order != 2, nil
		case value.Float:
			return compareOrdered(a, b), a == a && b == b, nil
		}
		return 0, false, value.ErrUncomparable
	}
	return 0, false, nil
}

func compareOrdered[T string | value.Int | value.Float](a, b T) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}
