package syntax

import "strings"

// mapping reads the words with brackets (map[…], sum[…], sync[…] and so on),
// or returns nil if no such word stands here.
func (p *parser) mapping() Expr {
	for _, kind := range []MappingKind{MapKind, SelectKind, FilterKind, SumKind, CatchKind} {
		if !p.has(string(kind)) {
			continue
		}
		switch next := p.at(len(kind)); {
		case next == '[' && kind == SumKind:
			p.pos += len(kind) + 1
			return p.sum()
		case next == '[':
			p.pos += len(kind) + 1
			return p.mappingBody(kind, "]")
		case next == '{' && kind != SumKind && kind != CatchKind:
			p.pos += len(kind) + 1
			return p.mappingBody(kind, "}")
		}
	}
	if p.has("sync[") {
		p.pos += len("sync[")
		return p.sync()
	}
	return nil
}

func (p *parser) mappingBody(kind MappingKind, closing string) Expr {
	m := &Mapping{Kind: kind, Curly: closing == "}", Source: p.choices()}
	m.Fn = p.fn()
	p.space()
	p.need(closing)
	return p.chain(m)
}

func (p *parser) sum() Expr {
	m := &Mapping{Kind: SumKind, Source: p.choices()}
	p.space()
	p.need("|")
	m.Init = p.choices()
	m.Fn = p.fn()
	p.space()
	p.need("]")
	return p.chain(m)
}

// choices reads an expression that is no lambda and no scope literal.
func (p *parser) choices() Expr {
	p.enter()
	defer p.leave()
	p.space()
	return p.binary(0, nil)
}

// fn reads an inline lambda, or an expression yielding one behind "|".
func (p *parser) fn() Expr {
	p.space()
	if p.lambdaHeaderAhead() {
		l := p.lambda()
		l.Inline = true
		return l
	}
	p.need("|")
	return p.expr()
}

// sync reads the condition with value and timeout of sync[source …].
func (p *parser) sync() Expr {
	s := &Sync{Source: p.choices()}
	s.Cond = p.fn()
	p.space()
	if lambda, ok := s.Cond.(*Lambda); ok && lambda.Inline && p.accept(",") {
		s.Shared = true
		s.Value = p.expr()
	} else if p.peek() == '|' {
		s.Value = p.fn()
	}
	p.space()
	if s.Value != nil && p.accept("|") {
		s.Timeout = p.expr()
		p.space()
	}
	p.need("]")
	return p.chain(s)
}

// lambdaHeaderAhead reports whether "| params | ->" stands here. A default value settles the
// question, since "=" is no operator.
func (p *parser) lambdaHeaderAhead() bool {
	src, i := p.src, p.pos
	if i >= len(src) || src[i] != '|' {
		return false
	}
	for i++; i < len(src); i++ {
		switch c := src[i]; {
		case isSymbol(c), isSpace(c), c == ',', c == '.':
		case c == '=':
			return i+1 < len(src) && src[i+1] != '='
		case c == '|':
			return strings.HasPrefix(strings.TrimLeft(src[i+1:], " \t\r\n"), "->")
		default:
			return false
		}
	}
	return false
}

func (p *parser) lambda() *Lambda {
	p.enter()
	defer p.leave()
	l := &Lambda{}
	p.need("|")
	p.space()
	for p.peek() != '|' {
		p.param(l)
		if l.Variadic {
			break
		}
		if !p.accept(",") {
			break
		}
		p.space()
	}
	p.need("|")
	p.space()
	p.need("->")
	l.Body = p.expr()
	return l
}

func (p *parser) param(l *Lambda) {
	start := p.pos
	param := Param{Name: p.simpleName()}
	p.space()
	if p.accept("...") {
		l.Variadic = true
	} else if p.assignAhead() {
		p.pos++
		param.Default = p.expr()
	} else if n := len(l.Params); n > 0 && l.Params[n-1].Default != nil {
		p.fail(start, "parameter %q needs a default, since the one before has one", param.Name)
	}
	l.Params = append(l.Params, param)
	p.space()
}
