package function

import (
	"errors"
	"strings"

	"go.landscaper.dev/internal/base/pattern"
	"go.landscaper.dev/internal/content/template/gotemplate/failure"
)

// compile reads a regular expression within the bounds of all.
func compile(text string) (*pattern.Pattern, error) {
	compiled, err := pattern.Compile(text)
	return compiled, refused(err)
}

// refused makes an error of the bounds one of a function.
func refused(err error) error {
	if limit := (*pattern.Error)(nil); errors.As(err, &limit) {
		return &failure.CallError{Reason: limit.Error()}
	}
	return err
}

// search returns up to n matches (all if negative), and accounts for them.
func (l *Library) search(e *pattern.Pattern, text string, n int) ([][]int, error) {
	found, err := e.Find(text, n, func(found int) error {
		if err := l.Elements(int64(found)); err != nil {
			return err
		}
		return l.Step()
	})
	return found, refused(err)
}

func (l *Library) regexMatch(expression, text string) (bool, error) {
	e, err := compile(expression)
	if err != nil {
		return false, err
	}
	found, err := e.Match(text)
	return found, refused(err)
}

// regexMatchLenient takes an invalid expression as one that matches nothing.
func (l *Library) regexMatchLenient(expression, text string) (bool, error) {
	_, err := pattern.Parse(expression)
	if limit := (*pattern.Error)(nil); errors.As(err, &limit) && limit.Malformed {
		return false, nil
	}
	return l.regexMatch(expression, text)
}

func (l *Library) regexFindAll(expression, text string, n int) ([]string, error) {
	e, err := compile(expression)
	if err != nil {
		return nil, err
	}
	found, err := l.search(e, text, n)
	if err != nil {
		return nil, err
	}
	var texts []string
	for _, match := range found {
		texts = append(texts, text[match[0]:match[1]])
	}
	return texts, nil
}

func (l *Library) regexFind(expression, text string) (string, error) {
	found, err := l.regexFindAll(expression, text, 1)
	if err != nil || len(found) == 0 {
		return "", err
	}
	return found[0], nil
}

func (l *Library) regexReplaceAll(expression, text, replacement string) (string, error) {
	return l.replaceAll(expression, text, replacement, func(e *pattern.Pattern, out []byte, match []int) []byte {
		return e.ExpandString(out, replacement, text, match)
	})
}

func (l *Library) regexReplaceAllLiteral(expression, text, replacement string) (string, error) {
	return l.replaceAll(expression, text, replacement, func(_ *pattern.Pattern, out []byte, _ []int) []byte {
		return append(out, replacement...)
	})
}

func (l *Library) replaceAll(expression, text, replacement string, put func(e *pattern.Pattern, out []byte, match []int) []byte) (string, error) {
	e, err := compile(expression)
	if err != nil {
		return "", err
	}
	found, err := l.search(e, text, -1)
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

func (l *Library) regexSplit(expression, text string, n int) ([]string, error) {
	e, err := compile(expression)
	if err != nil {
		return nil, err
	}
	if _, err := l.search(e, text, -1); err != nil {
		return nil, err
	}
	return e.Split(text, n), nil
}
