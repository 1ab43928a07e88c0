package link

import (
	"slices"
	"strings"
	"testing"
)

func TestFind(t *testing.T) {
	root := map[string]any{"a/b": []any{"x", map[string]any{"~": true, "": 1}}}
	for _, test := range []struct {
		reason, fragment string
		want             any
		message          string
	}{
		{"names may have a slash, indices count from 0", "/a~1b/0", "x", ""},
		{"a tilde", "/a~1b/1/~0", true, ""},
		{"an empty name", "/a~1b/1/", 1, ""},
		{"escapes of URIs", "/a~1b/1/%7E0", true, ""},
		{"an index behind the end", "/a~1b/2", nil, `element at "/a~1b" doesn't have a field "2"`},
		{"the index that appends", "/a~1b/-", nil, `doesn't have a field "-"`},
		{"a negative index", "/a~1b/-1", nil, `doesn't have a field "-1"`},
		{"an index in a long form", "/a~1b/+1", nil, `doesn't have a field "+1"`},
		{"below a text", "/a~1b/0/c", nil, `element at "/a~1b/0" is not an object`},
	} {
		t.Run(test.reason, func(t *testing.T) {
			at, err := parsePointer(test.fragment)
			if err != nil {
				t.Fatal(err)
			}
			got, err := find(root, at)
			if got != test.want || (err == nil) != (test.message == "") || (err != nil && !strings.Contains(err.Error(), test.message)) {
				t.Errorf("got %v, %v", got, err)
			}
		})
	}
}

func TestPointerNames(t *testing.T) {
	names := []string{"a/b", "~1", "", "c.d"}
	if got := pointer("").child(names...).names(); !slices.Equal(got, names) {
		t.Errorf("got %q", got)
	}
}

func TestPath(t *testing.T) {
	for _, test := range []struct {
		reason string
		names  []string
		want   string
	}{
		{"nothing leads to the root", nil, "(root)"},
		{"names and indices", []string{"a", "0", "b"}, "a.0.b"},
		{"a name that could be two", []string{"a.b", "c"}, `"a.b".c`},
		{"a name that cannot be seen", []string{""}, `""`},
		{"a name that breaks the line", []string{"a\nb"}, `"a\nb"`},
		{"a name with marks that turn the text around", []string{"a\u202eb"}, `"a\u202eb"`},
		{"a long name", []string{strings.Repeat("ä", 60)}, `"` + strings.Repeat("ä", 50) + `..."`},
	} {
		t.Run(test.reason, func(t *testing.T) {
			if got := Path(test.names); got != test.want {
				t.Errorf("got %s", got)
			}
		})
	}
}
