// Package operator computes what an operator makes of two values.
package operator

import (
	"go.landscaper.dev/internal/spiff/eval/outcome"
	"go.landscaper.dev/internal/spiff/eval/work"
	"go.landscaper.dev/internal/spiff/syntax"
	"go.landscaper.dev/internal/spiff/value"
)

// Apply computes an operator whose operands are there.
func Apply(r *work.Run, op syntax.Op, a, b value.Value) (value.Value, error) {
	switch op {
	case syntax.Join:
		return join(r, a, b)
	case syntax.Equal, syntax.Unequal:
		if err := r.Step(value.ShapeOf(a).Size / 16); err != nil {
			return nil, err
		}
		same, err := value.Equal(a, b)
		if err != nil {
			return nil, outcome.Fail("%s: %s %s %s", err, a.TypeName(), op, b.TypeName())
		}
		return value.Bool(same == (op == syntax.Equal)), nil
	case syntax.Less, syntax.LessEq, syntax.Greater, syntax.GreaterEq:
		return ordered(op, a, b)
	}
	return arithmetic(r, op, a, b)
}

func ordered(op syntax.Op, a, b value.Value) (value.Value, error) {
	order, ok, err := compare(a, b)
	if err != nil {
		return nil, outcome.Fail("%s: %s %s %s", err, a.TypeName(), op, b.TypeName())
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
