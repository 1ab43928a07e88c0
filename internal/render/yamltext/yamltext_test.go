package yamltext

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	got, err := Parse([]byte("a: 9007199254740993\nb: &x [1.5, null]\nc: *x\n"))
	list := []any{1.5, nil}
	if want := map[string]any{"a": int64(9007199254740993), "b": list, "c": list}; err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %#v, %v", got, err)
	}
}

// TestErrors checks that errors say where and what, and repeat nothing.
func TestErrors(t *testing.T) {
	tests := []struct {
		reason, text string
		line         int
		want         string
	}{
		{"a colon too many", "a: 1\nb: hunter2: x\n", 2, "mapping values are not allowed"},
		{"a list that does not end", "a: [hunter2", 1, "did not find expected ',' or ']'"},
		{"an alias without an anchor", "a: *hunter2", 0, "anchor that does not exist"},
		{"an anchor that contains itself", "a: &hunter2 [*hunter2]", 0, "contains itself"},
		{"a key that is no text", "? {hunter2: 1}\n: x", 0, "used as a key"},
		{"a number that JSON does not know", "a: .inf", 0, "JSON"},
		{"a character that starts nothing", "a: @hunter2", 0, "cannot start any token"},
		{"a tag of nobody", "a: !hunter2!x 1", 0, "tag handle"},
		{"a text that is not UTF-8", "a: \xff", 0, "UTF-8"},
		{"a text beyond the limit", strings.Repeat("hunter2 ", MaxBytes/8+1), 0, "longer than"},
		{"aliases of a long text", "a: &a " + strings.Repeat("hunter2 ", 8192) + "\nb: [" + strings.Repeat("*a, ", 1000) + "]", 0, "longer than"},
		{"aliases of aliases", bomb(), 0, "longer than"},
	}
	for _, test := range tests {
		value, err := Parse([]byte(test.text))
		var problem *Error
		if !errors.As(err, &problem) {
			t.Errorf("%s: got %v, %v", test.reason, value, err)
			continue
		}
		if test.line > 0 && problem.Line != test.line || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: line %d, %v; want line %d, %q", test.reason, problem.Line, err, test.line, test.want)
		}
		if strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: the message repeats the text: %v", test.reason, err)
		}
	}
}

func bomb() string {
	text := "a0: &a0 [hunter2]\n"
	for i := 1; i < 12; i++ {
		alias := fmt.Sprintf("*a%d,", i-1)
		text += fmt.Sprintf("a%d: &a%d [%s]\n", i, i, strings.Repeat(alias, 9))
	}
	return text
}

func TestWrite(t *testing.T) {
	value := map[string]any{
		"b": int64(9007199254740993), "a": []any{json.Number("123456789012345678901234567890"), "x"}, "c": 1000000.0,
		"d": map[string]any{"number": json.Number("98765432109876543210987654321")},
	}
	want := "a:\n- 123456789012345678901234567890\n- x\nb: 9007199254740993\nc: 1000000\nd:\n  number: 98765432109876543210987654321"
	if got, err := Write(value); err != nil || got != want {
		t.Errorf("got %q, %v", got, err)
	}
	if _, literal := value["a"].([]any)[0].(json.Number); !literal {
		t.Error("writing changes the value")
	}
	for _, unwritable := range []any{math.Inf(1), func() {}, make(chan int)} {
		if got, err := Write(unwritable); err == nil {
			t.Errorf("%T is written as %q", unwritable, got)
		}
	}
}
