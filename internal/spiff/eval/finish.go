package eval

import (
	"strings"

	"go.landscaper.dev/internal/spiff/value"
)

// dropFlagged removes all nodes below v that have one of the flags.
func dropFlagged(v value.Value, flags value.Flags) value.Value {
	if !value.ShapeOf(v).Marked || flags == 0 {
		return v
	}
	return rewrite(v, func(n *value.Node) (value.Value, bool) {
		return dropFlagged(n.Value, flags), !n.Flags.Any(flags)
	}, nil)
}

// rewrite copies a list or map; change gives the new value of a child and
// whether it stays, rename the new name of a key.
func rewrite(v value.Value, change func(*value.Node) (value.Value, bool), rename func(string) string) value.Value {
	switch v := v.(type) {
	case *value.List:
		items := make([]*value.Node, 0, len(v.Items))
		for _, n := range v.Items {
			if child, keep := change(n); keep {
				items = append(items, copied(n, child))
			}
		}
		list := value.NewList(items)
		list.Key = v.Key
		return list
	case *value.Map:
		b := value.NewBuilder(v.Len())
		b.Data = v.Data
		for i, k := range v.Keys {
			if rename != nil && !v.Data {
				k = rename(k)
			}
			if child, keep := change(v.Items[i]); keep {
				b.Set(k, copied(v.Items[i], child))
			}
		}
		return b.Map()
	}
	return v
}

func copied(n *value.Node, v value.Value) *value.Node {
	return &value.Node{Value: v, Source: n.Source, Line: n.Line, Flags: n.Flags}
}

// Output is what Finish makes of a result.
type Output struct {
	KeepTemporary, KeepEscapes, Interpolation bool
}

// Finish removes temporary nodes and escapes from a result.
func (o Output) Finish(v value.Value) value.Value {
	if !o.KeepTemporary {
		v = dropFlagged(v, value.Temporary|value.Local)
	}
	if !o.KeepEscapes {
		v = o.unescape(v)
	}
	return v
}

func (o Output) unescape(v value.Value) value.Value {
	if s, ok := v.(value.String); ok {
		if !s.Data {
			s.Text = o.unescapeText(s.Text)
		}
		return s
	}
	if !value.ShapeOf(v).Active {
		return v
	}
	return rewrite(v, func(n *value.Node) (value.Value, bool) { return o.unescape(n.Value), true }, unescapeKey)
}

// unescapeText removes one "!" behind the opening brackets.
func (o Output) unescapeText(s string) string {
	if strings.HasPrefix(s, "((!") && strings.HasSuffix(s, "))") {
		return "((" + s[len("((!"):]
	}
	if !o.Interpolation {
		return s
	}
	var b strings.Builder
	for _, p := range splitInterpolation(s) {
		if p.escaped {
			b.WriteString("((" + p.text[len("((!"):])
			continue
		}
		b.WriteString(p.text)
	}
	return b.String()
}

// unescapeKey removes one "!" of an escaped insert key.
func unescapeKey(key string) string {
	for _, prefix := range []string{"<<<!", "<<!"} {
		if rest, ok := strings.CutPrefix(key, prefix); ok {
			return strings.TrimSuffix(prefix, "!") + rest
		}
	}
	return key
}

// State reduces a finished result to its state document: the nodes of the root
// that are marked as state.
func (o Output) State(v value.Value) *value.Map {
	b := value.NewBuilder(4)
	if m, ok := v.(*value.Map); ok {
		for i, n := range m.Items {
			if n.Flags.Has(value.State) {
				b.SetValue(m.Keys[i], o.Finish(n.Value))
			}
		}
	}
	return b.Map()
}

// partialValue is the content of a node with unresolved parts as their text.
func partialValue(n *value.Node) value.Value {
	if t, ok := n.Work.(*task); ok && t.state == blocked {
		return t.raw
	}
	return rewrite(n.Value, func(n *value.Node) (value.Value, bool) {
		v := partialValue(n)
		return v, !value.IsUndefined(v)
	}, nil)
}
