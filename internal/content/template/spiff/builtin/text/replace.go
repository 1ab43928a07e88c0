package text

import (
	"strings"
	"unicode/utf8"

	"go.landscaper.dev/internal/content/template/spiff/builtin/call"
	"go.landscaper.dev/internal/content/template/spiff/value"
)

func replace(c *call.Call) (value.Value, error) {
	s, err := c.Text(0)
	if err != nil {
		return nil, err
	}
	old, err := c.Text(1)
	if err != nil {
		return nil, err
	}
	n, err := c.IntOr(3, -1)
	if err != nil {
		return nil, err
	}
	if replacement, ok := c.Args[2].(value.String); ok {
		return value.Text(strings.Replace(s, old, replacement.Text, int(n))), nil
	}
	if _, _, ok := c.Arity(c.Args[2]); !ok {
		return nil, c.Wrong(2, "a string or a lambda")
	}
	return replaceByLambda(c, s, old, n)
}

// replaceByLambda asks a lambda for every match. An empty text is found before every
// character and at the end.
func replaceByLambda(c *call.Call, s, old string, n int64) (value.Value, error) {
	var b strings.Builder
	for done := int64(0); n < 0 || done < n; done++ {
		at, skip := strings.Index(s, old), 0
		if old == "" && done > 0 {
			_, skip = utf8.DecodeRuneInString(s)
			at = skip
		}
		if at < 0 || old == "" && done > 0 && skip == 0 {
			break
		}
		with, err := replacement(c, c.Args[2], []string{old})
		if err != nil {
			return nil, err
		}
		b.WriteString(s[:at])
		b.WriteString(with)
		s = s[at+len(old):]
	}
	return value.Text(b.String() + s), nil
}

// replacement asks a lambda for the text that replaces a match.
func replacement(c *call.Call, fn value.Value, groups []string) (string, error) {
	v, err := c.Invoke(fn, call.TextList(groups))
	if err != nil {
		return "", err
	}
	s, ok := v.(value.String)
	if !ok {
		return "", c.Failf("lambda must give a string, not %s", value.A(v))
	}
	return s.Text, nil
}
