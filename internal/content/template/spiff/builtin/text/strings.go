// Package text holds the functions for strings and regular expressions.
package text

import (
	"encoding/base64"
	"net/url"
	"strconv"
	"strings"

	"go.landscaper.dev/internal/base/number"
	"go.landscaper.dev/internal/content/template/spiff/builtin/call"
	"go.landscaper.dev/internal/content/template/spiff/value"
)

// Strings are the functions for strings.
var Strings = []call.Function{
	{Name: "format", Usage: "format(text, value…)", Result: "string", Min: 1, Max: -1, Run: format,
		Doc: "Formats values with the printf verbs of Go (`%s %d %v %5.2f %q %x %t %%`). Lists, maps and " +
			"templates are given as YAML text, lambdas as text. A verb that does not fit its value is shown in the result.",
		Example: `format("%s-%03d", "node", 7)`, Gives: `node-007`},
	{Name: "join", Usage: "join(separator, value…)", Result: "string", Min: 1, Max: -1, Run: join,
		Doc:     "Joins simple values and lists of simple values. Arguments that are nil are left out.",
		Example: `join(", ", "a", ["b", 3])`, Gives: `a, b, 3`},
	{Name: "split", Usage: "split(separator, text [, n])", Result: "list", Min: 2, Max: 3, Run: split,
		Doc: "Splits a text at a separator; an empty separator splits into characters. An integer separator gives " +
			"chunks of that many characters. `n` limits the number of parts, the last one keeps the rest; -1 is " +
			"unlimited, 0 gives an empty list.",
		Example: `split(",", "a,b,c", 2)`, Gives: `["a","b,c"]`},
	{Name: "trim", Usage: "trim(text or list [, characters])", Result: "string or list", Min: 1, Max: 2, Run: trim,
		Doc:     "Removes characters (by default blanks and tabs) from both ends of a text, or of every text of a list.",
		Example: `trim("  a b ")`, Gives: `a b`},
	{Name: "lower", Usage: "lower(text)", Result: "string", Min: 1, Max: 1, Run: mapText(strings.ToLower),
		Doc: "Converts to lower case.", Example: `lower("Abc")`, Gives: `abc`},
	{Name: "upper", Usage: "upper(text)", Result: "string", Min: 1, Max: 1, Run: mapText(strings.ToUpper),
		Doc: "Converts to upper case.", Example: `upper("Abc")`, Gives: `ABC`},
	{Name: "substr", Usage: "substr(text, from [, to])", Result: "string", Min: 2, Max: 3, Run: substr,
		Doc: "Cuts a text. Offsets count bytes, `to` is exclusive, negative offsets count from the end. Offsets " +
			"outside of the text are an error.",
		Example: `substr("harbour", 3, -1)`, Gives: `bou`},
	{Name: "replace", Usage: "replace(text, old, new [, n])", Result: "string", Min: 3, Max: 4, Run: replace,
		Doc: "Replaces a text by another one, or by the result of a lambda called with a list of the match. `n` " +
			"limits the number of replacements, -1 means all. An empty `old` matches between all characters.",
		Example: `replace("a-b-c", "-", "+", 1)`, Gives: `a+b-c`},
	{Name: "base64", Usage: "base64(text [, width])", Result: "string", Min: 1, Max: 2, Run: encodeBase64,
		Doc:     "Encodes a text; a width above 0 breaks the result into lines.",
		Example: `base64("go")`, Gives: `Z28=`},
	{Name: "base64_decode", Usage: "base64_decode(text)", Result: "string", Min: 1, Max: 1, Run: decodeBase64,
		Doc: "Decodes base64 text in the standard alphabet with padding.", Example: `base64_decode("Z28=")`, Gives: `go`},
	{Name: "basename", Usage: "basename(path)", Result: "string", Min: 1, Max: 1, Run: mapPath(basename),
		Doc: "The last element of a path or of the path of a URL.", Example: `basename("/a/b.txt")`, Gives: `b.txt`},
	{Name: "dirname", Usage: "dirname(path)", Result: "string", Min: 1, Max: 1, Run: mapPath(dirname),
		Doc: "All but the last element of a path or of the path of a URL.", Example: `dirname("/a/b.txt")`, Gives: `/a`},
	{Name: "parseurl", Usage: "parseurl(url)", Result: "map", Min: 1, Max: 1, Run: parseURL,
		Doc: "Splits a URL into `scheme`, `host`, `path`, `fragment`, `query`, `values` (lists by name) and, if " +
			"present, `port` and `userinfo`.",
		Example: `parseurl("https://h:8443/p").port`, Gives: `8443`},
	{Name: "error", Usage: "error(text, value…)", Result: "–", Min: 1, Max: -1, Aware: true,
		Doc:     "Always fails, with a message formatted like `format`.",
		Example: `catch[error("no %s", "port")|v,e|->e]`, Gives: `no port`},
}

func mapText(f func(string) string) func(*call.Call) (value.Value, error) {
	return func(c *call.Call) (value.Value, error) {
		s, err := c.Text(0)
		return value.Text(f(s)), err
	}
}

func join(c *call.Call) (value.Value, error) {
	separator, err := c.Text(0)
	if err != nil {
		return nil, err
	}
	var parts []string
	for i, a := range c.Args[1:] {
		switch v := a.(type) {
		case value.Null:
		case *value.List:
			for _, n := range v.Items {
				text, ok := Simple(n.Value)
				if !ok {
					return nil, c.Failf("entries of the list in argument %d must be simple values, not %s", i+2, value.A(n.Value))
				}
				parts = append(parts, text)
			}
		default:
			text, ok := Simple(v)
			if !ok {
				return nil, c.Wrong(i+1, "a simple value or a list of them")
			}
			parts = append(parts, text)
		}
	}
	return value.Text(strings.Join(parts, separator)), nil
}

// Simple renders the values that can be part of a text.
func Simple(v value.Value) (string, bool) {
	if f, ok := v.(value.Float); ok {
		return number.Plain(float64(f)), true
	}
	return value.SimpleText(v)
}

func split(c *call.Call) (value.Value, error) {
	text, err := c.Text(1)
	if err != nil {
		return nil, err
	}
	n, err := c.IntOr(2, -1)
	if err != nil {
		return nil, err
	}
	if size, ok := c.Args[0].(value.Int); ok {
		if size <= 0 {
			return nil, c.Failf("chunk size must be positive")
		}
		return call.TextList(chunks(text, int64(size), n)), nil
	}
	separator, err := c.Text(0)
	if err != nil {
		return nil, c.Wrong(0, "a string or an integer")
	}
	return call.TextList(strings.SplitN(text, separator, int(n))), nil
}

// chunks cuts a text into pieces of size characters.
func chunks(text string, size, limit int64) []string {
	runes := []rune(text)
	var parts []string
	if limit == 0 {
		return nil
	}
	for len(runes) > 0 {
		end := min(size, int64(len(runes)))
		if limit > 0 && int64(len(parts)) == limit-1 {
			end = int64(len(runes))
		}
		parts = append(parts, string(runes[:end]))
		runes = runes[end:]
	}
	return parts
}

func trim(c *call.Call) (value.Value, error) {
	cut := " \t"
	if c.Len() == 2 {
		var err error
		if cut, err = c.Text(1); err != nil {
			return nil, err
		}
	}
	list, ok := c.Args[0].(*value.List)
	if !ok {
		s, err := c.Text(0)
		if err != nil {
			return nil, c.Wrong(0, "a string or a list of strings")
		}
		return value.Text(strings.Trim(s, cut)), nil
	}
	trimmed := make([]string, len(list.Items))
	for i, n := range list.Items {
		s, ok := n.Value.(value.String)
		if !ok {
			return nil, c.Failf("entries of the list must be strings, not %s", value.A(n.Value))
		}
		trimmed[i] = strings.Trim(s.Text, cut)
	}
	return call.TextList(trimmed), nil
}

func substr(c *call.Call) (value.Value, error) {
	s, err := c.Text(0)
	if err != nil {
		return nil, err
	}
	length := int64(len(s))
	from, err := c.Int(1)
	if err != nil {
		return nil, err
	}
	to, err := c.IntOr(2, length)
	if err != nil {
		return nil, err
	}
	if from < 0 {
		from += length
	}
	if to < 0 {
		to += length
	}
	if from < 0 || to > length || from > to {
		return nil, c.Failf("offsets leave the text of %d bytes", length)
	}
	return value.Text(s[from:to]), nil
}

func encodeBase64(c *call.Call) (value.Value, error) {
	s, err := c.Text(0)
	if err != nil {
		return nil, err
	}
	width, err := c.IntOr(1, 0)
	if err != nil {
		return nil, err
	}
	return value.Text(Lines(base64.StdEncoding.EncodeToString([]byte(s)), width)), nil
}

// Lines breaks a text into lines of a width.
func Lines(text string, width int64) string {
	if width <= 0 || int64(len(text)) <= width {
		return text
	}
	var b strings.Builder
	for int64(len(text)) > width {
		b.WriteString(text[:width] + "\n")
		text = text[width:]
	}
	return b.String() + text
}

func decodeBase64(c *call.Call) (value.Value, error) {
	s, err := c.Text(0)
	if err != nil {
		return nil, err
	}
	content, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		return nil, c.Failf("text is not base64")
	}
	return value.Text(string(content)), nil
}

// mapPath applies a function to a path, or to the path of a URL.
func mapPath(f func(string) string) func(*call.Call) (value.Value, error) {
	return func(c *call.Call) (value.Value, error) {
		s, err := c.Text(0)
		if err != nil {
			return nil, err
		}
		if u, err := url.Parse(s); err == nil && u.Scheme != "" && u.Host != "" {
			s = u.Path
		}
		return value.Text(f(s)), nil
	}
}

func basename(p string) string {
	p = strings.TrimRight(p, "/")
	if p == "" {
		return "/"
	}
	return p[strings.LastIndex(p, "/")+1:]
}

func dirname(p string) string {
	p = strings.TrimRight(p, "/")
	if p == "" {
		return "/"
	}
	i := strings.LastIndex(p, "/")
	if i < 0 {
		return "."
	}
	if p = strings.TrimRight(p[:i], "/"); p == "" {
		return "/"
	}
	return p
}

func parseURL(c *call.Call) (value.Value, error) {
	s, err := c.Text(0)
	if err != nil {
		return nil, err
	}
	u, err := url.Parse(s)
	if err != nil {
		return nil, c.Failf("text is not a URL")
	}
	b := value.NewBuilder(8)
	b.SetValue("scheme", value.Text(u.Scheme))
	b.SetValue("host", value.Text(u.Hostname()))
	b.SetValue("path", value.Text(u.Path))
	b.SetValue("fragment", value.Text(u.Fragment))
	b.SetValue("query", value.Text(u.RawQuery))
	values := value.NewBuilder(4)
	for name, list := range u.Query() {
		values.SetValue(name, call.TextList(list))
	}
	b.SetValue("values", values.Map())
	if port, err := strconv.Atoi(u.Port()); err == nil {
		b.SetValue("port", value.Int(port))
	}
	if u.User != nil {
		user := value.NewBuilder(2)
		user.SetValue("username", value.Text(u.User.Username()))
		if password, ok := u.User.Password(); ok {
			user.SetValue("password", value.Text(password))
		}
		b.SetValue("userinfo", user.Map())
	}
	return b.Map(), nil
}
