package render

import (
	"encoding/base64"
	"regexp"
	"strings"

	"go.landscaper.dev/internal/base/pattern"
)

func encoded(raw []byte) string { return base64.StdEncoding.EncodeToString(raw) }

// matcher reports whether a name matches a pattern of charts: * stops at a slash, **
// does not, {a,b} are alternatives. A pattern that cannot be read matches nothing, nor
// does one that exceeds the bounds of expressions.
func matcher(glob string) func(name string) bool {
	expression, err := pattern.Compile(expressionOf(glob))
	return func(name string) bool {
		if err != nil {
			return false
		}
		found, err := expression.Match(name)
		return err == nil && found
	}
}

// expressionOf translates a pattern into a regular expression.
func expressionOf(pattern string) string {
	var out strings.Builder
	out.WriteString("^")
	braces := 0
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; {
		case strings.HasPrefix(pattern[i:], "**"):
			out.WriteString(".*")
			i++
		case c == '*':
			out.WriteString("[^/]*")
		case c == '?':
			out.WriteString("[^/]")
		case c == '{':
			braces++
			out.WriteString("(?:")
		case c == '}' && braces > 0:
			braces--
			out.WriteString(")")
		case c == ',' && braces > 0:
			out.WriteString("|")
		case c == '[' && strings.HasPrefix(pattern[i:], "[!"):
			out.WriteString("[^")
			i++
		case c == '[', c == ']', c == '-':
			out.WriteByte(c)
		default:
			out.WriteString(regexp.QuoteMeta(string(c)))
		}
	}
	out.WriteString("$")
	return out.String()
}
