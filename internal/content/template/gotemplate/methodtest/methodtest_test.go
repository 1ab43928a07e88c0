package methodtest_test

import (
	"slices"
	"testing"
	"time"

	"go.landscaper.dev/internal/content/template/gotemplate/methodtest"
)

type silent struct{ A, B any }

type pointed struct{ n int }

func (p *pointed) Grow() { p.n++ }

type wraps struct{ Inner time.Month }

func (wraps) Day() time.Weekday { return 0 }

func TestUnlisted(t *testing.T) {
	for _, test := range []struct {
		reason string
		list   methodtest.List
		value  any
		want   []string
	}{
		{"plain values", nil, map[string]any{"a": []any{1, "b", nil, 1.5, true}}, nil},
		{"a value itself", nil, time.Second, []string{"time.Duration"}},
		{"behind an interface", nil, map[string]any{"a": []any{time.Second}}, []string{"time.Duration"}},
		{"a key", nil, map[time.Month]string{}, []string{"time.Month"}},
		{"a field", nil, silent{A: 1, B: time.May}, []string{"time.Month"}},
		{"elements of an empty list", nil, []time.Month{}, []string{"time.Month"}},
		{"a method of the address", nil, []pointed{}, []string{"methodtest_test.pointed"}},
		{"a pointer", nil, &pointed{}, []string{"methodtest_test.pointed"}},
		{"a listed type", methodtest.List{"time.Month": "a test"}, time.May, nil},
		{"what a listed type leads to", methodtest.List{"methodtest_test.wraps": "a test"}, wraps{}, []string{"time.Month", "time.Weekday"}},
	} {
		found := test.list.Unlisted(test.value)
		slices.Sort(found)
		if !slices.Equal(found, test.want) {
			t.Errorf("%s: %q, want %q", test.reason, found, test.want)
		}
	}
}
