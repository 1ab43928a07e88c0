package blueprint

import (
	"encoding/json"
	"io/fs"
	"testing"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/base/memfs"
)

// FuzzInline reads inline file systems, as objects and as texts.
func FuzzInline(f *testing.F) {
	for _, seed := range []string{
		`{"blueprint.yaml":"kind: Blueprint","dir/a":{"b":1,"c":true,"d":null}}`,
		`{"a.yaml":{"apiVersion":"v1","kind":"x","n":123456789012345678901234567890,"f":1.5e3,"s":"yes"}}`,
		`{"a":{"$type":"symlink","value":"b"},"b":{"$type":"symlink","value":"a"},"c":{"$type":"directory","value":{"$type":"x"}}}`,
		`{"a":{"$type":"file","binary":"aGVsbG8="},"b":"---Start Binary---\naGVsbG8=\n---End Binary---\n"}`,
		"a: &a {x: hello}\nb: {<<: *a, y: !!binary aGVsbG8=}\nc: [*a]\n",
		"a: &a [*a]", "{0x10: 08, ~: .5, ? a : b}",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		text, err := json.Marshal(string(data))
		if err != nil {
			t.Fatal(err)
		}
		for _, form := range [][]byte{data, text} {
			if files, err := Inline(v1alpha1.NewAnyJSON(form)); err == nil {
				readAll(t, files)
			}
		}
	})
}

// readAll reads everything in a tree; only a link may lead nowhere.
func readAll(t *testing.T, files *memfs.Tree) {
	if files.Entries() > maxInlineFiles || files.Bytes() > maxInlineBytes {
		t.Fatalf("%d files of %d bytes are more than the limits", files.Entries(), files.Bytes())
	}
	err := fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || !fs.ValidPath(name) {
			t.Fatalf("%q: %v", name, err)
		}
		if _, err := files.ReadFile(name); err != nil && entry.Type().IsRegular() {
			t.Fatal(err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// FuzzLoad reads descriptions of blueprints. What was read can be written, and
// reads the same again.
func FuzzLoad(f *testing.F) {
	for _, seed := range []string{
		"apiVersion: landscaper.gardener.cloud/v1alpha1\nkind: Blueprint\nimports:\n- {name: a, targetType: kubernetes-cluster}\n",
		"imports: [{name: a, type: data, required: no, schema: {type: string}, default: {value: 1.10}, imports: [{name: b, schema: {}}]}]",
		"exports: [{name: a, type: target, targetType: x/y}]\nlocalTypes: {a: &a {type: string}, b: {<<: *a}}\njsonSchema: x\n",
		"deployExecutions: [{name: a, type: GoTemplate, file: a.yaml}, {name: b, type: Spiff, template: {deployItems: []}}]",
		"subinstallations: [{file: a}, {name: a, blueprint: {ref: \"cd://resources/b\"}, imports: {data: [{name: a, dataRef: b}]}}]",
		"imports: [{name: a, requierd: 1}]\nannotations: {a: b}",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		loaded, err := load(t, text)
		if err != nil {
			return
		}
		raw, err := json.Marshal(loaded.Info)
		if err != nil {
			t.Fatal(err)
		}
		again, err := load(t, string(raw))
		if err != nil {
			t.Fatalf("%s\ncannot be read again: %v", raw, err)
		}
		second, err := json.Marshal(again.Info)
		if err != nil || string(second) != string(raw) {
			t.Fatalf("got\n%s\nthe second time\n%s (%v)", raw, second, err)
		}
	})
}
