package syntax

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// String returns the canonical text of an expression, as it stands in reports
// and in printed lambdas.
func String(e Expr) string {
	p := &printer{}
	p.expr(e)
	return p.String()
}

// printer writes the canonical text.
type printer struct{ strings.Builder }

func (p *printer) add(parts ...string) {
	for _, s := range parts {
		p.WriteString(s)
	}
}

func (p *printer) expr(e Expr) {
	switch e := e.(type) {
	case Nil:
		p.add("nil")
	case Undefined:
		p.add("~~")
	case Bool:
		p.add(strconv.FormatBool(e.Value))
	case Int:
		p.add(strconv.FormatInt(e.Value, 10))
	case Float:
		p.add(FloatText(e.Value))
	case Text:
		p.text(e)
	case Auto:
		p.add("auto")
	case Element:
	case *Ref:
		p.ref(e)
	case *Merge:
		p.merge(e)
	case *Marked:
		p.marked(e)
	case *Lambda:
		p.lambda(e)
	case *Mapping:
		p.mapping(e)
	case *Sync:
		p.sync(e)
	default:
		p.composite(e)
	}
}

func (p *printer) composite(e Expr) {
	switch e := e.(type) {
	case *Index:
		p.indexed(e)
	case *Qualify:
		p.operand(e.Base)
		p.steps(e.Steps, false)
	case *Project:
		p.project(e)
	case *Call:
		p.call(e)
	case *List:
		p.add("[")
		p.items(e.Items)
		p.add("]")
	case *Map:
		p.add("{ ")
		p.entries(e.Entries)
		if len(e.Entries) > 0 {
			p.add(" ")
		}
		p.add("}")
	case *Range:
		p.span(e)
	case *Binary:
		p.binary(e)
	case *Cond:
		p.expr(e.If)
		p.wrap(" ? ", e.Then, " : ")
		p.expr(e.Else)
	case *Scope:
		p.add("(")
		p.entries(e.Entries)
		p.wrap(") ", e.Body, "")
	default:
		p.wrapped(e)
	}
}

// wrapped writes an expression that puts fixed text around another one.
func (p *printer) wrapped(e Expr) {
	switch e := e.(type) {
	case *Group:
		p.wrap("( ", e.Body, " )")
	case *Not:
		p.wrap("!(", e.Operand, ")")
	case *Instantiate:
		p.wrap("*(", e.Operand, ")")
	case *LambdaOf:
		p.wrap("lambda ", e.Operand, "")
	case *Prefer:
		p.wrap("prefer ", e.Body, "")
	}
}

func (p *printer) wrap(before string, e Expr, after string) {
	p.add(before)
	p.expr(e)
	p.add(after)
}

func (p *printer) text(t Text) {
	if t.Bare {
		p.add(t.Value)
		return
	}
	p.add(Quote(t.Value))
}

// Quote writes a text as a string literal of the language.
func Quote(s string) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		return strconv.Quote(s)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func (p *printer) ref(r *Ref) {
	if r.Tag != "" {
		p.add(r.Tag, "::")
		if len(r.Steps) == 0 {
			p.add(".")
			return
		}
	}
	p.steps(r.Steps, !r.Absolute)
}

// steps joins steps with dots; bare leaves the dot in front of the first out.
func (p *printer) steps(steps []Step, bare bool) {
	for i, s := range steps {
		if i > 0 || !bare {
			p.add(".")
		}
		p.add(StepText(s))
	}
}

// StepText is the text of one path step.
func StepText(s Step) string {
	if s.IsIndex {
		return "[" + strconv.Itoa(s.Index) + "]"
	}
	return s.Key
}

// operand prints the base of a chain. Computed bases are put into brackets.
func (p *printer) operand(e Expr) {
	if chained(e) {
		p.expr(e)
		return
	}
	p.wrap("(", e, ")")
}

// chained reports whether a path can follow without brackets.
func chained(e Expr) bool {
	switch e := e.(type) {
	case *Ref, *Group, Element:
		return true
	case *Qualify:
		return chained(e.Base)
	case *Index:
		return e.Base == nil || chained(e.Base)
	case *Project:
		return chained(e.Base)
	}
	return false
}

func (p *printer) indexed(x *Index) {
	if x.Base != nil {
		p.operand(x.Base)
	}
	p.add(".[")
	p.items(x.Items)
	p.add("]")
}

func (p *printer) project(x *Project) {
	p.operand(x.Base)
	if x.Slice == nil {
		p.add(".[*]")
	} else {
		p.add(".")
		p.span(x.Slice)
	}
	if x.Rest != nil {
		p.expr(x.Rest)
	}
}

func (p *printer) span(r *Range) {
	p.add("[")
	if r.From != nil {
		p.expr(r.From)
	}
	p.add("..")
	if r.To != nil {
		p.expr(r.To)
	}
	p.add("]")
}

func (p *printer) call(c *Call) {
	if c.Fn == nil {
		p.add(c.Builtin)
	} else {
		p.operand(c.Fn)
	}
	if c.Curry {
		p.add("*")
	}
	p.add("(")
	for i, n := range c.Named {
		if i > 0 {
			p.add(", ")
		}
		p.wrap(n.Name+"=", n.Value, "")
	}
	if len(c.Named) > 0 && len(c.Args) > 0 {
		p.add(", ")
	}
	p.items(c.Args)
	p.add(")")
}

func (p *printer) items(items []Item) {
	for i, item := range items {
		if i > 0 {
			p.add(", ")
		}
		p.expr(item.Value)
		if item.Spread {
			p.add("...")
		}
	}
}

func (p *printer) entries(entries []Entry) {
	for i, e := range entries {
		if i > 0 {
			p.add(", ")
		}
		p.expr(e.Key)
		p.wrap(" = ", e.Value, "")
	}
}

// binary prints operators. Long chains lean to the left, so they are walked in
// a loop.
func (p *printer) binary(b *Binary) {
	chain := []*Binary{b}
	for {
		left, ok := chain[len(chain)-1].L.(*Binary)
		if !ok {
			break
		}
		chain = append(chain, left)
	}
	p.expr(chain[len(chain)-1].L)
	for i := len(chain) - 1; i >= 0; i-- {
		if op := chain[i].Op; op == Join {
			p.add(" ")
		} else {
			p.add(" ", string(op), " ")
		}
		p.expr(chain[i].R)
	}
}

func (p *printer) merge(m *Merge) {
	p.add("merge")
	switch {
	case m.Replace:
		p.add(" replace")
	case m.Required:
		p.add(" required")
	case m.On != "":
		p.add(" on ", m.On)
	}
	if m.Redirect {
		p.add(" ")
		p.steps(m.Path, true)
	}
}

func (p *printer) marked(m *Marked) {
	for i, marker := range m.Markers {
		if i > 0 {
			p.add(" ")
		}
		p.add("&", marker.Name)
		if marker.Name == "tag" {
			p.add(":")
			if marker.Global {
				p.add("*")
			}
			p.add(marker.Tag)
		}
	}
	if m.Body != nil {
		p.wrap(" (", m.Body, ")")
	}
}

// LambdaHead is the text of a lambda up to its arrow. Defaults are printed by
// the given function, so that evaluated ones can be shown.
func LambdaHead(l *Lambda, defaultText func(i int) string) string {
	var b strings.Builder
	b.WriteString("|")
	for i, param := range l.Params {
		if i > 0 {
			b.WriteString(",")
		}
		b.WriteString(param.Name)
		if l.Variadic && i == len(l.Params)-1 {
			b.WriteString("...")
		} else if param.Default != nil {
			fmt.Fprintf(&b, "=%s", defaultText(i))
		}
	}
	b.WriteString("|->")
	return b.String()
}

func (p *printer) lambda(l *Lambda) {
	if !l.Inline {
		p.add("lambda")
	}
	p.add(LambdaHead(l, func(i int) string { return String(l.Params[i].Default) }))
	p.expr(l.Body)
}

func (p *printer) fn(e Expr) {
	if l, ok := e.(*Lambda); ok && l.Inline {
		p.lambda(l)
		return
	}
	p.wrap("|", e, "")
}

func (p *printer) mapping(m *Mapping) {
	opening, closing := "[", "]"
	if m.Curly {
		opening, closing = "{", "}"
	}
	p.add(string(m.Kind), opening)
	p.expr(m.Source)
	if m.Init != nil {
		p.wrap("|", m.Init, "")
	}
	p.fn(m.Fn)
	p.add(closing)
}

func (p *printer) sync(s *Sync) {
	p.wrap("sync[", s.Source, "")
	p.fn(s.Cond)
	if s.Shared {
		p.wrap(",", s.Value, "")
	} else if s.Value != nil {
		p.fn(s.Value)
	}
	if s.Timeout != nil {
		p.wrap("|", s.Timeout, "")
	}
	p.add("]")
}
