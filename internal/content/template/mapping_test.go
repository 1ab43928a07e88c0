package template

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"

	"go.landscaper.dev/api/v1alpha1"
)

func TestMapping(t *testing.T) {
	bindings := map[string]any{
		"site":    map[string]any{"domain": "example.org", "location": map[string]any{"region": "south"}, "expression": "(( 1 + 1 ))"},
		"edge":    map[string]any{"kind": "Target", "metadata": map[string]any{"name": "edge-1"}},
		"count":   int64(9007199254740993),
		"a.b":     "dotted",
		"exports": map[string]any{"net.zone": "z1"},
	}
	tests := []struct {
		reason, document string
		want             any
	}{
		{"an expression", `"(( site.location.region || \"north\" ))"`, "south"},
		{"an alternative", `"(( site.zone || \"north\" ))"`, "north"},
		{"a list", `["(( \"https://api.\" site.domain ))"]`, []any{"https://api.example.org"}},
		{"a field of a Target", `"(( edge.metadata.name ))"`, "edge-1"},
		{"a number", `3`, int64(3)},
		{"integers are exact", `{"n":"(( count ))","m":9007199254740995}`, map[string]any{"n": int64(9007199254740993), "m": int64(9007199254740995)}},
		{"a key that hides a binding", `{"site":"(( site.domain ))"}`, map[string]any{"site": "example.org"}},
		{"the outer scope", `{"site":"(( ___.site.domain ))"}`, map[string]any{"site": "example.org"}},
		{"a leading dot finds bindings too", `"(( .site.domain ))"`, "example.org"},
		{"names with dots", `"(( exports[\"net.zone\"] ))"`, "z1"},
		{"temporary nodes are left out, escapes undone", `{"t":"(( &temporary ( 1 ) ))","x":"((! y ))"}`, map[string]any{"x": "(( y ))"}},
		{"texts of bindings are data", `"(( site.expression ))"`, "(( 1 + 1 ))"},
		{"null", `"(( ~ ))"`, nil},
		{"a function", `"(( repo(\"a:1\") ))"`, "repo of a:1"},
		{"text of many bytes", `"\ud83d\ude00 (( x ))"`, "😀 (( x ))"},
	}
	functions := map[string]Function{"repo": func(_ context.Context, args []any) (any, error) {
		if text, isText := args[0].(string); isText {
			return "repo of " + text, nil
		}
		return nil, errors.New("a text is needed")
	}}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			got, err := Mapping(t.Context(), "import mapping template shop.x", v1alpha1.NewAnyJSON([]byte(test.document)), bindings, functions)
			if err != nil || !reflect.DeepEqual(got, test.want) {
				t.Errorf("got %#v, %v; want %#v", got, err, test.want)
			}
		})
	}
	failing := []struct{ reason, document, want string }{
		{"a name that does not exist", `{"a":["(( nope ))"]}`, "unable to template import mapping template shop.x: unresolved nodes:\n\t(( nope ))\tin template\ta.[0]\t()\t*'nope' not found\ntemplate input:\n\ta.b: string\n\tcount: number\n\tedge: map of 2\n\texports: map of 1\n\tsite: map of 3"},
		{"no JSON", `{`, "unable to parse import mapping template shop.x"},
		{"a program", `"(( exec(\"ls\") ))"`, "no OS operations supported"},
		{"the environment", `"(( env(\"HOME\") ))"`, "no OS operations supported"},
		{"a file", `"(( read(\"/etc/passwd\") ))"`, "no OS operations supported"},
		{"the network", `"(( read(\"http://localhost/\") ))"`, "no OS operations supported"},
		{"a function that fails", `"(( repo(1) ))"`, "failed functions:\n\trepo: a text is needed\n"},
	}
	for _, test := range failing {
		t.Run(test.reason, func(t *testing.T) {
			got, err := Mapping(t.Context(), "import mapping template shop.x", v1alpha1.NewAnyJSON([]byte(test.document)), bindings, functions)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, %v; want %q", got, err, test.want)
			}
		})
	}
}

// TestSpiffScopes checks where spiff templates find names.
func TestSpiffScopes(t *testing.T) {
	bindings := map[string]any{"imports": map[string]any{"name": "web", "domain": "example.org"}, "deployitems": map[string]any{"a": int64(1)}}
	tests := []struct {
		reason, template string
		want             any
	}{
		{"bindings by their name", `x: (( imports.name ))`, "web"},
		{"a leading dot falls back to bindings", `x: (( .imports.name ))`, "web"},
		{"a root key hides a binding", "x: (( imports ))\nimports: 1", int64(1)},
		{"at any depth", "x: (( .y.z ))\ny: {z: (( deployitems ))}\ndeployitems: 5", int64(5)},
		{"with a leading dot as well", "x: (( .imports ))\nimports: 1", int64(1)},
		{"the outer scope", "x: (( ___.imports.name ))\nimports: 1", "web"},
		{"the bindings of the context", `x: (( __ctx.BINDINGS.imports.name ))`, "web"},
		{"helper nodes", "host:\n  <<<: (( &temporary ))\n  fqdn: (( imports.name \".\" imports.domain ))\nx: (( \"https://\" .host.fqdn ))", "https://web.example.org"},
		{"mappings", `x: (( sum[map[[1,2]|z|->z * 2]|0|s,z|->s + z] ))`, int64(6)},
		{"files of the blueprint", `x: (( read("data.txt") ))`, "hello"},
		{"structured files", `x: (( read("/data.yaml").a ))`, int64(1)},
		{"no control structures", "x: {<<if: true, <<then: 1}", map[string]any{"<<if": true, "<<then": int64(1)}},
		{"no interpolation", `x: a (( imports.name ))`, "a (( imports.name ))"},
		{"a function of the caller", `x: (( added(1, "a").v ))`, int64(7)},
	}
	e := &Engine{
		Files:     fileTree(map[string]string{"data.txt": "hello", "data.yaml": "a: 1"}),
		Functions: Functions{Spiff: map[string]Function{"added": constant(map[string]any{"v": int64(7)})}},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			out, err := e.Execute(t.Context(), Input{Phase: ExportExecution, Executor: executor(t, v1alpha1.SpiffTemplateType, test.template), Bindings: bindings})
			var result struct{ X any }
			if err == nil {
				err = out.Decode(&result)
			}
			if err != nil || !reflect.DeepEqual(result.X, test.want) {
				t.Errorf("got %#v, %v; want %#v", result.X, err, test.want)
			}
		})
	}
	collision := &Engine{Functions: Functions{Spiff: map[string]Function{"join": constant(1)}}}
	if _, err := collision.Execute(t.Context(), Input{Executor: executor(t, v1alpha1.SpiffTemplateType, "x: 1")}); err == nil || !strings.Contains(err.Error(), "join is builtin") {
		t.Errorf("a function that exists: %v", err)
	}
}
