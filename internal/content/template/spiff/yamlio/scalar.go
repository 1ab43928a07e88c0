package yamlio

import (
	"encoding/base64"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"go.landscaper.dev/internal/content/template/spiff/value"
)

var (
	decimalInt = regexp.MustCompile(`^[+-]?[0-9][0-9_]*$`)
	octalInt   = regexp.MustCompile(`^[+-]?0[0-7_]+$`)
	prefixInt  = regexp.MustCompile(`^[+-]?0(x[0-9a-fA-F_]+|b[01_]+|o[0-7_]+)$`)
	floatText  = regexp.MustCompile(`^[+-]?(\.[0-9][0-9_]*|[0-9][0-9_]*(\.[0-9_]*)?)([eE][+-]?[0-9]+)?$`)
)

// words are the plain scalars that stand for something else, in lower case.
var words = map[string]value.Value{
	"":  value.Null{},
	"~": value.Null{}, "null": value.Null{},
	"true": value.Bool(true), "yes": value.Bool(true), "on": value.Bool(true), "y": value.Bool(true),
	"false": value.Bool(false), "no": value.Bool(false), "off": value.Bool(false), "n": value.Bool(false),
	".nan": value.Float(math.NaN()),
	".inf": value.Float(math.Inf(1)), "+.inf": value.Float(math.Inf(1)),
	"-.inf": value.Float(math.Inf(-1)),
}

// Plain gives a plain, untagged scalar its type.
func Plain(text string) value.Value {
	if len(text) <= len("+.inf") {
		if v, ok := words[strings.ToLower(text)]; ok && nullSpelling(text, v) {
			return v
		}
	}
	if text == "" || !strings.ContainsRune("+-.0123456789", rune(text[0])) {
		return value.Text(text)
	}
	if v, ok := integer(text); ok {
		return v
	}
	if f, ok := float(text); ok {
		return f
	}
	return value.Text(text)
}

// nullSpelling refuses mixed case spellings of null, which are plain text.
func nullSpelling(text string, v value.Value) bool {
	if !value.IsNull(v) {
		return true
	}
	switch text {
	case "", "~", "null", "Null", "NULL":
		return true
	}
	return false
}

func integer(text string) (value.Value, bool) {
	clean := strings.ReplaceAll(text, "_", "")
	base := 10
	switch {
	case prefixInt.MatchString(text):
		base = 0
	case octalInt.MatchString(text):
		base = 8
	case !decimalInt.MatchString(text):
		return nil, false
	case len(strings.TrimLeft(clean, "+-")) > 1 && strings.TrimLeft(clean, "+-")[0] == '0':
		return float(clean)
	}
	n, err := strconv.ParseInt(clean, base, 64)
	if err == nil {
		return value.Int(n), true
	}
	return float(clean)
}

func float(text string) (value.Value, bool) {
	if !floatText.MatchString(text) {
		return nil, false
	}
	f, err := strconv.ParseFloat(strings.ReplaceAll(text, "_", ""), 64)
	if err != nil && math.IsInf(f, 0) {
		return nil, false
	}
	return value.Float(f), true
}

// tagged interprets a scalar with an explicit tag.
func tagged(tag, text string, data bool) (value.Value, error) {
	switch tag {
	case "!!null":
		return value.Null{}, nil
	case "!!binary":
		content, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(text), ""))
		if err != nil {
			return nil, fmt.Errorf("!!binary value is not base64 text: %w", err)
		}
		return value.Bytes(content), nil
	case "!!int", "!!float", "!!bool":
		v := Plain(text)
		if f, ok := v.(value.Int); ok && tag == "!!float" {
			return value.Float(f), nil
		}
		if _, ok := v.(value.String); ok {
			return nil, fmt.Errorf("value does not fit its tag %s", tag)
		}
		return v, nil
	}
	return value.String{Text: text, Data: data}, nil
}
