package scope

import (
	"strings"

	"go.landscaper.dev/internal/content/template/spiff/syntax"
	"go.landscaper.dev/internal/content/template/spiff/value"
)

// Lambda is a function value.
type Lambda struct {
	Def      *syntax.Lambda
	defaults []*value.Node          // evaluated defaults, parallel to the parameters
	Captured map[string]*value.Node // local names at the place of definition
	place    *Level                 // scopes at the place of definition, for "_.x"
	weight   value.Shape            // of the defaults
}

// NewLambda makes a lambda; the defaults are those of the parameters that have one.
func NewLambda(def *syntax.Lambda, defaults []*value.Node, captured map[string]*value.Node, place *Level) *Lambda {
	l := &Lambda{Def: def, defaults: defaults, Captured: captured, place: place}
	l.weigh()
	return l
}

// TypeName implements value.Value.
func (l *Lambda) TypeName() string { return "lambda" }

// Plain implements value.Opaque.
func (l *Lambda) Plain() value.Value { return value.Data("(( " + l.text() + " ))") }

// Same implements value.Opaque.
func (l *Lambda) Same(other value.Opaque) bool {
	o, ok := other.(*Lambda)
	return ok && (o == l || o.text() == l.text())
}

// Weight implements value.Opaque.
func (l *Lambda) Weight() value.Shape { return l.weight }

// text is the canonical text. Lambdas may be shared by goroutines as part of
// prepared stubs, so it is not kept.
func (l *Lambda) text() string {
	head := syntax.LambdaHead(l.Def, func(i int) string { return ValueText(l.defaults[i].Value) })
	return "lambda" + head + syntax.String(l.Def.Body)
}

// ShortText is the text for messages.
func (l *Lambda) ShortText() string {
	if l.weight.Size > syntax.MaxShown || l.weight.Bytes > 4*syntax.MaxShown {
		return "lambda"
	}
	return syntax.Short(l.text())
}

// weigh sums up the defaults, which are part of the text.
func (l *Lambda) weigh() {
	nodes := make([]*value.Node, 0, len(l.defaults))
	for _, n := range l.defaults {
		if n != nil {
			nodes = append(nodes, n)
		}
	}
	l.weight = value.NewList(nodes).Shape
	l.weight.Active, l.weight.Open, l.weight.Marked = false, false, false
}

// Arity returns the smallest and largest number of arguments; largest is -1 if unbounded.
func (l *Lambda) Arity() (smallest, largest int) {
	for i, p := range l.Def.Params {
		if p.Default == nil && (!l.Def.Variadic || i < len(l.Def.Params)-1) {
			smallest++
		}
	}
	if l.Def.Variadic {
		return smallest, -1
	}
	return smallest, len(l.Def.Params)
}

// ValueText writes a value as a literal of the language.
func ValueText(v value.Value) string {
	switch v := v.(type) {
	case value.Null:
		return "nil"
	case value.String:
		return syntax.Quote(v.Text)
	case value.Float:
		return syntax.FloatText(float64(v))
	case *Lambda:
		return v.text()
	case *value.List:
		parts := make([]string, len(v.Items))
		for i, n := range v.Items {
			parts[i] = ValueText(n.Value)
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case *value.Map:
		if v.Len() == 0 {
			return "{ }"
		}
		parts := make([]string, v.Len())
		for i, k := range v.Keys {
			parts[i] = syntax.Quote(k) + " = " + ValueText(v.Items[i].Value)
		}
		return "{ " + strings.Join(parts, ", ") + " }"
	case value.Bool, value.Int:
		text, _ := value.SimpleText(v)
		return text
	}
	return "<" + value.TypeName(v) + ">"
}
