package embedded

import (
	"strings"

	"go.landscaper.dev/internal/content/template/spiff/syntax"
)

// Piece is a part of an interpolated text.
type Piece struct {
	Text       string
	expression bool // "(( … ))"
	Escaped    bool // "((! … ))"
}

// interpolated reports whether a text holds at least one expression.
func interpolated(text string) bool {
	if !strings.Contains(text, "((") {
		return false
	}
	for _, p := range Split(text) {
		if p.expression {
			return true
		}
	}
	return false
}

// maxBroken bounds how many incomplete expressions are looked at, so that a
// text made of brackets stays cheap.
const maxBroken = 100

// Split cuts a text at its expressions. Incomplete expressions
// are plain text.
func Split(text string) []Piece {
	var pieces []Piece
	plain, broken := 0, 0
	for i := 0; i+1 < len(text) && broken < maxBroken; {
		if text[i] != '(' || text[i+1] != '(' {
			i++
			continue
		}
		start, end := innermost(text, i)
		if end < 0 {
			i = start
			broken++
			continue
		}
		i = start
		if i > plain {
			pieces = append(pieces, Piece{Text: text[plain:i]})
		}
		escaped := text[i+2] == '!'
		pieces = append(pieces, Piece{Text: text[i:end], expression: !escaped, Escaped: escaped})
		i, plain = end, end
	}
	if plain < len(text) {
		pieces = append(pieces, Piece{Text: text[plain:]})
	}
	return pieces
}

// innermost finds the expression in a run of opening brackets: as far inside as
// possible, since brackets around an expression are text. Without expression
// it returns the end of the run.
func innermost(text string, start int) (at, end int) {
	run := start
	for run < len(text) && text[run] == '(' {
		run++
	}
	for at := run - 2; at >= start && at >= run-maxBroken; at-- {
		if end := expressionEnd(text, at); end > 0 {
			return at, end
		}
	}
	return run, -1
}

// expressionEnd returns the end of the expression whose brackets open at
// start, or -1. Brackets inside of string literals do not count.
func expressionEnd(text string, start int) int {
	depth := 0
	quoted := false
	for i := start; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '(':
			depth++
		case c == ')':
			depth--
			if depth == 0 {
				if text[i-1] != ')' {
					return -1
				}
				return i + 1
			}
		}
	}
	return -1
}

// parseInterpolation turns an interpolated text into a concatenation.
func (p *Parser) parseInterpolation(text string) (syntax.Expr, error) {
	if known, ok := p.parsed[text]; ok {
		return known.expr, known.err
	}
	var result syntax.Expr
	for _, part := range Split(text) {
		var operand syntax.Expr = syntax.Text{Value: part.Text}
		if part.expression {
			expr, err := syntax.Parse(part.Text[2 : len(part.Text)-2])
			if err != nil {
				p.parsed[text] = parsed{err: err}
				return nil, err
			}
			operand = &syntax.Group{Body: expr}
		}
		if result == nil && part.expression {
			result = syntax.Text{}
		}
		if result == nil {
			result = operand
		} else {
			result = &syntax.Binary{Op: syntax.Join, L: result, R: operand}
		}
	}
	p.parsed[text] = parsed{expr: result}
	return result, nil
}
