package operand_test

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"testing"
	"time"

	"go.landscaper.dev/internal/content/template/gotemplate/operand"
)

type fields = map[string]any

// numbers are those at which comparing and converting gets hard, in all types that
// templates meet.
func numbers() []any {
	list := []any{
		0, 1, -1, int64(7), uint64(math.MaxUint64), uint8(7), 1.5, -0.5, float32(0.25), math.Inf(1), math.Inf(-1), 1e300, 5e-324,
		json.Number("9007199254740993"), json.Number("18446744073709551616"), json.Number("1.10"), json.Number("1e400"), json.Number("-1e-400"),
	}
	for _, n := range []int{1 << 53, 1<<53 + 1, math.MaxInt64, math.MaxInt64 - 1, math.MinInt64} {
		list = append(list, n, float64(n), json.Number(fmt.Sprint(n)))
	}
	return list
}

// TestNumbersHaveOneOrder holds what comparisons of templates rely on.
func TestNumbersHaveOneOrder(t *testing.T) {
	all := numbers()
	holds := func(compare func(a, b any) (bool, error), a, b any) bool {
		ok, err := compare(a, b)
		if err != nil {
			t.Fatalf("%v and %v: %v", a, b, err)
		}
		return ok
	}
	eq := func(a, b any) (bool, error) { return operand.Eq(a, b) }
	for _, a := range all {
		for _, b := range all {
			lt, gt, same := holds(operand.Lt, a, b), holds(operand.Gt, a, b), holds(eq, a, b)
			if lt == gt && !same || same && (lt || gt) || lt != holds(operand.Gt, b, a) || same != holds(eq, b, a) {
				t.Errorf("%T %v and %T %v: less %t, more %t, equal %t", a, a, b, b, lt, gt, same)
			}
			if holds(operand.Le, a, b) != (lt || same) || holds(operand.Ge, a, b) != (gt || same) || holds(operand.Ne, a, b) == same {
				t.Errorf("%v and %v: the other comparisons say something else", a, b)
			}
			if operand.DeepEqual(a, b) != same || operand.DeepEqual([]any{fields{"k": a}}, []any{fields{"k": b}}) != same {
				t.Errorf("%v and %v are equal or not depending on where they are", a, b)
			}
			for _, c := range all {
				if holds(operand.Le, a, b) && holds(operand.Le, b, c) && holds(operand.Gt, a, c) {
					t.Errorf("%v, %v and %v make a cycle", a, b, c)
				}
			}
		}
	}
}

func TestInteger(t *testing.T) {
	tests := []struct {
		reason string
		value  any
		want   int64
		ok     bool
	}{
		{"an integer", 5, 5, true},
		{"an integral float", 5.0, 5, true},
		{"the smallest one as float", float64(math.MinInt64 + 1024), math.MinInt64 + 1024, true},
		{"a fraction", 5.5, 0, false},
		{"a float beyond 64 bit", 1e19, 0, false},
		{"no number", math.NaN(), 0, false},
		{"infinity", math.Inf(-1), 0, false},
		{"a literal", json.Number("-7"), -7, true},
		{"a literal beyond 64 bit", json.Number("9223372036854775808"), 0, false},
		{"a literal with a fraction", json.Number("1.5"), 0, false},
		{"a byte", uint8(7), 7, true},
		{"an unsigned number beyond 64 bit with a sign", uint64(math.MaxUint64), 0, false},
		{"a duration is one", time.Second, int64(time.Second), true},
		{"a text", "5", 0, false},
		{"nothing", nil, 0, false},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			if got, ok := operand.Integer(test.value); ok != test.ok || ok && got != test.want {
				t.Errorf("%d, %t", got, ok)
			}
		})
	}
}

func TestEqual(t *testing.T) {
	tests := []struct {
		reason string
		a, b   any
		want   bool
		failed string
	}{
		{"NaN equals nothing", math.NaN(), math.NaN(), false, ""},
		{"NaN does not equal an integer", math.NaN(), 1, false, ""},
		{"texts", "a", "a", true, ""},
		{"booleans", true, false, false, ""},
		{"nil and a list that is nil", nil, []any(nil), true, ""},
		{"nil and an empty list", nil, []any{}, false, ""},
		{"a text and nil", "", nil, false, ""},
		{"a text and a boolean", "true", true, false, "incompatible types for comparison: string and boolean"},
		{"a number and a text", 1, "1", false, "incompatible types for comparison: integer and string"},
		{"maps", fields{}, fields{}, false, "non-comparable type map, use deepEqual"},
		{"times", time.Unix(1, 0).UTC(), time.Unix(1, 0).UTC(), true, ""},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			got, err := operand.Eq(test.a, test.b)
			if got != test.want || (err == nil) != (test.failed == "") || err != nil && err.Error() != test.failed {
				t.Errorf("%t, %v", got, err)
			}
		})
	}
}

func TestPlainValue(t *testing.T) {
	shared := fields{"a": []any{int64(1)}}
	tests := []struct {
		reason      string
		value, want any
		ok          bool
	}{
		{"nothing", nil, nil, true},
		{"integers of templates", fields{"n": 1, "l": []any{2}}, fields{"n": int64(1), "l": []any{int64(2)}}, true},
		{"floats stay", []any{1.0, float32(0.5)}, []any{1.0, 0.5}, true},
		{"literals stay", json.Number("1e400"), json.Number("1e400"), true},
		{"lists of texts", []string{"a"}, []any{"a"}, true},
		{"lists of numbers", []int{1, 2}, []any{int64(1), int64(2)}, true},
		{"maps of texts", map[string]string{"a": "b"}, fields{"a": "b"}, true},
		{"a part of a version is a number without a sign", uint64(3), int64(3), true},
		{"a byte", fields{"b": byte(7)}, fields{"b": int64(7)}, true},
		{"a file is text", fields{"f": operand.File("x")}, fields{"f": "x"}, true},
		{"what was plain", shared, shared, true},
		{"a number that is too large", uint64(math.MaxUint64), nil, false},
		{"a time is not plain", []any{fields{"t": time.Time{}}}, nil, false},
		{"a map with other keys is not plain", map[int]any{1: 1}, nil, false},
		{"a function is not plain", func() {}, nil, false},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			got, ok := operand.PlainValue(test.value)
			if ok != test.ok || !reflect.DeepEqual(got, test.want) {
				t.Errorf("%#v, %t", got, ok)
			}
		})
	}
	if got, _ := operand.PlainValue(shared); reflect.ValueOf(got).Pointer() != reflect.ValueOf(shared).Pointer() {
		t.Error("what is plain already is copied")
	}
	original := fields{"l": []any{1, 2}}
	if _, ok := operand.PlainValue(original); !ok || !reflect.DeepEqual(original, fields{"l": []any{1, 2}}) {
		t.Errorf("the value of the template is changed: %#v", original)
	}
}

func TestCopies(t *testing.T) {
	bindings := fields{"n": int64(1), "m": fields{"l": []any{int64(2), "x", nil}}}
	copied := operand.LocalCopy(bindings)
	if want := (fields{"n": 1, "m": fields{"l": []any{2, "x", nil}}}); !reflect.DeepEqual(copied, want) {
		t.Errorf("%#v", copied)
	}
	copied["m"].(fields)["l"].([]any)[1] = "changed"
	if bindings["m"].(fields)["l"].([]any)[1] != "x" {
		t.Error("a template can change the bindings of others")
	}
	made := fields{"n": int64(1), "l": []any{int64(2), fields{"k": int64(3)}}}
	if got := operand.Made(made); !reflect.DeepEqual(got, fields{"n": 1, "l": []any{2, fields{"k": 3}}}) {
		t.Errorf("%#v", got)
	}
	if back, ok := operand.PlainValue(operand.LocalValue(bindings)); !ok || !reflect.DeepEqual(back, bindings) {
		t.Errorf("copied in and out it is %#v", back)
	}
}

func TestConverted(t *testing.T) {
	tests := []struct {
		reason    string
		arg, want any
		ok        bool
	}{
		{"a float where an integer is wanted", 3.0, 3, true},
		{"a fraction where an integer is wanted", 3.5, 0, false},
		{"an integer where a float is wanted", 3, 3.0, true},
		{"a literal where a float is wanted", json.Number("1.5"), 1.5, true},
		{"a literal that is too large for a float", json.Number("1e400"), 0.0, false},
		{"a file where a text is wanted", operand.File("a"), "a", true},
		{"a number where a text is wanted", 1, "", false},
		{"a text where a number is wanted", "1", 0, false},
		{"a negative number where none may be", -1, uint32(0), false},
		{"a number that is too large", 1 << 40, uint32(0), false},
		{"a number that fits", 7.0, uint32(7), true},
		{"nil where a list is wanted", nil, []any(nil), true},
		{"nil where a text is wanted", nil, "", false},
		{"a list of texts where any list is wanted", []string{"a"}, []any(nil), false},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			got, ok := operand.Converted(test.arg, reflect.TypeOf(test.want))
			if ok != test.ok || ok && !reflect.DeepEqual(got.Interface(), test.want) {
				t.Errorf("%v, %t", got, ok)
			}
		})
	}
}

func TestDigits(t *testing.T) {
	got := operand.AllDigits([]any{1e6, 1.5, "a", []any{2e6, []any{3e6}}, nil})
	if want := []any{int64(1000000), 1.5, "a", []any{int64(2000000), []any{3e6}}, nil}; !reflect.DeepEqual(got, want) {
		t.Errorf("%#v", got)
	}
	if f := operand.File("text"); f.String() != "text" || fmt.Sprint(f) != "text" {
		t.Errorf("a file prints %v", f)
	}
}
