package syntax_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"go.landscaper.dev/internal/content/template/spiff/syntax"
	"go.landscaper.dev/test/language"
)

// surroundings are what the expressions below refer to.
func surroundings() language.Language {
	return language.Language{Bindings: map[string]any{
		"a": 7, "b": -2, "c": 1.5, "s": "text", "n": nil, "l": []any{3, 1, 2}, "m": map[string]any{"x": 1, "y": "two"},
		"ll": []any{map[string]any{"name": "p", "v": []any{1, 2}}, map[string]any{"name": "q", "v": []any{3}}},
	}}
}

// sameMeaning evaluates an expression as it is written and as it prints.
func sameMeaning(t *testing.T, src string) {
	t.Helper()
	expr, err := syntax.Parse(src)
	if err != nil {
		t.Fatalf("%s: %v", src, err)
	}
	canonical := syntax.String(expr)
	if _, err := syntax.Parse(canonical); err != nil {
		t.Fatalf("%s prints %s: %v", src, canonical, err)
	}
	want, wantErr := surroundings().Process(t, src)
	got, gotErr := surroundings().Process(t, canonical)
	if (wantErr == nil) != (gotErr == nil) {
		t.Fatalf("%s prints %s:\n%v\n%v", src, canonical, wantErr, gotErr)
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateNaNs()); diff != "" {
		t.Errorf("%s prints %s (-written +printed):\n%s", src, canonical, diff)
	}
}

// TestCanonicalTextMeansTheSame holds what reports, printed lambdas and their
// comparison rely on.
func TestCanonicalTextMeansTheSame(t *testing.T) {
	tests := []struct{ reason, src string }{
		{"a float without a fraction stays a float", `7 / 2.0`},
		{"a large float", `1e21 / 10`},
		{"a small float", `1.5e-9 * 2`},
		{"a negative operand", `1 - -2`},
		{"a condition inside of a condition", `a > 1 ? b > 1 ? 1 :2 :3`},
		{"a condition as alternative", `nope || a ? 1 :2`},
		{"alternatives in a branch", `a ? nope || 2 :3`},
		{"a lambda as alternative", `(nope || lambda |x|->x + 1)(1)`},
		{"a lambda with a default that is a lambda", `(|x,f=|y|->y * 2|->f(x) || 1)(3)`},
		{"a scope in a branch", `a ? ( $z=1 ) z + a :2`},
		{"scopes behind each other", `( $z=1 ) ( $y=z ) z + y`},
		{"an empty scope", `() a`},
		{"a group that is called", `(|x|->x)(2)`},
		{"a call that is called", `(|x|->|y|->x - y)(5)(3)`},
		{"a path behind a call", `merge({"k"={"v"=5}}).k.v`},
		{"an index behind a call", `split(",", "x,y")[1]`},
		{"a negative index", `l[-1]`},
		{"an index that is computed", `l[a - 6]`},
		{"two steps of an index", `ll["p", "v"]`},
		{"a projection of a projection", `ll[*].v[*]`},
		{"a slice with both ends", `l[0..1]`},
		{"a slice from the end", `l[..-2]`},
		{"a slice to the end", `ll[1..].name`},
		{"a projection without a rest", `m[*]`},
		{"negation of a comparison", `!(a == 7)`},
		{"negation twice", `!!a`},
		{"joined with a negation", `s !n`},
		{"joined with a group is no call", `s (a)`},
		{"joined numbers", `1 2 3`},
		{"a text with all escapes", `"\"\\\/\b\f\n\r\t\u00e9\u2028\ud83d\ude00"`},
		{"an address", `10.0.0.255 + 1`},
		{"a symbol", `$a s`},
		{"a map with computed keys", `{ s "1" = 1, $b = {"c"=[]} }`},
		{"a list with what is spread", `[l..., 4, [l...]...]`},
		{"a range", `[a - 6..3]`},
		{"named arguments", `(|x,y|->x - y)(y=1, 5)`},
		{"arguments by number", `(|x,y|->x - y)(2=1, 5)`},
		{"currying", `(|x,y|->x - y)*(9)(1)`},
		{"a curried function", `join*(",")("a", "b")`},
		{"a variable parameter", `(|x,y...|->[x, y])(1, 2, 3)`},
		{"map with index", `map[l|i,x|->i x]`},
		{"map of a map", `map{m|k,x|->k x}`},
		{"filter with a function", `filter[l|lambda |x|->x > 1]`},
		{"select", `select[l|x|->x > 1]`},
		{"sum", `sum[l|0|s,x|->s + x]`},
		{"sum from an alternative", `sum[l|nope || 5|s,i,x|->s + i]`},
		{"catch", `catch[1 / 0|v,e|->e]`},
		{"sync", `sync[5|v|->v == 5,v + 1|3]`},
		{"sync with functions", `sync[5|v|->v == 5|v|->v + 1|3]`},
		{"a lambda of a text", `(lambda "|x|->x + 1")(1)`},
		{"logic", `a -and b -or n`},
		{"a chain of comparisons", `1 < 2 == true`},
		{"the absolute name of a binding", `.m.x`},
		{"the absolute index", `.["m"].x`},
		{"outermost", `___.m.x`},
		{"undefined", `~~ || ~`},
		{"a keyword as a field", `{"merge"=1}.merge`},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) { sameMeaning(t, test.src) })
	}
}

// grammar makes random expressions, deeper ones with less probability.
type grammar struct{ *rand.Rand }

func (g grammar) one(list ...string) string { return list[g.IntN(len(list))] }

func (g grammar) expr(depth int) string {
	if depth <= 0 {
		return g.one(`a`, `b`, `c`, `s`, `n`, `l`, `m`, `l[0]`, `m.x`, `.a`, `1`, `-3`, `2.5`, `4.0`, `1e20`, `"x\ny"`, `true`, `nil`, `~~`, `nope`, `[]`, `{}`, `$q`)
	}
	e := func() string { return g.expr(depth - 1 - g.IntN(2)) }
	switch g.IntN(16) {
	case 0, 1, 2:
		return e() + " " + g.one("+", "-", "*", "/", "%", "==", "!=", "<", ">=", "-or", "-and", "||", "//", "") + " " + e()
	case 3:
		return "(" + e() + ")"
	case 4:
		return e() + " ? " + e() + " :" + e()
	case 5:
		return "[" + e() + ", " + e() + "]"
	case 6:
		return `{ "k" = ` + e() + `, $j = ` + e() + ` }`
	case 7:
		return "!" + g.one("", " ") + "(" + e() + ")"
	case 8:
		return "(" + e() + ")" + g.one(".k", "[0]", "[-1]", "[*]", "[0..]", `["k"]`, "[a]")
	case 9:
		return g.one("map", "filter", "select") + "[(" + e() + ")|" + g.one("x", "i,x") + "|->" + e() + "]"
	case 10:
		return "sum[(" + e() + ")|" + e() + "|s,x|->" + e() + "]"
	case 11:
		return "(|x,y=" + g.one("1", "a", "[s]") + "|->" + e() + ")(" + e() + ")"
	case 12:
		return "( $a=" + e() + " ) " + e()
	case 13:
		return g.one("length", "type", "defined", "keys", "asjson", "reverse", "string") + "(" + e() + ")"
	case 14:
		return "catch[" + e() + "|v,e|->v || e]"
	}
	return `join("-", ` + e() + ", [" + e() + "]...)"
}

func TestRandomExpressionsMeanTheSameAsTheyPrint(t *testing.T) {
	g := grammar{language.Random()}
	checked := 0
	for i := range 1500 {
		src := g.expr(3)
		if _, err := syntax.Parse(src); err != nil {
			continue // two operators of a kind that needs brackets
		}
		checked++
		t.Run(fmt.Sprintf("%d", i), func(t *testing.T) { sameMeaning(t, src) })
	}
	if checked < 500 {
		t.Errorf("only %d of the expressions can be parsed", checked)
	}
}

func TestPositions(t *testing.T) {
	tests := []struct{ reason, src, want string }{
		{"the first character is 1", `)`, `near symbol 1: expected an operand, found ")"`},
		{"the end", `a +`, `near symbol 3: expected`},
		{"characters count, not bytes", `"ä漢" )`, `near symbol 6: expected`},
		{"lines count from 1", "a\n  )", `near line 2 symbol 3: expected`},
		{"an empty first line", "\n)", `near line 2 symbol 1: expected`},
		{"an open text begins where it opens", `a "b`, `near symbol 3: string is not closed`},
		{"a wrong escape is told where its text begins", `a "\x"`, `near symbol 3: string has an invalid escape sequence`},
		{"a number that does not fit", `1 99999999999999999999`, `near symbol 3: integer does not fit into 64 bit`},
		{"a colon that is part of a name", `a ? b:c`, `leave a blank before it`},
		{"a parameter that needs a default", `|a=1,b|->a`, `parameter "b" needs a default`},
		{"an unknown marker", `&temp`, "one of the markers &template, &temporary"},
		{"a marker that only begins like one", `&temporaryx`, "one of the markers"},
		{"a tag without a name", `&tag:`, "expected a tag name"},
		{"a range that is not closed", `[1..2`, `expected "]"`},
		{"a key without a value", `{ "a" }`, `expected "=" and a value`},
		{"a list that is not closed", `[1, 2`, `expected "," or "]", found end of expression`},
		{"an assignment is no comparison", `{"a"==1}`, `expected`},
		{"hostile: brackets", strings.Repeat("[", 5000), "nested deeper than 1000 levels"},
		{"hostile: calls", "f" + strings.Repeat("()", 5000), "chain has more than 1000 calls"},
		{"hostile: conditions", strings.Repeat("a ? ", 5000), "nested deeper"},
		{"hostile: lambdas", strings.Repeat("|x|->", 5000), "nested deeper"},
		{"hostile: projections", "a" + strings.Repeat("[*].a", 5000), "nested deeper"},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			expr, err := syntax.Parse(test.src)
			if err == nil {
				t.Fatalf("%.60s is %.60s", test.src, syntax.String(expr))
			}
			if !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v", err)
			}
		})
	}
}

func TestTagNames(t *testing.T) {
	tests := []struct {
		reason, name, want string
		ok                 bool
	}{
		{"one component", "lib", "lib", true},
		{"colons are dots", "a:b.c", "a.b.c", true},
		{"a component may end in a digit", "a1", "a1", true},
		{"a component must not begin with a digit", "1a", "", false},
		{"a later component must not begin with a digit", "a.1b", "", false},
		{"a document of the stream", "doc.-1", "doc.-1", true},
		{"a document by a colon", "doc:2", "doc.2", true},
		{"an invalid document", "doc.x", "doc.x", true},
		{"an empty component", "a..b", "", false},
		{"a dot at the end", "a.", "", false},
		{"a hyphen", "a-b", "", false},
		{"nothing", "", "", false},
		{"more behind it", "a b", "", false},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			if got, ok := syntax.TagName(test.name); got != test.want || ok != test.ok {
				t.Errorf("%q is %q, %t", test.name, got, ok)
			}
		})
	}
}

func TestShort(t *testing.T) {
	for _, test := range []struct{ reason, text, want string }{
		{"a short text stays", "abc", "abc"},
		{"as many characters as are shown", strings.Repeat("ä", syntax.MaxShown), strings.Repeat("ä", syntax.MaxShown)},
		{"one character more is cut between characters", strings.Repeat("ä", syntax.MaxShown+1), strings.Repeat("ä", syntax.MaxShown) + "..."},
		{"nothing", "", ""},
	} {
		t.Run(test.reason, func(t *testing.T) {
			if got := syntax.Short(test.text); got != test.want {
				t.Errorf("%q", got)
			}
		})
	}
}

// TestQuotedTextsAreTexts reads quoted texts as literals.
func TestQuotedTextsAreTexts(t *testing.T) {
	for _, text := range language.Texts(200) {
		t.Run(syntax.Quote(text), func(t *testing.T) {
			expr, err := syntax.Parse(syntax.Quote(text))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(syntax.Text{Value: text}, expr); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
