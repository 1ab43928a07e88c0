package render

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

func render(t *testing.T, text string, files map[string]string, bindings map[string]any) (string, error) {
	t.Helper()
	tree := fstest.MapFS{}
	for name, content := range files {
		tree[name] = &fstest.MapFile{Data: []byte(content)}
	}
	out, err := GoTemplate(t.Context(), Source{Execution: "default", Text: text, Files: tree}, bindings)
	return string(out), err
}

func TestGoTemplate(t *testing.T) {
	bindings := map[string]any{"imports": map[string]any{"name": "shop", "count": int64(3), "list": []any{"a", "b"}}}
	tests := []struct{ reason, text, want string }{
		{"bindings are below the dot", `{{ .imports.name }}-{{ .imports.count }}`, "shop-3"},
		{"sprig is there", `{{ .imports.name | upper | b64enc }}`, "U0hPUA=="},
		{"YAML both ways", `{{ toYaml (fromYaml "b: 1\na: [x]") }}`, "a:\n- x\nb: 1"},
		{"files can be included with a dot of their own", `{{ include "part.tpl" .imports }}`, "<shop>"},
		{"a leading dot in a path does not matter", `{{ include "./part.tpl" .imports }}`, "<shop>"},
		{"a file prints as text", `{{ readFile "data.txt" }}`, "hello"},
		{"a file is still bytes for a function", `{{ readFile "data.txt" | toString | b64enc }}`, "aGVsbG8="},
		{"directories can be listed", `{{ range readDir "." }}{{ .Name }} {{ end }}`, "data.txt part.tpl "},
		{"text can be a template", `{{ tpl "{{ .name }}" .imports }}`, "shop"},
		{"a required value that is there", `{{ required "name is missing" .imports.name }}`, "shop"},
	}
	files := map[string]string{"part.tpl": "<{{ .name }}>", "data.txt": "hello"}
	for _, test := range tests {
		if got, err := render(t, test.text, files, bindings); err != nil || got != test.want {
			t.Errorf("%s: got %q, %v; want %q", test.reason, got, err, test.want)
		}
	}
}

func TestGoTemplateErrors(t *testing.T) {
	bindings := map[string]any{
		"imports": map[string]any{
			"password": "hunter2hunter2",
			"cluster":  map[string]any{"kind": "Target", "metadata": map[string]any{"name": "blue"}, "spec": map[string]any{"config": map[string]any{"kubeconfig": "secret-token"}}},
		},
	}
	tests := []struct {
		reason, text string
		want         []string
	}{
		{"a syntax error names execution and line", "a: b\nc: {{ .imports.name", []string{`execution "default"`, "default:2", "2:    c: {{ .imports.name", "\u02c6"}},
		{"an unknown function", "{{ lookup 1 }}", []string{`function "lookup" not defined`}},
		{"what a function says is shown without the value", "line1\n{{ semver .imports.password }}", []string{"default:2", "semver"}},
		{"a missing value", "x: 1\ny: {{ .imports.nothing }}\n", []string{`contains fields with "no value"`, "line 2:3", "2:    y: <no value>"}},
		{"a failure that the author wants", `{{ fail "choose a size" }}`, []string{"choose a size"}},
		{"an included file is named with its own lines", "\n\n{{ include \"part.tpl\" . }}", []string{`(file "part.tpl")`, "part.tpl:2", "2:    {{ .x.y.z | nope }}"}},
		{"a file that does not exist", `{{ include "ghost.tpl" . }}`, []string{`unable to read include file "ghost.tpl"`}},
		{"a path that leads out", `{{ readFile "../../etc/passwd" }}`, []string{"open ../../etc/passwd"}},
		{"a required value", `{{ required "name is missing" .imports.name }}`, []string{"name is missing"}},
		{"the input is shown as types", `{{ fail "x" }}`, []string{"imports.password: string", "imports.cluster: map of 3"}},
	}
	files := map[string]string{"part.tpl": "ok\n{{ .x.y.z | nope }}"}
	for _, test := range tests {
		_, err := render(t, test.text, files, bindings)
		if err == nil {
			t.Errorf("%s: no error", test.reason)
			continue
		}
		for _, want := range test.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %q is not in\n%s", test.reason, want, err)
			}
		}
		for _, secret := range []string{"hunter2hunter2", "secret-token"} {
			if strings.Contains(err.Error(), secret) {
				t.Errorf("%s: the message shows a value:\n%s", test.reason, err)
			}
		}
	}
}

func TestGoTemplateLimits(t *testing.T) {
	loop := map[string]string{"loop.tpl": `{{ include "loop.tpl" . }}`}
	if _, err := render(t, `{{ include "loop.tpl" . }}`, loop, nil); err == nil || !strings.Contains(err.Error(), "include each other more than") {
		t.Errorf("templates that include each other: %v", err)
	}
	huge := `{{ range until 5000 }}{{ repeat 10000 "x" }}{{ end }}`
	if _, err := render(t, huge, nil, nil); err == nil || !strings.Contains(err.Error(), "prints more than") {
		t.Errorf("a template that prints without end: %v", err)
	}
}

// TestFunctions enumerates what templates can call beside sprig, and what they
// cannot.
func TestFunctions(t *testing.T) {
	functions := (&renderer{}).functions(0)
	for _, name := range forbidden {
		if _, ok := functions[name]; ok {
			t.Errorf("templates can call %s", name)
		}
	}
	for _, name := range []string{"include", "tpl", "readFile", "readDir", "toYaml", "fromYaml", "required"} {
		if _, ok := functions[name]; !ok {
			t.Errorf("templates cannot call %s", name)
		}
	}
	if slices.Contains(forbidden, "now") {
		t.Error("the time is no secret")
	}
}

func TestDecodeError(t *testing.T) {
	bindings := map[string]any{"imports": map[string]any{"password": "hunter2hunter2"}}
	output := []byte("deployItems:\n- name: a\n  password: hunter2hunter2: x\n")
	err := DecodeError(&templateError{err: errLine3{}}, Source{Execution: "default", File: "deploy.yaml"}, output, bindings)
	for _, want := range []string{`execution "default" (file "deploy.yaml")`, "error while decoding templated execution", "templated output:", "3:      password: [...]: x"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in\n%s", want, err)
		}
	}
	if strings.Contains(err.Error(), "hunter2") {
		t.Errorf("the message shows a value:\n%s", err)
	}
}

type errLine3 struct{}

func (errLine3) Error() string { return "yaml: line 3: mapping values are not allowed in this context" }
