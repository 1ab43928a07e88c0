package text_test

import (
	"testing"

	"go.landscaper.dev/internal/content/template/spiff"
	"go.landscaper.dev/test/language"
)

func TestMatch(t *testing.T) {
	language.Language{}.Gives(t, []language.Row{
		{"whole match and groups", `match("(a+)(b)?", "xaab")`, `[aab, aa, b]`},
		{"a group that took no part is empty", `match("(a)|(b)", "b")`, `[b, "", b]`},
		{"no match is an empty list", `match("a", "b")`, `[]`},
		{"an empty match is one", `match("x*", "abc")`, `[""]`},
		{"a list of matches up to a number", `match("a(.)", "a1a2a3", 2)`, `[[a1, "1"], [a2, "2"]]`},
		{"a negative number is all", `match("a", "aaa", -1)`, `[[a], [a], [a]]`},
		{"one match as a list of matches", `match("a", "aaa", 1)`, `[[a]]`},
		{"true is all", `match("a", "aa", true)`, `[[a], [a]]`},
		{"false is one", `match("a", "aa", false)`, `[a]`},
		{"none of many is an empty list", `match("b", "aa", true)`, `[]`},
		{"nil does not match, which is false", `match("a", nil)`, `false`},
		{"a number is matched as its text", `match("^4.$", 42)`, `["42"]`},
		{"a boolean is matched as its text", `match("^t", true)`, `[t]`},
		{"classes of Unicode", `match("\\p{Greek}+", "abγδ")`, `[γδ]`},
		{"lines with a flag", `match("(?m)^b$", "a\nb\nc")`, `[b]`},
		{"the end is the end of the text", `match("a$", "a\n")`, `[]`},
	})
	language.Language{}.Fails(t, []language.Row{
		{"a broken pattern", `match("(", "a")`, `invalid regular expression "("`},
		{"what only other engines know", `match("(?=a)", "a")`, "invalid regular expression"},
		{"no matches asked for", `match("a", "a", 0)`, "must not be 0"},
		{"an invalid number", `match("a", "a", "1")`, "argument 3 must be an integer or boolean"},
		{"a list is no subject", `match("a", ["a"])`, "argument 2 must be a string, integer or boolean"},
		{"a pattern is a text", `match(1, "1")`, "argument 1 must be a string"},
		{"hostile: a pattern that multiplies itself", `match("((a{1,100}){1,100}){1,100}", "a")`, "regular expression"},
		{"hostile: a long pattern", `match(sum[[1..14]|"ab"|s,i|->s s], "a")`, "regular expression"},
	})
}

func TestSplitMatch(t *testing.T) {
	language.Language{}.Gives(t, []language.Row{
		{"a separator of any width", `split_match("[, ]+", "a, b,c")`, `[a, b, c]`},
		{"separators at both ends give empty parts", `split_match(",", ",a,")`, `["", a, ""]`},
		{"the last part keeps the rest", `split_match(",", "a,b,c", 2)`, `[a, "b,c"]`},
		{"no parts", `split_match(",", "a,b", 0)`, `[]`},
		{"no separator found", `split_match("x", "a,b")`, `["a,b"]`},
		{"an empty pattern splits into characters", `split_match("", "aä")`, `[a, ä]`},
	})
	language.Language{}.Fails(t, []language.Row{
		{"a broken pattern", `split_match("[", "a")`, "invalid regular expression"},
		{"only texts are split", `split_match(",", 1)`, "argument 2 must be a string"},
	})
}

func TestReplaceMatch(t *testing.T) {
	language.Language{}.Gives(t, []language.Row{
		{"groups by number and name", `replace_match("a=b", "(?P<k>\\w)=(\\w)", "${2}:${k}")`, `"b:a"`},
		{"a name goes as far as it can", `replace_match("ab", "(a)", "$1x")`, `b`},
		{"a doubled dollar is one", `replace_match("a", "a", "$$1")`, `$1`},
		{"up to a number", `replace_match("aaa", "a", "b", 2)`, `bba`},
		{"none", `replace_match("aaa", "a", "b", 0)`, `aaa`},
		{"a lambda gets match and groups", `replace_match("a1b2", "([a-z])(\\d)", |m|->m[2] m[1])`, `1a2b`},
		{"empty matches between characters", `replace_match("ab", "", "-")`, `-a-b-`},
		{"no match leaves the text", `replace_match("ab", "x", "-")`, `ab`},
		{"wide characters stay whole", `replace_match("ä漢", ".", "$0$0")`, `ää漢漢`},
	})
	language.Language{}.Fails(t, []language.Row{
		{"a lambda that gives no text", `replace_match("a", "a", |m|->m)`, "lambda must give a string, not a list"},
		{"a number is no replacement", `replace_match("a", "a", 1)`, "argument 3 must be a string or a lambda"},
		{"a replacement is looked at even without a match", `replace_match("a", "x", 1)`, "argument 3 must be a string or a lambda"},
	})
}

// TestMessagesOfPatternsAreSilent keeps bound patterns out of messages.
func TestMessagesOfPatternsAreSilent(t *testing.T) {
	language.Language{
		Config:   spiff.Config{Sensitive: true},
		Bindings: map[string]any{"p": "(secret"},
	}.Fails(t, []language.Row{
		{"match", `match(p, "a")`, "invalid regular expression <string>"},
		{"split", `split_match(p, "a")`, "invalid regular expression <string>"},
		{"replace", `replace_match("a", p, "")`, "invalid regular expression <string>"},
	})
}
