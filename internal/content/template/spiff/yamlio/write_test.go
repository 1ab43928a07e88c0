package yamlio_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"go.landscaper.dev/internal/content/template/spiff/value"
	"go.landscaper.dev/internal/content/template/spiff/yamlio"
	"go.landscaper.dev/test/language"
)

// places puts a value wherever one can stand.
func places(v value.Value) []value.Value {
	return []value.Value{
		v, value.ListOf(v), value.ListOf(v, v), value.ListOf(value.ListOf(v), v), value.MapOf("k", v), value.MapOf("k", value.MapOf("i", v), "l", v),
		value.MapOf("k", value.ListOf(v, value.MapOf("i", v))), value.ListOf(value.MapOf("a", v, "b", value.ListOf(v))),
	}
}

// TestTextsAreReadAsTheyWereWritten writes texts wherever they can stand, and reads them
// with our reader and with that of others.
func TestTextsAreReadAsTheyWereWritten(t *testing.T) {
	for _, text := range language.Texts(400) {
		t.Run(fmt.Sprintf("%q", text), func(t *testing.T) {
			for _, v := range append(places(value.Text(text)), value.MapOf(text, value.Text(text)), value.ListOf(value.MapOf(text, value.ListOf()))) {
				written, err := yamlio.YAML(v)
				if err != nil {
					t.Fatal(err)
				}
				n, err := yamlio.ReadOne([]byte(written), "written", true)
				if err != nil {
					t.Fatalf("%v\n%s", err, written)
				}
				if !value.Identical(v, n.Value) {
					t.Errorf("we read %v of\n%s", yamlio.ToGo(n.Value), written)
				}
				var others any
				if err := yaml.Unmarshal([]byte(written), &others); err != nil {
					t.Fatalf("%v\n%s", err, written)
				}
				if diff := cmp.Diff(yamlio.ToGo(v), others); diff != "" {
					t.Errorf("others read (-want +got):\n%s of\n%s", diff, written)
				}
			}
		})
	}
}

// TestScalarsAreReadAsTheyWereWritten does the same with everything else.
func TestScalarsAreReadAsTheyWereWritten(t *testing.T) {
	values := []value.Value{
		value.Null{}, value.Bool(true), value.Bool(false), value.Int(0), value.Int(math.MaxInt64), value.Int(math.MinInt64), value.Float(0.1),
		value.Float(1e-300), value.Float(1.5e300), value.Float(math.Inf(1)), value.Float(math.Inf(-1)), value.Float(1e21), value.Float(-2.5e-7),
		value.Bytes("\x00\xff"), value.Bytes(""), value.ListOf(), value.MapOf(), value.ListOf(value.ListOf(value.ListOf())), value.MapOf("a", value.MapOf()),
	}
	for _, scalar := range values {
		t.Run(fmt.Sprintf("%T %v", scalar, scalar), func(t *testing.T) {
			for _, v := range places(scalar) {
				written, err := yamlio.YAML(v)
				if err != nil {
					t.Fatal(err)
				}
				n, err := yamlio.ReadOne([]byte(written), "written", true)
				if err != nil {
					t.Fatalf("%v\n%s", err, written)
				}
				if !value.Identical(v, n.Value) {
					t.Errorf("%v is read of\n%s", yamlio.ToGo(n.Value), written)
				}
			}
		})
	}
}

func TestShapeOfTheText(t *testing.T) {
	long := strings.Repeat("k", 1001)
	tests := []struct {
		reason string
		v      value.Value
		want   string
	}{
		{"keys are sorted", value.MapOf("b", value.Int(1), "a", value.Int(2)), "a: 2\nb: 1\n"},
		{"dashes below their key", value.MapOf("a", value.ListOf(value.Int(1), value.MapOf("b", value.Int(2), "c", value.Int(3)))), "a:\n- 1\n- b: 2\n  c: 3\n"},
		{"lists in lists", value.ListOf(value.ListOf(value.Int(1), value.Int(2)), value.Int(3)), "- - 1\n  - 2\n- 3\n"},
		{"a block keeps one line break at its end", value.MapOf("a", value.Text("x\n")), "a: |\n  x\n"},
		{"a block without one", value.MapOf("a", value.Text("x\ny")), "a: |-\n  x\n  y\n"},
		{"a block with several", value.MapOf("a", value.Text("x\n\n\n")), "a: |+\n  x\n\n\n"},
		{"a block that begins with a blank would lose it", value.Text(" x\ny"), "\" x\\ny\"\n"},
		{"what is undefined is not there", value.MapOf("a", value.Undefined{}, "b", value.ListOf(value.Undefined{}, value.Int(1))), "b:\n- 1\n"},
		{"only undefined fields are an empty map", value.MapOf("a", value.MapOf("b", value.Undefined{})), "a: {}\n"},
		{"nothing is null", value.Undefined{}, "null\n"},
		{"what others take for a number is quoted", value.ListOf(value.Text("1_0"), value.Text("0o7"), value.Text("1:30")), "- \"1_0\"\n- \"0o7\"\n- \"1:30\"\n"},
		{"a key that is too long for its line", value.MapOf(long, value.Int(1)), "? " + long + "\n: 1\n"},
		{"bytes that are not UTF-8", value.Text("\xff"), "!!binary /w==\n"},
		{"a float with an exponent has a point for old readers", value.Float(1e21), "1.0e+21\n"},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			if got, err := yamlio.YAML(test.v); got != test.want || err != nil {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
}

func TestGoData(t *testing.T) {
	tests := []struct {
		reason string
		data   any
		want   value.Value
	}{
		{"nothing", nil, value.Null{}},
		{"an integral number is an integer, JSON knows one kind only", 3.0, value.Int(3)},
		{"a fraction is not", 3.5, value.Float(3.5)},
		{"a number that lost digits is not", float64(1 << 53), value.Float(1 << 53)},
		{"the largest that did not", float64(1<<53 - 1), value.Int(1<<53 - 1)},
		{"infinity is no integer", math.Inf(1), value.Float(math.Inf(1))},
		{"beyond 64 bit with a sign", uint64(math.MaxUint64), value.Float(math.MaxUint64)},
		{"an unsigned number that fits", uint64(math.MaxInt64), value.Int(math.MaxInt64)},
		{"bytes", []byte("a"), value.Bytes("a")},
		{"a list of texts", []string{"a"}, value.ListOf(value.Text("a"))},
		{"nested", map[string]any{"a": []any{1, nil}}, value.MapOf("a", value.ListOf(value.Int(1), value.Null{}))},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			for _, data := range []bool{false, true} {
				got, err := yamlio.FromGo(test.data, data)
				if err != nil || !value.Identical(got, test.want) {
					t.Errorf("%#v, %v", got, err)
				}
			}
		})
	}
	failures := []struct {
		reason string
		data   any
		want   string
	}{
		{"a channel is no data, and where it is", map[string]any{"a": []any{1, make(chan int)}}, "a: [1]: data must be strings, numbers, booleans, lists and maps of them, or nothing"},
		{"a map with other keys", map[int]any{1: 1}, "data must be strings, numbers, booleans, lists and maps of them, or nothing"},
		{"a type of its own", struct{}{}, "data must be strings, numbers, booleans, lists and maps of them, or nothing"},
	}
	for _, test := range failures {
		t.Run(test.reason, func(t *testing.T) {
			if v, err := yamlio.FromGo(test.data, false); err == nil || err.Error() != test.want {
				t.Errorf("%v, %v", v, err)
			}
		})
	}
}

// FuzzYAML reads any text; what can be read can be written, and is read the same.
func FuzzYAML(f *testing.F) {
	for _, text := range append(language.Texts(60), "a: [1, {b: ~}]\n---\n- |\n x\n", "a: &x 1\nb: *x", "!!binary AA==: 1", "? |\n a\n: b", "{a: 0x1f, b: .inf, c: 1e3}") {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		docs, err := yamlio.Read([]byte(text), "text", true)
		if err != nil {
			return
		}
		for _, doc := range docs {
			written, err := yamlio.YAML(doc.Value)
			if err != nil {
				t.Fatal(err)
			}
			again, err := yamlio.ReadOne([]byte(written), "written", true)
			if err != nil {
				t.Fatalf("%v\n%s", err, written)
			}
			if second, _ := yamlio.YAML(again.Value); second != written {
				t.Fatalf("the text changes when it is read again:\n%s\n%s", written, second)
			}
		}
	})
}
