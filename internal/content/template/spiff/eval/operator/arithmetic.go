package operator

import (
	"math"

	"go.landscaper.dev/internal/content/template/spiff/eval/outcome"
	"go.landscaper.dev/internal/content/template/spiff/eval/work"
	"go.landscaper.dev/internal/content/template/spiff/network"
	"go.landscaper.dev/internal/content/template/spiff/syntax"
	"go.landscaper.dev/internal/content/template/spiff/value"
)

// arithmetic computes + - * / % for numbers and network addresses.
func arithmetic(r *work.Run, op syntax.Op, a, b value.Value) (value.Value, error) {
	if s, ok := a.(value.String); ok && op != syntax.Mod {
		v, err := addresses(op, s, b)
		if err != nil {
			return nil, outcome.Fail("%s %s %s: %s", r.Show(a), op, r.Show(b), err)
		}
		return v, nil
	}
	x, xIsInt := a.(value.Int)
	y, yIsInt := b.(value.Int)
	if xIsInt && yIsInt {
		return integers(op, x, y)
	}
	if op == syntax.Mod {
		return nil, outcome.Fail("%% needs integers, not %s and %s", a.TypeName(), b.TypeName())
	}
	f, ok := value.Number(a)
	g, ok2 := value.Number(b)
	if !ok || !ok2 {
		return nil, outcome.Fail("%s needs numbers (or an IP address or CIDR on the left), not %s and %s",
			op, a.TypeName(), b.TypeName())
	}
	switch op {
	case syntax.Add:
		return value.Float(f + g), nil
	case syntax.Sub:
		return value.Float(f - g), nil
	case syntax.Mul:
		return value.Float(f * g), nil
	}
	if g == 0 {
		return nil, outcome.Fail("division by zero")
	}
	return value.Float(f / g), nil
}

func integers(op syntax.Op, a, b value.Int) (value.Value, error) {
	switch op {
	case syntax.Add:
		return a + b, nil
	case syntax.Sub:
		return a - b, nil
	case syntax.Mul:
		return a * b, nil
	}
	if b == 0 {
		return nil, outcome.Fail("division by zero")
	}
	if a == math.MinInt64 && b == -1 {
		if op == syntax.Mod {
			return value.Int(0), nil
		}
		return a, nil
	}
	if op == syntax.Mod {
		return a % b, nil
	}
	return a / b, nil
}

// addresses computes with IP addresses and CIDR ranges.
func addresses(op syntax.Op, a value.String, b value.Value) (value.Value, error) {
	if n, ok := b.(value.Int); ok {
		text, err := network.Shift(string(op), a.Text, int64(n))
		return value.String{Text: text, Data: a.Data}, err
	}
	if s, ok := b.(value.String); ok && op == syntax.Sub {
		n, err := network.Distance(a.Text, s.Text)
		return value.Int(n), err
	}
	return nil, outcome.Fail("an integer is needed on the right of an address")
}
