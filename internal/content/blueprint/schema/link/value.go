package link

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"

	"go.landscaper.dev/internal/base/number"
)

// TypeName returns the name that JSON schema has for the type of a value.
func TypeName(value any) string {
	switch value := value.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case int64:
		return "integer"
	case float64:
		if value == math.Trunc(value) {
			return "integer"
		}
		return "number"
	case json.Number:
		if number.IsInteger(value) {
			return "integer"
		}
		return "number"
	case []any:
		return "array"
	case map[string]any:
		return "object"
	}
	return "value of another kind"
}

// article puts an article in front of the name of a type.
func article(name string) string {
	switch name {
	case "null":
		return name
	case "integer", "array", "object":
		return "an " + name
	}
	return "a " + name
}

// LimitError says where a value exceeds a limit.
type LimitError struct {
	// Names lead to the place.
	Names   []string
	Problem string
}

// Error implements error.
func (e *LimitError) Error() string { return Path(e.Names) + ": " + e.Problem }

// Bounded refuses values that are not plain, are nested too deep, or have numbers
// that would take too long to compare. Numbers may have the form of a decoder.
func Bounded(value any, levels int) error {
	err := bounded(value, 0, levels)
	var at *LimitError
	if errors.As(err, &at) {
		slices.Reverse(at.Names)
	}
	return err
}

// bounded collects the names from the inside to the outside.
func bounded(value any, level, levels int) error {
	switch value := value.(type) {
	case nil, bool, string, int64:
		return nil
	case float64:
		if math.IsNaN(value) || math.IsInf(value, 0) {
			return &LimitError{Problem: "The number is not finite"}
		}
		return nil
	case json.Number:
		if !number.IsShort(value) {
			return &LimitError{Problem: "The " + number.TooLong}
		}
		return nil
	case map[string]any, []any:
		if level == levels {
			return &LimitError{Problem: fmt.Sprintf("The value is nested more than %d levels deep", levels)}
		}
		return firstBeyond(value, level, levels)
	}
	return errors.New("a value cannot be checked: it is neither an object, an array, a string, a number, a boolean nor null")
}

// firstBeyond looks into an object or list. Of several elements beyond the limits it always reports
// the same one: a message that changes without a reason would change the status, and trigger a
// reconcile each time.
func firstBeyond(holder any, level, levels int) error {
	var first error
	var at string
	for name, element := range elements(holder) {
		if first != nil && name > at {
			continue
		}
		err := bounded(element, level+1, levels)
		if err == nil {
			continue
		}
		var limit *LimitError
		if errors.As(err, &limit) {
			limit.Names = append(limit.Names, name)
		}
		first, at = err, name
		if _, ordered := holder.([]any); ordered {
			break
		}
	}
	return first
}
