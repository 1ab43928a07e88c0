// Package embedded finds the expressions in the texts of a document, whole texts and
// parts of them, and parses each once.
package embedded

import (
	"regexp"
	"strings"

	"go.landscaper.dev/internal/content/template/spiff/syntax"
)

// Parser parses the expressions in the texts of documents, each text once.
type Parser struct {
	interpolation bool
	parsed        map[string]parsed
}

// NewParser makes a parser; interpolation makes expressions inside of texts count.
func NewParser(interpolation bool) *Parser {
	return &Parser{interpolation: interpolation, parsed: map[string]parsed{}}
}

type parsed struct {
	expr syntax.Expr
	err  error
}

// IsExpression reports whether a whole text is an expression.
func IsExpression(text string) bool {
	return len(text) >= 4 && strings.HasPrefix(text, "((") && strings.HasSuffix(text, "))") && text[2] != '!'
}

// Evaluates reports whether a text is to be evaluated.
func (p *Parser) Evaluates(text string) bool {
	return IsExpression(text) || p.interpolation && interpolated(text)
}

// ParseText parses a text that evaluates.
func (p *Parser) ParseText(text string) (syntax.Expr, error) {
	if IsExpression(text) {
		return p.Parse(text[2 : len(text)-2])
	}
	return p.parseInterpolation(text)
}

// Parse parses an expression without its brackets.
func (p *Parser) Parse(text string) (syntax.Expr, error) {
	if known, ok := p.parsed[text]; ok {
		return known.expr, known.err
	}
	expr, err := syntax.Parse(text)
	p.parsed[text] = parsed{expr, err}
	return expr, err
}

var tagPattern = regexp.MustCompile(`(?:&tag:|tagdef\(\s*")\*?([A-Za-z_][A-Za-z0-9_]*(?:[.:][A-Za-z_][A-Za-z0-9_]*)*)`)

// TagNames lists the tags that the text of an expression defines.
func TagNames(text string) []string {
	if !strings.Contains(text, "tag") {
		return nil
	}
	var names []string
	for _, m := range tagPattern.FindAllStringSubmatch(text, -1) {
		names = append(names, strings.ReplaceAll(m[1], ":", "."))
	}
	return names
}
