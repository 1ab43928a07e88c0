package template

import (
	"encoding/json"
	"strings"
	"testing"
)

// numbers are bindings with numbers of every kind.
var numbers = map[string]any{
	"three": int64(3), "port": int64(8080), "million": int64(1000000), "large": int64(9007199254740993), "zero": int64(0),
	"huge": json.Number("123456789012345678901234567890"), "half": 0.5, "price": 1234567.25, "five": 5.0, "text": "12",
	"list": []any{int64(10), int64(20), int64(30)}, "version": "1.2.3", "map": map[string]any{"n": int64(2)},
}

// TestFloatWorkarounds renders idioms of templates that were written for a system
// in which every number is a float64. All of them give what they gave there.
func TestFloatWorkarounds(t *testing.T) {
	tests := []struct{ reason, template, want string }{
		{"int of an integer is that integer", `{{ int .three }}`, "3"},
		{"int64 as well", `{{ int64 .million }}`, "1000000"},
		{"%.0f takes integers", `{{ printf "%.0f" .million }}`, "1000000"},
		{"%.2f with an integer", `{{ printf "%.2f" .three }}`, "3.00"},
		{"%f %e %g with an integer", `{{ printf "%f %e %g" .three .three .three }}`, "3.000000 3.000000e+00 3"},
		{"%v prints digits", `{{ printf "%v-%v" .port .half }}`, "8080-0.5"},
		{"%d of int", `{{ printf "%d" (int .three) }}`, "3"},
		{"%d of a float without a fraction", `{{ printf "%d" .five }}`, "5"},
		{"%5d and %-5d| and %05d", `{{ printf "%5d|%-5d|%05d" .three .three .three }}`, "    3|3    |00003"},
		{"%6.1f of an integer", `{{ printf "%6.1f" .three }}`, "   3.0"},
		{"%s of a text is not touched", `{{ printf "%s:%d" .text (int .port) }}`, "12:8080"},
		{"an argument by its number", `{{ printf "%[2]d %[1]d" .three .port }}`, "8080 3"},
		{"a width as argument", `{{ printf "%*d|%.*f" 5 .three 1 .half }}`, "    3|0.5"},
		{"toYaml prints integers as integers", `{{ toYaml .list }}`, "- 10\n- 20\n- 30"},
		{"toJson as well", `{{ toJson .list }}`, "[10,20,30]"},
		{"mul", `{{ mul .three 2 }}`, "6"},
		{"add", `{{ add .three 2 }}`, "5"},
		{"sub", `{{ sub .three 2 }}`, "1"},
		{"div drops the fraction", `{{ div .port 3 }}`, "2693"},
		{"mod", `{{ mod .port 3 }}`, "1"},
		{"add1", `{{ add1 .three }}`, "4"},
		{"addf and mulf", `{{ addf .three 0.5 }} {{ mulf .three 0.5 }} {{ divf .three 2 }} {{ subf .three 1 }} {{ add1f .three }}`, "3.5 1.5 1.5 2 4"},
		{"round", `{{ round .price 1 }} {{ round .three 2 }}`, "1.2345673e+06 3"},
		{"floor and ceil", `{{ floor .three }} {{ floor 3.7 }} {{ ceil .half }}`, "3 3 1"},
		{"float64", `{{ float64 .three }}`, "3"},
		{"max and min", `{{ max .three 5 .zero }} {{ min .three 5 }} {{ maxf .three 1.5 }} {{ minf .three 1.5 }} {{ biggest .three 9 }}`, "5 3 3 1.5 9"},
		{"atoi of toString", `{{ .port | toString | atoi }}`, "8080"},
		{"int of toString", `{{ .port | toString | int }}`, "8080"},
		{"quote", `{{ .port | quote }}`, `"8080"`},
		{"squote", `{{ .port | squote }}`, `'8080'`},
		{"toString", `{{ .port | toString }}`, "8080"},
		{"ternary", `{{ ternary .three .port true }}`, "3"},
		{"default of zero", `{{ .zero | default 7 }} {{ .three | default 7 }}`, "7 3"},
		{"empty and coalesce", `{{ empty .zero }} {{ coalesce .zero .three }}`, "true 3"},
		{"if and not", `{{ if .zero }}a{{ else }}b{{ end }}{{ if .three }}c{{ end }}{{ not .zero }}`, "bctrue"},
		{"semver of a text", `{{ (semver .version).Major }} {{ semverCompare ">=1.2" .version }}`, "1 true"},
		{"until of int", `{{ range until (int .three) }}{{ . }}{{ end }}`, "012"},
		{"untilStep and seq of int", `{{ untilStep 0 (int .three) 1 }} {{ seq (int .three) }}`, "[0 1 2] 1 2 3"},
		{"index with int", `{{ index .list (int 1.0) }}`, "20"},
		{"repeat, trunc, substr, plural with int", `{{ repeat (int .three) "ab" }} {{ trunc (int .three) "abcdef" }} {{ substr 0 (int .three) "abcdef" }} {{ plural "one" "many" (int .three) }}`, "ababab abc abc many"},
		{"eq with a float constant", `{{ eq .three 3.0 }} {{ ne .three 4.0 }} {{ gt .three 2.5 }} {{ lt .three 3.5 }} {{ ge .three 3.0 }} {{ le .three 3.0 }}`, "true true true true true true"},
		{"eq of int", `{{ eq (int .three) 3 }} {{ eq (int64 .three) 3 }}`, "true true"},
		{"eq of two imports", `{{ eq .three .five }} {{ lt .three .five }}`, "false true"},
		{"eq of toString", `{{ eq (toString .three) "3" }}`, "true"},
		{"kindIs and typeIs float64", `{{ kindIs "float64" .three }} {{ typeIs "float64" .three }} {{ typeIsLike "float64" .three }}`, "true true true"},
		{"kindOf and typeOf are float64", `{{ kindOf .three }} {{ typeOf .three }} {{ eq (kindOf .three) "float64" }}`, "float64 float64 true"},
		{"kindOf of other values", `{{ kindOf .text }} {{ kindOf .map }} {{ kindOf .list }} {{ kindOf .none }} {{ kindOf true }} {{ typeOf .map }}`, "string map slice invalid bool map[string]interface {}"},
		{"has with a float constant", `{{ has 10.0 .list }} {{ has 11.0 .list }}`, "true false"},
		{"without a float constant", `{{ without .list 10.0 | toJson }}`, "[20,30]"},
		{"deepEqual with numbers of another type", `{{ deepEqual .map (dict "n" 2.0) }} {{ deepEqual .list (list 10.0 20.0 30.0) }}`, "true true"},
		{"numbers in join and cat", `{{ join "," .list }} {{ cat .three "x" .half }}`, "10,20,30 3 x 0.5"},
		{"fromJson and fromYaml", `{{ (fromJson "{\"a\":3}").a }} {{ (fromYaml "a: 3").a }}`, "3 3"},
		{"toDecimal of an octal number", `{{ toDecimal 777 }}`, "511"},
		{"round with a threshold that is an integer", `{{ round 3.4 0 1 }}`, "3"},
		{"date of seconds", `{{ date "2006-01-02" (int64 86400) }} {{ htmlDate 0 }}`, "1970-01-02 1970-01-01"},
		{"duration of a text", `{{ duration "95" }} {{ durationRound "2h10m5s" }}`, "1m35s 2h"},
		{"sum in a loop", `{{ $sum := 0 }}{{ range .list }}{{ $sum = add $sum . }}{{ end }}{{ $sum }}`, "60"},
		{"sortAlpha and uniq", `{{ sortAlpha .list }} {{ uniq (list 1 1.0 2) }}`, "[10 20 30] [1 2]"},
		{"dig", `{{ dig "n" 0 .map }} {{ dig "m" 5 .map }}`, "2 5"},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			got, err := rendered(t, &Engine{}, test.template, numbers)
			if err != nil || got != test.want {
				t.Errorf("got %q, %v; want %q", got, err, test.want)
			}
		})
	}
}

// TestIntegers renders what does not work where every number is a float64.
func TestIntegers(t *testing.T) {
	tests := []struct{ reason, template, want string }{
		{"large integers print as digits", `{{ .million }} {{ .large }} {{ .huge }}`, "1000000 9007199254740993 123456789012345678901234567890"},
		{"in every function that prints", `{{ toString .million }} {{ quote .million }} {{ print .million }} {{ .million | toJson }} {{ toYaml .large }} {{ cat .huge }}`, `1000000 "1000000" 1000000 1000000 9007199254740993 123456789012345678901234567890`},
		{"computed floats without a fraction as well", `{{ float64 .million }} {{ mulf .million 2 | quote }} {{ floor .price | toString }} {{ printf "%v" (float64 .million) }}`, `1000000 "2000000" 1234567 1000000`},
		{"%d takes integers", `{{ printf "%d %d" .million .huge }}`, "1000000 123456789012345678901234567890"},
		{"%x and %c", `{{ printf "%x %o %c" .port .port 65.0 }}`, "1f90 17620 A"},
		{"%.0f of a literal of many digits", `{{ printf "%.0f" .huge }}`, "123456789012345678901234567890"},
		{"index takes integers", `{{ index .list (sub .three 1) }} {{ index .list 0.0 }}`, "30 10"},
		{"until and untilStep take integers", `{{ until .three }} {{ untilStep .zero .three 2 }} {{ seq .three }}`, "[0 1 2] [0 2] 1 2 3"},
		{"range over an integer", `{{ range .three }}{{ . }}{{ end }}`, "012"},
		{"texts cut by integers", `{{ repeat .three "a" }}{{ trunc .three "bcdef" }}{{ substr .zero .three "xyz0" }}`, "aaabcdxyz"},
		{"indent by an integer", `{{ indent .three "x" }}`, "   x"},
		{"eq with a constant", `{{ eq .three 3 }} {{ eq .three 1 2 3 }} {{ ne .three 4 }} {{ lt .three 4 }} {{ ge .large 9007199254740992 }}`, "true true true true true"},
		{"comparison is exact", `{{ eq .large 9007199254740992.0 }} {{ gt .large 9007199254740992.0 }} {{ eq .huge .huge }} {{ gt .huge .large }}`, "false true true true"},
		{"has and kindIs int", `{{ has 10 .list }} {{ kindIs "int" .three }} {{ typeIs "int" .three }} {{ kindIs "int" .half }}`, "true true true false"},
		{"JSON keeps large integers", `{{ toJson (fromJson "{\"a\":9007199254740993,\"b\":123456789012345678901234567890}") }}`, `{"a":9007199254740993,"b":123456789012345678901234567890}`},
		{"YAML as well", `{{ fromYaml "a: 9007199254740993" | toYaml }}`, "a: 9007199254740993"},
		{"toPrettyJson and toRawJson", `{{ toRawJson (dict "a" "<&>" "n" .large) }} {{ toJson "<" }} {{ toPrettyJson .list | replace "\n" "" }}`, `{"a":"<&>","n":9007199254740993} "\u003c" [  10,  20,  30]`},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			got, err := rendered(t, &Engine{}, test.template, numbers)
			if err != nil || got != test.want {
				t.Errorf("got %q, %v; want %q", got, err, test.want)
			}
		})
	}
}

// TestComparison checks what comparisons refuse, as in text/template.
func TestComparison(t *testing.T) {
	tests := []struct{ reason, template, want string }{
		{"texts", `{{ eq "a" "b" "a" }} {{ lt "a" "b" }} {{ le "b" "b" }}{{ gt "a" "b" }}`, "true true truefalse"},
		{"nothing is equal to nothing only", `{{ eq .none nil }} {{ eq .none 1 }} {{ ne .none "" }}`, "true false true"},
		{"booleans", `{{ eq true true }} {{ ne true false }}`, "true true"},
		{"a text and a number", `{{ eq .text 12 }}`, "incompatible types for comparison: string and integer"},
		{"an order of booleans", `{{ lt true false }}`, "incompatible types"},
		{"an order of nothing", `{{ lt .none 1 }}`, "does not exist"},
		{"maps", `{{ eq .map .map }}`, "use deepEqual"},
		{"nothing to compare with", `{{ eq 1 }}`, "missing argument for comparison"},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			got, err := rendered(t, &Engine{}, test.template, numbers)
			if err != nil && !strings.Contains(err.Error(), test.want) || err == nil && got != test.want {
				t.Errorf("got %q, %v; want %q", got, err, test.want)
			}
		})
	}
}
