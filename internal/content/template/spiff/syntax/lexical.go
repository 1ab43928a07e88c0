package syntax

import (
	"encoding/json"
	"fmt"
	"strings"
)

// maxNesting bounds the recursion of the parser. Real expressions stay below
// a few dozen levels.
const maxNesting = 1000

// parser walks over the source once. A syntax error unwinds with a panic of
// type *Error that Parse recovers.
type parser struct {
	src   string
	pos   int
	depth int
}

func (p *parser) fail(pos int, format string, args ...any) {
	panic(newError(p.src, pos, fmt.Sprintf(format, args...)))
}

// expected fails at the current position.
func (p *parser) expected(what string) {
	p.fail(p.pos, "expected %s, found %s", what, found(p.src, p.pos))
}

func (p *parser) enter() {
	p.depth++
	if p.depth > maxNesting {
		p.fail(p.pos, "expression is nested deeper than %d levels", maxNesting)
	}
}

func (p *parser) leave() { p.depth-- }

func (p *parser) peek() byte { return p.at(0) }

func (p *parser) at(offset int) byte {
	if p.pos+offset < len(p.src) {
		return p.src[p.pos+offset]
	}
	return 0
}

func (p *parser) has(prefix string) bool { return strings.HasPrefix(p.src[p.pos:], prefix) }

func (p *parser) accept(token string) bool {
	if p.has(token) {
		p.pos += len(token)
		return true
	}
	return false
}

func (p *parser) need(token string) {
	if !p.accept(token) {
		p.expected(fmt.Sprintf("%q", token))
	}
}

// space skips white space and reports whether there was any.
func (p *parser) space() bool {
	start := p.pos
	for p.pos < len(p.src) && isSpace(p.src[p.pos]) {
		p.pos++
	}
	return p.pos > start
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isSymbol(c byte) bool {
	return c == '_' || isDigit(c) || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

func isName(c byte) bool { return c == '-' || isSymbol(c) }

// simpleName reads a parameter or symbol name (no hyphen).
func (p *parser) simpleName() string {
	start := p.pos
	for isSymbol(p.peek()) {
		p.pos++
	}
	if start == p.pos {
		p.expected("a name")
	}
	return p.src[start:p.pos]
}

// nameEnd returns the end of a name without colon starting at pos, or pos.
func nameEnd(src string, pos int) int {
	if pos >= len(src) || !isSymbol(src[pos]) {
		return pos
	}
	for pos < len(src) && isName(src[pos]) {
		pos++
	}
	return pos
}

// keyEnd returns the end of a path key: a name, optionally with ":name".
func keyEnd(src string, pos int) int {
	end := nameEnd(src, pos)
	if end == pos || end >= len(src) || src[end] != ':' {
		return end
	}
	if second := nameEnd(src, end+1); second > end+1 {
		return second
	}
	return end
}

// word reports whether the reserved word stands here as a whole name.
func (p *parser) word(w string) bool {
	return p.has(w) && !isName(p.at(len(w)))
}

// stringLiteral reads a double quoted string with JSON escapes.
func (p *parser) stringLiteral() string {
	start := p.pos
	escaped := false
	for p.pos++; ; p.pos++ {
		switch c := p.peek(); {
		case p.pos >= len(p.src):
			p.fail(start, "string is not closed")
		case c == '\\':
			escaped = true
			p.pos++
			continue
		case c == '"':
			p.pos++
			return p.unquote(start, escaped)
		case c < 0x20:
			p.fail(p.pos, "control character inside a string: write it as an escape such as \\n")
		}
	}
}

func (p *parser) unquote(start int, escaped bool) string {
	raw := p.src[start:p.pos]
	if !escaped {
		return raw[1 : len(raw)-1]
	}
	var text string
	if err := json.Unmarshal([]byte(raw), &text); err != nil {
		p.fail(start, "string has an invalid escape sequence")
	}
	return text
}
