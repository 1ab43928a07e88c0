package template

import (
	"reflect"
	"strings"
	"testing"

	"go.landscaper.dev/api/v1alpha1"
)

func execute(t *testing.T, phase Phase, engine v1alpha1.TemplateType, template any, bindings map[string]any, into any) error {
	t.Helper()
	e := &Engine{Files: fileTree(map[string]string{
		"part.tpl": "one: 1\ntwo: {{ .none }}\n", "items.tpl": "- name: {{ .name }}\n  number: wrong\n", "bad.tpl": "ok\n{{ .a.b.c | nope }}", "calls.tpl": "ok\n\n{{ fail \"not like this\" }}",
	})}
	out, err := e.Execute(t.Context(), Input{Phase: phase, Executor: executor(t, engine, template), Bindings: bindings})
	if err != nil {
		return err
	}
	return out.Decode(into)
}

func TestDecode(t *testing.T) {
	type result struct {
		DeployItems []item           `json:"deployItems"`
		Exports     map[string]any   `json:"exports"`
		Raw         v1alpha1.AnyJSON `json:"raw"`
		Any         any              `json:"any"`
	}
	tests := []struct {
		reason   string
		engine   v1alpha1.TemplateType
		template any
		want     result
	}{
		{"nothing is an empty document", "GoTemplate", "{{ if false }}x{{ end }}", result{}},
		{"comments are an empty document", "GoTemplate", "# nothing\n", result{}},
		{"fields in any case", "GoTemplate", "DEPLOYITEMS:\n- NAME: a\n  nUmber: 2\n", result{DeployItems: []item{{Name: "a", Number: 2}}}},
		{"other fields are ignored", "GoTemplate", "deployitems: []\nhelper: {a: b}", result{DeployItems: []item{}}},
		{"integers are exact", "GoTemplate", "any: 9007199254740993\nexports: {a: {b: [9007199254740993, 1.5, x]}}\nraw: {a: 9007199254740993}", result{
			Any: int64(9007199254740993), Exports: map[string]any{"a": map[string]any{"b": []any{int64(9007199254740993), 1.5, "x"}}}, Raw: v1alpha1.NewAnyJSON([]byte(`{"a":9007199254740993}`)),
		}},
		{"null is nothing", "GoTemplate", "any: null\nexports: {a: null}", result{Exports: map[string]any{"a": nil}}},
		{"spiff", "Spiff", map[string]any{"deployitems": []any{map[string]any{"name": "(( v ))", "number": "(( 1 + 1 ))"}}, "any": "(( l ))"}, result{DeployItems: []item{{Name: "value", Number: 2}}, Any: int64(9007199254740993)}},
		{"a spiff document that is empty", "Spiff", map[string]any{}, result{}},
		{"spiff takes escapes out", "Spiff", map[string]any{"any": "((! x ))"}, result{Any: "(( x ))"}},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			var got result
			err := execute(t, DeployExecution, test.engine, test.template, map[string]any{"v": "value", "l": int64(9007199254740993)}, &got)
			if err != nil || !reflect.DeepEqual(got, test.want) {
				t.Errorf("got %#v, %v; want %#v", got, err, test.want)
			}
		})
	}
}

// TestErrors checks what errors say, and where.
func TestErrors(t *testing.T) {
	bindings := map[string]any{"imports": map[string]any{"name": "hunter2", "list": []any{"a"}}, "cd": nil}
	tests := []struct {
		reason   string
		phase    Phase
		engine   v1alpha1.TemplateType
		template any
		want     []string
	}{
		{"a syntax error", DeployExecution, "GoTemplate", "a: b\nc: {{ .imports.name", []string{`template execution "default": template: default:2: unclosed action`, "\ntemplate source:\n1:    a: b\n2:    c: {{ .imports.name\n      \u02c6\u2248", "\ntemplate input:\n\tcd: null\n\timports.list: list of 1\n\timports.name: string\n"}},
		{"an unknown function", DeployExecution, "GoTemplate", "{{ lookup 1 }}", []string{`function "lookup" not defined`}},
		{"a function fails", DeployExecution, "GoTemplate", "a: 1\nb: {{ semver .imports.name }}", []string{`template: default:2:6: executing "default" at <semver .imports.name>: error calling semver: the argument is not a semantic version`, "\n2:    b: {{ semver .imports.name }}\n            \u02c6"}},
		{"an argument has the wrong type", DeployExecution, "GoTemplate", "{{ upper .imports.list }}", []string{"error calling upper: wrong type for value 1; expected string; got list"}},
		{"too many arguments", DeployExecution, "GoTemplate", "{{ upper 1 2 }}", []string{"wrong number of args for upper: want 1 got 2"}},
		{"a field of a text", DeployExecution, "GoTemplate", "{{ .imports.name.first }}", []string{"default:1:11: executing \"default\" at <.imports.name.first>: can't evaluate field first: the value has no fields"}},
		{"a field of nothing", DeployExecution, "GoTemplate", "{{ .imports.none.first.second }}", []string{"can't evaluate field first: the value does not exist"}},
		{"a condition that is a list", DeployExecution, "GoTemplate", "{{ upper (list 1) }}", []string{"expected string; got list"}},
		{"a loop over a text", DeployExecution, "GoTemplate", "\n{{ range .imports.name }}{{ end }}", []string{"default:2:9: range can't iterate over a value of type string"}},
		{"an author's message", DeployExecution, "GoTemplate", `{{ fail (printf "no size %s for region %q" .imports.name "north") }}`, []string{"error calling fail: no size [...] for region "}},
		{"an author's own words", DeployExecution, "GoTemplate", `{{ fail "choose a size: S or M" }}`, []string{"error calling fail: choose a size: S or M\n"}},
		{"a required value", DeployExecution, "GoTemplate", `{{ required "give a name" .imports.none }}`, []string{"error calling required: give a name\n"}},
		{"an included file has its own lines", DeployExecution, "GoTemplate", "\n\n\n{{ include \"bad.tpl\" . }}", []string{`template execution "default" (file "bad.tpl"): template: bad.tpl:2: function "nope" not defined`, "2:    {{ .a.b.c | nope }}"}},
		{"an included file has its own lines when it is executed", DeployExecution, "GoTemplate", "{{ include \"calls.tpl\" . }}", []string{`(file "calls.tpl"): template: calls.tpl:3:3: executing "calls.tpl" at <fail "not like this">: error calling fail: not like this`, "\n3:    {{ fail \"not like this\" }}\n         \u02c6"}},
		{"a file that does not exist", DeployExecution, "GoTemplate", `{{ include "ghost.tpl" . }}`, []string{`unable to read include file "ghost.tpl": file does not exist`}},
		{"a path that leads out", DeployExecution, "GoTemplate", `{{ readFile "../../etc/passwd" }}`, []string{`open "../../etc/passwd": the path leads out of the blueprint`}},
		{"a method fails, whose error may show what it got", DeployExecution, "GoTemplate", `{{ (semver "1.0.0").SetPrerelease "a_b" }}`, []string{"error calling SetPrerelease: it failed\n"}},
		{"a template in a text", DeployExecution, "GoTemplate", "{{ tpl \"a\\n{{ fail }}\" . }}", []string{"template: tpl:2:3: executing", "wrong number of args for fail"}},

		{"a missing value", DeployExecution, "GoTemplate", "x: 1\ny: {{ .imports.nothing }}\nz: {{ .imports.name }}", []string{`template "deploy execution" contains fields with "no value":`, "\nline 2:3, printed by {{ .imports.nothing }} in default:2\n1:    x: 1\n2:    y: <no value>\n         \u02c6\u2248\u2248\u2248\u2248\u2248\u2248\u2248\n3:    z: [...]\ntemplate input:"}},
		{"in a subinstallation", SubinstallationExecution, "GoTemplate", "{{ .x }}", []string{`template "subinstallation execution" contains`, "line 1:0"}},
		{"in exports, in two places", ExportExecution, "GoTemplate", "a: {{ .x }}\nb: {{ .y }}", []string{`template "export execution" contains`, "line 1:3", "line 2:3"}},
		{"in an included file", DeployExecution, "GoTemplate", "x:\n{{ include \"part.tpl\" . | indent 2 }}", []string{"line 3:7\n", "3:      two: <no value>"}},

		{"output that is no YAML", DeployExecution, "GoTemplate", "# head\n{{- range until 3 }}\n{{- end }}\ndeployItems:\n- name: web\n  x: {{ .imports.name }}: y\n", []string{
			`item "web", template execution "default": error while decoding templated execution: line 4: mapping values are not allowed in this context`,
			"\ntemplate source:\n1:    # head\n", "\n6:      x: {{ .imports.name }}: y\n      \u02c6", "\ntemplated output:\n1:    # head\n", "\n4:      x: [...]: y\n      \u02c6"}},
		{"a value of the wrong type", DeployExecution, "GoTemplate", "deployItems:\n- name: a\n- name: b\n  number: 1.5\n", []string{`item "b", template execution "default": error while decoding templated execution: deployItems[1].number: expected an integer, got a number`, "4:      number: 1.5"}},
		{"a text for a number in an included file", DeployExecution, "GoTemplate", "deployItems:\n{{ include \"items.tpl\" .imports }}", []string{`item "[...]", template execution`, "deployItems[0].number: expected an integer, got a text", "\n2:    - name: [...]\n3:      number: wrong\n"}},
		{"a list for a map", DeployExecution, "GoTemplate", "deployItems:\n- labels: []\n", []string{"deployItems[0].labels: expected a map, got a list"}},
		{"a map for a list", DeployExecution, "GoTemplate", "deployItems: {}\n", []string{"deployItems: expected a list, got a map"}},
		{"a label that is not a string", DeployExecution, "GoTemplate", "deployItems:\n- labels: {zone: 1}\n", []string{"deployItems[0].labels[...]: expected a text, got an integer"}},
		{"an invalid duration", DeployExecution, "GoTemplate", "deployItems:\n- timeout: soon\n", []string{"deployItems[0].timeout: a text is not a valid period"}},
		{"a root that is a list", DeployExecution, "GoTemplate", "- a\n", []string{"the root of the output must be a map"}},
		{"two spellings of a field", DeployExecution, "GoTemplate", "deployItems: []\ndeployitems: []\n", []string{"the output has the field deployItems more than once, as deployItems and deployitems"}},

		{"spiff: a missing value", DeployExecution, "Spiff", map[string]any{"x": "(( imports.nothing ))"}, []string{`template execution "default": unresolved nodes:`, "(( imports.nothing ))\tin template\tx\t", "'imports.nothing' not found", "\ntemplate input:\n\tcd: null\n\timports.list: list of 1\n"}},
		{"spiff: YAML", DeployExecution, "Spiff", "a: 1\nb: [", []string{`template execution "default": error parsing template: line 2`, "template source:\n1:    a: 1\n2:    b: ["}},
		{"spiff: a value of the wrong type", DeployExecution, "Spiff", map[string]any{"deployItems": []any{map[string]any{"number": "(( imports.name ))"}}}, []string{`template execution "default": error while decoding templated execution: deployItems[0].number: expected an integer, got a text`}},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			err := execute(t, test.phase, test.engine, test.template, bindings, &struct {
				DeployItems []item `json:"deployItems"`
			}{})
			if err == nil {
				t.Error("no error")
				return
			}
			for _, want := range test.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q is not in\n%s", want, err)
				}
			}
			if strings.Contains(err.Error(), "hunter2") {
				t.Errorf("the message shows a value:\n%s", err)
			}
		})
	}
}

// TestNoValue checks that only what is missing counts as missing.
func TestNoValue(t *testing.T) {
	bindings := map[string]any{"text": "this <no value> is a text", "null": nil}
	tests := []struct {
		reason   string
		phase    Phase
		template string
		fails    bool
	}{
		{"a value with this text", DeployExecution, "x: {{ .text }}", false},
		{"a text of the template", DeployExecution, "x: a <no value> b", false},
		{"a constant of the template", DeployExecution, `x: {{ "<no value>" }}`, false},
		{"a value through functions", DeployExecution, "x: {{ .text | upper | lower | indent 1 }}", false},
		{"a missing value", DeployExecution, "x: {{ .none }}", true},
		{"a missing value beside such a text", DeployExecution, "x: {{ .text }} {{ .none }}", true},
		{"null", DeployExecution, "x: {{ .null }}", true},
		{"a field of a missing value", DeployExecution, "x: {{ .none.x.y }}", true},
		{"a missing value in an included file", DeployExecution, `x: {{ include "part.tpl" . | quote }}`, true},
		{"a missing value that is cleaned up", DeployExecution, `x: {{ include "part.tpl" . | replace "<no value>" "" | quote }}`, false},
		{"a missing value that is not printed", DeployExecution, `{{ $x := include "part.tpl" . }}x: 1`, false},
		{"a default", DeployExecution, `x: {{ .none | default "a" }}`, false},
		{"a comparison", DeployExecution, `{{ if .none }}{{ end }}x: 1`, false},
		{"an import execution", ImportExecution, "x: {{ .none }}", false},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			err := execute(t, test.phase, "GoTemplate", test.template, bindings, &struct{}{})
			if failed := err != nil; failed != test.fails {
				t.Error(err)
			}
		})
	}
}

// TestMessageIsBounded checks that a message fits into a status, and stays the same.
func TestMessageIsBounded(t *testing.T) {
	imports := map[string]any{}
	for i := range 1000 {
		imports[strings.Repeat("x", 50)+string(rune('a'+i%26))+strings.Repeat("y", i)] = 1
	}
	template := strings.Repeat(strings.Repeat("a long line ", 2000)+"\n", 20) + "{{ fail \"x\" }}"
	var first string
	for range 3 {
		err := execute(t, DeployExecution, "GoTemplate", template, map[string]any{"imports": imports}, &struct{}{})
		if err == nil || len(err.Error()) > maxMessage+10 {
			t.Fatalf("%d bytes", len(err.Error()))
		}
		if first != "" && err.Error() != first {
			t.Error("the message is another one every time")
		}
		first = err.Error()
	}
}
