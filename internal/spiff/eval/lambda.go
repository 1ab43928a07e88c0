package eval

import (
	"errors"
	"strconv"
	"strings"

	"go.landscaper.dev/internal/spiff/syntax"
	"go.landscaper.dev/internal/spiff/value"
)

// lambda is a function value.
type lambda struct {
	def      *syntax.Lambda
	defaults []*value.Node          // evaluated defaults, parallel to the parameters
	captured map[string]*value.Node // local names at the place of definition
	place    *scope                 // scopes at the place of definition, for "_.x"
	weight   value.Shape            // of the defaults
}

// TypeName implements value.Value.
func (l *lambda) TypeName() string { return "lambda" }

// Plain implements value.Opaque.
func (l *lambda) Plain() value.Value { return value.Data("(( " + l.text() + " ))") }

// Same implements value.Opaque.
func (l *lambda) Same(other value.Opaque) bool {
	o, ok := other.(*lambda)
	return ok && (o == l || o.text() == l.text())
}

// Weight implements value.Opaque.
func (l *lambda) Weight() value.Shape { return l.weight }

// text is the canonical text. Lambdas may be shared by goroutines as part of
// prepared stubs, so it is not kept.
func (l *lambda) text() string {
	head := syntax.LambdaHead(l.def, func(i int) string { return valueText(l.defaults[i].Value) })
	return "lambda" + head + syntax.String(l.def.Body)
}

// shortText is the text for messages.
func (l *lambda) shortText() string {
	if l.weight.Size > maxShown || l.weight.Bytes > 4*maxShown {
		return "lambda"
	}
	return short(l.text())
}

// weigh sums up the defaults, which are part of the text.
func (l *lambda) weigh() {
	nodes := make([]*value.Node, 0, len(l.defaults))
	for _, n := range l.defaults {
		if n != nil {
			nodes = append(nodes, n)
		}
	}
	l.weight = value.NewList(nodes).Shape
	l.weight.Active, l.weight.Open, l.weight.Marked = false, false, false
}

func (l *lambda) arity() (smallest, largest int) {
	for i, p := range l.def.Params {
		if p.Default == nil && (!l.def.Variadic || i < len(l.def.Params)-1) {
			smallest++
		}
	}
	if l.def.Variadic {
		return smallest, -1
	}
	return smallest, len(l.def.Params)
}

// definition is the scope in which a lambda or template was written.
func definition(v value.Value) *scope {
	switch v := v.(type) {
	case *lambda:
		return v.place
	case *template:
		return v.place.scope
	}
	return nil
}

// lambda evaluates a lambda literal.
func (e *env) lambda(def *syntax.Lambda) (value.Value, error) {
	l := &lambda{def: def, captured: e.scope.locals(), place: e.scope.lexical()}
	l.defaults = make([]*value.Node, len(def.Params))
	for i, p := range def.Params {
		if p.Default == nil {
			continue
		}
		v, err := e.whole(p.Default)
		if err != nil {
			return nil, err
		}
		if value.IsUndefined(v) {
			v = value.Null{}
		}
		l.defaults[i] = value.New(v)
	}
	l.weigh()
	return e.bounded(l)
}

// valueText writes a value as a literal of the language.
func valueText(v value.Value) string {
	switch v := v.(type) {
	case value.Null:
		return "nil"
	case value.String:
		return syntax.Quote(v.Text)
	case value.Float:
		return strconv.FormatFloat(float64(v), 'g', -1, 64)
	case *lambda:
		return v.text()
	case *value.List:
		parts := make([]string, len(v.Items))
		for i, n := range v.Items {
			parts[i] = valueText(n.Value)
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case *value.Map:
		if v.Len() == 0 {
			return "{ }"
		}
		parts := make([]string, v.Len())
		for i, k := range v.Keys {
			parts[i] = syntax.Quote(k) + " = " + valueText(v.Items[i].Value)
		}
		return "{ " + strings.Join(parts, ", ") + " }"
	case value.Bool, value.Int:
		text, _ := value.SimpleText(v)
		return text
	}
	return "<" + value.TypeName(v) + ">"
}

// lambdaOf turns the text of a lambda into a lambda.
func (e *env) lambdaOf(x *syntax.LambdaOf) (value.Value, error) {
	v, err := e.whole(x.Operand)
	if err != nil || value.IsUndefined(v) {
		return v, err
	}
	switch v := v.(type) {
	case *lambda:
		return v, nil
	case value.String:
		return e.lambdaText(v)
	}
	return nil, fail("lambda needs a lambda or the text of one, not %s", value.A(v))
}

func (e *env) lambdaText(s value.String) (value.Value, error) {
	text := value.LambdaText(s.Text)
	expr, err := e.parse(text)
	if err != nil {
		if e.Settings.Sensitive && s.Data {
			return nil, fail("text is no lambda")
		}
		return nil, fail("text is no lambda: %s", err)
	}
	def, ok := expr.(*syntax.Lambda)
	if !ok {
		return nil, fail("text is no lambda, it must look like |x|->x")
	}
	return e.lambda(def)
}

// apply1 calls a lambda with positional arguments.
func (e *env) apply1(l *lambda, args []*value.Node) (value.Value, error) {
	names, err := l.bind(args, nil)
	if err != nil {
		return nil, fail("%s: %s", l.shortText(), err)
	}
	return e.enter(l, names)
}

// enter evaluates the body of a lambda with its arguments bound.
func (e *env) enter(l *lambda, names []local) (value.Value, error) {
	if err := e.run.call(); err != nil {
		return nil, err
	}
	defer func() { e.run.calls-- }()
	s := e.scope
	if len(l.captured) > 0 {
		frame := make([]local, 0, len(l.captured))
		for name, n := range l.captured {
			frame = append(frame, local{name, n})
		}
		s = s.push(frame)
	}
	s = &scope{parent: s, names: names, self: l}
	inner := *e
	inner.scope = s
	inner.element = nil
	v, err := inner.whole(l.def.Body)
	if failed, ok := errors.AsType[*Failure](err); ok {
		return nil, e.traced(l, names, failed)
	}
	return v, err
}

// maxTrace bounds the call stack shown in a report.
const maxTrace = 20

// traced adds the call to the nested issues of a failure.
func (e *env) traced(l *lambda, names []local, failed *Failure) error {
	nested := failed.Issue.Nested
	if len(nested) >= maxTrace {
		return failed
	}
	args := make([]string, len(names))
	for i, n := range names {
		args[i] = n.name + "=" + short(e.Show(n.node.Value))
	}
	call := Issue{Message: "... evaluation of " + l.shortText() + " with " + strings.Join(args, ", ")}
	return &Failure{Issue: Issue{
		Message: failed.Issue.Message,
		Nested:  append(nested[:len(nested):len(nested)], call),
	}}
}
