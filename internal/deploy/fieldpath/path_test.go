package fieldpath

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	kjson "sigs.k8s.io/json"
)

const object = `{
  "metadata": {"name": "a", "annotations": {"acme.example/tier": "gold"}},
  "spec": {"replicas": 3, "ports": [{"name": "http", "port": 80}, {"name": "https", "port": 443}], "empty": [], "none": null, "off": false},
  "status": {"conditions": [{"type": "Ready", "status": "True"}, {"type": "Other", "status": "False"}]}
}`

func TestFind(t *testing.T) {
	var content map[string]any
	if err := kjson.UnmarshalCaseSensitivePreserveInts([]byte(object), &content); err != nil {
		t.Fatal(err)
	}
	tests := []struct{ reason, path, want string }{
		{"a field", ".metadata.name", `["a"]`},
		{"the first dot may be left out", "metadata.name", `["a"]`},
		{"a dot in a key", `.metadata.annotations.acme\.example/tier`, `["gold"]`},
		{"a dot in a key in brackets", `.metadata.annotations['acme\.example/tier']`, `["gold"]`},
		{"a number is kept as a number", ".spec.replicas", `[3]`},
		{"a boolean is kept as a boolean", ".spec.off", `[false]`},
		{"null is a value", ".spec.none", `[null]`},
		{"a map", ".spec.ports[0]", `[{"name":"http","port":80}]`},
		{"the last one", ".spec.ports[-1:].port", `[443]`},
		{"a slice", ".spec.ports[0:2].port", `[80,443]`},
		{"all of them", ".spec.ports[*].name", `["http","https"]`},
		{"at any depth", "..port", `[80,443]`},
		{"two keys", "['metadata','spec']['name','replicas']", `["a",3]`},
		{"a filter", ".status.conditions[?(@.type=='Ready')].status", `["True"]`},
		{"a filter with blanks", ".status.conditions[?(@.type == 'Ready')].status", `["True"]`},
		{"a filter on existence", ".spec.ports[?(@.port)].name", `["http","https"]`},
		{"a filter on size", ".spec.ports[?(@.port > 100)].name", `["https"]`},
		{"a filter without a match", ".status.conditions[?(@.type=='Nothing')].status", `null`},
		{"an empty list", ".spec.empty[*]", `null`},
		{"a field that is missing", ".spec.missing", `null`},
		{"a field below a field that is missing", ".spec.missing.deeper", `null`},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			path, err := Parse(test.path)
			if err != nil {
				t.Fatal(err)
			}
			for range 2 {
				values, err := path.Find(content)
				if err != nil {
					t.Fatal(err)
				}
				got, err := json.Marshal(values)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(test.want, string(got)); diff != "" {
					t.Errorf("-want +got\n%s", diff)
				}
			}
		})
	}
}

func TestPathThatDoesNotFit(t *testing.T) {
	content := map[string]any{"secret": "top-secret-word", "list": []any{"top-secret-word"}, "map": map[string]any{"top-secret-word": "x"}}
	for _, text := range []string{".list[7]", ".secret[0]", ".secret[?(@.a=='b')]", ".map[?(@.a=='b')]", ".secret[0:1]", ".list[?(@.a>1)]"} {
		t.Run(text, func(t *testing.T) {
			path, err := Parse(text)
			if err != nil {
				t.Fatal(err)
			}
			values, err := path.Find(content)
			if err == nil && len(values) > 0 {
				t.Errorf("values %v", values)
			}
			if err != nil && strings.Contains(err.Error(), "top-secret-word") {
				t.Errorf("the error quotes a value: %v", err)
			}
		})
	}
}

func TestWrongPaths(t *testing.T) {
	tests := []struct{ reason, path, want string }{
		{"nothing", "", "it is empty"},
		{"blanks", "  ", "it is empty"},
		{"braces", "{.a}", "without braces"},
		{"two paths", ".a .b", "two paths"},
		{"an end and another beginning", ".a} {.b", "two paths"},
		{"a bracket that is open", ".a[", "it is not a path"},
		{"a filter that is open", ".a[?(@.b", "it is not a path"},
		{"a filter with two comparisons is read as no path", ".a[?(@.b==", "it is not a path"},
		{"without end", "." + strings.Repeat("a", maxLength), "longer than"},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			if _, err := Parse(test.path); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %q", err, test.want)
			}
		})
	}
}

func TestPut(t *testing.T) {
	type put struct {
		key   string
		value any
	}
	tests := []struct {
		reason string
		puts   []put
		want   string
	}{
		{"a name", []put{{"a", 1}}, `{"a":1}`},
		{"names", []put{{"a.b", 1}, {"a.c", 2}}, `{"a":{"b":1,"c":2}}`},
		{"ordinary characters", []put{{"a-b/c:d", 1}}, `{"a-b/c:d":1}`},
		{"the later value wins", []put{{"a", 1}, {"a", 2}}, `{"a":2}`},
		{"maps are merged", []put{{"a", map[string]any{"b": map[string]any{"x": 1}}}, {"a", map[string]any{"b": map[string]any{"y": 2}}}}, `{"a":{"b":{"x":1,"y":2}}}`},
		{"a map replaces a value that is not a map", []put{{"a", 1}, {"a.b", 2}}, `{"a":{"b":2}}`},
		{"a value that is not a map replaces a map", []put{{"a.b", 1}, {"a", 2}}, `{"a":2}`},
		{"null is a value", []put{{"a", nil}}, `{"a":null}`},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			values := map[string]any{}
			for _, p := range test.puts {
				key, err := ParseKey(p.key)
				if err != nil {
					t.Fatal(err)
				}
				key.Put(values, p.value)
			}
			got, err := json.Marshal(values)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, string(got)); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
	source := map[string]any{"b": 1}
	values := map[string]any{}
	Key{"a"}.Put(values, source)
	Key{"a"}.Put(values, map[string]any{"c": 2})
	if len(source) != 1 {
		t.Error("the object that a value came from was changed")
	}
	for _, wrong := range []string{"", "a..b", "a[0]", "a b", "'a'", "a.", "{a}", strings.Repeat("a", maxLength+1)} {
		if _, err := ParseKey(wrong); err == nil {
			t.Errorf("key %q was accepted", wrong)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{".a", "a.b[0]", "..a", "[?(@.a=='b')]", "{", "'", "[[[", "$", "@", ".a[-1:]", "[?(@.a in ['b'])]"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		path, err := Parse(text)
		if err != nil {
			return
		}
		// Whatever is a path must end, without a panic, on any object.
		_, _ = path.Find(map[string]any{"a": []any{map[string]any{"b": "c"}, nil, int64(1)}})
	})
}
