package value_test

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"go.landscaper.dev/internal/content/template/spiff/value"
)

// text is a value that prints as it, such as a lambda.
type text struct{ kind, plain string }

func (o text) TypeName() string                { return o.kind }
func (o text) Plain() value.Value              { return value.Data(o.plain) }
func (o text) Weight() value.Shape             { return value.Shape{Size: 3, Bytes: 7} }
func (o text) Same(other value.Opaque) bool    { return o == other }
func lambda(body string) value.Value           { return text{"lambda", "(( " + body + " ))"} }
func list(values ...value.Value) value.Value   { return value.ListOf(values...) }
func fields(pairs ...any) value.Value          { return value.MapOf(pairs...) }
func name(v value.Value) string                { return fmt.Sprintf("%T %v", v, v) }
func bothWays(a, b value.Value) [2]value.Value { return [2]value.Value{a, b} }

const beyond = 1<<53 + 1 // the first integer that no float is equal to

func TestEqual(t *testing.T) {
	tests := []struct {
		reason      string
		left, right value.Value
		want        bool
		err         error
	}{
		{"nil is nil", value.Null{}, value.Null{}, true, nil},
		{"nil is not 0", value.Null{}, value.Int(0), false, nil},
		{"nil is not the empty text", value.Null{}, value.Text(""), false, nil},
		{"a text is not nil", value.Text(""), value.Null{}, false, nil},
		{"texts do not care where they come from", value.Text("a"), value.Data("a"), true, nil},
		{"case counts", value.Text("a"), value.Text("A"), false, nil},
		{"a text against an integer: its text", value.Text("07"), value.Int(7), false, nil},
		{"an integer against a text: its number", value.Int(7), value.Text("07"), true, nil},
		{"an integer against a text that is not a number", value.Int(7), value.Text("seven"), false, nil},
		{"an integer against a text beyond 64 bit", value.Int(math.MaxInt64), value.Text("9223372036854775808"), false, nil},
		{"a text against a boolean: its text", value.Text("TRUE"), value.Bool(true), false, nil},
		{"a boolean against a text: in any case", value.Bool(true), value.Text("TrUe"), true, nil},
		{"a boolean against a text that is not true or false", value.Bool(false), value.Text("no"), false, nil},
		{"an integer against a boolean", value.Int(1), value.Bool(true), true, nil},
		{"2 is not true", value.Int(2), value.Bool(true), false, nil},
		{"2 is not false either", value.Int(2), value.Bool(false), false, nil},
		{"a boolean against an integer is another type", value.Bool(true), value.Int(1), false, nil},
		{"a text against a float has no rule", value.Text("1"), value.Float(1), false, value.ErrUncomparable},
		{"a float against a text is another type", value.Float(1), value.Text("1"), false, nil},
		{"a text against a list has no rule", value.Text("a"), list(), false, value.ErrUncomparable},
		{"a text against a map has no rule", value.Text("a"), fields(), false, value.ErrUncomparable},
		{"a text against a lambda: its text without brackets", value.Text("lambda|x|->x"), lambda("lambda|x|->x"), true, nil},
		{"a text against a template has no rule", value.Text("a"), text{"template", "a"}, false, value.ErrUncomparable},
		{"lambdas by their definition", lambda("lambda|x|->x"), lambda("lambda|x|->x"), true, nil},
		{"a lambda is not a string", lambda("lambda|x|->x"), value.Text("lambda|x|->x"), false, nil},
		{"an integer is not a list", value.Int(1), list(value.Int(1)), false, nil},
		{"numbers by value", value.Int(2), value.Float(2), true, nil},
		{"numbers by value, the other way", value.Float(2), value.Int(2), true, nil},
		{"no digit is lost", value.Int(beyond), value.Float(beyond), false, nil},
		{"no digit is lost, the other way", value.Float(beyond), value.Int(beyond), false, nil},
		{"the largest integer is no power of two", value.Float(1 << 63), value.Int(math.MaxInt64), false, nil},
		{"the smallest one is", value.Float(-(1 << 63)), value.Int(math.MinInt64), true, nil},
		{"NaN equals nothing", value.Float(math.NaN()), value.Float(math.NaN()), false, nil},
		{"NaN does not equal an integer", value.Int(0), value.Float(math.NaN()), false, nil},
		{"NaN on the left does not equal an integer", value.Float(math.NaN()), value.Int(0), false, nil},
		{"infinity is itself", value.Float(math.Inf(1)), value.Float(math.Inf(1)), true, nil},
		{"zero has one value", value.Float(math.Copysign(0, -1)), value.Int(0), true, nil},
		{"lists of the same", list(value.Int(1), value.Text("a")), list(value.Float(1), value.Text("a")), true, nil},
		{"the order counts", list(value.Int(1), value.Int(2)), list(value.Int(2), value.Int(1)), false, nil},
		{"a longer list", list(value.Int(1)), list(value.Int(1), value.Int(1)), false, nil},
		{"entries without a rule are unequal, no error", list(value.Text("a")), list(list()), false, nil},
		{"maps of the same", fields("a", value.Int(1)), fields("a", value.Text("1")), true, nil},
		{"another key", fields("a", value.Int(1)), fields("b", value.Int(1)), false, nil},
		{"a list is not a map", list(), fields(), false, nil},
		{"a map is not a list", fields(), list(), false, nil},
		{"binary content is text", value.Bytes("a"), value.Text("a"), true, nil},
		{"a text against binary content", value.Text("a"), value.Bytes("a"), true, nil},
		{"an integer against binary content", value.Int(1), value.Bytes("1"), true, nil},
		{"a boolean against binary content", value.Bool(true), value.Bytes("t"), true, nil},
		{"the undefined has no rule", value.Undefined{}, value.Undefined{}, false, value.ErrUncomparable},
		{"nothing at all has no rule", nil, value.Int(1), false, value.ErrUncomparable},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			got, err := value.Equal(test.left, test.right)
			if got != test.want || !errors.Is(err, test.err) {
				t.Errorf("%s == %s is %t, %v", name(test.left), name(test.right), got, err)
			}
		})
	}
}

func TestCompare(t *testing.T) {
	tests := []struct {
		reason  string
		a, b    value.Value
		want    int
		ordered bool
		err     error
	}{
		{"integers", value.Int(-1), value.Int(1), -1, true, nil},
		{"the ends of the range", value.Int(math.MinInt64), value.Int(math.MaxInt64), -1, true, nil},
		{"texts by bytes", value.Text("B"), value.Text("a"), -1, true, nil},
		{"a prefix comes first", value.Text("a"), value.Text("aa"), -1, true, nil},
		{"binary content and text", value.Bytes("b"), value.Text("a"), 1, true, nil},
		{"an integer below a float with the same digits", value.Int(2), value.Float(2.5), -1, true, nil},
		{"below zero floors go down", value.Int(-2), value.Float(-2.5), 1, true, nil},
		{"no digit is lost", value.Int(beyond), value.Float(beyond), 1, true, nil},
		{"infinity is above all", value.Int(math.MaxInt64), value.Float(math.Inf(1)), -1, true, nil},
		{"negative infinity is below all", value.Float(math.Inf(-1)), value.Int(math.MinInt64), -1, true, nil},
		{"floats", value.Float(1.5), value.Float(1.25), 1, true, nil},
		{"equal numbers", value.Float(2), value.Int(2), 0, true, nil},
		{"a text against a number", value.Text("1"), value.Int(1), 0, false, value.ErrUncomparable},
		{"a number against a text", value.Int(1), value.Text("1"), 0, false, value.ErrUncomparable},
		{"a float against nil", value.Float(1), value.Null{}, 0, false, value.ErrUncomparable},
		{"other left operands have no order, which is no error", list(), list(), 0, false, nil},
		{"nil as left operand has no order", value.Null{}, value.Int(1), 0, false, nil},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			got, ordered, err := value.Compare(test.a, test.b)
			if got != test.want || ordered != test.ordered || !errors.Is(err, test.err) {
				t.Errorf("%s and %s are %d, %t, %v", name(test.a), name(test.b), got, ordered, err)
			}
		})
	}
	for _, pair := range [][2]value.Value{
		bothWays(value.Float(math.NaN()), value.Float(1)), bothWays(value.Float(1), value.Float(math.NaN())),
		bothWays(value.Int(1), value.Float(math.NaN())), bothWays(value.Float(math.NaN()), value.Int(1)),
	} {
		t.Run("NaN has no order: "+name(pair[0])+" and "+name(pair[1]), func(t *testing.T) {
			if _, ordered, err := value.Compare(pair[0], pair[1]); ordered || err != nil {
				t.Errorf("ordered %t, %v", ordered, err)
			}
		})
	}
}

// numbers are those at which comparing gets hard.
func numbers() []value.Value {
	var list []value.Value
	for _, n := range []int64{0, 1, -1, 2, 1 << 52, 1<<53 - 1, 1 << 53, beyond, 1 << 62, math.MaxInt64 - 1, math.MaxInt64, math.MinInt64, math.MinInt64 + 1} {
		list = append(list, value.Int(n), value.Float(n), value.Float(float64(n)+0.5))
	}
	return append(list, value.Float(math.Inf(1)), value.Float(math.Inf(-1)), value.Float(1e300), value.Float(5e-324))
}

// TestNumbersHaveOneOrder holds what sorting relies on, for integers and floats mixed.
func TestNumbersHaveOneOrder(t *testing.T) {
	all := numbers()
	order := func(a, b value.Value) int {
		n, ok, err := value.Compare(a, b)
		if !ok || err != nil {
			t.Fatalf("%s and %s have no order", name(a), name(b))
		}
		return n
	}
	for _, a := range all {
		for _, b := range all {
			if order(a, b) != -order(b, a) {
				t.Errorf("%s and %s have two orders", name(a), name(b))
			}
			same, err := value.Equal(a, b)
			back, _ := value.Equal(b, a)
			if err != nil || same != back || same != (order(a, b) == 0) {
				t.Errorf("%s == %s is %t, the other way %t, their order %d", name(a), name(b), same, back, order(a, b))
			}
			for _, c := range all {
				if order(a, b) <= 0 && order(b, c) <= 0 && order(a, c) > 0 {
					t.Errorf("%s, %s and %s make a cycle", name(a), name(b), name(c))
				}
			}
		}
	}
}

func TestIdentical(t *testing.T) {
	values := []value.Value{
		value.Null{}, value.Undefined{}, value.Bool(true), value.Bool(false), value.Int(1), value.Float(1), value.Text("1"), value.Text(""),
		value.Bytes("1"), list(), list(value.Int(1)), list(value.Float(1)), fields(), fields("a", value.Int(1)), fields("a", value.Null{}),
		fields("b", value.Int(1)), fields("a", list()), lambda("a"), lambda("b"), text{"template", "a"},
	}
	for i, a := range values {
		for j, b := range values {
			t.Run(fmt.Sprintf("%s and %s", name(a), name(b)), func(t *testing.T) {
				if got := value.Identical(a, b); got != (i == j) {
					t.Errorf("identical is %t", got)
				}
			})
		}
	}
	if !value.Identical(value.Text("a"), value.Data("a")) {
		t.Error("where a text comes from counts")
	}
}

func TestTruth(t *testing.T) {
	tests := []struct {
		reason string
		v      value.Value
		want   bool
	}{
		{"nothing at all", nil, false},
		{"nil", value.Null{}, false},
		{"undefined", value.Undefined{}, false},
		{"false", value.Bool(false), false},
		{"the integer 0", value.Int(0), false},
		{"a negative integer", value.Int(-1), true},
		{"the float 0 is true", value.Float(0), true},
		{"the empty text", value.Text(""), false},
		{"the text false is a text", value.Text("false"), true},
		{"a blank", value.Text(" "), true},
		{"empty binary content", value.Bytes(""), false},
		{"binary content", value.Bytes("a"), true},
		{"the empty list", list(), false},
		{"a list of nothing", list(value.Null{}), true},
		{"the empty map", fields(), false},
		{"a map", fields("a", value.Null{}), true},
		{"a lambda", lambda("a"), true},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			if got := value.Truth(test.v); got != test.want {
				t.Errorf("%s is %t", name(test.v), got)
			}
		})
	}
}

func TestTexts(t *testing.T) {
	tests := []struct {
		reason string
		v      value.Value
		want   string
		ok     bool
	}{
		{"a text is itself", value.Data("a b"), "a b", true},
		{"binary content", value.Bytes("\xff"), "\xff", true},
		{"the smallest integer", value.Int(math.MinInt64), "-9223372036854775808", true},
		{"a boolean", value.Bool(false), "false", true},
		{"a float is not simple", value.Float(1), "", false},
		{"nil is not simple", value.Null{}, "", false},
		{"a list is not simple", list(), "", false},
		{"a lambda is not simple", lambda("a"), "", false},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			if got, ok := value.SimpleText(test.v); got != test.want || ok != test.ok {
				t.Errorf("%q, %t", got, ok)
			}
		})
	}
	articles := map[string]value.Value{
		"nil": value.Null{}, "undefined": nil, "an int": value.Int(1), "a float": value.Float(1), "a string": value.Bytes("a"),
		"a bool": value.Bool(true), "a list": list(), "a map": fields(), "a lambda": lambda("a"),
	}
	for want, v := range articles {
		t.Run("in messages it is "+want, func(t *testing.T) {
			if got := value.A(v); got != want {
				t.Errorf("it is %q", got)
			}
		})
	}
}
