package variable

import (
	"strings"
	"testing"
)

func TestSubstitute(t *testing.T) {
	values := map[string]string{"A": "x", "EMPTY": ""}
	for _, test := range []struct{ reason, text, want, err string }{
		{"a value", "a: ${A}-${ A }", "a: x-x", ""},
		{"an empty value", "a: '${EMPTY}'", "a: ''", ""},
		{"the text itself", "a: $${A}", "a: ${A}", ""},
		{"no variable", "a: $A {A} $", "a: $A {A} $", ""},
		{"comments are left alone", "  # ${B}\na: 1", "  # ${B}\na: 1", ""},
		{"a default", "a: ${B:-1.0.0}-${A:-y}-${EMPTY:-z}-${B:-}", "a: 1.0.0-x-z-", ""},
		{"without a value", "a: 1\nb: ${B}", "", "line 2: the variable ${B} has no value: give it one with --set B=VALUE"},
		{"without a name", "a: ${}", "", "line 1: a variable has no name"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			got, err := Substitute(test.text, values)
			if got != test.want || (err == nil) != (test.err == "") || err != nil && !strings.Contains(err.Error(), test.err) {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
}
