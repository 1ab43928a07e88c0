package yamltext

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

// TestScalarsAreReadAsElsewhere compares with the library that reads YAML in the
// rest of the project.
func TestScalarsAreReadAsElsewhere(t *testing.T) {
	for _, scalar := range []string{
		"y", "Yes", "on", "OFF", "n", "~", "Null", "null", `"null"`, "", "0777", "0o17", "0x1f", "-0b1", "1_000", "+5", "08", "5", "-5", "1.5", "-.5", "1.",
		"2001-12-14", "190:20:30", "=", "True", "FALSE", "!!str 5", `!!int "5"`, "!!float 5", "!custom x", "0o8", "18446744073709551615", `"yes"`, "'5'", "|\n  text",
	} {
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
			t.Errorf("%s: %v", scalar, err)
			continue
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
			t.Errorf("%s: %s", scalar, diff)
		}
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
		{"an alias", "{a: &a [x], b: *a, *a : c}", nil},
		{"an alias as a key", "{a: &a x, *a : c}", map[string]any{"a": "x", "x": "c"}},
		{"what is merged counts less", "{<<: {a: 1, b: 1}, a: 2}", map[string]any{"a": json.Number("2"), "b": json.Number("1")}},
		{"earlier ones of a list count more", "{<<: [{a: 1}, {a: 2, b: 2}]}", map[string]any{"a": json.Number("1"), "b": json.Number("2")}},
		{"bytes", "!!binary aGVsbG8=", "hello"},
		{"only the first document", "a\n---\nb\n", "a"},
	} {
		got, err := Decode([]byte(test.text), DefaultLimits())
		if test.want == nil && test.text != "" {
			if err == nil {
				t.Errorf("%s: got %v", test.reason, got)
			}
			continue
		}
		if diff := cmp.Diff(test.want, got); diff != "" || err != nil {
			t.Errorf("%s: %v %s", test.reason, err, diff)
		}
	}
}

func TestDecodeErrors(t *testing.T) {
	limits := Limits{Values: 100, Bytes: 2000, Depth: 10}
	for _, test := range []struct{ reason, text, want string }{
		{"no YAML", "a: [", "line 1"},
		{"a key that is there twice", "a: 1\nb: 2\na: 3\n", `line 3: key "a" is there twice`},
		{"a list as a key", "{[a]: b}", "the key of a map must be a text"},
		{"what cannot be merged", "{<<: x}", "only maps can be merged"},
		{"what cannot be merged in a list", "{<<: [[{a: b}]]}", "only maps can be merged"},
		{"what JSON cannot say", "a: .nan", "not a number that JSON has"},
		{"a number that is none", "!!int x", "cannot decode"},
		{"a very long number", "0." + strings.Repeat("1", maxDigits), "1000 digits"},
		{"base64 that is none", "!!binary '%'", "base64"},
		{"an anchor that contains itself", "a: &a {b: *a}", `anchor "a" contains itself`},
		{"too many values", "[" + strings.Repeat("1, ", 100) + "]", "more than 100 values"},
		{"too many bytes through aliases", "[&a " + strings.Repeat("x", 700) + ", *a, *a, *a]", "2000 bytes after its aliases are resolved"},
		{"too deep", strings.Repeat("[", 11) + strings.Repeat("]", 11), "more than 10 levels deep"},
		{"too deep through aliases", "[&a [[[[[1]]]]], [[[[[*a]]]]]]", "more than 10 levels deep"},
	} {
		if got, err := Decode([]byte(test.text), limits); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v, %v, want %q", test.reason, got, err, test.want)
		}
	}
}

// FuzzDecode reads texts; what was read can be written, and reads the same again.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{"{a: &a [1, 0x1f, 08, .5], b: *a, <<: {c: yes}}", "|\n text", "!!binary aGVsbG8=", "? [a]\n: b", "123456789012345678901234567890", "'yes': \"5\"", "-0."} {
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
	})
}
