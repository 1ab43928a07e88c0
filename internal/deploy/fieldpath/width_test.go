package fieldpath

import (
	"strings"
	"testing"
)

// nested is a map in a map, so deep.
func nested(deep int) map[string]any {
	object := map[string]any{"a": "x"}
	for range deep {
		object = map[string]any{"a": object}
	}
	return object
}

func TestWidePaths(t *testing.T) {
	list := any("x")
	for range 100 {
		list = []any{list}
	}
	tests := []struct {
		reason, path string
		object       map[string]any
		works        bool
	}{
		{"one descent", "..a", nested(5000), true},
		{"two descents in what people write", "..spec..name", map[string]any{"spec": map[string]any{"b": map[string]any{"name": "x"}}}, true},
		{"three descents in nested maps", "..a..a..a", nested(200), false},
		{"descents in a filter", "..a[?(@..a..a)]", nested(200), false},
		{"descents in quotes, which the library reads as a path", "['a..a..a..a']", nested(200), false},
		{"descents behind a quote that is a letter of a field", "a'..a..a..a", map[string]any{"a'": nested(200)}, false},
		{"descents behind a backslash and quotes", `['a\\\\']..a..a..a`, nested(200), false},
		{"lists behind a quote", "a'" + strings.Repeat("['a','a']", 60), map[string]any{"a'": nested(100)}, false},
		{"a name with dots", `.metadata['acme\.example/tier']`, map[string]any{"metadata": map[string]any{"acme.example/tier": "gold"}}, true},
		{"a list of names", "['a','b','c']", nested(200), true},
		{"lists that double what is found, as often as they are written", strings.Repeat("['a','a']", 60), nested(100), false},
		{"lists of positions", ".a" + strings.Repeat("[0,0]", 60), map[string]any{"a": list}, false},
		{"slices", ".a" + strings.Repeat("[0:1,0:1]", 60), map[string]any{"a": list}, false},
		{"lists and a descent", strings.Repeat("['a','a']", 9) + "..a", nested(5000), false},
	}
	for _, test := range tests {
		path, err := Parse(test.path)
		if err == nil {
			_, err = path.Find(test.object)
		}
		if (err == nil) != test.works {
			t.Errorf("%s: %v", test.reason, err)
		}
	}
}
