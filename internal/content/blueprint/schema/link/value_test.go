package link

import (
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
)

func TestTypeName(t *testing.T) {
	for _, test := range []struct {
		reason string
		value  any
		want   string
		with   string // its article
	}{
		{"nothing", nil, "null", "null"},
		{"a boolean", false, "boolean", "a boolean"},
		{"an empty text", "", "string", "a string"},
		{"a number of Kubernetes", int64(0), "integer", "an integer"},
		{"a whole float", 3.0, "integer", "an integer"},
		{"a fraction", 3.5, "number", "a number"},
		{"no number", math.NaN(), "number", "a number"},
		{"digits", json.Number("12345678901234567890"), "integer", "an integer"},
		{"digits with a point", json.Number("1.5"), "number", "a number"},
		{"digits with an exponent", json.Number("1e3"), "number", "a number"},
		{"an empty list", []any{}, "array", "an array"},
		{"an empty object", map[string]any{}, "object", "an object"},
		{"what no decoder makes", struct{}{}, "value of another kind", "a value of another kind"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			if got := TypeName(test.value); got != test.want || article(got) != test.with {
				t.Errorf("got %s, %s", got, article(got))
			}
		})
	}
}

func TestBounded(t *testing.T) {
	nested := func(levels int) any {
		value := any("x")
		for range levels {
			value = []any{value}
		}
		return value
	}
	for _, test := range []struct {
		reason  string
		value   any
		message string
	}{
		{"nothing", nil, ""},
		{"texts of any length", strings.Repeat("a", 1_000_000), ""},
		{"as deep as is allowed", nested(5), ""},
		{"deeper", nested(6), "0.0.0.0.0: The value is nested more than 5 levels deep"},
		{"an empty list at the last level", map[string]any{"a": map[string]any{"b": map[string]any{"c": map[string]any{"d": []any{}}}}}, ""},
		{"no number", []any{math.NaN()}, "0: The number is not finite"},
		{"infinite", math.Inf(-1), "(root): The number is not finite"},
		{"the largest float", math.MaxFloat64, ""},
		{"a number that takes long to compare", map[string]any{"a b": json.Number("1e99999")}, `"a b": The number`},
		{"a number that is very small", json.Number("1e-99999"), "(root): The number"},
		{"a number of many digits", json.Number(strings.Repeat("1", 2000)), "(root): The number"},
		{"an exponent beyond the numbers", json.Number("1e99999999999999999999"), "(root): The number"},
		{"an integer of Go, which no decoder makes", []any{1}, "a value cannot be checked"},
		{"bytes", []byte("s3cret"), "a value cannot be checked"},
		{"keys that are not strings", map[any]any{1: 2}, "cannot be checked"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			err := Bounded(test.value, 5)
			if (err == nil) != (test.message == "") || err != nil && !strings.Contains(err.Error(), test.message) {
				t.Fatalf("got %v", err)
			}
			if err != nil && strings.Contains(err.Error(), "s3cret") {
				t.Errorf("a value is told: %v", err)
			}
		})
	}
}

func names(err error) []string {
	if limit, ok := errors.AsType[*LimitError](err); ok {
		return limit.Names
	}
	return nil
}

func TestBoundedNames(t *testing.T) {
	long := json.Number("1e5000")
	for _, test := range []struct {
		reason string
		value  any
		want   []string
	}{
		{"the way to it, from the outside", map[string]any{"a": []any{1.0, map[string]any{"b": long}}}, []string{"a", "1", "b"}},
		{"the first by name", map[string]any{"c": long, "a": map[string]any{"z": long, "y": long}, "b": long}, []string{"a", "y"}},
		{"the first by position, where 10 is behind 2", []any{1.0, 1.0, long, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, long}, []string{"2"}},
		{"an empty name", map[string]any{"": long, "a": long}, []string{""}},
	} {
		t.Run(test.reason, func(t *testing.T) {
			for range 20 {
				if got := names(Bounded(test.value, 10)); !slices.Equal(got, test.want) {
					t.Fatalf("got %q", got)
				}
			}
		})
	}
}
