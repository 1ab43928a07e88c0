package blueprint

import (
	"encoding/json"
	"io/fs"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/base/memfs"
	"go.landscaper.dev/internal/base/yamltext"
)

// inline returns the file system that is written in YAML, in the way in which it
// arrives from an API server.
func inline(t testing.TB, text string) (*memfs.Tree, error) {
	t.Helper()
	raw, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return Inline(v1alpha1.NewAnyJSON(raw))
}

func TestInline(t *testing.T) {
	for _, test := range []struct{ reason, filesystem, path, want string }{
		{"a text is a file", `{a.txt: hello}`, "a.txt", "hello"},
		{"a map is a directory", `{dir: {sub: {a.txt: hello}}}`, "dir/sub/a.txt", "hello"},
		{"slashes in a name lead into directories", `{dir/sub/a.txt: hello, dir/b: x, dir: {c: "y"}}`, "dir/sub/a.txt", "hello"},
		{"paths from the root mean the same", `{/dir/a.txt: hello}`, "dir/a.txt", "hello"},
		{"an empty node is an empty file", `{a.txt: }`, "a.txt", ""},
		{"a number is its text", `{replicas: 5}`, "replicas", "5"},
		{"a large number keeps its digits", `"a: 123456789012345678901234567890"`, "a", "123456789012345678901234567890"},
		{"a version keeps its last digit", `"a: 1.10"`, "a", "1.10"},
		{"a truth is its text", `{debug: true}`, "debug", "true"},
		{"the file system as one text", `"dir: {a.txt: hello}"`, "dir/a.txt", "hello"},
		{"aliases in such a text", `"a: &a {x: hello}\nb: *a"`, "b/x", "hello"},
		{"bytes in such a text", `"a: !!binary aGVsbG8="`, "a", "hello"},
		{"names that are not strings in such a text", `"{5: five, yes: sure, 0x10: hex}"`, "0x10", "hex"},
		{"a blueprint that was written as a map", `{blueprint.yaml: {apiVersion: v1, kind: Blueprint, count: 12345678901234567, s: "yes", l: [a]}}`, "blueprint.yaml",
			"apiVersion: v1\ncount: 12345678901234567\nkind: Blueprint\nl:\n- a\ns: \"yes\"\n"},
		{"any object in a YAML file", `{sub: {a.yml: {apiVersion: v1, kind: List}}}`, "sub/a.yml", "apiVersion: v1\nkind: List\n"},
		{"any object in a JSON file", `{sub/a.json: {kind: List, apiVersion: v1}}`, "sub/a.json", `{"apiVersion":"v1","kind":"List"}`},
		{"such fields in a directory are files", `{dir: {apiVersion: v1, kind: List}}`, "dir/kind", "List"},
		{"a directory with the name of a YAML file", `{a.yaml: {b: x}}`, "a.yaml/b", "x"},
		{"base64 between marks", `{a: "---Start Binary---\naGVs\n bG8=\n---End Binary---\n"}`, "a", "hello"},
		{"base64 between marks with space around", `{a: "\n  \n ---Start Binary---  \r\naGVsbG8=\r\n---End Binary---\n\n"}`, "a", "hello"},
		{"a mark in the middle is text", `{a: "x\n---Start Binary---\n"}`, "a", "x\n---Start Binary---\n"},
		{"a typed directory", `{dir: {$type: directory, value: {a: x}}}`, "dir/a", "x"},
		{"a typed directory may have an entry that is called like the mark", `{dir: {$type: directory, value: {$type: x}}}`, "dir/$type", "x"},
		{"a typed YAML file", `{a: {$type: yaml, value: {b: [1, 123456789012345678, {c: "1"}]}}}`, "a", "b:\n- 1\n- 123456789012345678\n- c: \"1\"\n"},
		{"a typed YAML file with a list", `{a: {$type: yaml, value: [x]}}`, "a", "- x\n"},
		{"a typed JSON file", `{a: {$type: json, value: {b: [12345678901234567]}}}`, "a", `{"b":[12345678901234567]}`},
		{"a typed file", `{a: {$type: file, value: x}}`, "a", "x"},
		{"a typed file with a number", `{a: {$type: whatever, value: 7}}`, "a", "7"},
		{"a typed empty file", `{a: {$type: file, value: }}`, "a", ""},
		{"a typed binary file", `{a: {$type: file, binary: aGVsbG8=}}`, "a", "hello"},
		{"a link inside", `{a: {$type: symlink, value: dir/b}, dir: {b: x}}`, "a", "x"},
		{"a link upwards, but inside", `{dir: {a: {$type: symlink, value: ../b}}, b: x}`, "dir/a", "x"},
		{"a link to a directory", `{a: {$type: symlink, value: dir}, dir: {b: x}}`, "a/b", "x"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			files, err := inline(t, test.filesystem)
			if err != nil {
				t.Error(err)
				return
			}
			if got, err := fs.ReadFile(files, test.path); err != nil || string(got) != test.want {
				t.Errorf("%s holds %q (%v), want %q", test.path, got, err, test.want)
			}
		})
	}
}

func TestInlineJSONKeepsDigits(t *testing.T) {
	files, err := Inline(v1alpha1.NewAnyJSON([]byte(`{"a":123456789012345678901234567890,"b.yaml":{"apiVersion":"v1","kind":"x","n":123456789012345678901234567890,"f":1.10}}`)))
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"a": "123456789012345678901234567890", "b.yaml": "apiVersion: v1\nf: 1.10\nkind: x\n\"n\": 123456789012345678901234567890\n",
	} {
		t.Run(path, func(t *testing.T) {
			if got, err := fs.ReadFile(files, path); err != nil || string(got) != want {
				t.Errorf("%s holds %q (%v), want %q", path, got, err, want)
			}
		})
	}
}

func TestInlineErrors(t *testing.T) {
	for _, test := range []struct{ reason, filesystem, want string }{
		{"a list", `{dir: {a: [x]}}`, `"dir/a" is a list: write a text for a file, a map for a directory, or {$type: yaml`},
		{"a link to the outside", `{dir: {a: {$type: symlink, value: ../../b}}}`, `dir/a: the link leads out of the tree: target "../../b": give a path inside`},
		{"a link to the root of the machine", `{a: {$type: symlink, value: /etc/passwd}}`, "leads out of the tree"},
		{"a link to nothing", `{a: {$type: symlink}}`, `"a": the value of a symlink must be the path of a file`},
		{"a name that leads out", `{"..": {b: x}}`, `".." in "." is not a file name`},
		{"a name that leads out on its way", `{dir: {"a/../../b": x}}`, `"a/../../b" in "dir" is not a file name`},
		{"a name that is empty", `{dir: {"": x}}`, `"" in "dir" is not a file name`},
		{"a name with nothing between slashes", `{a//b: x}`, "is not a file name"},
		{"a name for another system", `{'a\b': x}`, "is not a file name"},
		{"a file and a directory", `{a: text, a/b: text}`, `"a" is a file and is not a directory`},
		{"a directory and a file", `{a: {b: x}, /a: text}`, `"a" is a file and is not a directory`},
		{"a file that is written twice", `{a: {b: x}, a/b: x}`, "a/b: it is already there as a file"},
		{"broken base64", `{a: "---Start Binary---\n%%\n---End Binary---"}`, `"a": decode base64`},
		{"no end of the base64", `{a: "---Start Binary---\naGVsbG8="}`, `must end with the line "---End Binary---"`},
		{"broken typed base64", `{a: {$type: file, binary: "%"}}`, `"a": binary: decode base64`},
		{"a typed file without a content", `{a: {$type: file}}`, "a file has a text under value, or base64 under binary"},
		{"a typed file with a map", `{a: {$type: file, value: {b: c}}}`, "a file has a text under value"},
		{"a typed directory with a text", `{a: {$type: directory, value: x}}`, `"a": the value of a directory must be a map`},
		{"a mark that is not a string", `{a: {$type: {b: c}}}`, `"a": $type must be directory, file`},
		{"no files at all", `7`, "is not a map of files: write blueprint.yaml: |"},
		{"nothing", `null`, "is not a map of files"},
		{"a text that is no YAML", `"a: ["`, "decode the inline file system"},
		{"a text with a key that is there twice", `"a: x\na: y"`, "line 2, column 1: the key is there twice"},
		{"a text with an infinite number", `"a: .inf"`, "line 1, column 4: a number is infinite"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			if _, err := inline(t, test.filesystem); err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), "inline file system") {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

// TestInlineWithoutFilesystem is an Installation that says inline and nothing more.
func TestInlineWithoutFilesystem(t *testing.T) {
	if _, err := Inline(v1alpha1.AnyJSON{}); err == nil || !strings.Contains(err.Error(), "is not a map of files: write blueprint.yaml: |") {
		t.Errorf("got %v", err)
	}
}

func TestInlineLimits(t *testing.T) {
	many := map[string]string{}
	for i := range maxInlineFiles + 1 {
		many[strings.Repeat("x", i%200+1)+"/"+strings.Repeat("y", i/200+1)] = ""
	}
	files, err := json.Marshal(many)
	if err != nil {
		t.Fatal(err)
	}
	const mebibyte = 1 << 20
	bomb := `a: &a "` + strings.Repeat("x", mebibyte) + `"` + "\n"
	for i := range 64 {
		bomb += strings.Repeat("c", i+1) + ": *a\n"
	}
	text, err := json.Marshal(bomb)
	if err != nil {
		t.Fatal(err)
	}
	laughs := "a: &a {x: x}\n"
	for name := 'b'; name < 'z'; name++ {
		laughs += string(name) + ": &" + string(name) + " [" + strings.TrimSuffix(strings.Repeat("*"+string(name-1)+", ", 9), ", ") + "]\n"
	}
	laughsText, err := json.Marshal(laughs)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ reason, filesystem, want string }{
		{"a very deep tree", strings.Repeat(`{"d":`, maxInlineDepth+2) + `"x"` + strings.Repeat("}", maxInlineDepth+2), "levels deep"},
		{"a very deep name", `{"` + strings.Repeat("d/", maxInlineDepth+2) + `x":""}`, "levels deep"},
		{"a very deep value of a file", `{"a":{"$type":"yaml","value":` + strings.Repeat("[", 9000) + strings.Repeat("]", 9000) + `}}`, "levels deep"},
		{"very many files", string(files), "the number of files is more than the limit of 10000"},
		{"a short text that stands for many bytes", string(text), "with its aliases the text is longer"},
		{"a billion laughs", string(laughsText), "more than 750000 values"},
		{"a text that contains itself", `"a: &a {b: *a}"`, `an anchor contains itself`},
		{"a text that is very deep", `"` + strings.Repeat("[", yamltext.DefaultLimits().Depth+1) + strings.Repeat("]", yamltext.DefaultLimits().Depth+1) + `"`, "levels deep"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			if _, err := Inline(v1alpha1.NewAnyJSON([]byte(test.filesystem))); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %.300v, want %q", err, test.want)
			}
		})
	}
}
