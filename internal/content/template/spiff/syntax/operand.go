package syntax

import "strings"

// unary reads an operand with its prefix operators.
func (p *parser) unary() Expr {
	p.enter()
	defer p.leave()
	switch c := p.peek(); {
	case c == '"':
		return Text{Value: p.stringLiteral()}
	case c == '~':
		p.pos++
		if p.accept("~") {
			return Undefined{}
		}
		return Nil{}
	case c == '$':
		p.pos++
		return Text{Value: p.simpleName()}
	case c == '!':
		p.pos++
		p.space()
		return &Not{Operand: p.unary()}
	case c == '*':
		p.pos++
		return &Instantiate{Operand: p.unary()}
	case isDigit(c) || c == '-':
		if n := p.number(); n != nil {
			return n
		}
	}
	if isSymbol(p.peek()) {
		if e := p.reserved(); e != nil {
			return e
		}
	}
	return p.chain(p.base())
}

// reserved reads an operand that starts with a reserved word, or returns nil
// if the word here is an ordinary name.
func (p *parser) reserved() Expr {
	switch {
	case p.literalWord("true"):
		return Bool{true}
	case p.literalWord("false"):
		return Bool{false}
	case p.literalWord("nil"):
		return Nil{}
	case p.literalWord("auto"):
		return Auto{}
	case p.word("merge") && !strings.ContainsRune("(.*:[", rune(p.at(len("merge")))):
		return p.merge()
	case p.word("lambda"):
		return p.lambdaWord()
	}
	return p.mapping()
}

// literalWord accepts a word that stands for a value. Followed by a path, a
// call or a tag it is a name.
func (p *parser) literalWord(w string) bool {
	if !p.word(w) {
		return false
	}
	next := p.at(len(w))
	if next == '(' || next == '.' && isSymbol(p.at(len(w)+1)) || tagEnd(p.src, p.pos) > p.pos {
		return false
	}
	p.pos += len(w)
	return true
}

func (p *parser) lambdaWord() Expr {
	start := p.pos
	p.pos += len("lambda")
	spaced := p.space()
	if p.lambdaHeaderAhead() {
		return p.lambda()
	}
	if spaced && p.startsOperand() && !p.wordOperator() {
		return &LambdaOf{Operand: p.expr()}
	}
	p.pos = start
	return nil
}

// merge reads a merge expression; the longest form wins.
func (p *parser) merge() Expr {
	p.need("merge")
	m := &Merge{}
	switch {
	case p.spacedWord("replace"):
		m.Replace = true
	case p.spacedWord("required"):
		m.Required = true
		return m
	case p.spacedWord("on"):
		start := p.pos
		if !p.space() || !isSymbol(p.peek()) {
			p.pos = start - len("on")
			p.mergePath(m)
			return m
		}
		end := nameEnd(p.src, p.pos)
		m.On = p.src[p.pos:end]
		p.pos = end
	}
	start := p.pos
	if p.space() {
		p.mergePath(m)
	}
	if !m.Redirect {
		p.pos = start
	}
	return m
}

func (p *parser) mergePath(m *Merge) {
	first := p.peek()
	if !isSymbol(first) && (first != '.' || !isSymbol(p.at(1))) {
		return
	}
	p.accept(".")
	m.Redirect = true
	m.Path = p.steps(p.key())
}

// spacedWord accepts white space followed by a whole word.
func (p *parser) spacedWord(w string) bool {
	start := p.pos
	if p.space() && p.word(w) && p.at(len(w)) != '.' && p.at(len(w)) != '(' {
		p.pos += len(w)
		return true
	}
	p.pos = start
	return false
}

// marked reads markers with an optional bracketed expression.
func (p *parser) marked() Expr {
	m := &Marked{}
	for {
		m.Markers = append(m.Markers, p.marker())
		start := p.pos
		spaced := p.space()
		if p.peek() == '(' {
			p.markedGroup(m)
			return m
		}
		if !spaced || p.peek() != '&' {
			p.pos = start
			return m
		}
	}
}

func (p *parser) markedGroup(m *Marked) {
	start := p.pos
	p.pos++
	m.Body = p.expr()
	p.space()
	p.need(")")
	m.Source = p.src[start:p.pos]
}

var markerNames = []string{"template", "temporary", "local", "inject", "default", "state", "dynamic"}

func (p *parser) marker() Marker {
	p.need("&")
	if p.accept("tag:") {
		m := Marker{Name: "tag", Global: p.accept("*")}
		end := tagNameEnd(p.src, p.pos)
		if end == p.pos {
			p.expected("a tag name")
		}
		m.Tag = normalTag(p.src[p.pos:end])
		p.pos = end
		return m
	}
	for _, name := range markerNames {
		if p.word(name) {
			p.pos += len(name)
			return Marker{Name: name}
		}
	}
	p.expected("one of the markers &" + strings.Join(markerNames, ", &") + ", &tag:NAME")
	return Marker{}
}
