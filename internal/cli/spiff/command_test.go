package spiff

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// runIn runs the command in a fresh directory that holds the given files.
func runIn(t *testing.T, files map[string]string, args ...string) (string, error) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, content := range files {
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return execute(t, "", args...)
}

func execute(t *testing.T, stdin string, args ...string) (string, error) {
	t.Helper()
	cmd := NewCommand()
	var out bytes.Buffer
	cmd.SetOut(&out)
	cmd.SetErr(&bytes.Buffer{})
	cmd.SetIn(strings.NewReader(stdin))
	cmd.SetArgs(args)
	err := cmd.Execute()
	return out.String(), err
}

func TestMerge(t *testing.T) {
	files := map[string]string{
		"t.yaml": "a: (( n + 1 ))\nb: {c: [1, {d: x}]}\n",
		"s.yaml": "b: {c: 5}\n",
		"b.yaml": "n: 4\nm: {x: 1}\n",
		"multi":  "<<: (( &temporary ))\n---\na: 1\n---\n---\n- 1\n- 2\n",
		"esc":    "a: ((! x ))\nt: (( &temporary(1) ))\nu: (( nope ))\n",
		"tag":    "v: 7\n", "tagged": "a: (( lib::v ))\n",
		"inter": "a: v=(( n ))\n", "env": "a: (( env(\"HOME\") || \"refused\" ))\n",
		"ctx": "a: (( __ctx.FILE ))\n",
	}
	tests := []struct {
		reason string
		args   []string
		want   string
	}{
		{"bindings of a file", []string{"merge", "t.yaml", "--bindings", "b.yaml", "--path", "a"}, "5\n"},
		{"a definition wins over the file", []string{"merge", "t.yaml", "--bindings", "b.yaml", "-D", "n=6", "--path", "a"}, "7\n"},
		{"JSON is one line", []string{"merge", "t.yaml", "-D", "n=1", "--json"}, `{"a":2,"b":{"c":[1,{"d":"x"}]}}` + "\n"},
		{"lists are not overridden by scalars", []string{"merge", "t.yaml", "s.yaml", "-D", "n=1", "--path", "b.c[1].d"}, "x\n"},
		{"selected fields are named by their last step",
			[]string{"merge", "t.yaml", "-D", "n=1", "--select", "a", "--select", "b.c", "--json"}, `{"a":2,"c":[1,{"d":"x"}]}` + "\n"},
		{"an expression on the result", []string{"merge", "t.yaml", "-D", "n=1", "--evaluate", "a * 2"}, "4\n"},
		{"entries as documents", []string{"merge", "t.yaml", "-D", "n=1", "--path", "b.c", "--split", "--json"}, "1\n{\"d\":\"x\"}\n"},
		{"a temporary document is left out, an empty one stays", []string{"merge", "multi"}, "---\na: 1\n---\n---\n- 1\n- 2\n"},
		{"JSON leaves empty documents out", []string{"merge", "multi", "--json"}, "{\"a\":1}\n[1,2]\n"},
		{"partial results keep expressions", []string{"merge", "esc", "--partial"}, "a: (( x ))\nu: (( nope ))\n"},
		{"escapes and temporary fields can be kept",
			[]string{"merge", "esc", "--partial", "--preserve-escapes", "--preserve-temporary"}, "a: ((! x ))\nt: 1\nu: (( nope ))\n"},
		{"predefined tags", []string{"merge", "tagged", "--tag", "lib:tag"}, "a: 7\n"},
		{"interpolation", []string{"merge", "inter", "-D", "n=1", "--interpolation"}, "a: v=1\n"},
		{"features by name", []string{"merge", "inter", "-D", "n=1", "--features", "interpolation"}, "a: v=1\n"},
		{"the environment is off by default", []string{"merge", "env"}, "a: refused\n"},
		{"file names stay relative", []string{"merge", "ctx"}, "a: ctx\n"},
		{"nested definitions and escaped dots",
			[]string{"merge", "ctx", "-D", "a.b=1", "-D", "a.c\\.d=x", "--evaluate", "a"}, "ctx\n"},
		{"a document to work on", []string{"process", "b.yaml", "ctx", "--json"}, "{\"a\":\"ctx\"}\n"},
		{"normal form", []string{"convert", "t.yaml", "--json", "--path", "b"}, `{"c":[1,{"d":"x"}]}` + "\n"},
	}
	for _, tt := range tests {
		t.Run(tt.reason, func(t *testing.T) {
			got, err := runIn(t, files, tt.args...)
			if err != nil || got != tt.want {
				t.Errorf("got %q, %v, want %q", got, err, tt.want)
			}
		})
	}
}

func TestProcessSeesDocument(t *testing.T) {
	files := map[string]string{"doc": "v: 3\n", "t": "a: (( document.v + 1 ))\n"}
	if got, err := runIn(t, files, "process", "doc", "t"); err != nil || got != "a: 4\n" {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestStandardInput(t *testing.T) {
	t.Chdir(t.TempDir())
	if got, err := execute(t, "a: (( 1 + 1 ))\n", "merge", "-"); err != nil || got != "a: 2\n" {
		t.Errorf("got %q, %v", got, err)
	}
	if _, err := execute(t, "a: 1\n", "merge", "-", "-"); err == nil || !strings.Contains(err.Error(), "only once") {
		t.Errorf("standard input is used twice: %v", err)
	}
}

func TestMergeFailures(t *testing.T) {
	files := map[string]string{"bad": "a: (( nope ))\nb: 1\n", "two": "a: 1\n---\nb: 1\n", "ok": "a: 1\n", "yaml": "a: (( x ? y : z ))\n"}
	tests := []struct {
		reason string
		args   []string
		want   string
	}{
		{"failing nodes are reported", []string{"merge", "bad"}, "error generating manifest: unresolved nodes:\n\t(( nope ))\tin bad\ta\t()\t*'nope' not found"},
		{"a stub is a single document", []string{"merge", "ok", "two"}, "only one is allowed"},
		{"state needs a single document", []string{"merge", "two", "--state", "s"}, "single document"},
		{"an unknown feature", []string{"merge", "ok", "--features", "magic"}, `unknown feature "magic"`},
		{"an unknown access level", []string{"merge", "ok", "--access", "root"}, "unknown access level"},
		{"conflicting definitions", []string{"merge", "ok", "-D", "a=1", "-D", "a.b=2"}, "conflicts"},
		{"an empty step", []string{"merge", "ok", "-D", "a..b=2"}, "empty step"},
		{"a missing path", []string{"merge", "ok", "--path", "x.y"}, "not found"},
		{"a missing file", []string{"merge", "none"}, "none"},
		{"broken YAML has a hint", []string{"merge", "yaml"}, "put the whole expression in quotes"},
	}
	for _, tt := range tests {
		t.Run(tt.reason, func(t *testing.T) {
			out, err := runIn(t, files, tt.args...)
			if err == nil || !strings.Contains(err.Error(), tt.want) || out != "" {
				t.Errorf("got %q and error %v, want %q", out, err, tt.want)
			}
		})
	}
}

func TestState(t *testing.T) {
	files := map[string]string{"t": "k: (( &state(rand(\"a-z\", 20)) ))\n"}
	first, err := runIn(t, files, "merge", "t", "--state", "state")
	if err != nil {
		t.Fatal(err)
	}
	second, err := execute(t, "", "merge", "t", "--state", "state")
	if err != nil || first != second {
		t.Errorf("the second run gives %q instead of %q: %v", second, first, err)
	}
	for _, name := range []string{"state", "state.bak"} {
		if text, err := os.ReadFile(name); err != nil || string(text) != first {
			t.Errorf("%s holds %q, %v", name, text, err)
		}
	}
}

func TestDiff(t *testing.T) {
	files := map[string]string{"a": "x: 1\ny: [1, 2]\n", "b": "y: [1, 3]\nz: 1\n"}
	out, err := runIn(t, files, "diff", "a", "b")
	want := "x: removed\ny.[1]: 2 -> 3\nz: added\n"
	if err == nil || out != want {
		t.Errorf("got %q, %v, want %q", out, err, want)
	}
	if out, err := execute(t, "", "diff", "a", "a"); err != nil || out != "" {
		t.Errorf("equal files differ: %q, %v", out, err)
	}
}

func TestEncrypt(t *testing.T) {
	for _, method := range []string{"3DES", "AES-GCM"} {
		t.Run(method, func(t *testing.T) {
			text, err := runIn(t, map[string]string{"doc": "a: secret\n"}, "encrypt", "--key", "k", "--method", method, "doc")
			if err != nil || strings.Contains(text, "secret") {
				t.Fatalf("%s: %q, %v", method, text, err)
			}
			if err := os.WriteFile("text", []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			if got, err := execute(t, "", "encrypt", "-d", "--key", "k", "--method", method, "text"); err != nil || got != "a: secret\n" {
				t.Errorf("%s: got %q, %v", method, got, err)
			}
			if _, err := execute(t, "", "encrypt", "-d", "--key", "wrong", "--method", method, "text"); err == nil {
				t.Errorf("%s: a wrong key is accepted", method)
			}
		})
	}
}

func TestFullAccess(t *testing.T) {
	files := map[string]string{"t": "a: (( read(tempfile(\"x\")) ))\nb: (( exec(\"echo\", \"5\") + 1 ))\n" +
		"c: (( write(\"out\", {\"k\"=1}) ))\nd: (( mkdir([\"p\", \"q\"]) ))\ne: (( pipe(\"a\", \"cat\") ))\n"}
	got, err := runIn(t, files, "merge", "t", "--access", "full", "--json")
	want := `{"a":"x","b":6,"c":"k: 1\n","d":"p/q","e":"a"}` + "\n"
	if err != nil || got != want {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
	if _, err := os.Stat(filepath.Join("p", "q")); err != nil {
		t.Error(err)
	}
}
