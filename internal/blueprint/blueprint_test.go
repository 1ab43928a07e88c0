package blueprint

import (
	"io/fs"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"go.landscaper.dev/api/v1alpha1"
)

func TestInline(t *testing.T) {
	tests := []struct {
		reason, filesystem, path, want, wantErr string
	}{
		{"a text is a file", `{a.txt: hello}`, "a.txt", "hello", ""},
		{"a map is a directory", `{dir: {sub: {a.txt: hello}}}`, "dir/sub/a.txt", "hello", ""},
		{"an empty node is an empty file", `{a.txt: }`, "a.txt", "", ""},
		{"the file system as one text", `"dir: {a.txt: hello}"`, "dir/a.txt", "hello", ""},
		{"a blueprint that was written as a map", `{blueprint.yaml: {apiVersion: v1, kind: Blueprint}}`, "blueprint.yaml", "apiVersion: v1\nkind: Blueprint\n", ""},
		{"base64 between marks", `{a: "---Start Binary---\naGVsbG8=\n---End Binary---\n"}`, "a", "hello", ""},
		{"a typed directory", `{dir: {$type: directory, value: {a: x}}}`, "dir/a", "x", ""},
		{"a typed YAML file", `{a: {$type: yaml, value: {b: [1]}}}`, "a", "b:\n- 1\n", ""},
		{"a typed JSON file", `{a: {$type: json, value: {b: [1]}}}`, "a", `{"b":[1]}`, ""},
		{"a typed file", `{a: {$type: file, value: x}}`, "a", "x", ""},
		{"a typed binary file", `{a: {$type: file, binary: aGVsbG8=}}`, "a", "hello", ""},
		{"a link inside", `{a: {$type: symlink, value: dir/b}, dir: {b: x}}`, "a", "x", ""},
		{"a link to the outside", `{a: {$type: symlink, value: ../b}}`, "", "", "a link must lead to a path inside"},
		{"a link to the root of the machine", `{a: {$type: symlink, value: /etc/passwd}}`, "", "", "a link must lead to a path inside"},
		{"a name that leads out", `{"..": {b: x}}`, "", "", "is not a file name"},
		{"a name with a slash", `{"a/b": x}`, "", "", "is not a file name"},
		{"broken base64", `{a: "---Start Binary---\n%%\n---End Binary---"}`, "", "", "decode base64"},
		{"no end of the base64", `{a: "---Start Binary---\naGVsbG8="}`, "", "", "---End Binary---"},
		{"a list is nothing", `{a: [x]}`, "", "", "neither a text nor a map"},
		{"no files at all", `7`, "", "", "is not a map of files"},
	}
	for _, test := range tests {
		raw, err := yaml.YAMLToJSON([]byte(test.filesystem))
		if err != nil {
			t.Fatalf("%s: %v", test.reason, err)
		}
		files, err := Inline(v1alpha1.NewAnyJSON(raw))
		if test.wantErr != "" {
			if err == nil || !strings.Contains(err.Error(), test.wantErr) {
				t.Errorf("%s: got error %v, want %q", test.reason, err, test.wantErr)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", test.reason, err)
			continue
		}
		if got, err := fs.ReadFile(files, test.path); err != nil || string(got) != test.want {
			t.Errorf("%s: %s holds %q (%v), want %q", test.reason, test.path, got, err, test.want)
		}
	}
}

func TestInlineLimits(t *testing.T) {
	deep := strings.Repeat(`{"d":`, maxInlineDepth+2) + `"x"` + strings.Repeat("}", maxInlineDepth+2)
	if _, err := Inline(v1alpha1.NewAnyJSON([]byte(deep))); err == nil || !strings.Contains(err.Error(), "levels deep") {
		t.Errorf("a very deep tree: %v", err)
	}
}

func TestLoad(t *testing.T) {
	load := func(text string) (*Blueprint, error) {
		raw, err := yaml.YAMLToJSON([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		files, err := Inline(v1alpha1.NewAnyJSON(raw))
		if err != nil {
			t.Fatal(err)
		}
		return Load(files)
	}
	loaded, err := load(`{blueprint.yaml: "imports: [{name: a, targetType: kubernetes-cluster}]"}`)
	if err != nil || loaded.Info.Imports[0].Type != v1alpha1.ImportTypeTarget {
		t.Errorf("defaults are not set: %+v, %v", loaded, err)
	}
	for text, want := range map[string]string{
		`{other.yaml: x}`:                          "blueprint.yaml",
		`{blueprint.yaml: "imports: 7"}`:           "decode blueprint.yaml",
		`{blueprint.yaml: "imports: [{name: a}]"}`: "imports[0]: Required value",
	} {
		if _, err := load(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", text, err, want)
		}
	}
}
