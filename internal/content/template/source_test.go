package template

import (
	"strings"
	"testing"

	"go.landscaper.dev/api/v1alpha1"
)

func TestSource(t *testing.T) {
	e := &Engine{Files: fileTree(map[string]string{"dir/go.tpl": "x: {{ .v }}", "dir/spiff.yaml": "x: (( v ))", "empty": ""})}
	tests := []struct {
		reason   string
		executor v1alpha1.TemplateExecutor
		want     string // of x, or a part of the error
	}{
		{"a text", v1alpha1.TemplateExecutor{Type: "GoTemplate", Template: v1alpha1.NewAnyJSON([]byte(`"x: {{ .v }}"`))}, "value"},
		{"a file", v1alpha1.TemplateExecutor{Type: "GoTemplate", File: "dir/go.tpl"}, "value"},
		{"a file from the root", v1alpha1.TemplateExecutor{Type: "GoTemplate", File: "/dir/go.tpl"}, "value"},
		{"a file from here", v1alpha1.TemplateExecutor{Type: "GoTemplate", File: "./dir/go.tpl"}, "value"},
		{"inline wins", v1alpha1.TemplateExecutor{Type: "GoTemplate", File: "dir/go.tpl", Template: v1alpha1.NewAnyJSON([]byte(`"x: inline"`))}, "inline"},
		{"an empty text counts as none", v1alpha1.TemplateExecutor{Type: "GoTemplate", File: "dir/go.tpl", Template: v1alpha1.NewAnyJSON([]byte(`""`))}, "value"},
		{"null counts as none", v1alpha1.TemplateExecutor{Type: "Spiff", File: "dir/spiff.yaml", Template: v1alpha1.NewAnyJSON([]byte(`null`))}, "value"},
		{"a spiff template as text", v1alpha1.TemplateExecutor{Type: "Spiff", Template: v1alpha1.NewAnyJSON([]byte(`"x: (( v ))"`))}, "value"},
		{"a spiff template as object", v1alpha1.TemplateExecutor{Type: "Spiff", Template: v1alpha1.NewAnyJSON([]byte(`{"x":"(( v ))"}`))}, "value"},
		{"a spiff template with characters that JSON escapes in pairs", v1alpha1.TemplateExecutor{Type: "Spiff", Template: v1alpha1.NewAnyJSON([]byte(`{"x":"\ud83d\ude00"}`))}, "😀"},
		{"a spiff file", v1alpha1.TemplateExecutor{Type: "Spiff", File: "/dir/spiff.yaml"}, "value"},
		{"nothing", v1alpha1.TemplateExecutor{Type: "GoTemplate"}, `execution "default": no template found`},
		{"an empty file", v1alpha1.TemplateExecutor{Type: "GoTemplate", File: "empty"}, "no template found"},
		{"an object for a Go template", v1alpha1.TemplateExecutor{Type: "GoTemplate", Template: v1alpha1.NewAnyJSON([]byte(`{"x":1}`))}, "not a text"},
		{"an unknown engine", v1alpha1.TemplateExecutor{Type: "Helm", Template: v1alpha1.NewAnyJSON([]byte(`"x"`))}, "unknown template type Helm"},
		{"a file that does not exist", v1alpha1.TemplateExecutor{Type: "GoTemplate", File: "dir/ghost"}, "dir/ghost"},
		{"a file outside", v1alpha1.TemplateExecutor{Type: "GoTemplate", File: "../x"}, "../x"},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			test.executor.Name = "default"
			out, err := e.Execute(t.Context(), Input{Phase: DeployExecution, Executor: &test.executor, Bindings: map[string]any{"v": "value"}})
			var result struct{ X string }
			if err == nil {
				err = out.Decode(&result)
			}
			if err != nil && !strings.Contains(err.Error(), test.want) || err == nil && result.X != test.want {
				t.Errorf("got %q, %v; want %q", result.X, err, test.want)
			}
		})
	}
	noFiles := &v1alpha1.TemplateExecutor{Name: "default", Type: "Spiff", File: "a"}
	if _, err := (&Engine{}).Execute(t.Context(), Input{Executor: noFiles}); err == nil || !strings.Contains(err.Error(), "the blueprint has no files") {
		t.Errorf("a file without files: %v", err)
	}
}

func TestCheck(t *testing.T) {
	functions := Functions{GoTemplate: map[string]Function{"added": nil}}
	tests := []struct {
		reason   string
		engine   v1alpha1.TemplateType
		template any
		want     []string
	}{
		{"a valid Go template is not executed", "GoTemplate", `{{ fail "no" }}{{ added .imports.none }}{{ include "x" . }}`, nil},
		{"a function that does not exist", "GoTemplate", "a: 1\nb: {{ lookup 1 }}", []string{`execution "default"`, `default:2: function "lookup" not defined`, "2:    b: {{ lookup 1 }}", "\u02c6"}},
		{"a syntax error", "GoTemplate", "{{ if }}", []string{"missing value for if"}},
		{"a valid spiff template is not executed", "Spiff", map[string]any{"a": "(( imports.none ))", "b": "((! x", "c": "(())"[:2]}, nil},
		{"an invalid expression", "Spiff", map[string]any{"a": []any{map[string]any{"b": "(( 1 + ))"}}}, []string{"(( 1 + ))\tin template\ta.[0].b\t", "parse error"}},
		{"a text that is no YAML", "Spiff", "a: 1\nb: [", []string{"template source:", "b: ["}},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			err := Check(t.Context(), executor(t, test.engine, test.template), nil, functions)
			if len(test.want) == 0 && err != nil {
				t.Error(err)
			}
			for _, want := range test.want {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("%q is not in\n%v", want, err)
				}
			}
		})
	}
}
