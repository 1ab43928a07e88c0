package diff

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestLineDiff(t *testing.T) {
	lines := func(text string) []string { return strings.Split(text, "") }
	for _, test := range []struct{ reason, before, after, want string }{
		{"nothing has changed", "abc", "abc", ""},
		{"a line in the middle has changed", "abc", "axc", "-b+x"},
		{"lines at both ends have changed", "abcd", "bde", "-a-c+e"},
		{"all is new", "", "ab", "+a+b"},
		{"all goes", "ab", "", "-a-b"},
		{"a line that stands twice", "aab", "ab", "-a"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			var got strings.Builder
			for _, step := range Lines(lines(test.before), lines(test.after)) {
				got.WriteString(map[Action]string{Delete: "-", Create: "+"}[step.Action] + step.Text)
			}
			if got.String() != test.want {
				t.Error(got.String())
			}
		})
	}
	long := make([]string, longestTexts+1)
	for i := range long {
		long[i] = fmt.Sprint(i)
	}
	if got := Lines(long, long[1:]); len(got) != 2*len(long)-1 {
		t.Errorf("%d steps", len(got))
	}
}

// FuzzLineDiff: what stays of both sides is the same.
func FuzzLineDiff(f *testing.F) {
	f.Add("a\nb\nc", "a\nc")
	f.Add("", "x\nx")
	f.Add("a\na\nb", "a\nb\na")
	f.Add("one", "one\n")
	f.Fuzz(func(t *testing.T, before, after string) {
		if len(before)+len(after) > 400 {
			return
		}
		old, now := strings.Split(before, "\n"), strings.Split(after, "\n")
		left, right := slices.Clone(old), slices.Clone(now)
		for _, step := range Lines(old, now) {
			side := &right
			if step.Action == Delete {
				side = &left
			}
			at := slices.Index(*side, step.Text)
			if at < 0 {
				t.Fatalf("%q to %q: %s %q is in no side", before, after, step.Action, step.Text)
			}
			*side = slices.Delete(*side, at, at+1)
		}
		slices.Sort(left)
		slices.Sort(right)
		if !slices.Equal(left, right) {
			t.Errorf("%q to %q: %q stays of the one, %q of the other", before, after, left, right)
		}
	})
}

// TestTextLines: a value in lines.
func TestTextLines(t *testing.T) {
	for _, test := range []struct {
		reason string
		value  any
		want   string
	}{
		{"a text as it is", "a: b", "a: b"},
		{"a text of lines", "a\nb\n", "a|b"},
		{"an empty text", "", `""`},
		{"only an end of line", "\n", ""},
		{"a number", 3, "3"},
		{"nothing", nil, "null"},
		{"a list", []any{"a", 1}, "- a|- 1"},
		{"what YAML does not know", func() {}, ""},
	} {
		t.Run(test.reason, func(t *testing.T) {
			got := strings.Join(TextLines(test.value), "|")
			if got != test.want && test.want != "" || got == "" && test.want != "" {
				t.Errorf("%q", got)
			}
		})
	}
}
