package jsonvalue

import (
	"encoding/json"
	"errors"
	"reflect"
	"testing"

	"go.landscaper.dev/internal/base/yamltext"
)

func TestFromYAML(t *testing.T) {
	tests := []struct {
		reason, text string
		want         any
	}{
		{"an integer is an integer", "1000000", int64(1000000)},
		{"beyond what a float can hold", "9007199254740993", int64(9007199254740993)},
		{"beyond 64 bits", "123456789012345678901234567890", json.Number("123456789012345678901234567890")},
		{"a fraction of nothing is an integer", "1000000.0", int64(1000000)},
		{"a fraction is a float", "1.5", 1.5},
		{"the rest is what JSON knows", "{a: [true, null, x], b: -3}", map[string]any{"a": []any{true, nil, "x"}, "b": int64(-3)}},
		{"a key that is there twice has its last value", "{a: 1, a: 2}", map[string]any{"a": int64(2)}},
		{"anchors are followed", "a: &x {b: 1}\nc: *x", map[string]any{"a": map[string]any{"b": int64(1)}, "c": map[string]any{"b": int64(1)}}},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			if got, err := FromYAML([]byte(test.text)); err != nil || !reflect.DeepEqual(got, test.want) {
				t.Errorf("got %#v, %v; want %#v", got, err, test.want)
			}
		})
	}
}

// TestErrorsRepeatNothing checks an error that callers show beside a Secret.
func TestErrorsRepeatNothing(t *testing.T) {
	for text, want := range map[string]string{
		"a: *hunter2": "an alias refers to an anchor that does not exist",
	} {
		t.Run(text, func(t *testing.T) {
			var problem *yamltext.Error
			if _, err := FromYAML([]byte(text)); !errors.As(err, &problem) || err.Error() != want {
				t.Errorf("%q: got %v, want %s", text, err, want)
			}
		})
	}
}

func TestLiteral(t *testing.T) {
	got, err := FromJSONWithNumbers([]byte(`[1.10, 1e3, 5]`))
	if want := []any{json.Number("1.10"), json.Number("1e3"), json.Number("5")}; err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %#v, %v", got, err)
	}
}

func TestFromJSON(t *testing.T) {
	got, err := FromJSON([]byte(`{"large":123456789012345678901234567890,"exponent":1e3}`))
	if want := map[string]any{"large": json.Number("123456789012345678901234567890"), "exponent": 1000.0}; err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %#v, %v; want %#v", got, err, want)
	}
	for _, text := range []string{"", "{", "1 2"} {
		t.Run(text, func(t *testing.T) {
			if got, err := FromJSON([]byte(text)); err == nil {
				t.Errorf("%q is taken for %v", text, got)
			}
		})
	}
}

func TestClone(t *testing.T) {
	value := map[string]any{"a": []any{map[string]any{"b": int64(1)}}}
	clone, ok := Clone(value).(map[string]any)
	if !ok || !reflect.DeepEqual(clone, value) {
		t.Fatalf("%v", clone)
	}
	clone["a"].([]any)[0].(map[string]any)["b"] = int64(2)
	if value["a"].([]any)[0].(map[string]any)["b"] != int64(1) {
		t.Error("a change of the clone is a change of the value")
	}
}
