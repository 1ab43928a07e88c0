package data

import (
	"sort"

	"go.landscaper.dev/internal/content/template/spiff/builtin/call"
	"go.landscaper.dev/internal/content/template/spiff/value"
)

// Sorting are the functions that sort.
var Sorting = []call.Function{
	{Name: "sort", Usage: "sort(list [, less])", Result: "list", Min: 1, Max: 2, Keeps: true, Run: sortList,
		Doc: "A new, sorted list of texts or of integers. A lambda with two parameters gives another order: it " +
			"yields true, or a negative integer, if its first argument comes first. The order of equal entries is kept.",
		Example: `sort([3, 1, 2], |a,b|->b < a)`, Gives: `[3,2,1]`},
}

func sortList(c *call.Call) (value.Value, error) {
	l, err := c.List(0)
	if err != nil {
		return nil, err
	}
	less, err := order(c, l)
	if err != nil {
		return nil, err
	}
	items := append([]*value.Node(nil), l.Items...)
	var failed error
	sort.SliceStable(items, func(i, j int) bool {
		if failed != nil {
			return false
		}
		before, err := less(items[i].Value, items[j].Value)
		failed = err
		return before
	})
	if failed != nil {
		return nil, failed
	}
	return value.NewList(items), nil
}

type lessFunc func(a, b value.Value) (bool, error)

// order is the order of a list: given by a lambda, or the natural one.
func order(c *call.Call, l *value.List) (lessFunc, error) {
	if c.Len() == 2 {
		if _, _, ok := c.Arity(c.Args[1]); !ok {
			return nil, c.Wrong(1, "a lambda")
		}
		return func(a, b value.Value) (bool, error) { return lambdaOrder(c, a, b) }, nil
	}
	texts, ints := true, true
	for _, n := range l.Items {
		_, isText := n.Value.(value.String)
		_, isInt := n.Value.(value.Int)
		texts, ints = texts && isText, ints && isInt
	}
	switch {
	case texts:
		return func(a, b value.Value) (bool, error) {
			return a.(value.String).Text < b.(value.String).Text, nil
		}, nil
	case ints:
		return func(a, b value.Value) (bool, error) { return a.(value.Int) < b.(value.Int), nil }, nil
	}
	return nil, c.Failf("without a lambda all entries must be strings, or all integers")
}

func lambdaOrder(c *call.Call, a, b value.Value) (bool, error) {
	v, err := c.Invoke(c.Args[1], a, b)
	if err != nil {
		return false, err
	}
	switch v := v.(type) {
	case value.Bool:
		return bool(v), nil
	case value.Int:
		return v < 0, nil
	}
	return false, c.Failf("lambda must give a bool or an integer, not %s", value.A(v))
}
