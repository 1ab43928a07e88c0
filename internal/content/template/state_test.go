package template

import (
	"errors"
	"io/fs"
	"strings"
	"testing"

	"go.landscaper.dev/api/v1alpha1"
)

func TestState(t *testing.T) {
	tests := []struct {
		reason   string
		engine   v1alpha1.TemplateType
		phase    Phase
		template string
		stored   string
		want     string // nothing: the stored state stays
		x        any
	}{
		{"nothing is stored at first", "GoTemplate", DeployExecution, "x: {{ .state }}\nstate: {pw: abc}", "", "pw: abc\n", "map[]"},
		{"what is stored can be read", "GoTemplate", ExportExecution, "x: {{ .state.pw }}", "pw: abc\n", "", "abc"},
		{"what is stored as JSON as well", "GoTemplate", ExportExecution, "x: {{ .state.k }}", `{"k": 12345678}`, "", int64(12345678)},
		{"a change is stored", "GoTemplate", DeployExecution, "state: {k: {{ add1 .state.k }}}", "k: 1\n", "k: 2\n", nil},
		{"no change is not", "GoTemplate", DeployExecution, "state: {b: [1, 2.0], a: {{ .state.a }}}", `{"a":"x","b":[1,2]}`, "", nil},
		{"an empty state keeps what is stored", "GoTemplate", DeployExecution, "state: {}", "k: 1\n", "", nil},
		{"an output without a state keeps what is stored", "GoTemplate", SubinstallationExecution, "deployItems: []", "k: 1\n", "", nil},
		{"the key in any case", "GoTemplate", DeployExecution, "STATE: {k: 1}", "", "k: 1\n", nil},
		{"large integers stay exact", "GoTemplate", DeployExecution, "state: {k: {{ .state.k }}, m: 9007199254740993}", "k: 9007199254740995\n", "k: 9007199254740995\nm: 9007199254740993\n", nil},
		{"import executions have no state", "GoTemplate", ImportExecution, "x: {{ .state }}\nstate: {a: 1}", "k: 1\n", "", "<no value>"},

		{"spiff stores marked nodes", "Spiff", DeployExecution, "x: 1\npw: (( &state ( \"abc\" ) ))", "", "pw: abc\n", int64(1)},
		{"the stored value replaces the expression", "Spiff", DeployExecution, "x: (( .pw ))\npw: (( &state ( \"new\" ) ))", "pw: old\n", "", "old"},
		{"stored texts are data", "Spiff", DeployExecution, "x: (( .pw ))\npw: (( &state ( \"new\" ) ))", "pw: '(( 1 + 1 ))'\n", "", "(( 1 + 1 ))"},
		{"a temporary node is stored as well", "Spiff", DeployExecution, "x: (( .pw ))\npw: (( &temporary &state ( \"abc\" ) ))", "", "pw: abc\n", "abc"},
		{"an empty state is never written", "Spiff", DeployExecution, "x: 1", "", "", int64(1)},
		{"not even over another one", "Spiff", DeployExecution, "x: 1", "n: 1\n", "", int64(1)},
		{"a new value is stored", "Spiff", DeployExecution, "x: 1\nk: (( &state ( 1 ) ))\nm: (( &state ( 2 ) ))", "k: 1\n", "k: 1\nm: 2\n", int64(1)},
		{"spiff import executions have none", "Spiff", ImportExecution, "x: (( .n ))\nn: (( &state ( 1 ) ))", "n: 5\n", "", int64(1)},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			var stored []byte
			if test.stored != "" {
				stored = []byte(test.stored)
			}
			out, err := (&Engine{}).Execute(t.Context(), Input{Phase: test.phase, Executor: executor(t, test.engine, test.template), State: stored, Bindings: map[string]any{"imports": map[string]any{}}})
			if err != nil {
				t.Error(err)
				return
			}
			var result struct{ X any }
			if err := out.Decode(&result); err != nil || result.X != test.x || string(out.State()) != test.want {
				t.Errorf("got x = %#v, state %q, %v; want %#v, %q", result.X, out.State(), err, test.x, test.want)
			}
		})
	}
}

func TestBrokenState(t *testing.T) {
	for _, engine := range []v1alpha1.TemplateType{"GoTemplate", "Spiff"} {
		_, err := (&Engine{}).Execute(t.Context(), Input{Phase: DeployExecution, Executor: executor(t, engine, "x: 1"), State: []byte("a: hunter2: x")})
		if err == nil || !strings.Contains(err.Error(), "unable to load state") || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", engine, err)
		}
	}
}

// TestIsolation checks that a template changes nothing for the next one.
func TestIsolation(t *testing.T) {
	nested := map[string]any{"list": []any{map[string]any{"a": "b"}}}
	bindings := map[string]any{"imports": nested, "cd": map[string]any{"meta": map[string]any{}}}
	returned := map[string]any{"k": "v"}
	e := &Engine{Functions: Functions{GoTemplate: map[string]Function{"shared": constant(returned)}}}
	change := `{{ $_ := set .imports "a" 1 }}{{ $_ := unset .imports "list" }}{{ $_ := set (index .imports.none 0 | default dict) "x" 1 }}`
	change = strings.Replace(change, `(index .imports.none 0 | default dict)`, `.cd.meta`, 1)
	change += `{{ $_ := set . "more" 1 }}{{ $_ := set shared "k" "w" }}{{ $_ := set .state "s" 1 }}x: 1`
	if _, err := evaluate(t, e, change, bindings); err != nil {
		t.Fatal(err)
	}
	got, err := evaluate(t, e, `x: {{ printf "%s %s" (toJson .) (shared).k | quote }}`, bindings)
	if want := `{"cd":{"meta":{}},"imports":{"list":[{"a":"b"}]},"state":{}} v`; err != nil || got != want {
		t.Errorf("got %v, %v; want %s", got, err, want)
	}
	if _, leaked := bindings["state"]; leaked || len(bindings) != 2 || returned["k"] != "v" {
		t.Errorf("the bindings changed: %v, %v", bindings, returned)
	}
}

// TestMissingFileIsNotExist checks that callers can tell a missing file.
func TestMissingFileIsNotExist(t *testing.T) {
	_, err := (&Engine{Files: fileTree(nil)}).Execute(t.Context(), Input{Executor: &v1alpha1.TemplateExecutor{Name: "x", Type: "GoTemplate", File: "a"}})
	if !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}
