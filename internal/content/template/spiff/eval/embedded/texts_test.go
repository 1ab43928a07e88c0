package embedded_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"go.landscaper.dev/internal/content/template/spiff/eval/embedded"
	"go.landscaper.dev/internal/content/template/spiff/syntax"
	"go.landscaper.dev/test/language"
)

func TestWhatIsAnExpression(t *testing.T) {
	tests := []struct {
		reason, text        string
		whole, interpolated bool
	}{
		{"the usual form", "(( a ))", true, true},
		{"without blanks", "((a))", true, true},
		{"nothing in it", "(())", true, true},
		{"with line breaks", "((\na\n))", true, true},
		{"an escape", "((! a ))", false, false},
		{"a blank in front", " (( a ))", false, true},
		{"a blank behind", "(( a )) ", false, true},
		{"two of them begin and end like one", "(( a )) (( b ))", true, true},
		{"text around", "x (( a )) y", false, true},
		{"only escapes in text", "x ((! a )) y", false, false},
		{"not closed", "(( a", false, false},
		{"closed once", "(( a )", false, false},
		{"not opened", "a ))", false, false},
		{"brackets of one kind", "(((", false, false},
		{"three characters", "(()", false, false},
		{"closing brackets in a text literal", `x (( "))" )) y`, false, true},
		{"a quote that is not closed", `x (( " )) y`, false, false},
		{"nothing", "", false, false},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			if got := embedded.IsExpression(test.text); got != test.whole {
				t.Errorf("as a whole it is %t", got)
			}
			if got := embedded.NewParser(false).Evaluates(test.text); got != test.whole {
				t.Errorf("without interpolation it evaluates: %t", got)
			}
			if got := embedded.NewParser(true).Evaluates(test.text); got != test.interpolated {
				t.Errorf("with interpolation it evaluates: %t", got)
			}
		})
	}
}

func TestSplit(t *testing.T) {
	tests := []struct {
		reason, text string
		want         []string
	}{
		{"text only", "abc", []string{"abc"}},
		{"nothing", "", nil},
		{"text on both sides", "a (( b )) c", []string{"a ", "(( b ))", " c"}},
		{"parts side by side", "(( a ))((! b ))(( c ))", []string{"(( a ))", "((! b ))", "(( c ))"}},
		{"brackets around are text", "((((a))))", []string{"((", "((a))", "))"}},
		{"a bracket inside", "x (( (a) )) y", []string{"x ", "(( (a) ))", " y"}},
		{"not closed", "a (( b", []string{"a (( b"}},
		{"an escaped quote", `(( "\")" )) x`, []string{`(( "\")" ))`, " x"}},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			var got []string
			for _, piece := range embedded.Split(test.text) {
				got = append(got, piece.Text)
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}

// TestNothingGetsLost puts the pieces of any text together again, also of a hostile one.
func TestNothingGetsLost(t *testing.T) {
	texts := append(language.Texts(300), strings.Repeat("(", 100_000), strings.Repeat("((", 20_000)+strings.Repeat("))", 20_000),
		strings.Repeat(`(( " `, 4_000), strings.Repeat("(( a )) ", 5_000), strings.Repeat("((! a ", 4_000))
	for _, text := range texts {
		t.Run(syntax.Short(text), func(t *testing.T) {
			var whole strings.Builder
			for _, piece := range embedded.Split(text) {
				whole.WriteString(piece.Text)
			}
			if whole.String() != text {
				t.Errorf("it becomes %q", syntax.Short(whole.String()))
			}
		})
	}
}

func TestTagNames(t *testing.T) {
	tests := []struct {
		reason, text string
		want         []string
	}{
		{"a marker", "&tag:a (1)", []string{"a"}},
		{"a global one, and another", "&tag:*a:b &tag:c", []string{"a.b", "c"}},
		{"a call", `tagdef("a", 1)`, []string{"a"}},
		{"a call with blanks and a global name", `tagdef( "*a.b", 1)`, []string{"a.b"}},
		{"a computed name is not known", `tagdef(x, 1)`, nil},
		{"no tags", "a + b", nil},
		{"a reference is not a definition", "tag::a", nil},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			if got := embedded.TagNames(test.text); !slices.Equal(got, test.want) {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}

// TestParsedOnce parses a text again; what came of it the first time is what comes now.
func TestParsedOnce(t *testing.T) {
	p := embedded.NewParser(true)
	for _, text := range []string{"(( a + 1 ))", "x (( a )) y", "(( a + ))", "x (( + )) y"} {
		t.Run(text, func(t *testing.T) {
			first, firstErr := p.ParseText(text)
			second, secondErr := p.ParseText(text)
			if first != second || !errors.Is(secondErr, firstErr) || (first == nil) == (firstErr == nil) {
				t.Errorf("%v, %v and then %v, %v", first, firstErr, second, secondErr)
			}
		})
	}
}
