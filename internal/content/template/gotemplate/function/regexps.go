package function

import (
	"errors"

	"go.landscaper.dev/internal/base/pattern"
	"go.landscaper.dev/internal/content/template/gotemplate/failure"
)

// compile reads a regular expression within the bounds of all.
func compile(text string) (*pattern.Pattern, error) {
	compiled, err := pattern.Compile(text)
	if limit := (*pattern.Error)(nil); errors.As(err, &limit) {
		return nil, &failure.CallError{Reason: limit.Error()}
	}
	return compiled, err
}

func regexMatch(expression, text string) (bool, error) {
	e, err := compile(expression)
	if err != nil {
		return false, err
	}
	return e.MatchString(text), nil
}

// regexMatchLenient takes an invalid expression as one that matches nothing.
func regexMatchLenient(expression, text string) (bool, error) {
	_, err := pattern.Parse(expression)
	if limit := (*pattern.Error)(nil); errors.As(err, &limit) && limit.Malformed {
		return false, nil
	}
	return regexMatch(expression, text)
}

func regexFindAll(expression, text string, n int) ([]string, error) {
	e, err := compile(expression)
	if err != nil {
		return nil, err
	}
	return e.FindAllString(text, n), nil
}

func regexFind(expression, text string) (string, error) {
	found, err := regexFindAll(expression, text, 1)
	if err != nil || len(found) == 0 {
		return "", err
	}
	return found[0], nil
}

func regexReplaceAll(expression, text, replacement string) (string, error) {
	e, err := compile(expression)
	if err != nil {
		return "", err
	}
	return e.ReplaceAllString(text, replacement), nil
}

func regexReplaceAllLiteral(expression, text, replacement string) (string, error) {
	e, err := compile(expression)
	if err != nil {
		return "", err
	}
	return e.ReplaceAllLiteralString(text, replacement), nil
}

func regexSplit(expression, text string, n int) ([]string, error) {
	e, err := compile(expression)
	if err != nil {
		return nil, err
	}
	return e.Split(text, n), nil
}
