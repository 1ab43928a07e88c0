package text_test

import (
	"testing"

	"go.landscaper.dev/test/language"
)

func TestFormat(t *testing.T) {
	language.Language{}.Gives(t, []language.Row{
		{"verbs of all simple kinds", `format("%s|%d|%v|%5.2f|%q|%x|%t|%%", "a", 7, 8, 1.5, "b", 255, true)`, `"a|7|8| 1.50|\"b\"|ff|true|%"`},
		{"no operands", `format("plain")`, `plain`},
		{"a verb that does not fit is shown", `format("%d", "x")`, `"%!d(string=x)"`},
		{"a missing operand is shown", `format("%d")`, `"%!d(MISSING)"`},
		{"a surplus operand is shown", `format("x", 1)`, `"x%!(EXTRA int64=1)"`},
		{"operands by their number", `format("%[2]s%[1]s", "a", "b")`, `ba`},
		{"a list is YAML", `format("%s", [1, "a"])`, `"- 1\n- a\n"`},
		{"a map is YAML with sorted keys", `format("%s", {"b"=1, "a"=2})`, `"a: 2\nb: 1\n"`},
		{"a lambda is its text", `format("%s", lambda |x|->x + 1)`, `lambda|x|->x + 1`},
		{"nil is shown as Go shows it", `format("%v", nil)`, `<nil>`},
		{"wide characters are padded as characters", `format("%3s|", "ä")`, `"  ä|"`},
		{"a width of four digits", `length(format("%9999d", 1))`, `9999`},
		{"an empty format", `format("")`, `""`},
		{"a percent sign at the end", `format("100%")`, `"100%!(NOVERB)"`},
	})
	language.Language{}.Fails(t, []language.Row{
		{"the format is a text", `format(1)`, "the format must be a string, not an int"},
		{"nil is no format", `format(nil, 1)`, "the format must be a string, not nil"},
		{"a format is needed", `format()`, "takes at least 1 argument"},
		{"a width of five digits", `format("%10000d", 1)`, "width or precision of more than 9999"},
		{"a precision of five digits", `format("%.10000f", 1.0)`, "width or precision of more than 9999"},
		{"a width behind a flag", `format("%-010000d", 1)`, "width or precision of more than 9999"},
		{"a width from an operand", `format("%*d", 99999, 1)`, "width or precision of more than 9999"},
		{"a precision from an operand", `format("%.*f", 99999, 1.0)`, "width or precision of more than 9999"},
	})
}
