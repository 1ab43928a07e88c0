package yamlio_test

import (
	"math"
	"strings"
	"testing"

	"go.landscaper.dev/internal/content/template/spiff/value"
	"go.landscaper.dev/internal/content/template/spiff/yamlio"
)

func TestPlain(t *testing.T) {
	tests := []struct {
		reason string
		text   string
		want   value.Value
	}{
		{"null words", "NULL", value.Null{}},
		{"no null in mixed case", "nULL", value.Text("nULL")},
		{"nothing", "", value.Null{}},
		{"booleans of YAML 1.1 in any case", "oFF", value.Bool(false)},
		{"single letters", "Y", value.Bool(true)},
		{"underscores in integers", "1_000", value.Int(1000)},
		{"signs", "+7", value.Int(7)},
		{"hexadecimal", "0xff", value.Int(255)},
		{"binary", "0b101", value.Int(5)},
		{"octal of YAML 1.2", "0o17", value.Int(15)},
		{"octal of YAML 1.1", "017", value.Int(15)},
		{"no octal with 8 or 9", "089", value.Float(89)},
		{"beyond 64 bit", "9223372036854775808", value.Float(9223372036854775808)},
		{"exponent", "1e3", value.Float(1000)},
		{"leading point", ".5", value.Float(0.5)},
		{"infinity", "-.inf", value.Float(math.Inf(-1))},
		{"dates are text", "2031-05-06", value.Text("2031-05-06")},
		{"addresses are text", "10.0.0.1", value.Text("10.0.0.1")},
		{"base 60 is text", "12:30:45", value.Text("12:30:45")},
		{"a minus is text", "-", value.Text("-")},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			if got := yamlio.Plain(test.text); got != test.want {
				t.Errorf("%q is %#v", test.text, got)
			}
		})
	}
}

func TestRead(t *testing.T) {
	tests := []struct {
		reason, text, want string
	}{
		{"keys keep their text", "1: a\non: b\ntrue: c\n0x1: d\n", `{"0x1":"d","1":"a","on":"b","true":"c"}`},
		{"the last duplicate wins", "a: 1\na: 2\n", `{"a":2}`},
		{"quotes make text", "a: '1'\nb: \"no\"\nc: |-\n  5\n", `{"a":"1","b":"no","c":"5"}`},
		{"tags force a type", "a: !!str 1\nb: !!float 1\nc: !!int \"3\"\n", `{"a":"1","b":1,"c":3}`},
		{"binary content", "a: !!binary aGk=\n", `{"a":"aGk="}`},
		{"aliases are values", "a: &x [1]\nb: *x\n", `{"a":[1],"b":[1]}`},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			n, err := yamlio.ReadOne([]byte(test.text), "text", false)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := yamlio.JSON(n.Value); got != test.want || err != nil {
				t.Errorf("%s, %v", got, err)
			}
		})
	}
}

func TestReadFailures(t *testing.T) {
	tests := []struct{ reason, text, want string }{
		{"keys are simple", "? [a]\n: 1\n", "map keys"},
		{"broken base64", "a: !!binary '*'\n", "base64"},
		{"a stub is one document", "a: 1\n---\nb: 2\n", "2 documents"},
		{"the line of a broken expression", "x: 1\na: (( b ? c : d ))\n", "line 2 has an unquoted expression"},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			if _, err := yamlio.ReadOne([]byte(test.text), "text", false); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Error(err)
			}
		})
	}
}
