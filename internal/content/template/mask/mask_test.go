package mask

import (
	"errors"
	"strings"
	"testing"
)

var bindings = map[string]any{
	"imports": map[string]any{
		"password": "Tr0ubador", "short": "zq", "number": int64(4815), "lines": "first line\n  second line\n", "key": "password",
		"target": map[string]any{"kind": "Target", "metadata": map[string]any{"name": "blue-cluster"}, "spec": map[string]any{"config": "kubeconfig: x"}},
	},
	"cd": map[string]any{"name": "example.org/component"},
}

func TestHide(t *testing.T) {
	tests := []struct{ reason, text, want string }{
		{"a value", "bad Tr0ubador!", "bad [...]!"},
		{"a value in base64", "bad VHIwdWJhZG9y!", "bad [...]!"},
		{"a number", "bad 4815", "bad [...]"},
		{"a line of a value", "at second line", "at [...]"},
		{"a value of a Target, but not its name", "blue-cluster has kubeconfig: x", "blue-cluster has [...]"},
		{"the component is public", "example.org/component", "example.org/component"},
	}
	m := New(bindings)
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			if got := m.Hide(test.text); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestShow(t *testing.T) {
	pieces := NewPieces([]string{"no size %s for region %q found", "choose one", "name: web-", "  image: ", "ab", "100%", "password"})
	tests := []struct{ reason, text, want string }{
		{"a constant", "choose one", "choose one"},
		{"values between the parts of a format", `no size 5 for region "eu" found`, "no size [...] for region [...] found"},
		{"anything else", "whatever", "[...]"},
		{"short constants do not count", "ab", "[...]"},
		{"the beginning of a line that the template has", "    image: secret/x:1\n  name: web-5", "    image: [...]\n  name: web-[...]"},
		{"a constant in a longer word does not count", "my-choose one", "[...]"},
		{"lines stay lines", "a\n\n b\n", "[...]\n\n [...]\n"},
		{"a percent sign", "100", "100"},
		{"a constant that is a value", "password", "[...]"},
		{"nothing", "", ""},
		{"characters of many bytes", "ä choose one ö", "[...] choose one [...]"},
	}
	m := New(bindings)
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			if got := m.Show(test.text, pieces); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestReason(t *testing.T) {
	known := func(text string) bool { return strings.Contains(`getResource "name" "web"`, text) }
	tests := []struct {
		reason, message string
		args            []any
		want            string
	}{
		{"an argument", "zq is not a path", []any{"zq"}, "[...] is not a path"},
		{"not within words", "zqa and azq and zq.", []any{"zq"}, "zqa and azq and [...]."},
		{"a word of the template stays", "web not found", []any{"name", "web"}, "web not found"},
		{"a number", "7 is too small", []any{int64(7)}, "[...] is too small"},
		{"a value that is no argument", "cannot use Tr0ubador", nil, "cannot use [...]"},
		{"an empty argument", "cannot use it", []any{""}, "cannot use it"},
	}
	m := New(bindings)
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			if got := m.Reason(errors.New(test.message), test.args, known); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}
