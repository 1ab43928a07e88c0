package yamltext

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"go.landscaper.dev/internal/base/number"
)

// TestScalarsAreReadAsElsewhere compares with the library that reads YAML in the
// rest of the project.
func TestScalarsAreReadAsElsewhere(t *testing.T) {
	for _, scalar := range []string{
		"y", "Yes", "on", "OFF", "n", "~", "Null", "null", `"null"`, "", "0777", "0o17", "0x1f", "-0b1", "1_000", "+5", "08", "5", "-5", "1.5", "-.5", "1.",
		"2001-12-14", "190:20:30", "=", "True", "FALSE", "!!str 5", `!!int "5"`, "!!float 5", "!custom x", "0o8", "18446744073709551615", `"yes"`, "'5'", "|\n  text",
	} {
		t.Run(scalar, func(t *testing.T) {
			raw, err := yaml.YAMLToJSONStrict([]byte("a: " + scalar))
			if err != nil {
				t.Fatal(err)
			}
			var want any
			if err := json.Unmarshal(raw, &want); err != nil {
				t.Fatal(err)
			}
			value, err := Decode([]byte("a: "+scalar), DefaultLimits())
			if err != nil {
				t.Fatal(err)
			}
			encoded, err := json.Marshal(value)
			if err != nil {
				t.Fatal(err)
			}
			var got any
			if err := json.Unmarshal(encoded, &got); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestDecode(t *testing.T) {
	for _, test := range []struct {
		reason, text string
		want         any
	}{
		{"nothing", "", nil},
		{"digits are kept", "[123456789012345678901234567890, 1.10, 1e3]", []any{json.Number("123456789012345678901234567890"), json.Number("1.10"), json.Number("1e3")}},
		{"a zero without a sign", "[-0., -0]", []any{json.Number("0"), json.Number("0")}},
		{"keys are texts", "{5: a, yes: b, ~: c, 1.50: d}", map[string]any{"5": "a", "yes": "b", "~": "c", "1.50": "d"}},
		{"an alias", "{a: &a [x], b: *a}", map[string]any{"a": []any{"x"}, "b": []any{"x"}}},
		{"an alias as a key", "{a: &a x, *a : c}", map[string]any{"a": "x", "x": "c"}},
		{"what is merged counts less", "{<<: {a: 1, b: 1}, a: 2}", map[string]any{"a": json.Number("2"), "b": json.Number("1")}},
		{"earlier ones of a list count more", "{<<: [{a: 1}, {a: 2, b: 2}]}", map[string]any{"a": json.Number("1"), "b": json.Number("2")}},
		{"bytes", "!!binary aGVsbG8=", "hello"},
		{"only the first document", "a\n---\nb\n", "a"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			got, err := Decode([]byte(test.text), DefaultLimits())
			if diff := cmp.Diff(test.want, got); diff != "" || err != nil {
				t.Errorf("%v %s", err, diff)
			}
		})
	}
}

// TestErrors checks that errors say where and what, and repeat nothing of the text.
func TestErrors(t *testing.T) {
	small := Limits{Text: 3000, Values: 1000, Bytes: 2000, Depth: 10}
	for _, test := range []struct {
		reason, text string
		line, column int
		want         string
	}{
		{"a colon too many", "a: 1\nb: hunter2: x\n", 2, 0, "mapping values are not allowed"},
		{"a list that does not end", "a: [hunter2", 1, 0, "did not find expected ',' or ']'"},
		{"a character that starts nothing", "a: @hunter2", 0, 0, "cannot start any token"},
		{"an unknown tag", "a: !hunter2!x 1", 0, 0, "the text is not YAML"},
		{"a text that is not UTF-8", "a: \xff", 0, 0, "UTF-8"},
		{"an alias without an anchor", "a: *hunter2", 0, 0, "anchor that does not exist"},
		{"an anchor that contains itself", "a: 1\nb: &hunter2 {c: *hunter2}", 2, 17, "an anchor contains itself"},
		{"a key that is there twice", "hunter2: 1\nb: 2\nhunter2: 3\n", 3, 1, "the key is there twice, first in line 1"},
		{"a key that is there twice through an alias", "{a: &a hunter2, hunter2: x, *a : c}", 1, 29, "the key is there twice"},
		{"a map as a key", "? {hunter2: 1}\n: x", 1, 3, "used as a key"},
		{"what cannot be merged", "{<<: hunter2}", 1, 2, "only maps can be merged"},
		{"what cannot be merged in a list", "{<<: [[{hunter2: b}]]}", 1, 2, "only maps can be merged"},
		{"a number that JSON does not know", "a: .inf", 1, 4, "JSON does not know"},
		{"a text tagged as a number", "!!int hunter2", 1, 1, "not a number"},
		{"a very long number", "0." + strings.Repeat("1", number.MaxDigits), 1, 1, "1000 digits"},
		{"bytes that are not base64", "!!binary 'hunter2%'", 1, 1, "not base64"},
		{"a long text", strings.Repeat("hunter2 ", 3000/8+1), 0, 0, "the text is longer than 3000 bytes"},
		{"many values", strings.Repeat("-\n", 1000), 0, 0, "more than 1000 values"},
		{"many values in one line", strings.Repeat("- ", 1002), 0, 0, "more than 1000 values"},
		{"many values through aliases", "[&a [" + strings.Repeat("1,", 99) + "]" + strings.Repeat(",*a", 10) + "]", 1, 0, "more than 1000 values"},
		{"many bytes through aliases", "[&a " + strings.Repeat("hunter2", 100) + ", *a, *a, *a]", 1, 2, "with its aliases the text is longer than 2000 bytes"},
		{"very deep", strings.Repeat("[", 11) + strings.Repeat("]", 11), 1, 11, "more than 10 levels deep"},
		{"very deep through aliases", "[&a [[[[[1]]]]], [[[[[*a]]]]]]", 1, 0, "more than 10 levels deep"},
		{"aliases of aliases", bomb(), 0, 0, "with its aliases the text is longer than 2000 bytes"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			value, err := Decode([]byte(test.text), small)
			var problem *Error
			if !errors.As(err, &problem) {
				t.Fatalf("got %v, %v", value, err)
			}
			if test.line > 0 && problem.Line != test.line || test.column > 0 && problem.Column != test.column || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v; want line %d, column %d: %s", err, test.line, test.column, test.want)
			}
			if strings.Contains(err.Error(), "hunter2") {
				t.Errorf("the message repeats the text: %v", err)
			}
		})
	}
}

// bomb is a short text that stands for more than a thousand million values.
func bomb() string {
	text := "a0: &a0 [hunter2]\n"
	for i := 1; i < 10; i++ {
		text += fmt.Sprintf("a%d: &a%d [%s]\n", i, i, strings.Repeat(fmt.Sprintf("*a%d,", i-1), 9))
	}
	return text
}

func TestErrorText(t *testing.T) {
	for want, err := range map[string]*Error{
		"x":                   {Reason: "x"},
		"line 2: x":           {Line: 2, Reason: "x"},
		"line 2, column 3: x": {Line: 2, Column: 3, Reason: "x"},
	} {
		t.Run(want, func(t *testing.T) {
			if err.Error() != want {
				t.Errorf("got %q, want %q", err, want)
			}
		})
	}
}

func TestToJSON(t *testing.T) {
	for _, test := range []struct{ reason, text, want string }{
		{"large integers keep their digits", "[9007199254740993, 123456789012345678901234567890]", "[9007199254740993,123456789012345678901234567890]"},
		{"a number without a fraction fits where an integer is expected", "[1.0, 1e3, 1000000.0]", "[1,1000,1000000]"},
		{"a fraction is a float", "[1.10, .5, 1e30]", "[1.1,0.5,1e+30]"},
		{"aliases are resolved", "{b: &x {n: 1.0}, c: *x}", `{"b":{"n":1},"c":{"n":1}}`},
		{"nothing", "", "null"},
		{"keys are sorted as bytes", "{b: 1, B: 2, é: 3, a.b: 4, a: 5}", `{"B":2,"a":5,"a.b":4,"b":1,"é":3}`},
		{"what HTML would take for its own is escaped, as ever", `["<a href='x'>&", "say \"hi\"\n", "tab\t\u2028\x7f", "süß"]`, `["\u003ca href='x'\u003e\u0026","say \"hi\"\n","tab\t\u2028` + "\x7f" + `","süß"]`},
		{"all kinds of values but strings", "[true, no, ~, {}, [], -0, 1e999999]", `[true,false,null,{},[],0,"1e999999"]`},
	} {
		t.Run(test.reason, func(t *testing.T) {
			if got, err := ToJSON([]byte(test.text), DefaultLimits()); err != nil || string(got) != test.want {
				t.Errorf("got %s, %v, want %s", got, err, test.want)
			}
		})
	}
	if got, err := ToJSON([]byte("a: 1\na: 2"), DefaultLimits()); err == nil {
		t.Errorf("got %s", got)
	}
}

func TestUnmarshal(t *testing.T) {
	type Inner struct {
		Name  string  `json:"name"`
		Count int     `json:"count"`
		Share float64 `json:"share"`
	}
	type document struct {
		Inner `json:",inline"`
		List  []Inner           `json:"list"`
		On    bool              `json:"on"`
		Map   map[string]string `json:"map"`
	}
	for _, test := range []struct {
		reason, text, want string
		strict             bool
	}{
		{"what fits", "{name: a, count: 1.0, share: 1, on: yes, list: [{name: b}], map: {x: 'y'}, more: 1}", "", false},
		{"a number in the place of a text", "list:\n- name: 7", "field list.name must be a text, not number", false},
		{"a list in the place of a map", "map: [hunter2]", "field map must be a map, not array", false},
		{"a text in the place of a list", "list: hunter2", "field list must be a list, not string", false},
		{"a text in the place of a truth value", "on: hunter2", "field on must be true or false, not string", false},
		{"a fraction in the place of an integer", "count: 1.2345", "field count must be an integer, not number", false},
		{"a text in the place of a number", "share: hunter2", "field share must be a number, not string", false},
		{"a text in the place of all", "hunter2", "the text must be a map, not string", false},
		{"no YAML", "a: [", "line 1: did not find expected node content", false},
		{"an unknown field where all must be known", "more: 1", `unknown field "more"`, true},
		{"a field twice where all must be known", "on: yes\non: no", "line 2, column 1: the key is there twice, first in line 1", true},
		{"what fits where all must be known", "{on: yes, map: {x: 'y'}}", "", true},
	} {
		t.Run(test.reason, func(t *testing.T) {
			read := Unmarshal
			if test.strict {
				read = UnmarshalStrict
			}
			var into document
			err := read([]byte(test.text), DefaultLimits(), &into)
			switch {
			case test.want == "" && (err != nil || !into.On || into.Map["x"] != "y"):
				t.Errorf("got %+v, %v", into, err)
			case test.want != "" && (err == nil || !strings.HasSuffix(err.Error(), test.want)):
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

func TestEncode(t *testing.T) {
	value := map[string]any{
		"b": int64(9007199254740993), "a": []any{json.Number("123456789012345678901234567890"), "x"}, "c": 1000000.0,
		"d": map[string]any{"number": json.Number("98765432109876543210987654321"), "fraction": json.Number("1.10")},
		"e": []any{json.Number("5"), map[string]any{}, []any(nil), "5", "yes", "two\nlines"},
	}
	want := `a:
- 123456789012345678901234567890
- x
b: 9007199254740993
c: 1000000
d:
  fraction: 1.10
  number: 98765432109876543210987654321
e:
- 5
- {}
- null
- "5"
- "yes"
- |-
  two
  lines
`
	if got, err := Encode(value); err != nil || got != want {
		t.Errorf("got %s, %v", got, err)
	}
	if _, literal := value["a"].([]any)[0].(json.Number); !literal {
		t.Error("writing changes the value")
	}
	itself := map[string]any{}
	itself["a"] = []any{itself}
	for _, unwritable := range []any{math.Inf(1), func() {}, make(chan int), itself} {
		if got, err := Encode(unwritable); err == nil {
			t.Errorf("%T is written as %q", unwritable, got)
		}
	}
}

func TestFields(t *testing.T) {
	type Inner struct {
		A string `json:"a,omitempty"`
	}
	type outer struct {
		*Inner `json:",inline"`
		B      int `json:"b"`
		C      bool
		hidden string
		Out    string `json:"-"`
	}
	want := map[string]reflect.Type{"a": reflect.TypeFor[string](), "b": reflect.TypeFor[int](), "C": reflect.TypeFor[bool]()}
	if got := Fields(reflect.TypeOf(&outer{hidden: ""})); !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// asEncodingJSON checks that a value is written as encoding/json does.
func asEncodingJSON(t *testing.T, value any) {
	t.Helper()
	raw, err := appendJSON(nil, value)
	if err != nil {
		t.Fatal(err)
	}
	if want, err := json.Marshal(asGo(value)); err != nil || !bytes.Equal(raw, want) {
		t.Fatalf("%v: %s, want %s", err, raw, want)
	}
}

// asGo makes fractions numbers of Go.
func asGo(value any) any {
	switch value := value.(type) {
	case json.Number:
		if f, err := value.Float64(); err == nil && strings.ContainsAny(value.String(), ".eE") {
			return f
		}
	case []any:
		for i, element := range value {
			value[i] = asGo(element)
		}
	case map[string]any:
		for key, field := range value {
			value[key] = asGo(field)
		}
	}
	return value
}

// FuzzDecode reads texts; what was read can be written, and reads the same again.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{"{a: &a [1, 0x1f, 08, .5], b: *a, <<: {c: yes}}", "|\n text", "!!binary aGVsbG8=", "? [a]\n: b", "123456789012345678901234567890", "'yes': \"5\"", "-0.", "{<a>: [\"\\u2028&\\\"\", 1.10, 1e30]}"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		value, err := Decode(text, DefaultLimits())
		if err != nil {
			return
		}
		if _, err := json.Marshal(value); err != nil {
			t.Fatal(err)
		}
		encoded, err := Encode(value)
		if err != nil {
			t.Fatal(err)
		}
		again, err := Decode([]byte(encoded), DefaultLimits())
		if diff := cmp.Diff(value, again); diff != "" || err != nil {
			t.Fatalf("%v\n%s\n%s", err, encoded, diff)
		}
		asEncodingJSON(t, value)
	})
}
