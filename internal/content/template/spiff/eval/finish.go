package eval

import (
	"strings"

	"go.landscaper.dev/internal/content/template/spiff/eval/embedded"
	"go.landscaper.dev/internal/content/template/spiff/eval/work"
	"go.landscaper.dev/internal/content/template/spiff/value"
)

// Output is what Finish makes of a result.
type Output struct {
	KeepTemporary, KeepEscapes, Interpolation bool
}

// Finish removes temporary nodes and escapes from a result.
func (o Output) Finish(v value.Value) value.Value {
	if !o.KeepTemporary {
		v = value.DropFlagged(v, value.Temporary|value.Local)
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
	return value.Rewrite(v, func(n *value.Node) (value.Value, bool) { return o.unescape(n.Value), true }, unescapeKey)
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
	for _, p := range embedded.Split(s) {
		if p.Escaped {
			b.WriteString("((" + p.Text[len("((!"):])
			continue
		}
		b.WriteString(p.Text)
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
	if t, ok := n.Work.(*work.Task); ok && t.State == work.Blocked {
		return t.Raw
	}
	return value.Rewrite(n.Value, func(n *value.Node) (value.Value, bool) {
		v := partialValue(n)
		return v, !value.IsUndefined(v)
	}, nil)
}
