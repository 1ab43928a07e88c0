package yamltext

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"go.landscaper.dev/internal/base/number"
)

// appendJSON writes a decoded value as encoding/json does, and fractions as Go writes
// them. It is done for all that is rendered: without reflection it takes a tenth of the
// allocations.
func appendJSON(to []byte, value any) ([]byte, error) {
	switch value := value.(type) {
	case nil:
		return append(to, "null"...), nil
	case bool:
		return strconv.AppendBool(to, value), nil
	case string:
		return appendString(to, value)
	case json.Number:
		return appendNumber(to, value)
	case []any:
		return appendList(to, value)
	case map[string]any:
		return appendMap(to, value)
	}
	return appendOther(to, value)
}

// appendNumber keeps the digits of an integer, and of what Go has no number for.
func appendNumber(to []byte, literal json.Number) ([]byte, error) {
	if f, isFloat := number.Rounded(literal).(float64); isFloat {
		return appendOther(to, f)
	}
	return append(to, literal...), nil
}

func appendList(to []byte, list []any) ([]byte, error) {
	to = append(to, '[')
	for i, element := range list {
		if i > 0 {
			to = append(to, ',')
		}
		var err error
		if to, err = appendJSON(to, element); err != nil {
			return nil, err
		}
	}
	return append(to, ']'), nil
}

func appendMap(to []byte, fields map[string]any) ([]byte, error) {
	to = append(to, '{')
	names := make([]string, 0, len(fields))
	for name := range fields {
		names = append(names, name)
	}
	slices.Sort(names)
	for i, name := range names {
		if i > 0 {
			to = append(to, ',')
		}
		var err error
		if to, err = appendString(to, name); err != nil {
			return nil, err
		}
		if to, err = appendJSON(append(to, ':'), fields[name]); err != nil {
			return nil, err
		}
	}
	return append(to, '}'), nil
}

// appendString writes most texts as they are.
func appendString(to []byte, text string) ([]byte, error) {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c >= 0x7f || strings.IndexByte(`"\<>&`, c) >= 0 {
			return appendOther(to, text)
		}
	}
	to = append(to, '"')
	return append(append(to, text...), '"'), nil
}

func appendOther(to []byte, value any) ([]byte, error) {
	raw, err := json.Marshal(value)
	if err != nil {
		return nil, &Error{Reason: "the text holds a value that JSON does not know"}
	}
	return append(to, raw...), nil
}
