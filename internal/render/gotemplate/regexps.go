package gotemplate

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"time"
)

// Bounds of regular expressions: the size of the compiled program, and the work of
// one search, which grows with program and text.
const (
	maxProgram    = 10_000
	maxSearchWork = 50_000_000
	maxSearchTime = 300 * time.Millisecond
)

// expression is a compiled regular expression.
type expression struct {
	*regexp.Regexp
	renderer *renderer
	size     int
}

func (r *renderer) compile(pattern string) (*expression, error) {
	fail := func(reason string) (*expression, error) {
		return nil, &callError{reason: reason}
	}
	if len(pattern) > maxProgram {
		return fail("the regular expression is too long")
	}
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		var problem *syntax.Error
		if errors.As(err, &problem) {
			// The code names the kind of the problem, not the pattern.
			return fail("the regular expression is not valid: " + problem.Code.String())
		}
		return fail("the regular expression is not valid")
	}
	program, err := syntax.Compile(parsed.Simplify())
	if err != nil || len(program.Inst) > maxProgram {
		return fail("the regular expression is too complex")
	}
	compiled, err := regexp.Compile(pattern)
	if err != nil {
		return fail("the regular expression is not valid")
	}
	return &expression{Regexp: compiled, renderer: r, size: len(program.Inst)}, nil
}

func (e *expression) affordable(text string) error {
	if e.size*(len(text)+1) > maxSearchWork {
		return &callError{reason: fmt.Sprintf("the regular expression is too costly for a text of %d bytes", len(text))}
	}
	return nil
}

// search returns up to n matches (all if negative), looked for in growing
// portions, so that a costly search can be given up.
func (e *expression) search(text string, n int) ([][]int, error) {
	if err := e.affordable(text); err != nil {
		return nil, err
	}
	for portion := 1; ; portion *= 2 {
		if n >= 0 {
			portion = min(portion, n)
		}
		start := time.Now()
		found := e.FindAllStringSubmatchIndex(text, portion)
		if len(found) < portion || portion == n {
			return found, nil
		}
		if time.Since(start) > maxSearchTime {
			return nil, &callError{reason: fmt.Sprintf("the regular expression takes longer than %s", maxSearchTime)}
		}
		if err := e.renderer.elements(int64(len(found))); err != nil {
			return nil, err
		}
		if err := e.renderer.step(); err != nil {
			return nil, err
		}
	}
}

func (r *renderer) regexMatch(pattern, text string) (bool, error) {
	e, err := r.compile(pattern)
	if err != nil {
		return false, err
	}
	if err := e.affordable(text); err != nil {
		return false, err
	}
	return e.MatchString(text), nil
}

// regexMatchLenient takes an invalid expression as one that matches nothing.
func (r *renderer) regexMatchLenient(pattern, text string) (bool, error) {
	if _, err := syntax.Parse(pattern, syntax.Perl); err != nil {
		return false, nil //nolint:nilerr // that is what this function promises
	}
	return r.regexMatch(pattern, text)
}

func (r *renderer) regexFindAll(pattern, text string, n int) ([]string, error) {
	e, err := r.compile(pattern)
	if err != nil {
		return nil, err
	}
	found, err := e.search(text, n)
	if err != nil {
		return nil, err
	}
	var texts []string
	for _, match := range found {
		texts = append(texts, text[match[0]:match[1]])
	}
	return texts, nil
}

func (r *renderer) regexFind(pattern, text string) (string, error) {
	found, err := r.regexFindAll(pattern, text, 1)
	if err != nil || len(found) == 0 {
		return "", err
	}
	return found[0], nil
}

func (r *renderer) regexReplaceAll(pattern, text, replacement string) (string, error) {
	return r.replaceAll(pattern, text, replacement, func(e *expression, out []byte, match []int) []byte {
		return e.ExpandString(out, replacement, text, match)
	})
}

func (r *renderer) regexReplaceAllLiteral(pattern, text, replacement string) (string, error) {
	return r.replaceAll(pattern, text, replacement, func(_ *expression, out []byte, _ []int) []byte {
		return append(out, replacement...)
	})
}

func (r *renderer) replaceAll(pattern, text, replacement string, put func(e *expression, out []byte, match []int) []byte) (string, error) {
	e, err := r.compile(pattern)
	if err != nil {
		return "", err
	}
	found, err := e.search(text, -1)
	if err != nil {
		return "", err
	}
	groups := int64(strings.Count(replacement, "$"))
	if estimate := int64(len(text))*(groups+1) + int64(len(found)*len(replacement)); estimate > r.Limits.Text {
		return "", r.spend(estimate)
	}
	var out []byte
	done := 0
	for _, match := range found {
		out = append(out, text[done:match[0]]...)
		out = put(e, out, match)
		done = match[1]
	}
	return string(append(out, text[done:]...)), nil
}

func (r *renderer) regexSplit(pattern, text string, n int) ([]string, error) {
	e, err := r.compile(pattern)
	if err != nil {
		return nil, err
	}
	if _, err := e.search(text, -1); err != nil {
		return nil, err
	}
	return e.Split(text, n), nil
}
