package spiff

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestOutside asks for files that a template may not reach.
func TestOutside(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "s3cret")
	if err := os.WriteFile(outside, []byte("s3cret"), 0o600); err != nil {
		t.Fatal(err)
	}
	template := func(name string) string { return "a: (( read(\"" + name + "\", \"text\") || \"refused\" ))\n" }
	for _, test := range []struct {
		reason, name string
		args         []string
		want         string
	}{
		{"a file beside the template", "near", nil, "a: near\n"},
		{"no files at all", "near", []string{"--access", "none"}, "a: refused\n"},
		{"an absolute path", outside, nil, "a: refused\n"},
		{"a path upwards", "../../../../../../../../../.." + outside, nil, "a: refused\n"},
		{"a link that leads out", "link", nil, "a: refused\n"},
		{"a link that stays", "inner", nil, "a: near\n"},
		{"everything, if the template is trusted", outside, []string{"--access", "full"}, "a: s3cret\n"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			t.Chdir(t.TempDir())
			for name, content := range map[string]string{"near": "near", "t": template(test.name)} {
				if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			for link, to := range map[string]string{"link": outside, "inner": "near"} {
				if err := os.Symlink(to, link); err != nil {
					t.Fatal(err)
				}
			}
			got, err := execute(t, "", append([]string{"merge", "t"}, test.args...)...)
			if err != nil || got != test.want {
				t.Errorf("got %q, %v", got, err)
			}
		})
	}
}

func TestTags(t *testing.T) {
	files := map[string]string{"t": "a: (( lib::v || \"none\" ))\nb: (( lib.v1::v || \"none\" ))\n", "f": "v: (( 1 + 1 ))\n", "list": "- 1\n", "bad": "a: [s3cret"}
	for _, test := range []struct {
		reason        string
		tags          []string
		want, message string
	}{
		{"the content is data", []string{"lib:f"}, `{"a":"(( 1 + 1 ))","b":"none"}`, ""},
		{"a name of several parts", []string{"lib:v1:f"}, `{"a":"(( 1 + 1 ))","b":"(( 1 + 1 ))"}`, ""},
		{"no file", []string{"lib:"}, "", `tag "lib:" must look like NAME:FILE`},
		{"no name", []string{":f"}, "", `tag ":f" must look like NAME:FILE`},
		{"only one word", []string{"f"}, "", `tag "f" must look like NAME:FILE`},
		{"nothing", []string{""}, "", "must look like NAME:FILE"},
		{"a file that is not there", []string{"lib:none"}, "", "reading none"},
		{"a file that is broken", []string{"lib:bad"}, "", "bad"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			args := []string{"merge", "t", "--json"}
			for _, tag := range test.tags {
				args = append(args, "--tag", tag)
			}
			got, err := runIn(t, files, args...)
			if (err == nil) != (test.message == "") || err != nil && (!strings.Contains(err.Error(), test.message) || strings.Contains(err.Error(), "s3cret")) {
				t.Fatalf("got %v, want %q", err, test.message)
			}
			if strings.TrimSpace(got) != test.want {
				t.Errorf("got %s", got)
			}
		})
	}
}

// TestStateFiles looks at what a run leaves behind, above all one that fails.
func TestStateFiles(t *testing.T) {
	const kept = "k: kept\n"
	for _, test := range []struct {
		reason, template, before string
		args                     []string
		state, backup, message   string // "-" is no such file
	}{
		{"the first run", "k: (( &state (\"new\") ))\n", "-", nil, "k: new\n", "-", ""},
		{"a state goes before a new value, and is kept as it was", "k: (( &state (\"new\") ))\n", kept, nil, kept, kept, ""},
		{"a removed state is forgotten", "a: 1\n", kept, nil, "{}\n", kept, ""},
		{"a run that fails leaves the state alone", "k: (( &state (\"new\") ))\nb: (( nope ))\n", kept, nil, kept, "-", "'nope' not found"},
		{"output that fails as well", "k: (( &state (\"new\") ))\n", kept, []string{"--path", "none"}, kept, "-", "not found"},
		{"a state that is not a map has no values, and is kept", "k: (( &state (\"new\") ))\n", "- s3cret\n", nil, "k: new\n", "- s3cret\n", ""},
		{"a state that is broken", "k: (( &state (\"new\") ))\n", "k: [s3cret\n", nil, "k: [s3cret\n", "-", "state"},
		{"expressions in a state are text", "k: (( &state (\"new\") ))\n", "k: (( 1 + 1 ))\n", nil, "k: (( 1 + 1 ))\n", "k: (( 1 + 1 ))\n", ""},
	} {
		t.Run(test.reason, func(t *testing.T) {
			files := map[string]string{"t": test.template}
			if test.before != "-" {
				files["state"] = test.before
			}
			_, err := runIn(t, files, append([]string{"merge", "t", "--state", "state"}, test.args...)...)
			if (err == nil) != (test.message == "") || err != nil && (!strings.Contains(err.Error(), test.message) || strings.Contains(err.Error(), "s3cret")) {
				t.Fatalf("got %v, want %q", err, test.message)
			}
			for name, want := range map[string]string{"state": test.state, "state.bak": test.backup} {
				text, err := os.ReadFile(name)
				if want == "-" && os.IsNotExist(err) {
					continue
				}
				if err != nil || string(text) != want {
					t.Errorf("%s holds %q, %v", name, text, err)
				}
			}
			if info, err := os.Stat("state"); err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("others can read the state: %v, %v", info.Mode(), err)
			}
		})
	}
	t.Run("a directory that is not there", func(t *testing.T) {
		if out, err := runIn(t, map[string]string{"t": "a: 1\n"}, "merge", "t", "--state", "none/state"); err == nil || out != "" {
			t.Errorf("printed %q, %v", out, err)
		}
	})
}

// TestSecretsOfFailures has commands that fail beside a secret.
func TestSecretsOfFailures(t *testing.T) {
	files := map[string]string{"doc": "a: s3cret\n", "t": "a: s3cret\nb: (( nope ))\n", "yaml": "s3cret: [\n", "cut": "AAAA"}
	for _, test := range []struct {
		reason, message string
		args            []string
	}{
		{"no key", "key", []string{"encrypt", "doc"}},
		{"an unknown method, which must not become the key", "unknown method", []string{"encrypt", "--key", "s3cret", "--method", "ROT13", "doc"}},
		{"a text that was never encrypted", "", []string{"encrypt", "-d", "--key", "s3cret", "doc"}},
		{"an encrypted text that was cut", "", []string{"encrypt", "-d", "--key", "s3cret", "cut"}},
		{"a node that fails beside it", "'nope' not found", []string{"merge", "t"}},
		{"a document to work on that is broken", "", []string{"process", "yaml", "t"}},
		{"a template that is broken", "", []string{"convert", "yaml"}},
		{"a broken document in a comparison", "", []string{"diff", "doc", "yaml"}},
	} {
		t.Run(test.reason, func(t *testing.T) {
			t.Setenv(keyVariable, "")
			out, err := runIn(t, files, test.args...)
			if err == nil || !strings.Contains(err.Error(), test.message) || strings.Contains(err.Error(), "s3cret") || out != "" {
				t.Errorf("printed %q, %v", out, err)
			}
		})
	}
}

func TestViews(t *testing.T) {
	files := map[string]string{"t": "a: {b: [1, {c: ~}, []], \"d.e\": 2}\nn: ~\n", "l": "- 1\n- 2\n", "e": "", "two": "a: 1\n---\na: 2\n"}
	for _, test := range []struct{ reason, args, want string }{
		{"an entry by position", "convert t --json --path a.b[0]", "1\n"},
		{"from the end", "convert t --json --path a.b[-1]", "[]\n"},
		{"nil is a value", "convert t --json --path n", "null\n"},
		{"the fields of a path", "convert t --json --path a --select b", `{"b":[1,{"c":null},[]]}` + "\n"},
		{"a list entry by entry", "convert l --split", "---\n1\n---\n2\n"},
		{"a value that is not a list is one document", "convert t --json --split --path a.b[1]", `{"c":null}` + "\n"},
		{"an empty list has no entries", "convert t --json --split --path a.b[2]", ""},
		{"an empty file", "convert e --json", "null\n"},
		{"each document has its view", "convert two --json --path a", "1\n2\n"},
		{"expressions stay as they are written", "convert t --path n", "null\n"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			got, err := runIn(t, files, strings.Fields(test.args)...)
			if err != nil || got != test.want {
				t.Errorf("got %q, %v", got, err)
			}
		})
	}
	for _, test := range []struct{ reason, args, message string }{
		{"a path that is not there", "convert t --path a.x", "a.x"},
		{"a position behind the end", "convert t --path a.b[9]", "not found"},
		{"a field of each document, which one does not have", "merge two --select b", "b"},
		{"an expression that fails", "merge t --evaluate nope", "--evaluate: "},
		{"an invalid expression", "merge t --evaluate 1+", "--evaluate: "},
		{"no expressions without evaluation", "convert t --evaluate a", "unknown flag"},
		{"too many files", "convert t l", `"l" is too much`},
		{"too few", "diff t", "AFTER is missing"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			out, err := runIn(t, files, strings.Fields(test.args)...)
			if err == nil || !strings.Contains(err.Error(), test.message) {
				t.Errorf("printed %q, %v", out, err)
			}
		})
	}
}
