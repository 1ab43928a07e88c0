package text

import (
	"errors"
	"strings"

	"go.landscaper.dev/internal/base/pattern"
	"go.landscaper.dev/internal/content/template/spiff/builtin/call"
	"go.landscaper.dev/internal/content/template/spiff/value"
)

// Regexps are the functions for regular expressions.
var Regexps = []call.Function{
	{Name: "match", Usage: "match(regexp, text [, n])", Result: "list", Min: 2, Max: 3, Run: match,
		Doc: "The first match as a list of the whole match and its groups, an empty list without a match. With an " +
			"integer `n` a list of up to n matches (negative: all), with a boolean all (true) or one. A nil text gives false.",
		Example: `match("(o+)b", "foobar")`, Gives: `["oob","oo"]`},
	{Name: "split_match", Usage: "split_match(regexp, text [, n])", Result: "list", Min: 2, Max: 3, Run: splitMatch,
		Doc: "As `split`, with a regular expression as separator.", Example: `split_match(" *, *", "a , b")`, Gives: `["a","b"]`},
	{Name: "replace_match", Usage: "replace_match(text, regexp, new [, n])", Result: "string", Min: 3, Max: 4, Run: replaceMatch,
		Doc: "Replaces matches by a text, in which `$1`, `${1}` and `${name}` are groups, or by the result of a " +
			"lambda called with a list of the whole match and its groups.",
		Example: `replace_match("key=val", "(\\w+)=(\\w+)", "${2}=${1}")`, Gives: `val=key`},
}

// Compile reads a regular expression within the bounds of all.
func Compile(c *call.Call, text string) (*pattern.Pattern, error) {
	compiled, err := pattern.Compile(text)
	var refused *pattern.Error
	if errors.As(err, &refused) && refused.Malformed {
		return nil, c.Failf("invalid regular expression %s", c.Quote(text))
	}
	if err != nil {
		return nil, c.Failf("%w", err)
	}
	return compiled, nil
}

func groups(text string, m []int) []string {
	list := make([]string, len(m)/2)
	for i := range list {
		if m[2*i] >= 0 {
			list[i] = text[m[2*i]:m[2*i+1]]
		}
	}
	return list
}

func match(c *call.Call) (value.Value, error) {
	expression, err := c.Text(0)
	if err != nil {
		return nil, err
	}
	if value.IsNull(c.Args[1]) {
		return value.Bool(false), nil
	}
	text, err := c.Simple(1)
	if err != nil {
		return nil, err
	}
	n, many := 1, false
	if c.Len() == 3 {
		switch v := c.Args[2].(type) {
		case value.Int:
			if v == 0 {
				return nil, c.Failf("number of matches must not be 0")
			}
			n, many = int(v), true
		case value.Bool:
			if v {
				n, many = -1, true
			}
		default:
			return nil, c.Wrong(2, "an integer or boolean")
		}
	}
	re, err := Compile(c, expression)
	if err != nil {
		return nil, err
	}
	found := re.FindAllStringSubmatchIndex(text, n)
	if many {
		lists := make([]value.Value, len(found))
		for i, m := range found {
			lists[i] = call.TextList(groups(text, m))
		}
		return value.ListOf(lists...), nil
	}
	if len(found) == 0 {
		return value.NewList(nil), nil
	}
	return call.TextList(groups(text, found[0])), nil
}

func splitMatch(c *call.Call) (value.Value, error) {
	expression, err := c.Text(0)
	if err != nil {
		return nil, err
	}
	text, err := c.Text(1)
	if err != nil {
		return nil, err
	}
	n, err := c.IntOr(2, -1)
	if err != nil {
		return nil, err
	}
	re, err := Compile(c, expression)
	if err != nil {
		return nil, err
	}
	return call.TextList(re.Split(text, int(n))), nil
}

func replaceMatch(c *call.Call) (value.Value, error) {
	text, err := c.Text(0)
	if err != nil {
		return nil, err
	}
	expression, err := c.Text(1)
	if err != nil {
		return nil, err
	}
	n, err := c.IntOr(3, -1)
	if err != nil {
		return nil, err
	}
	re, err := Compile(c, expression)
	if err != nil {
		return nil, err
	}
	found := re.FindAllStringSubmatchIndex(text, int(n))
	template, isText := c.Args[2].(value.String)
	if _, _, isLambda := c.Arity(c.Args[2]); !isText && !isLambda {
		return nil, c.Wrong(2, "a string or a lambda")
	}
	var b strings.Builder
	last := 0
	for _, m := range found {
		with := ""
		if isText {
			with = string(re.ExpandString(nil, template.Text, text, m))
		} else if with, err = replacement(c, c.Args[2], groups(text, m)); err != nil {
			return nil, err
		}
		b.WriteString(text[last:m[0]] + with)
		last = m[1]
	}
	return value.Text(b.String() + text[last:]), nil
}
