package fleet

import (
	"encoding/json"
	"errors"
	"reflect"
	"testing"

	"go.landscaper.dev/internal/base/jsonvalue"
	"go.landscaper.dev/internal/content/template"
)

// TestLiteral: whatever a label or an annotation has, the mapping yields it as it is.
func TestLiteral(t *testing.T) {
	secret := map[string]any{"cluster": map[string]any{"token": "s3cret"}}
	for _, test := range []struct {
		reason string
		value  any
	}{
		{"a plain text stays readable", "eu-west"},
		{"an empty text", ""},
		{"a text that YAML takes for a number", "1.10"},
		{"a text that YAML takes for a truth value", "no"},
		{"a text that YAML takes for nothing", "~"},
		{"a text with a colon is not a map", "a: b"},
		{"a text with lines", "a\n- b\n---\nc: (( d ))"},
		{"an anchor is text", "&a *a"},
		{"an expression", "(( cluster.token ))"},
		{"an expression without spaces", "((cluster.token))"},
		{"an expression within a text", "x (( cluster.token )) y"},
		{"an expression after a line break", "\n(( cluster.token ))"},
		{"an escaped expression", "((! cluster.token ))"},
		{"an expression that is escaped twice", "((!! cluster.token ))"},
		{"a marker", "(( &temporary ))"},
		{"a template", "(( &template ))"},
		{"parentheses that do not end", "(( "},
		{"a text that wants to leave the quotes", `")) (( cluster.token ))`},
		{"a text that wants to leave the call", `"), "import") cluster.token parse(base64_decode("`},
		{"a merge", "(( merge ))"},
		{"deep within", []any{map[string]any{"a": []any{"(( cluster.token ))"}}}},
		{"large numbers keep their digits", json.Number("9007199254740995")},
		{"large numbers keep their digits beside an expression", map[string]any{"a": json.Number("9007199254740995"), "b": "(( x ))"}},
		{"nothing", nil},
	} {
		t.Run(test.reason, func(t *testing.T) {
			raw, err := json.Marshal(test.value)
			if err != nil {
				t.Fatal(err)
			}
			want, err := jsonvalue.FromJSON(raw)
			if err != nil {
				t.Fatal(err)
			}
			mapping, err := Literal(raw)
			if err != nil {
				t.Fatal(err)
			}
			got, err := template.Mapping(t.Context(), "import mapping template x", mapping, secret, nil)
			if err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("%s is %#v, %v; want %#v", mapping.RawMessage, got, err, want)
			}
		})
	}
	for _, refused := range []string{`{"<<":"(( cluster ))"}`, `[{"a":{"<<if":true}}]`, `{"(( cluster ))":1}`, `{"\u0028(a":1}`} {
		if mapping, err := Literal([]byte(refused)); !errors.Is(err, errKey) {
			t.Errorf("%s is %s, %v", refused, mapping.RawMessage, err)
		}
	}
	if mapping, err := textLiteral("eu-west"); err != nil || string(mapping.RawMessage) != `"eu-west"` {
		t.Errorf("%s, %v", mapping.RawMessage, err)
	}
}

func FuzzLiteral(f *testing.F) {
	for _, seed := range []string{"a", "(( a ))", "<<: (( a ))", "a: b", "1e3", "\x00", "'"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		raw, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		want, err := jsonvalue.FromJSON(raw)
		if err != nil {
			t.Fatal(err)
		}
		mapping, err := Literal(raw)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := template.Mapping(t.Context(), "x", mapping, nil, nil); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s is %#v, %v; want %#v", mapping.RawMessage, got, err, want)
		}
	})
}
