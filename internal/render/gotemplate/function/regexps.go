package function

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"time"

	"go.landscaper.dev/internal/render/gotemplate/failure"
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
	library *Library
	size    int
}

func (l *Library) compile(pattern string) (*expression, error) {
	fail := func(reason string) (*expression, error) {
		return nil, &failure.CallError{Reason: reason}
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
	return &expression{Regexp: compiled, library: l, size: len(program.Inst)}, nil
}

func (e *expression) affordable(text string) error {
	if e.size*(len(text)+1) > maxSearchWork {
		return &failure.CallError{Reason: fmt.Sprintf("the regular expression is too costly for a text of %d bytes", len(text))}
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
			return nil, &failure.CallError{Reason: fmt.Sprintf("the regular expression takes longer than %s", maxSearchTime)}
		}
		if err := e.library.Elements(int64(len(found))); err != nil {
			return nil, err
		}
		if err := e.library.Step(); err != nil {
			return nil, err
		}
	}
}

func (l *Library) regexMatch(pattern, text string) (bool, error) {
	e, err := l.compile(pattern)
	if err != nil {
		return false, err
	}
	if err := e.affordable(text); err != nil {
		return false, err
	}
	return e.MatchString(text), nil
}

// regexMatchLenient takes an invalid expression as one that matches nothing.
func (l *Library) regexMatchLenient(pattern, text string) (bool, error) {
	if _, err := syntax.Parse(pattern, syntax.Perl); err != nil {
		return false, nil //nolint:nilerr // that is what this function promises
	}
	return l.regexMatch(pattern, text)
}

func (l *Library) regexFindAll(pattern, text string, n int) ([]string, error) {
	e, err := l.compile(pattern)
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

func (l *Library) regexFind(pattern, text string) (string, error) {
	found, err := l.regexFindAll(pattern, text, 1)
	if err != nil || len(found) == 0 {
		return "", err
	}
	return found[0], nil
}

func (l *Library) regexReplaceAll(pattern, text, replacement string) (string, error) {
	return l.replaceAll(pattern, text, replacement, func(e *expression, out []byte, match []int) []byte {
		return e.ExpandString(out, replacement, text, match)
	})
}

func (l *Library) regexReplaceAllLiteral(pattern, text, replacement string) (string, error) {
	return l.replaceAll(pattern, text, replacement, func(_ *expression, out []byte, _ []int) []byte {
		return append(out, replacement...)
	})
}

func (l *Library) replaceAll(pattern, text, replacement string, put func(e *expression, out []byte, match []int) []byte) (string, error) {
	e, err := l.compile(pattern)
	if err != nil {
		return "", err
	}
	found, err := e.search(text, -1)
	if err != nil {
		return "", err
	}
	groups := int64(strings.Count(replacement, "$"))
	if estimate := int64(len(text))*(groups+1) + int64(len(found)*len(replacement)); estimate > l.Limits.Text {
		return "", l.Spend(estimate)
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

func (l *Library) regexSplit(pattern, text string, n int) ([]string, error) {
	e, err := l.compile(pattern)
	if err != nil {
		return nil, err
	}
	if _, err := e.search(text, -1); err != nil {
		return nil, err
	}
	return e.Split(text, n), nil
}
