package yamlio

import (
	"encoding/base64"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.landscaper.dev/internal/base/number"
	"go.landscaper.dev/internal/content/template/spiff/value"
)

// scalarText is a simple value on one line.
func scalarText(v value.Value) string {
	switch v := v.(type) {
	case value.Bool, value.Int:
		text, _ := value.SimpleText(v)
		return text
	case value.Float:
		return number.YAML(float64(v))
	case value.String:
		return stringText(v.Text)
	case value.Bytes:
		return "!!binary " + base64.StdEncoding.EncodeToString(v)
	case *value.List:
		return "[]"
	case *value.Map:
		return "{}"
	}
	return "null"
}

// stringText chooses a form that every YAML reader takes for this string.
func stringText(s string) string {
	switch {
	case !utf8.ValidString(s):
		return "!!binary " + base64.StdEncoding.EncodeToString([]byte(s))
	case plainSafe(s):
		return s
	}
	return quoted(s)
}

// plainSafe reports whether the string may stand without quotes: it must be no YAML syntax and must
// not read as another type in YAML 1.1 or 1.2 (dates and base 60 included).
func plainSafe(s string) bool {
	if s == "" || strings.Contains(s, ": ") || strings.Contains(s, " #") {
		return false
	}
	if last := s[len(s)-1]; last == ':' || last == ' ' {
		return false
	}
	if _, isText := Plain(s).(value.String); !isText {
		return false
	}
	first, _ := utf8.DecodeRuneInString(s)
	switch {
	case unicode.IsLetter(first), strings.ContainsRune("_(/$", first):
	case first >= '0' && first <= '9':
		if !strings.ContainsFunc(s, func(r rune) bool {
			return (r < '0' || r > '9') && !strings.ContainsRune("-+:._, TZtzeExXoObBaAcCdDfF", r)
		}) {
			return false
		}
	default:
		return false
	}
	return !strings.ContainsFunc(s, func(r rune) bool { return r != ' ' && !unicode.IsPrint(r) })
}

// literalSafe reports whether a block scalar keeps the text as it is.
func literalSafe(s string) bool {
	if !utf8.ValidString(s) || strings.ContainsAny(s[:1], " \n\t") {
		return false
	}
	for _, line := range strings.Split(s, "\n") {
		if strings.HasSuffix(line, " ") || strings.HasSuffix(line, "\t") {
			return false
		}
	}
	return !strings.ContainsFunc(s, func(r rune) bool {
		return r != '\n' && r != '\t' && r != ' ' && !unicode.IsPrint(r)
	})
}

// quoted is the double quoted form.
func quoted(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == ' ' || unicode.IsPrint(r):
			b.WriteRune(r)
		case r > 0xffff:
			fmt.Fprintf(&b, `\U%08X`, r)
		default:
			fmt.Fprintf(&b, `\u%04X`, r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
