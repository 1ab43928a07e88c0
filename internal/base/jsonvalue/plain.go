// Package jsonvalue holds values in the form in which templates and mappings see
// them: what JSON can say, and integers stay integers.
//
// A plain value is nil, a bool, a string, an int64, a float64, a json.Number (an
// integer of more than 64 bits), a []any or a map[string]any of plain values.
package jsonvalue

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"go.landscaper.dev/internal/base/number"
	"go.landscaper.dev/internal/base/yamltext"
)

// FromJSON returns the value of a JSON text.
func FromJSON(text []byte) (any, error) {
	value, err := FromJSONWithNumbers(text)
	if err != nil {
		return nil, err
	}
	return exact(value), nil
}

// FromJSONWithNumbers returns the value of a JSON text with all digits of its numbers: each is
// a json.Number.
func FromJSONWithNumbers(text []byte) (any, error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return nil, fmt.Errorf("decode JSON: %w", err)
	}
	if _, err := decoder.Token(); err != io.EOF {
		return nil, errors.New("decode JSON: there is more after the first value")
	}
	return value, nil
}

// FromYAML returns the value of the first document of a YAML text. Its error does
// not repeat the text: it is a *yamltext.Error.
func FromYAML(text []byte) (any, error) {
	raw, err := yamltext.ToJSON(text, yamltext.Lenient())
	if err != nil {
		return nil, err // says where in the text
	}
	return FromJSON(raw)
}

// FromObject returns an object as a value: what its JSON says.
func FromObject(object any) (any, error) {
	raw, err := json.Marshal(object)
	if err != nil {
		return nil, fmt.Errorf("encode as JSON: %w", err)
	}
	return FromJSON(raw)
}

// Clone returns a deep copy of a value that was decoded. A value that a template made may contain
// itself, and has no copy.
func Clone(value any) any {
	switch value := value.(type) {
	case map[string]any:
		clone := make(map[string]any, len(value))
		for key, field := range value {
			clone[key] = Clone(field)
		}
		return clone
	case []any:
		clone := make([]any, len(value))
		for i, element := range value {
			clone[i] = Clone(element)
		}
		return clone
	}
	return value
}

// exact replaces the literals of a decoder in place.
func exact(value any) any {
	switch value := value.(type) {
	case json.Number:
		return number.Of(value)
	case map[string]any:
		for key, field := range value {
			value[key] = exact(field)
		}
	case []any:
		for i, element := range value {
			value[i] = exact(element)
		}
	}
	return value
}
