package aware_test

import (
	"testing"

	"go.landscaper.dev/internal/spiff"
	"go.landscaper.dev/test/language"
)

func TestError(t *testing.T) {
	language.Language{}.Gives(t, []language.Row{
		{"it is a failure that can be caught", `error("no") || 1`, `1`},
		{"a check for definition is no failure", `defined(error("no"))`, `false`},
	})
	language.Language{}.Fails(t, []language.Row{
		{"the message is formatted", `error("no %s, but %d", "port", 3)`, " *no port, but 3\n"},
		{"a message without operands", `error("100 %% sure")`, " *100 % sure\n"},
		{"a list is YAML", `error("%s", [1])`, " *- 1\n"},
		{"a list of arguments", `error(["%s-%s", 1, 2]...)`, "%!s(int64=1)"},
		{"a format that is no text", `error(1)`, "the format must be a string"},
		{"nothing to say is an error as well", `error("")`, "failed without a message"},
		{"an undefined format must not crash", `error(~~)`, "undefined"},
		{"an undefined operand does not make the failure vanish", `error("no", ~~)`, "no"},
	})

	language.Language{
		Config: spiff.Config{Sensitive: true}, Bindings: map[string]any{"secret": "s3cret"},
	}.Fails(t, []language.Row{
		{"what is bound is not told", `error("a %s", secret)`, " *a <string>\n"},
		{"nor if an argument before it is undefined", `error(~~, "%s", secret)`, " *<string>\n"},
	})
}
