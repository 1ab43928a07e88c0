package spiff

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDefine(t *testing.T) {
	for _, test := range []struct {
		reason      string
		definitions []string
		want        map[string]any
		message     string
	}{
		{"a text", []string{"a=x"}, map[string]any{"a": "x"}, ""},
		{"a number is one, as templates calculate with it", []string{"a=7"}, map[string]any{"a": int64(7)}, ""},
		{"below zero", []string{"a=-7"}, map[string]any{"a": int64(-7)}, ""},
		{"a number beyond 64 bits stays a text with all digits", []string{"a=9223372036854775808"}, map[string]any{"a": "9223372036854775808"}, ""},
		{"a version is a text", []string{"a=1.10"}, map[string]any{"a": "1.10"}, ""},
		{"a word of YAML is a text", []string{"a=true", "b=~", "c=[1]"}, map[string]any{"a": "true", "b": "~", "c": "[1]"}, ""},
		{"nothing is an empty text", []string{"a="}, map[string]any{"a": ""}, ""},
		{"only the first sign divides", []string{"a=b=c="}, map[string]any{"a": "b=c="}, ""},
		{"an expression is no more than a text", []string{"a=(( 1 + 1 ))"}, map[string]any{"a": "(( 1 + 1 ))"}, ""},
		{"dots make maps, which several share", []string{"a.b=1", "a.c.d=2"}, map[string]any{"a": map[string]any{"b": int64(1), "c": map[string]any{"d": int64(2)}}}, ""},
		{"an escaped dot is one", []string{`a\.b.c=1`}, map[string]any{"a.b": map[string]any{"c": int64(1)}}, ""},
		{"a backslash elsewhere is one", []string{`a\b\\.c=1`}, map[string]any{`a\b\.c`: int64(1)}, ""},
		{"a backslash at the end is one", []string{`a\=1`}, map[string]any{`a\`: int64(1)}, ""},
		{"spaces belong to both", []string{" a = x "}, map[string]any{" a ": " x "}, ""},

		{"no value", []string{"alone"}, nil, "a binding must look like KEY=VALUE"},
		{"nothing at all", []string{""}, nil, "a binding must look like KEY=VALUE"},
		{"no name", []string{"=s3cret"}, nil, `binding "" has an empty step`},
		{"an empty step inside", []string{"a..b=s3cret"}, nil, `binding "a..b" has an empty step`},
		{"an empty step at the end", []string{"a.=s3cret"}, nil, `binding "a." has an empty step`},
		{"twice", []string{"a=1", "a=s3cret"}, nil, `binding "a" conflicts with another one`},
		{"twice with the same value is a slip as well", []string{"a=1", "a=1"}, nil, `binding "a" conflicts`},
		{"a text with something in it", []string{"a=1", "a.b=s3cret"}, nil, `binding "a.b" conflicts`},
		{"a map that becomes a text", []string{"a.b=1", "a=s3cret"}, nil, `binding "a" conflicts`},
		{"a password instead of a definition", []string{"s3cret"}, nil, "KEY=VALUE"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			got, err := (&bindingFlags{defines: test.definitions}).bindings(&inputs{})
			if (err == nil) != (test.message == "") || err != nil && !strings.Contains(err.Error(), test.message) {
				t.Fatalf("got %v, want %q", err, test.message)
			}
			if err != nil && strings.Contains(err.Error(), "s3cret") {
				t.Errorf("the value is shown: %v", err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestBindingFiles(t *testing.T) {
	files := map[string]string{
		"t": "r: (( ___ ))\n", "map": "a: {b: 1, c: (( 1 + 1 ))}\nl: [1]\n", "list": "- s3cret\n", "text": "s3cret\n", "empty": "", "null": "~\n",
		"two": "a: 1\n---\nb: 1\n", "twice": "a: 1\na: second\n", "broken": "a: [s3cret\n",
	}
	for _, test := range []struct {
		reason        string
		args          []string
		want, message string
	}{
		{"a file is data: nothing in it is evaluated", []string{"--bindings", "map"}, `{"a":{"b":1,"c":"(( 1 + 1 ))"},"l":[1]}`, ""},
		{"definitions go into its maps", []string{"--bindings", "map", "-D", "a.b=x", "-D", "a.d=y"}, `{"a":{"b":"x","c":"(( 1 + 1 ))","d":"y"},"l":[1]}`, ""},
		{"a definition takes the place of a list", []string{"--bindings", "map", "-D", "l.x=1", "-D", "a=0"}, `{"a":0,"l":{"x":1}}`, ""},
		{"an empty file binds nothing", []string{"--bindings", "empty", "-D", "x=1"}, `{"x":1}`, ""},
		{"nil binds nothing", []string{"--bindings", "null", "-D", "x=1"}, `{"x":1}`, ""},
		{"a list", []string{"--bindings", "list"}, "", "bindings in list must be a map"},
		{"a text", []string{"--bindings", "text"}, "", "bindings in text must be a map"},
		{"two documents", []string{"--bindings", "two"}, "", "two"},
		{"of a key that is there twice the last one counts", []string{"--bindings", "twice"}, `{"a":"second"}`, ""},
		{"broken YAML", []string{"--bindings", "broken"}, "", "broken"},
		{"no such file", []string{"--bindings", "none"}, "", "reading none"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			got, err := runIn(t, files, append([]string{"merge", "t", "--json", "--path", "r"}, test.args...)...)
			if (err == nil) != (test.message == "") || err != nil && !strings.Contains(err.Error(), test.message) {
				t.Fatalf("got %v, want %q", err, test.message)
			}
			if err != nil && strings.Contains(err.Error(), "s3cret") {
				t.Errorf("a value is shown: %v", err)
			}
			if strings.TrimSpace(got) != test.want {
				t.Errorf("got %s", got)
			}
		})
	}
}
