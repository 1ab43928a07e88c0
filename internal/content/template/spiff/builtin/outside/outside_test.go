package outside_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"go.landscaper.dev/internal/content/template/spiff"
	"go.landscaper.dev/test/language"
)

// world is a system in memory. It notes what is done to it.
type world struct {
	fstest.MapFS
	done []string
}

func (w *world) note(format string, args ...any) {
	w.done = append(w.done, fmt.Sprintf(format, args...))
}

func (w *world) WriteFile(path string, data []byte, perm fs.FileMode) error {
	w.note("write %s %o %q", path, perm, data)
	return nil
}

func (w *world) MakeDir(path string, perm fs.FileMode) error {
	w.note("mkdir %s %o", path, perm)
	return nil
}

func (w *world) TempFile(data []byte, perm fs.FileMode) (string, error) {
	w.note("temp %o %q", perm, data)
	return fmt.Sprintf("/tmp/%d", len(w.done)), nil
}

func (w *world) Run(_ context.Context, stdin []byte, command []string) ([]byte, error) {
	w.note("run %q %q", stdin, command)
	if command[0] == "fail" {
		return nil, errors.New("it failed")
	}
	return []byte(strings.Join(command[1:], " ") + string(stdin)), nil
}

func (w *world) Env(name string) (string, bool) { return "(( " + name + " ))", name != "UNSET" }

func (w *world) Fetch(_ context.Context, url string) ([]byte, error) {
	w.note("fetch %s", url)
	return []byte("a: (( b ))"), nil
}

func files() fstest.MapFS {
	made := fstest.MapFS{}
	for name, content := range map[string]string{
		"a.yaml": "own: 1\nsees: (( own + around ))", "dir/b.txt": "(( around ))", "dir/sub/c.JSON": `{"x": [1, "(( around ))"]}`,
		"many.yml": "a: 1\n---\nb: (( around ))\n---\n", "broken.yaml": "a: [", "empty.yaml": "", "t.yaml": "v: (( name ))", "bytes": "\x00\xff\x01",
		"root.yaml": "around: 5\nroot: (( .around ))",
	} {
		made[name] = &fstest.MapFile{Data: []byte(content)}
	}
	return made
}

// reader may read files, and has nothing else.
func reader() language.Language {
	return language.Language{Config: spiff.Config{Access: spiff.AccessFiles, Files: files()}, Bindings: map[string]any{"around": 10, "name": "bound"}}
}

func TestRead(t *testing.T) {
	reader().Gives(t, []language.Row{
		{"a document is evaluated here: own names first, then those around", `read("a.yaml")`, `{own: 1, sees: 11}`},
		{"with a dot absolute references mean the file", `read("root.yaml", ".yaml").root`, `5`},
		{"the kind follows from the end of the name, in any case", `read("dir/sub/c.JSON")`, `{x: [1, 10]}`},
		{"other files are text, which is data", `read("dir/b.txt")`, `"(( around ))"`},
		{"a document as text", `read("a.yaml", "text") == "own: 1\nsees: (( own + around ))"`, `true`},
		{"bytes", `read("bytes", "binary")`, `AP8B`},
		{"a text as document", `read("dir/b.txt", "yaml")`, `10`},
		{"several documents without those at the end that are empty", `read("many.yml", "multiyaml")`, `[{a: 1}, {b: 10}]`},
		{"one document as several", `read("a.yaml", "multiyaml")[0].own`, `1`},
		{"an empty file is nil", `read("empty.yaml")`, `~`},
		{"an empty file as several documents", `read("empty.yaml", "multiyaml")`, `[]`},
		{"a template is evaluated where it is used", `( $name="used" ) *(read("t.yaml", "template"))`, `{v: used}`},
		{"several templates", `map[read("many.yml", "templates")|t|->type(t)]`, `[template, template]`},
		{"imported, only what is used is evaluated", `read("a.yaml", "import").own`, `1`},
		{"imported documents", `read("many.yml", "importmulti")[0].a`, `1`},
		{"a path from the root of the files", `read("/dir/../dir//b.txt")`, `"(( around ))"`},
		{"no way out of the root", `read("../../a.yaml").own`, `1`},
		{"a file that is missing can be caught", `read("nope") || "none"`, `none`},
		{"uncached is the same", `read_uncached("a.yaml").own`, `1`},
	})
	reader().Renders(t, []language.Row{
		{"without a dot absolute references mean the document around", "around: 7\nv: (( read(\"root.yaml\").root ))", `{around: 7, v: 7}`},
		{"without a dot absolute references mean bindings if the document around has no such field", "v: (( read(\"root.yaml\").root ))", `{v: 10}`},
	})
	reader().Fails(t, []language.Row{
		{"a file that is missing", `read("nope")`, `read: "nope": file does not exist`},
		{"a directory is not a file", `read("dir")`, `read: "dir": `},
		{"no name", `read("")`, `read: ""`},
		{"an unknown mode", `read("a.yaml", "xml")`, `unknown mode "xml"`},
		{"a mode is a text", `read("a.yaml", 1)`, "argument 2 must be a string"},
		{"a broken document", `read("broken.yaml")`, "error parsing broken.yaml"},
		{"several documents where one is wanted", `read("many.yml")`, "mode yaml needs a single document, but there are 3"},
		{"several documents as one template", `read("many.yml", "template")`, "mode template needs a single document"},
		{"no network", `read("https://host/a")`, "no network access in this execution environment"},
		{"a number is not a path", `read(1)`, "argument 1 must be a string"},
	})
}

func TestLists(t *testing.T) {
	reader().Gives(t, []language.Row{
		{"files of a directory, sorted, without directories", `list_files("dir")`, `[b.txt]`},
		{"directories of a directory", `list_dirs("dir")`, `[sub]`},
		{"the root", `list_dirs("/") == list_dirs(".") -and list_dirs("..") == ["dir"]`, `true`},
		{"a directory without directories", `list_dirs("dir/sub")`, `[]`},
		{"where a file is", `lookup_file("b.txt", "x", "dir", "/dir")`, `[dir/b.txt, /dir/b.txt]`},
		{"directories as a list", `lookup_file("b.txt", ["x", "dir"])`, `[dir/b.txt]`},
		{"a file is not a directory", `lookup_dir("b.txt", "dir")`, `[]`},
		{"where a directory is", `lookup_dir("sub", "dir", ".")`, `[dir/sub]`},
		{"an absolute name needs no directory", `lookup_file("/a.yaml")`, `[/a.yaml]`},
		{"a name without a directory is nowhere", `lookup_file("a.yaml")`, `[]`},
		{"a way out of the root ends at it", `lookup_file("a.yaml", "../..")`, `[../../a.yaml]`},
	})
	reader().Fails(t, []language.Row{
		{"a directory that is missing", `list_files("nope")`, `list_files: "nope": file does not exist`},
		{"a file has no entries", `list_files("a.yaml")`, `list_files: "a.yaml": `},
		{"a directory is a text", `lookup_file("a", 1)`, "argument 2 must be a string or a list of strings"},
		{"a list of other things", `lookup_file("a", [1])`, "argument 2 must be a string or a list of strings"},
	})
}

func TestParse(t *testing.T) {
	language.Language{Bindings: map[string]any{"x": 3, "evil": "a: (( x ))"}}.Gives(t, []language.Row{
		{"the text is placed here and evaluated", `parse("a: (( x ))")`, `{a: 3}`},
		{"a bound text is data, also of its parts", `parse(evil)`, `{a: "(( x ))"}`},
		{"whatever the mode", `parse(evil, "yaml").a parse(evil, ".yaml").a`, `"(( x ))(( x ))"`},
		{"as text", `parse("a: 1", "text")`, `"a: 1"`},
		{"as bytes", `parse("a", "binary")`, `YQ==`},
		{"long bytes in lines of 60", `map[split("\n", parse(sum[[1..6]|"ab"|s,i|->s s], "binary"))|l|->length(l)]`, `[60, 60, 52]`},
		{"no text is nil", `parse("")`, `~`},
		{"several documents", `parse("a\n---\nb", "importmulti")`, `[a, b]`},
		{"which features are on", `features()`, `[]`},
		{"an unknown feature is not on", `features("nope")`, `false`},
	})
	language.Language{Config: spiff.Config{Features: []string{"interpolation", "control"}}}.Gives(t, []language.Row{
		{"features in order", `features()`, `[control, interpolation]`},
		{"a feature that is on", `features("control")`, `true`},
	})
	language.Language{}.Fails(t, []language.Row{
		{"a broken text", `parse("[")`, "error parsing parsed text"},
		{"an unknown mode", `parse("a", "toml")`, `unknown mode "toml"`},
		{"two documents", `parse("a\n---\nb")`, "mode import needs a single document, but there are 2"},
		{"a number is not a string", `parse(1)`, "argument 1 must be a string"},
		{"hostile: aliases that multiply", `parse("a: &a [x,x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d,*d]\nf: &f [*e,*e,*e,*e,*e,*e,*e,*e,*e,*e]\ng: [*f,*f,*f,*f,*f]")`, "error parsing"},
	})
	language.Language{Config: spiff.Config{Sensitive: true}, Bindings: map[string]any{"secret": "{s3cret"}}.Fails(t, []language.Row{
		{"a bound text is not repeated", `parse(secret)`, "parse: text is no YAML\n"},
	})
}

// TestRefused asks for every function that needs more than there is, in every way.
func TestRefused(t *testing.T) {
	const refused = "no OS operations supported in this execution environment"
	calls := map[string]string{
		"read": `"a.yaml"`, "read_uncached": `"a"`, "list_files": `"a"`, "list_dirs": `"a"`, "lookup_file": `"a", "b"`, "lookup_dir": `"a", "b"`,
		"write": `"a", "b"`, "tempfile": `"a"`, "mkdir": `"a"`, "exec": `"true"`, "exec_uncached": `"true"`, "pipe": `"a", "true"`,
		"pipe_uncached": `"a", "true"`, "env": `"HOME"`,
	}
	for name, arguments := range calls {
		call := name + "(" + arguments + ")"
		language.Language{}.Fails(t, []language.Row{
			{name + " without any access", call, refused},
			{name + " through eval", `eval("` + strings.ReplaceAll(call, `"`, `\"`) + `")`, refused},
			{name + " through currying", strings.Replace(call, "(", "*(", 1) + "()", refused},
			{name + " in a lambda", `(|x|->` + call + `)(1)`, refused},
			{name + " in a merge", `merge({"a"="(( ` + strings.ReplaceAll(call, `"`, `\"`) + ` ))"})`, refused},
			{name + " in a computed text", `"(( ` + strings.ReplaceAll(call, `"`, `\"`) + ` ))"`, refused},
		})
		language.Language{}.Gives(t, []language.Row{{name + " can be caught", call + ` || "refused"`, `refused`}})
		if name[0] != 'r' && name[0] != 'l' {
			reader().Fails(t, []language.Row{{name + " is no reading", call, refused}})
		}
	}
	language.Language{Config: spiff.Config{Access: spiff.AccessFiles}}.Fails(t, []language.Row{
		{"files without a file system", `read("a")`, refused},
		{"a list without a file system", `list_dirs("a")`, refused},
		{"a search without a file system", `lookup_dir("a", "b")`, refused},
	})
}

// full may do everything, in a world in memory.
func full(w *world) language.Language {
	return language.Language{Config: spiff.Config{Access: spiff.AccessFull, System: w}}
}

func TestSystem(t *testing.T) {
	tests := []struct {
		reason, expression, want string
		done                     []string
	}{
		{"a text is written as it is and comes back", `write("f", "a\n")`, `"a\n"`, []string{`write f 644 "a\n"`}},
		{"a list is written as YAML", `write("f", [1])`, `"- 1\n"`, []string{`write f 644 "- 1\n"`}},
		{"a permission as number", `write("f", "a", 384)`, `a`, []string{`write f 600 "a"`}},
		{"a permission as octal text", `write("f", "a", "0600")`, `a`, []string{`write f 600 "a"`}},
		{"content in base64", `write("f", "Y\nQ==", "#")`, `"Y\nQ=="`, []string{`write f 644 "a"`}},
		{"several options", `write("f", "YQ==", "binary", "755")`, `YQ==`, []string{`write f 755 "a"`}},
		{"a stream of documents", `write("f", [1, {"a"=2}], "multiyaml")`, `"---\n1\n---\na: 2\n"`, []string{`write f 644 "---\n1\n---\na: 2\n"`}},
		{"a temporary file for equal content is one", `tempfile("a") == tempfile("a")`, `true`, []string{`temp 644 "a"`}},
		{"other permissions are another one", `tempfile("a") == tempfile("a", "600")`, `false`, []string{`temp 644 "a"`, `temp 600 "a"`}},
		{"a directory", `mkdir("a/b")`, `a/b`, []string{`mkdir a/b 755`}},
		{"a directory by its steps", `mkdir(["a", "b"], "700")`, `a/b`, []string{`mkdir a/b 700`}},
		{"a command with arguments of all kinds", `exec("echo", "a b", 1, true, [2])`, `"a b 1 true - 2"`, []string{`run "" ["echo" "a b" "1" "true" "- 2\n"]`}},
		{"a command as a list", `exec(["echo", "x"])`, `x`, []string{`run "" ["echo" "x"]`}},
		{"an equal command runs once", `exec("echo", "x") exec("echo", "x")`, `xx`, []string{`run "" ["echo" "x"]`}},
		{"exec_uncached runs a command twice", `exec_uncached("echo", "x") exec_uncached("echo", "x")`, `xx`, []string{`run "" ["echo" "x"]`, `run "" ["echo" "x"]`}},
		{"another input is another call", `pipe("1", "echo") + pipe("2", "echo")`, `3`, []string{`run "1" ["echo"]`, `run "2" ["echo"]`}},
		{"a map is piped as YAML", `pipe({"a"=1}, "echo")`, `{a: 1}`, []string{`run "a: 1\n" ["echo"]`}},
		{"output that is a map", `exec("echo", "a: (( b ))")`, `{a: "(( b ))"}`, []string{`run "" ["echo" "a: (( b ))"]`}},
		{"output behind dashes is YAML", `exec("echo", "--- 1.5")`, `1.5`, []string{`run "" ["echo" "--- 1.5"]`}},
		{"output that is an integer", `exec("echo", " 12\n")`, `12`, []string{`run "" ["echo" " 12\n"]`}},
		{"output of one word is text", `exec("echo", "true\n\n")`, `"true"`, []string{`run "" ["echo" "true\n\n"]`}},
		{"no output", `exec("echo")`, `""`, []string{`run "" ["echo"]`}},
		{"a variable is data", `env("X")`, `"(( X ))"`, nil},
		{"several variables, without those that are not set", `env("X", "UNSET", ["Y"])`, `{X: "(( X ))", "Y": "(( Y ))"}`, nil},
		{"a list of one is a map", `env(["X"])`, `{X: "(( X ))"}`, nil},
		{"a URL is read once", `read("http://h/a", "text") == read("http://h/a", "text")`, `true`, []string{`fetch http://h/a`}},
		{"a URL uncached", `read_uncached("http://h/a", "text") == read_uncached("http://h/a", "text")`, `true`, []string{`fetch http://h/a`, `fetch http://h/a`}},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			w := &world{MapFS: files()}
			full(w).Gives(t, []language.Row{{"result", test.expression, test.want}})
			if fmt.Sprint(w.done) != fmt.Sprint(test.done) {
				t.Errorf("done: %v, want %v", w.done, test.done)
			}
		})
	}
	full(&world{}).Fails(t, []language.Row{
		{"an unknown option", `write("f", "a", "exec")`, `unknown option "exec"`},
		{"a permission with more bits than there are", `write("f", "a", 4294967680)`, "4294967680 is no permission"},
		{"a permission below zero", `write("f", "a", -1)`, "-1 is no permission"},
		{"an option that is a list", `write("f", "a", [])`, "unknown option"},
		{"content that is not base64", `write("f", "!", "binary")`, "binary data must be base64 text"},
		{"a path is a text", `write(1, "a")`, "argument 1 must be a string"},
		{"steps of a path are texts", `mkdir(["a", 1])`, "argument 1 must be a string or a list of strings"},
		{"no command", `exec("")`, "no command is given"},
		{"an empty list is no command", `exec([])`, "no command is given"},
		{"a command that fails", `exec("fail")`, "exec: it failed"},
		{"a variable that is not set", `env("UNSET")`, `environment variable "UNSET" is not set`},
		{"a name of a variable is a text", `env(1)`, "argument 1 must be a string or a list of strings"},
	})
}
