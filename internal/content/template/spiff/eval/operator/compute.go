// Package operator computes what an operator makes of two values.
package operator

import (
	"go.landscaper.dev/internal/content/template/spiff/eval/outcome"
	"go.landscaper.dev/internal/content/template/spiff/eval/work"
	"go.landscaper.dev/internal/content/template/spiff/syntax"
	"go.landscaper.dev/internal/content/template/spiff/value"
)

// Apply computes an operator whose operands are there.
func Apply(r *work.Run, op syntax.Op, a, b value.Value) (value.Value, error) {
	switch op {
	case syntax.Join:
		return join(a, b)
	case syntax.Equal, syntax.Unequal:
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
	order, ok, err := value.Compare(a, b)
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
