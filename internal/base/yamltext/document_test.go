package yamltext

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

func TestDocuments(t *testing.T) {
	tests := []struct {
		reason, text string
		want         []string
	}{
		{"none", "", nil},
		{"only comments", "# a\n---\n# b\n", nil},
		{"documents of nothing do not count", "---\n---\na: 1\n---\nnull\n---\n~\n---\nb: 2\n...\n", []string{`{"a":1}`, `{"b":2}`}},
		{"any kind of document", "text\n---\n[1]\n---\nfalse\n---\n''\n", []string{`"text"`, `[1]`, `false`, `""`}},
		{"JSON", `{"a": [1.0, "x"]}`, []string{`{"a":[1,"x"]}`}},
		{"anchors belong to their document", "a: &x 1\nb: *x\n---\na: &x 2\nb: *x\n", []string{`{"a":1,"b":1}`, `{"a":2,"b":2}`}},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			documents, err := Documents([]byte(test.text), DefaultLimits())
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, document := range documents {
				raw, err := document.JSON()
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, string(raw))
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	failures := []struct{ reason, text, want string }{
		{"a text that is too long", strings.Repeat("a", 3001), "the text is longer than 3000 bytes"},
		{"the line of a mistake in a later document", "a: 1\n---\nb: [\n", "line "},
		{"an alias of nothing", "a: 1\n---\nb: *hunter2\n", ""},
		{"a document that stands for too much", bomb(), ""},
	}
	for _, test := range failures {
		t.Run(test.reason, func(t *testing.T) {
			documents, err := Documents([]byte(test.text), Limits{Text: 3000, Values: 1000, Bytes: 2000, Depth: 10})
			for _, document := range documents {
				if err == nil {
					_, err = document.JSON()
				}
			}
			var problem *Error
			if !errors.As(err, &problem) || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "hunter2") {
				t.Error(err)
			}
		})
	}
}

func TestLine(t *testing.T) {
	documents, err := Documents([]byte("# comment\na:\n  b:\n  - 1\n  - c: 2\n    d: &x\n      e: 3\nf: *x\n"), DefaultLimits())
	if err != nil || len(documents) != 1 {
		t.Fatal(documents, err)
	}
	tests := []struct {
		reason string
		path   []any
		want   int
	}{
		{"the document begins behind its comment", nil, 2},
		{"a value", []any{"a", "b", 0}, 4},
		{"a value in an entry", []any{"a", "b", 1, "c"}, 5},
		{"a key that is missing: what is around it", []any{"a", "b", 1, "z"}, 5},
		{"an index behind the end", []any{"a", "b", 7, "z"}, 4},
		{"a key of a list", []any{"a", "b", "c"}, 4},
		{"an index of a map", []any{"a", 0}, 3},
		{"a step into a number", []any{"a", "b", 0, "z"}, 4},
		{"through an alias", []any{"f", "e"}, 7},
		{"a step of another kind", []any{1.5}, 2},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			if got := documents[0].Line(test.path...); got != test.want {
				t.Errorf("line %d, want %d", got, test.want)
			}
		})
	}
}

type readsAnything struct{ json.RawMessage }

func TestUnknown(t *testing.T) {
	type inner struct {
		Name string `json:"name"`
	}
	type outer struct {
		*inner `json:",inline"`
		List   []inner           `json:"list"`
		One    *inner            `json:"one"`
		Named  map[string]*inner `json:"named"`
		Free   map[string]any    `json:"free"`
		Any    readsAnything     `json:"any"`
	}
	tests := []struct {
		reason, text string
		name         string
		line         int
	}{
		{"all are known", "name: a\nlist: [{name: b}]\none: {name: c}\nfree: {x: 1}\nany: {x: 1}", "", 0},
		{"at the top", "name: a\nnames: b", "names", 2},
		{"in a list", "list:\n- name: a\n- nam: b", "nam", 3},
		{"behind a pointer", "one:\n  x: 1", "x", 2},
		{"in a map of structs", "named:\n  free:\n    name: a\n  other:\n    nam: b", "nam", 5},
		{"in an alias", "free: &x\n  name: a\n  y: 1\none: *x", "y", 3},
		{"case counts", "Name: a", "Name", 1},
		{"another type is another mistake", "list: {x: 1}\none: [x]\nname: {x: 1}", "", 0},
		{"an anchor that contains itself has an end", "list: &x [*x]", "", 0},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			documents, err := Documents([]byte(test.text), DefaultLimits())
			if err != nil {
				t.Fatal(err)
			}
			found := documents[0].Unknown(reflect.TypeFor[*outer]())
			switch {
			case found == nil && test.name != "", found != nil && (found.Name != test.name || found.Line != test.line):
				t.Errorf("%+v", found)
			case found != nil && len(found.Known) == 0:
				t.Error("it does not say what is known")
			}
		})
	}
}

// TestWhatIsWrittenIsRead writes values of all kinds, as texts that mean something else,
// as keys, and in each other.
func TestWhatIsWrittenIsRead(t *testing.T) {
	texts := []string{
		"", " ", "~", "null", "yes", "N", "1", "1.0", "0x1f", "017", "1e3", "1_0", "2031-05-06", "12:30", "-", "- a", "a: b", "a #b", "#", "<<", "=", ".nan", ".INF",
		"a\n", "\na", "a\n b\n", " a", "a ", "\t", "a\r\nb", "'", `"`, `\`, "%", "---", "...", "&a", "*a", "!a", "|", ">", "@", "`", "{}", "[]", "é漢\U0001f600", "\u2028", "\u0085",
		"number", "x0x", "\xff\xfe", "!!binary AA==", strings.Repeat("long ", 50), strings.Repeat("k", 200),
	}
	var values []any
	for _, text := range texts {
		values = append(values, text, []any{text, []any{text}}, map[string]any{"k": text}, map[string]any{"k": []any{map[string]any{"i": text}}})
		if strings.ToValidUTF8(text, "") == text {
			values = append(values, map[string]any{text: text}, map[string]any{text: map[string]any{text: "b"}, "a": []any{}})
		}
	}
	for _, n := range []string{"0", "-1", "9223372036854775807", "18446744073709551616", "1.10", "-1.5e-300", "0.1", "100000000000000000000000000.5"} {
		values = append(values, json.Number(n), map[string]any{"n": []any{json.Number(n)}})
	}
	values = append(values, nil, true, false, map[string]any{}, []any{}, []any{map[string]any{}, []any{}, nil})
	for _, value := range values {
		t.Run(fmt.Sprintf("%q", fmt.Sprint(value)), func(t *testing.T) {
			written, err := Encode(value)
			if err != nil {
				t.Fatal(err)
			}
			got, err := Decode([]byte(written), DefaultLimits())
			if err != nil {
				t.Fatalf("%v\n%s", err, written)
			}
			if diff := cmp.Diff(value, got); diff != "" {
				t.Errorf("%s\n%s", diff, written)
			}
		})
	}
}

// TestEscaped writes what a reader must not see as it is, as a value and as a key.
func TestEscaped(t *testing.T) {
	for _, test := range []struct{ reason, text string }{
		{"a text of one letter", "e"}, {"in a text that needs no quotes", "hello"}, {"with what quotes escape", "e\"\\\n\te"}, {"in several lines", "a\nbe\n"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			value := map[string]any{test.text: []any{test.text, "a"}, "a" + test.text: "b", "b": map[string]any{}}
			written, err := EncodeEscaped(value, func(char rune) bool { return char == 'e' })
			if err != nil || strings.Contains(written, "e") || !strings.Contains(written, `\u0065`) {
				t.Fatalf("%v\n%s", err, written)
			}
			got, err := Decode([]byte(written), DefaultLimits())
			if diff := cmp.Diff(any(value), got); err != nil || diff != "" {
				t.Errorf("%v %s\n%s", err, diff, written)
			}
		})
	}
}

// TestNothingMerges reads keys that would merge without quotes, as the rest of the
// project reads YAML.
func TestNothingMerges(t *testing.T) {
	value := map[string]any{"<<": map[string]any{"a": "<<"}, "<": "<<", "<<<": "x", "list": []any{map[string]any{"<<": "x"}}}
	written, err := Encode(value)
	if err != nil {
		t.Fatal(err)
	}
	var elsewhere any
	if err := yaml.Unmarshal([]byte(written), &elsewhere); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(any(value), elsewhere); diff != "" {
		t.Errorf("%s\n%s", diff, written)
	}
}

// TestDecodedAsElsewhere reads random documents as the library that the rest of the project reads
// YAML with. Keys are written as texts here, so no key could be read as something else.
func TestDecodedAsElsewhere(t *testing.T) {
	parts := []string{"a", "b: ", "- ", "\n", "  ", "1", "'x'", "\"y\"", "[", "]", "{", "}", ",", ": ", "&r ", "*r ", "|\n  t\n", "# c\n", "?", "!!str ", "1.5"}
	state := uint64(1)
	next := func(n int) int { // the same in every run
		state = state*6364136223846793005 + 1442695040888963407
		return int(state>>33) % n
	}
	read := 0
	for range 4000 {
		var text strings.Builder
		for range 1 + next(9) {
			text.WriteString(parts[next(len(parts))])
		}
		raw, wrong := yaml.YAMLToJSONStrict([]byte(text.String()))
		got, err := ToJSON([]byte(text.String()), DefaultLimits())
		if wrong != nil || err != nil {
			continue // which of them refuses more is the business of TestErrors
		}
		read++
		var want, have any
		if err := json.Unmarshal(raw, &want); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(got, &have); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, have); diff != "" {
			t.Errorf("%q: (-elsewhere +here):\n%s", text.String(), diff)
		}
	}
	if read < 500 {
		t.Errorf("only %d of the texts can be read", read)
	}
}

func TestUnwritable(t *testing.T) {
	deep := any("x")
	for range DefaultLimits().Depth + 2 {
		deep = []any{deep}
	}
	for reason, value := range map[string]any{
		"infinity": math.Inf(-1), "no number": []any{math.NaN()}, "a function": map[string]any{"f": func() {}}, "too deep": deep,
	} {
		t.Run(reason, func(t *testing.T) {
			if text, err := Encode(value); err == nil {
				t.Errorf("%.50s", text)
			}
		})
	}
}

// TestManyDocuments: the limits are those of the text, however many documents it has, and however often
// one of them is read.
func TestManyDocuments(t *testing.T) {
	// 100 documents of 150 bytes, each of which stands for 10,000 values.
	one := "---\na: &a [1,1,1,1,1,1,1,1,1,1]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: [*c,*c,*c,*c,*c,*c,*c,*c,*c]\n"
	limits := DefaultLimits()
	limits.Values = 100_000
	documents, err := Documents([]byte(strings.Repeat(one, 100)), limits)
	if err != nil || len(documents) != 100 {
		t.Fatal(len(documents), err)
	}
	read := 0
	for _, document := range documents {
		if _, err = document.JSON(); err != nil {
			break
		}
		read++
	}
	var problem *Error
	if !errors.As(err, &problem) || problem.Reason != "the text has more than 100000 values" || read > 10 {
		t.Errorf("%d documents were read, %v", read, err)
	}
	honest, err := Documents([]byte(strings.Repeat("---\na: 1\n", 3000)), limits)
	if err != nil || len(honest) != 3000 {
		t.Fatal(len(honest), err)
	}
	for range 20 {
		for _, document := range honest {
			if _, err := document.JSON(); err != nil {
				t.Fatalf("a document that is read again counts once: %v", err)
			}
		}
	}
}
