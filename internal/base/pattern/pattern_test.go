package pattern

import (
	"errors"
	"regexp"
	"regexp/syntax"
	"strings"
	"testing"
	"time"
)

func TestCompile(t *testing.T) {
	tests := []struct {
		reason, text string
		// refused is a part of the error, malformed whether no limit could help.
		refused   string
		malformed bool
	}{
		{"what people write", `^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`, "", false},
		{"nothing fits everywhere", "", "", false},
		{"the longest", strings.Repeat("a", MaxLength), "", false},
		{"a list of alternatives as long as that", strings.Repeat("a|", MaxLength/2), "", false},
		{"parsing alone takes memory for each byte", strings.Repeat("a", MaxLength+1), "longer than 10000 bytes: use a shorter one", false},
		{"the limit of the library for one repetition", "a{1001}", "is not valid (invalid repeat count): use the syntax of RE2", true},
		{"repetitions multiply, up to what the library refuses", "((a{1,100}){1,100}){1,100}", "is not valid (invalid repeat count)", true},
		{"the library admits millions of instructions", strings.Repeat("[a-z]{900}", 500), "too complex: use smaller repetitions", false},
		{"groups that each step copies, fifty times as slow as its instructions", strings.Repeat("(a|b)*", 1300) + "c", "too complex: use smaller repetitions, or fewer groups", false},
		{"groups as people write them", strings.Repeat(`([a-z]+)[.](\d+)`, 50), "", false},
		{"a class of all letters is large when it is repeated", strings.Repeat(`(?i)[\pL\pN]{990}`, 500), "too complex: use smaller repetitions", false},
		{"look-around needs another engine", "(?!a)", "which has no look-around and no back references", true},
		{"back references as well", `(a)\1`, "is not valid (invalid escape sequence)", true},
		{"no expression at all", "[", "is not valid (missing closing ])", true},
		{"bytes that are not UTF-8", "\xff", "is not valid (invalid UTF-8)", true},
		{"brackets in brackets use the stack of the parser", strings.Repeat("(", MaxLength/2) + strings.Repeat(")", MaxLength/2), "is not valid (expression nests too deeply)", true},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			compiled, err := Compile(test.text)
			if test.refused == "" {
				if err != nil || compiled.Size < 1 || compiled.Size > MaxSize {
					t.Fatalf("got %v, %v", compiled, err)
				}
				return
			}
			var refused *Error
			if !errors.As(err, &refused) || !strings.Contains(err.Error(), test.refused) || refused.Malformed != test.malformed {
				t.Errorf("got %#v; want %q, malformed %t", err, test.refused, test.malformed)
			}
			if err != nil && !strings.HasPrefix(err.Error(), "the regular expression ") {
				t.Errorf("%q does not say what it is about", err)
			}
		})
	}
}

// TestErrorsRepeatNothing has a secret in the expression and in the text.
func TestErrorsRepeatNothing(t *testing.T) {
	const secret = "hunter2"
	for _, text := range []string{secret + "[", secret + `\1`, "(?" + secret + ")", secret + "{1001}", "[z-" + secret + "]", "[[:" + secret + ":]]",
		`\p{` + secret + "}", "(?P<" + secret, secret + "**", "(?P<" + secret + ">a)(?P<" + secret + ">b)" + "(", strings.Repeat(secret, MaxLength), "(" + secret + strings.Repeat("[a-z]{900}", 500) + ")"} {
		if _, err := Compile(text); err == nil || strings.Contains(err.Error(), secret) {
			t.Errorf("%.40q: got %v", text, err)
		}
	}
	costly, err := Compile(large)
	if err != nil {
		t.Fatal(err)
	}
	text := secret + strings.Repeat("a", MaxWork/costly.Size)
	_, matched := costly.Match(text)
	for _, err := range []error{matched, costly.Affordable(text)} {
		if err == nil || strings.Contains(err.Error(), secret) || !strings.Contains(err.Error(), "is too costly for a text of ") {
			t.Errorf("got %v", err)
		}
	}
}

// TestMatch has the two sides of what a search may cost.
func TestMatch(t *testing.T) {
	compiled, err := Compile(large)
	if err != nil {
		t.Fatal(err)
	}
	longest := MaxWork/compiled.Size - 1
	if found, err := compiled.Match("B" + strings.Repeat("a", longest-1)); err != nil || found {
		t.Errorf("a text of %d bytes for %d instructions is just affordable: got %t, %v", longest, compiled.Size, found, err)
	}
	if _, err := compiled.Match("B" + strings.Repeat("a", longest)); err == nil {
		t.Error("one more byte is not")
	}
}

// large is an expression of nearly as many instructions as there may be, which a text
// with another beginning does not keep busy.
var large = "^" + strings.Repeat("[a-z]{900}", MaxSize/900-1)

// TestSize compares what is counted with what the library makes of it.
func TestSize(t *testing.T) {
	tests := []struct{ reason, text string }{
		{"letters", "abc"},
		{"letters of both cases", "(?i)abc"},
		{"nothing", ""},
		{"classes", `[a-z]\d.\pL[^\x00-\x{10FFFF}]`},
		{"places", `^a$\b\B(?m)^$(?s).\A\z`},
		{"alternatives", "(?:ab|cd|[ef]g|)"},
		{"alternatives of letters become a class", "a|b|c|d"},
		{"common beginnings are shared", "abcd|abef|abgh"},
		{"optional, repeated, both", "(?:ab)?(?:cd)*(?:ef)+(?:gh)*?"},
		{"groups", "(a)(b(c))(?P<d>e)"},
		{"exactly three", "(?:ab){3}"},
		{"at least three", "(?:ab){3,}"},
		{"at least none", "(?:ab){0,}"},
		{"three to seven", "(?:ab|c){3,7}"},
		{"never", "(?:ab){0}"},
		{"repetitions in each other", "(?:(?:a{3}b?){2,5}c){4,}"},
		{"repetitions of what is repeated", "(?:a*)*(?:(?:b+)+){3}"},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			counted, made := sizes(t, test.text)
			if counted < made || counted > 2*made+4 {
				t.Errorf("%d instructions are counted, %d are made", counted, made)
			}
		})
	}
}

// sizes returns the counted instructions and those that the library makes.
func sizes(t *testing.T, text string) (counted, made int) {
	t.Helper()
	parsed, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		t.Fatal(err)
	}
	counted = 2 + instructions(parsed)
	program, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		t.Fatal(err)
	}
	return counted, len(program.Inst)
}

// FuzzPattern compiles anything and searches with it: bounded, and as the library does.
func FuzzPattern(f *testing.F) {
	f.Add("(a*)*b", "aaaa")
	f.Add("((a{1,100}){1,100}){1,100}", "a")
	f.Add(`(?i)\pL+|[^\x00]`, "ä\xff")
	f.Add(`^|$|\b`, "a b")
	f.Fuzz(func(t *testing.T, text, in string) {
		compiled, err := Compile(text)
		if err != nil {
			var refused *Error
			if compiled != nil || !errors.As(err, &refused) {
				t.Fatalf("got %v, %v", compiled, err)
			}
			return
		}
		if counted, made := sizes(t, text); counted < made {
			t.Fatalf("%d instructions are counted, %d are made", counted, made)
		}
		began := time.Now()
		found, err := compiled.Match(in)
		if took := time.Since(began); took > 2*time.Minute {
			t.Fatalf("it takes %s", took)
		}
		if err == nil && found != regexp.MustCompile(text).MatchString(in) {
			t.Errorf("Match says %t", found)
		}
	})
}
