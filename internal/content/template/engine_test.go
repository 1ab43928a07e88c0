package template

import (
	"context"
	"encoding/json"
	"sync"
	"testing"
	"testing/fstest"

	"go.landscaper.dev/api/v1alpha1"
)

func executor(t testing.TB, engine v1alpha1.TemplateType, template any) *v1alpha1.TemplateExecutor {
	t.Helper()
	raw, err := json.Marshal(template)
	if err != nil {
		t.Fatal(err)
	}
	return &v1alpha1.TemplateExecutor{Name: "default", Type: engine, Template: v1alpha1.NewAnyJSON(raw)}
}

func fileTree(files map[string]string) fstest.MapFS {
	tree := fstest.MapFS{}
	for name, content := range files {
		tree[name] = &fstest.MapFile{Data: []byte(content)}
	}
	return tree
}

// evaluate renders a Go template of which the field "x" is the result.
func evaluate(t testing.TB, e *Engine, template string, bindings map[string]any) (any, error) {
	t.Helper()
	out, err := e.Execute(t.Context(), Input{Phase: DeployExecution, Executor: executor(t, v1alpha1.GOTemplateType, template), Bindings: bindings})
	if err != nil {
		return nil, err
	}
	var result struct {
		X any `json:"x"`
	}
	err = out.Decode(&result)
	return result.X, err
}

func TestGoTemplate(t *testing.T) {
	bindings := map[string]any{"imports": map[string]any{"name": "shop", "count": int64(3), "list": []any{"a", "b"}}}
	e := &Engine{Files: fileTree(map[string]string{"part.tpl": "<{{ .name }}>", "data.txt": "hello", "dir/a.txt": "", "empty.tpl": "", "defines.tpl": `{{ define "x" }}{{ end }}`, "down.tpl": `{{ if gt . 0 }}{{ . }}{{ include "down.tpl" (sub . 1) }}{{ end }}`})}
	tests := []struct {
		reason, template string
		want             any
	}{
		{"bindings are below the dot", `x: {{ .imports.name }}-{{ .imports.count }}`, "shop-3"},
		{"sprig is there", `x: {{ .imports.name | upper | b64enc }}`, "U0hPUA=="},
		{"YAML both ways", `x: {{ toYaml (fromYaml "b: 1\na: [z]") | quote }}`, "a:\n- z\nb: 1"},
		{"files can be included with a dot of their own", `x: {{ include "part.tpl" .imports }}`, "<shop>"},
		{"a leading dot in a path does not matter", `x: {{ include "./part.tpl" .imports }}`, "<shop>"},
		{"a leading slash does not either", `x: {{ include "/part.tpl" .imports }}`, "<shop>"},
		{"a file prints as text", `x: {{ readFile "data.txt" }}`, "hello"},
		{"toString of a file is its text", `x: {{ readFile "data.txt" | toString | b64enc }}`, "aGVsbG8="},
		{"a file is a text for functions", `x: {{ readFile "data.txt" | upper }}`, "HELLO"},
		{"directories can be listed", `x: {{ range readDir "." }}{{ .Name }}:{{ .IsDir }}:{{ .Size }} {{ end }}`, "data.txt:false:5 defines.tpl:false:25 dir:true:0 down.tpl:false:65 empty.tpl:false:0 part.tpl:false:13"},
		{"text can be a template", `x: {{ tpl "{{ .name }}" .imports }}`, "shop"},
		{"a required value that is there", `x: {{ required "name is missing" .imports.name }}`, "shop"},
		{"named templates", `{{ define "p" }}[{{ . }}]{{ end }}x: a{{ template "p" .imports.name }}{{ block "b" 1 }}<{{ . }}>{{ end }}`, "a[shop]<1>"},
		{"break and continue", `x: n{{ range $i, $e := until 10 }}{{ if eq $i 2 }}{{ continue }}{{ end }}{{ if eq $i 5 }}{{ break }}{{ end }}{{ $e }}{{ end }}`, "n0134"},
		{"else of an empty loop", `x: {{ range .imports.none }}a{{ else }}b{{ end }}`, "b"},
		{"a variable that a loop changes", `{{ $a := 0 }}{{ range .imports.list }}{{ $a = add $a 1 }}{{ end }}x: {{ $a }}`, int64(2)},
		{"a template that calls itself", `{{ define "p" }}{{ if gt . 0 }}{{ . }}{{ template "p" (sub . 1) }}{{ end }}{{ end }}x: n{{ template "p" 3 }}`, "n321"},
		{"a file that includes itself", `x: n{{ include "down.tpl" 3 }}`, "n321"},
		{"an empty file", `x: a{{ include "empty.tpl" . }}`, "a"},
		{"a file of definitions", `x: a{{ include "defines.tpl" . }}`, "a"},
		{"a pipeline whose result is nothing special", `x: {{ with .imports.name }}{{ . }}{{ else }}none{{ end }}`, "shop"},
		{"dict methods and chains", `x: {{ (dict "a" (dict "b" "deep")).a.b }}-{{ (semver "1.2.3").Minor }}`, "deep-2"},
		{"and and or stop early", `x: {{ and false (fail "no") }}{{ or true (fail "no") }}`, "falsetrue"},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			got, err := evaluate(t, e, test.template, bindings)
			if err != nil || got != test.want {
				t.Errorf("got %#v, %v; want %#v", got, err, test.want)
			}
		})
	}
}

func constant(value any) Function {
	return func(context.Context, []any) (any, error) { return value, nil }
}

// rendered renders a template whose dot are the bindings and returns the text.
func rendered(t testing.TB, e *Engine, template string, bindings map[string]any) (string, error) {
	t.Helper()
	out, err := e.Execute(t.Context(), Input{Phase: DeployExecution, Executor: executor(t, v1alpha1.GOTemplateType, template), Bindings: bindings})
	if err != nil {
		return "", err
	}
	return string(out.rendered.Text), nil
}

// TestConcurrent uses one engine and the same bindings from many goroutines; the
// race detector looks on.
func TestConcurrent(t *testing.T) {
	e := &Engine{Files: fileTree(map[string]string{"values.tpl": goValues})}
	bindings := benchBindings()
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			engine, template := v1alpha1.GOTemplateType, goItems+`{{ $_ := set .imports "more" 1 }}`
			if i%2 == 0 {
				engine, template = v1alpha1.SpiffTemplateType, spiffItems
			}
			if _, err := e.Execute(t.Context(), Input{Phase: DeployExecution, Executor: executor(t, engine, template), Bindings: bindings}); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
}
