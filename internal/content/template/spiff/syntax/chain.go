package syntax

import (
	"strconv"
	"strings"
)

// base reads the head of a chain.
func (p *parser) base() Expr {
	switch c := p.peek(); {
	case c == '(':
		p.pos++
		body := p.expr()
		p.space()
		p.need(")")
		return &Group{Body: body}
	case c == '{':
		return p.mapLiteral()
	case c == '[':
		return p.listOrRange()
	case c == '.' && p.at(1) == '[':
		p.pos += 2
		return &Index{Items: p.items("]")}
	case c == '.' && isSymbol(p.at(1)), isSymbol(c):
		return p.reference()
	}
	p.expected("an operand")
	return nil
}

func (p *parser) mapLiteral() Expr {
	p.need("{")
	p.space()
	if p.accept("}") {
		return &Map{}
	}
	return &Map{Entries: p.entries(p.expr(), "}")}
}

// listOrRange reads a list literal or a range in brackets.
func (p *parser) listOrRange() Expr {
	p.need("[")
	p.space()
	if p.accept("]") {
		return &List{}
	}
	first, isRange := p.rangeStart()
	if isRange {
		return p.rangeEnd(first)
	}
	return &List{Items: p.moreItems(first, "]")}
}

// rangeStart reads up to ".." and reports whether it is there.
func (p *parser) rangeStart() (Expr, bool) {
	p.space()
	if p.has("..") && !p.has("...") {
		p.pos += 2
		return nil, true
	}
	first := p.expr()
	p.space()
	if p.has("..") && !p.has("...") {
		p.pos += 2
		return first, true
	}
	return first, false
}

func (p *parser) rangeEnd(from Expr) *Range {
	p.space()
	r := &Range{From: from}
	if p.peek() != ']' {
		r.To = p.expr()
		p.space()
	}
	p.need("]")
	return r
}

// items reads a comma separated, non-empty list up to the closing bracket.
func (p *parser) items(closing string) []Item { return p.moreItems(p.expr(), closing) }

func (p *parser) moreItems(first Expr, closing string) []Item {
	var list []Item
	for value := first; ; value = p.expr() {
		p.space()
		list = append(list, Item{Value: value, Spread: p.accept("...")})
		p.space()
		if p.accept(closing) {
			return list
		}
		if !p.accept(",") {
			p.expected(`"," or "` + closing + `"`)
		}
	}
}

// reference reads a static path, optionally below a tag.
func (p *parser) reference() Expr {
	ref := &Ref{}
	if end := tagEnd(p.src, p.pos); end > p.pos {
		ref.Tag = normalTag(p.src[p.pos : end-2])
		p.pos = end
		if p.peek() == '.' && !isSymbol(p.at(1)) {
			p.pos++
			return ref
		}
		p.accept(".")
	} else if p.accept(".") {
		ref.Absolute = true
	}
	ref.Steps = p.steps(p.key())
	return ref
}

func (p *parser) key() Step {
	end := keyEnd(p.src, p.pos)
	if end == p.pos {
		p.expected("a field name")
	}
	key := p.src[p.pos:end]
	p.pos = end
	return Step{Key: key}
}

// steps reads the static steps behind the first ones.
func (p *parser) steps(path ...Step) []Step {
	for {
		if p.peek() == '.' && isSymbol(p.at(1)) {
			p.pos++
			path = append(path, p.key())
			continue
		}
		step, ok := p.staticIndex()
		if !ok {
			return path
		}
		path = append(path, step)
	}
}

// staticIndex reads [1], .[1] or [-1].
func (p *parser) staticIndex() (Step, bool) {
	i := p.pos
	if i < len(p.src) && p.src[i] == '.' {
		i++
	}
	if i >= len(p.src) || p.src[i] != '[' {
		return Step{}, false
	}
	start := i + 1
	i = start
	if i < len(p.src) && p.src[i] == '-' {
		i++
	}
	for i < len(p.src) && isDigit(p.src[i]) {
		i++
	}
	if i >= len(p.src) || p.src[i] != ']' {
		return Step{}, false
	}
	n, err := strconv.Atoi(p.src[start:i])
	if err != nil {
		return Step{}, false
	}
	p.pos = i + 1
	return Step{Index: n, IsIndex: true}, true
}

// chain reads the suffixes of a base: calls, paths, indices, projections.
func (p *parser) chain(base Expr) Expr {
	expr := base
	for n := 0; ; n++ {
		if n > maxNesting {
			p.fail(p.pos, "chain has more than %d calls and indices", maxNesting)
		}
		next := p.suffix(expr)
		if next == nil {
			return expr
		}
		expr = next
		if _, ok := expr.(*Project); ok {
			return expr
		}
	}
}

// suffix reads one suffix, or returns nil. A projection takes all the rest.
func (p *parser) suffix(base Expr) Expr {
	switch c := p.peek(); {
	case c == '(':
		return p.call(base, false)
	case c == '*' && p.at(1) == '(':
		p.pos++
		return p.call(base, true)
	case c == '.' && isSymbol(p.at(1)):
		return p.qualify(base)
	case c == '[' || c == '.' && p.at(1) == '[':
		if _, ok := p.peekStaticIndex(); ok {
			return p.qualify(base)
		}
		p.accept(".")
		p.need("[")
		return p.bracket(base)
	}
	return nil
}

func (p *parser) peekStaticIndex() (Step, bool) {
	start := p.pos
	step, ok := p.staticIndex()
	p.pos = start
	return step, ok
}

func (p *parser) qualify(base Expr) Expr {
	steps := p.steps()
	if ref, ok := base.(*Ref); ok {
		merged := append(append([]Step(nil), ref.Steps...), steps...)
		return &Ref{Tag: ref.Tag, Absolute: ref.Absolute, Steps: merged}
	}
	return &Qualify{Base: base, Steps: steps}
}

func (p *parser) bracket(base Expr) Expr {
	p.space()
	if p.accept("*]") {
		return &Project{Base: base, Rest: p.rest()}
	}
	first, isRange := p.rangeStart()
	if isRange {
		return &Project{Base: base, Slice: p.rangeEnd(first), Rest: p.rest()}
	}
	return &Index{Base: base, Items: p.moreItems(first, "]")}
}

func (p *parser) rest() Expr {
	p.enter()
	defer p.leave()
	if rest := p.chain(Element{}); rest != (Element{}) {
		return rest
	}
	return nil
}

func (p *parser) call(fn Expr, curry bool) Expr {
	call := &Call{Fn: fn, Curry: curry}
	if ref, ok := fn.(*Ref); ok && bareName(ref) {
		call.Fn, call.Builtin = nil, ref.Steps[0].Key
	}
	p.need("(")
	p.space()
	for p.namedAhead() {
		name := p.simpleName()
		p.space()
		p.need("=")
		call.Named = append(call.Named, Named{Name: name, Value: p.expr()})
		p.space()
		if !p.accept(",") {
			p.need(")")
			return call
		}
		p.space()
	}
	p.space()
	if p.accept(")") {
		return call
	}
	call.Args = p.items(")")
	return call
}

func bareName(ref *Ref) bool {
	return ref.Tag == "" && !ref.Absolute && len(ref.Steps) == 1 && !ref.Steps[0].IsIndex &&
		!strings.HasPrefix(ref.Steps[0].Key, "_") && !strings.Contains(ref.Steps[0].Key, ":")
}

func (p *parser) namedAhead() bool {
	i := p.pos
	for i < len(p.src) && isSymbol(p.src[i]) {
		i++
	}
	if i == p.pos {
		return false
	}
	for i < len(p.src) && isSpace(p.src[i]) {
		i++
	}
	return i < len(p.src) && p.src[i] == '=' && (i+1 == len(p.src) || p.src[i+1] != '=')
}

// tagEnd returns the position behind "tag::", or pos if there is no tag.
func tagEnd(src string, pos int) int {
	end := tagNameEnd(src, pos)
	if end > pos && strings.HasPrefix(src[end:], "::") {
		return end + 2
	}
	return pos
}

// tagNameEnd returns the end of a tag name: components joined by "." or ":",
// or an implicit document tag such as "doc.-1".
func tagNameEnd(src string, pos int) int {
	if strings.HasPrefix(src[pos:], "doc.") || strings.HasPrefix(src[pos:], "doc:") {
		i := pos + len("doc.")
		if i < len(src) && src[i] == '-' {
			i++
		}
		start := i
		for i < len(src) && isDigit(src[i]) {
			i++
		}
		if i > start {
			return i
		}
	}
	end := tagPartEnd(src, pos)
	if end == pos {
		return pos
	}
	for end < len(src) && (src[end] == '.' || src[end] == ':') {
		next := tagPartEnd(src, end+1)
		if next == end+1 {
			break
		}
		end = next
	}
	return end
}

func tagPartEnd(src string, pos int) int {
	if pos >= len(src) || isDigit(src[pos]) {
		return pos
	}
	for pos < len(src) && isSymbol(src[pos]) {
		pos++
	}
	return pos
}

func normalTag(name string) string { return strings.ReplaceAll(name, ":", ".") }

// TagName checks a tag name and returns it with dots between its components.
func TagName(name string) (string, bool) {
	if name == "" || tagNameEnd(name, 0) != len(name) {
		return "", false
	}
	return normalTag(name), true
}
