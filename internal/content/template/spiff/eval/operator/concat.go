package operator

import (
	"go.landscaper.dev/internal/base/number"
	"go.landscaper.dev/internal/content/template/spiff/eval/outcome"
	"go.landscaper.dev/internal/content/template/spiff/value"
)

// join is the juxtaposition of two operands.
func join(a, b value.Value) (value.Value, error) {
	switch a := a.(type) {
	case *value.List:
		return appendTo(a, b), nil
	case *value.Map:
		return union(a, b)
	}
	left, ok := joinable(a)
	if !ok {
		return nil, cannotJoin(a, b)
	}
	right, ok := joinable(b)
	if !ok {
		opaque, isOpaque := b.(value.Opaque)
		if !isOpaque || b.TypeName() != "lambda" {
			return nil, cannotJoin(a, b)
		}
		text, _ := opaque.Plain().(value.String)
		right = value.LambdaText(text.Text)
	}
	return value.String{Text: left + right, Data: isData(a) || isData(b)}, nil
}

func cannotJoin(a, b value.Value) error {
	return outcome.Fail("%s cannot be joined with %s", value.A(a), value.A(b))
}

// joinable renders the operands that can be part of a text.
func joinable(v value.Value) (string, bool) {
	if f, ok := v.(value.Float); ok {
		return number.Plain(float64(f)), true
	}
	return value.SimpleText(v)
}

func isData(v value.Value) bool { return value.ShapeOf(v).Data }

func appendTo(l *value.List, b value.Value) value.Value {
	var more []*value.Node
	switch b := b.(type) {
	case value.Null:
		return l
	case *value.List:
		more = b.Items
	default:
		more = []*value.Node{value.New(b)}
	}
	items := make([]*value.Node, 0, len(l.Items)+len(more))
	items = append(append(items, l.Items...), more...)
	return value.NewList(items)
}

func union(m *value.Map, b value.Value) (value.Value, error) {
	other, ok := b.(*value.Map)
	if value.IsNull(b) || ok && other.Len() == 0 {
		return m, nil
	}
	if !ok {
		return nil, cannotJoin(m, b)
	}
	keys, items := mergeSorted(m, other)
	return value.NewMap(keys, items, m.Data || other.Data), nil
}

// mergeSorted unites two maps; fields of b win.
func mergeSorted(a, b *value.Map) ([]string, []*value.Node) {
	keys := make([]string, 0, a.Len()+b.Len())
	items := make([]*value.Node, 0, a.Len()+b.Len())
	i, j := 0, 0
	for i < a.Len() || j < b.Len() {
		switch {
		case j == b.Len() || i < a.Len() && a.Keys[i] < b.Keys[j]:
			keys, items = append(keys, a.Keys[i]), append(items, a.Items[i])
			i++
		default:
			if i < a.Len() && a.Keys[i] == b.Keys[j] {
				i++
			}
			keys, items = append(keys, b.Keys[j]), append(items, b.Items[j])
			j++
		}
	}
	return keys, items
}
