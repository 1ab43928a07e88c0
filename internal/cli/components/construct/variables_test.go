package construct

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
		{"without a value", "a: 1\nb: ${B}", "", "line 2: the variable ${B} has no value: give it one with --set B=VALUE"},
		{"without a name", "a: ${}", "", "line 1: a variable has no name"},
	} {
		got, err := Substitute(test.text, values)
		if got != test.want || (err == nil) != (test.err == "") || err != nil && !strings.Contains(err.Error(), test.err) {
			t.Errorf("%s: %q, %v", test.reason, got, err)
		}
	}
	t.Setenv("SHOP_VERSION", "1")
	for _, asked := range []bool{false, true} {
		values, err := Variables(asked, nil, nil)
		if _, given := values["SHOP_VERSION"]; err != nil || given != asked {
			t.Errorf("the environment is used only if that is asked for: %t, %v", asked, err)
		}
	}
}
