package text_test

import (
	"strings"
	"testing"

	"go.landscaper.dev/internal/content/template/spiff/syntax"
	"go.landscaper.dev/test/language"
)

func TestJoin(t *testing.T) {
	language.Language{}.Gives(t, []language.Row{
		{"all simple kinds are text", `join("-", "a", 1, true, 2.5)`, `a-1-true-2.5`},
		{"lists are joined with what stands around them", `join(",", "a", ["b", "c"], "d")`, `a,b,c,d`},
		{"nil arguments are left out, without a separator", `join(",", nil, "a", nil, "b")`, `a,b`},
		{"an empty text is an entry", `join(",", "", "a", "")`, `",a,"`},
		{"empty lists add nothing", `join(",", [], "a", [])`, `a`},
		{"nothing to join is the empty text", `join(",")`, `""`},
		{"only nil is nothing to join", `join(",", nil)`, `""`},
		{"the separator may be empty", `join("", "a", "b")`, `ab`},
		{"characters of any width", `join("→", "ä", "漢")`, `ä→漢`},
		{"a float prints like string() prints it", `join("", [1.5, 2.0])`, `"1.52"`},
	})
	language.Language{}.Fails(t, []language.Row{
		{"nil inside of a list is not a string", `join(",", ["a", nil])`, "must be simple values, not nil"},
		{"lists in lists are not strings", `join(",", [["a"]])`, "must be simple values, not a list"},
		{"a map is not a string", `join(",", {"a"=1})`, "argument 2 must be a simple value"},
		{"the separator is a text, no number", `join(1, "a")`, "argument 1 must be a string"},
		{"nil is no separator", `join(nil, "a")`, "argument 1 must be a string"},
		{"a separator is needed", `join()`, "takes at least 1 argument"},
	})
}

func TestSplit(t *testing.T) {
	language.Language{}.Gives(t, []language.Row{
		{"separators at both ends give empty parts", `split(",", ",a,")`, `["", a, ""]`},
		{"no separator found is one part", `split(",", "a")`, `[a]`},
		{"the empty text is one empty part", `split(",", "")`, `[""]`},
		{"the last part keeps the rest", `split(",", "a,b,c", 2)`, `[a, "b,c"]`},
		{"one part is everything", `split(",", "a,b", 1)`, `["a,b"]`},
		{"no parts", `split(",", "a,b", 0)`, `[]`},
		{"minus one is no limit", `split(",", "a,b", -1)`, `[a, b]`},
		{"a limit beyond the parts", `split(",", "a,b", 9223372036854775807)`, `[a, b]`},
		{"a limit as text", `split(",", "a,b,c", "2")`, `[a, "b,c"]`},
		{"an empty separator splits into characters, not bytes", `split("", "aä漢")`, `[a, ä, 漢]`},
		{"characters with a limit", `split("", "abc", 2)`, `[a, bc]`},
		{"chunks count characters", `split(2, "aä漢b!")`, `[aä, 漢b, "!"]`},
		{"a chunk larger than the text", `split(9223372036854775807, "ab")`, `[ab]`},
		{"the last chunk keeps the rest", `split(1, "abc", 2)`, `[a, bc]`},
		{"an empty text has no chunks", `split(2, "")`, `[]`},
		{"no chunks", `split(2, "abc", 0)`, `[]`},
	})
	language.Language{}.Fails(t, []language.Row{
		{"chunks of no character would never end", `split(0, "abc")`, "chunk size must be positive"},
		{"a negative chunk size", `split(-1, "abc")`, "chunk size must be positive"},
		{"a separator is a text or a number", `split(nil, "abc")`, "argument 1 must be a string or an integer"},
		{"a float is no chunk size", `split(1.5, "abc")`, "argument 1 must be a string or an integer"},
		{"only texts are split", `split(",", ["a"])`, "argument 2 must be a string"},
		{"nil is not a string", `split(",", nil)`, "argument 2 must be a string"},
		{"a limit that is not a number", `split(",", "a", "x")`, "argument 3 must be an integer"},
	})
}

func TestTrim(t *testing.T) {
	language.Language{}.Gives(t, []language.Row{
		{"blanks and tabs, but no line breaks", `trim(" \t\na\n\t ")`, `"\na\n"`},
		{"every text of a list", `trim([" a", "b ", ""])`, `[a, b, ""]`},
		{"characters to cut are a set", `trim("xyaxy", "yx")`, `a`},
		{"nothing to cut", `trim(" a ", "")`, `" a "`},
		{"a cut set of wide characters", `trim("→ä→", "→")`, `ä`},
		{"all may be cut", `trim("   ")`, `""`},
		{"an empty list", `trim([])`, `[]`},
	})
	language.Language{}.Fails(t, []language.Row{
		{"entries that are not strings", `trim(["a", 1])`, "must be strings, not an int"},
		{"a number is not trimmed", `trim(1)`, "must be a string or a list of strings"},
		{"a cut set is a text", `trim("a", 1)`, "argument 2 must be a string"},
	})
}

func TestSubstr(t *testing.T) {
	language.Language{}.Gives(t, []language.Row{
		{"offsets count bytes", `substr("aäb", 0, 3)`, `aä`},
		{"from the end", `substr("abc", -2)`, `bc`},
		{"both ends from the end", `substr("abcd", -3, -1)`, `bc`},
		{"an empty part at the end", `substr("abc", 3)`, `""`},
		{"an empty part in the middle", `substr("abc", 1, 1)`, `""`},
		{"the rest of an empty text is empty", `substr("", 0)`, `""`},
		{"the end as numeric text", `substr("abc", 0, "2")`, `ab`},
	})
	language.Language{}.Fails(t, []language.Row{
		{"a start behind the end", `substr("abc", 4)`, "offsets leave the text of 3 bytes"},
		{"a start before the text", `substr("abc", -4)`, "offsets leave the text"},
		{"an end behind the text", `substr("abc", 0, 4)`, "offsets leave the text"},
		{"the ends reversed", `substr("abc", 2, 1)`, "offsets leave the text"},
		{"the smallest number", `substr("abc", -9223372036854775808)`, "offsets leave the text"},
		{"the largest number", `substr("abc", 0, 9223372036854775807)`, "offsets leave the text"},
		{"a start that is no integer", `substr("abc", 1.0)`, "argument 2 must be an integer"},
	})
}

func TestReplace(t *testing.T) {
	language.Language{}.Gives(t, []language.Row{
		{"all by default", `replace("a-b-c", "-", "+")`, `a+b+c`},
		{"none", `replace("a-b", "-", "+", 0)`, `a-b`},
		{"any negative number is all", `replace("a-b-c", "-", "+", -7)`, `a+b+c`},
		{"an empty text matches between characters", `replace("aä", "", ".")`, `.a.ä.`},
		{"between characters up to a limit", `replace("abc", "", ".", 2)`, `.a.bc`},
		{"the new text is no pattern", `replace("abc", "b", "$1")`, `a$1c`},
		{"matches do not overlap", `replace("aaa", "aa", "b")`, `ba`},
		{"a lambda gets a list of the match", `replace("a.b", ".", |m|->"[" m[0] length(m) "]")`, `"a[.1]b"`},
		{"a lambda up to a limit", `replace("aaa", "a", |m|->"b", 2)`, `bba`},
		{"a lambda for the empty text, as for a text", `replace("aä", "", |m|->".")`, `.a.ä.`},
		{"a lambda for the empty text, up to a limit", `replace("abc", "", |m|->".", 2)`, `.a.bc`},
		{"what a lambda gives is not looked at again", `replace("aa", "a", |m|->"aa")`, `aaaa`},
	})
	language.Language{}.Fails(t, []language.Row{
		{"a lambda that gives no text", `replace("a", "a", |m|->1)`, "lambda must give a string, not an int"},
		{"a lambda that fails", `replace("a", "a", |m|->error("no"))`, "no"},
		{"a lambda with too many parameters", `replace("a", "a", |m,n|->"x")`, "is missing"},
		{"a number is no replacement", `replace("a", "a", 1)`, "argument 3 must be a string or a lambda"},
	})
}

func TestBase64(t *testing.T) {
	language.Language{}.Gives(t, []language.Row{
		{"nothing", `base64("")`, `""`},
		{"padding", `base64("a")`, `YQ==`},
		{"a text of lines has no line break at its end", `base64("abcdef", 4)`, `"YWJj\nZGVm"`},
		{"lines of the width of the text", `base64("abc", 4)`, `YWJj`},
		{"the last line is shorter", `base64("abcd", 6)`, `"YWJjZA\n=="`},
		{"no width", `base64("abcdef", 0)`, `YWJjZGVm`},
		{"a negative width counts as omitted", `base64("abcdef", -1)`, `YWJjZGVm`},
		{"line breaks inside do not disturb", `base64_decode(base64("abcdef", 4))`, `abcdef`},
		{"decoded nothing", `base64_decode("")`, `""`},
	})
	language.Language{}.Fails(t, []language.Row{
		{"missing padding", `base64_decode("YQ")`, "not base64"},
		{"the alphabet of URLs", `base64_decode("_-8=")`, "not base64"},
		{"a number is not encoded", `base64(1)`, "argument 1 must be a string"},
		{"the message does not repeat the text", `base64_decode("!secret!")`, "base64_decode: text is not base64\n"},
	})
}

func TestPaths(t *testing.T) {
	language.Language{}.Gives(t, []language.Row{
		{"the last step", `basename("alice/bob")`, `bob`},
		{"slashes at the end do not count", `basename("alice/bob//")`, `bob`},
		{"the root has no name", `basename("//")`, `/`},
		{"nothing is the root", `basename("")`, `/`},
		{"a name without a directory", `dirname("x")`, `.`},
		{"slashes at the end do not count for the directory", `dirname("alice/bob/")`, `alice`},
		{"a directory with a doubled slash", `dirname("alice//bob")`, `alice`},
		{"the directory of the root", `dirname("/")`, `/`},
		{"a file below the root", `dirname("/x")`, `/`},
		{"the path of a URL", `basename("https://host/a/b.txt?x=/y#/z")`, `b.txt`},
		{"the directory of a URL", `dirname("https://host/a/b.txt")`, `/a`},
		{"a URL without a path", `dirname("https://host") basename("https://host")`, `//`},
		{"a colon does not make a URL", `basename("c:d/e")`, `e`},
		{"wide characters", `dirname("ä/漢")`, `ä`},
	})
	language.Language{}.Fails(t, []language.Row{
		{"a list is not a path", `basename(["a"])`, "argument 1 must be a string"},
		{"nil is not a path", `dirname(nil)`, "argument 1 must be a string"},
	})
}

func TestParseURL(t *testing.T) {
	language.Language{}.Gives(t, []language.Row{
		{"all parts", `parseurl("https://u:p@h:8443/a%20b?x=1&x=2&y=#f")`,
			`{scheme: https, host: h, port: 8443, path: "/a b", fragment: f, query: "x=1&x=2&y=", values: {x: ["1", "2"], "y": [""]}, userinfo: {username: u, password: p}}`},
		{"optional parts are left out, others are empty", `parseurl("h")`,
			`{scheme: "", host: "", path: h, fragment: "", query: "", values: {}}`},
		{"a user without a password", `parseurl("ssh://git@h/r").userinfo`, `{username: git}`},
		{"an empty password is one", `parseurl("ssh://git:@h/r").userinfo`, `{username: git, password: ""}`},
		{"an address of the sixth version loses its brackets", `parseurl("http://[::1]:80/").host`, `"::1"`},
		{"an empty port counts as missing", `defined(parseurl("http://h:/").port)`, `false`},
	})
	language.Language{}.Fails(t, []language.Row{
		{"a broken escape", `parseurl("http://h/%zz")`, "text is not a URL"},
		{"the message does not repeat the text", `parseurl("http://user:secret@h:x/")`, "parseurl: text is not a URL\n"},
		{"a number is not a URL", `parseurl(1)`, "argument 1 must be a string"},
	})
}

func TestCase(t *testing.T) {
	language.Language{}.Gives(t, []language.Row{
		{"letters outside of ASCII", `upper("äß") lower("ÄÉ")`, `Äßäé`},
		{"digits stay", `lower("A1")`, `a1`},
	})
	language.Language{}.Fails(t, []language.Row{
		{"a boolean is not a string", `lower(true)`, "argument 1 must be a string"},
		{"one text at a time", `upper("a", "b")`, "takes 1 argument"},
	})
}

// TestTextsSurviveTheWayBack holds what undoes what.
func TestTextsSurviveTheWayBack(t *testing.T) {
	properties := []struct{ reason, expression string }{
		{"decoding what was encoded", `base64_decode(base64(%s))`},
		{"decoding what was encoded in lines", `base64_decode(base64(%s, 3))`},
		{"joining what was split into characters", `join("", split("", %s))`},
		{"joining what was split at a separator", `join("a", split("a", %s))`},
		{"joining chunks", `join("", split(3, %s))`},
		{"replacing by the same", `replace(%s, "a", "a")`},
		{"replacing a match by itself", `replace_match(%s, "[a-z]+", "$0")`},
		{"reading what was written as YAML", `parse(asyaml(%s), "import")`},
		{"reading what was written as JSON", `parse(asjson(%s), "import")`},
	}
	for _, p := range properties {
		t.Run(p.reason, func(t *testing.T) {
			for _, want := range language.Texts(200) {
				got, err := language.Language{}.Process(t, strings.ReplaceAll(p.expression, "%s", syntax.Quote(want)))
				if err != nil || got != want {
					t.Fatalf("%q becomes %q, %v", want, got, err)
				}
			}
		})
	}
}
