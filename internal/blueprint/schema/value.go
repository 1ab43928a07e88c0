package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Limits of numbers: comparing numbers with more digits takes long.
const maxDigits = 1000

// maxValueLevels is how deep a value may be nested.
const maxValueLevels = 1000

// typeName returns the name that JSON schema has for the type of a value.
func typeName(value any) string {
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
		if strings.ContainsAny(value.String(), ".eE") {
			return "number"
		}
		return "integer"
	case []any:
		return "array"
	case map[string]any:
		return "object"
	}
	return fmt.Sprintf("%T", value)
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

// checkable refuses values that are not plain, or would take too long to compare.
func checkable(value any) error {
	err := bounded(value, 0, maxValueLevels)
	var at *boundError
	if errors.As(err, &at) {
		slices.Reverse(at.names)
		return &InvalidError{Violations: []Violation{{Path: dotted(at.names), Rule: "limit", Message: at.problem}}}
	}
	return err
}

// boundError tells what exceeds a limit.
type boundError struct {
	// names lead to the place, from the inside to the outside.
	names   []string
	problem string
}

// Error implements error.
func (e *boundError) Error() string {
	names := slices.Clone(e.names)
	slices.Reverse(names)
	return dotted(names) + ": " + e.problem
}

// bounded checks the depth and the numbers of a value.
func bounded(value any, level, levels int) error {
	switch value := value.(type) {
	case nil, bool, string, int64:
		return nil
	case float64:
		if math.IsNaN(value) || math.IsInf(value, 0) {
			return &boundError{problem: "The number is not finite"}
		}
		return nil
	case json.Number:
		if !fewDigits(value.String()) {
			return &boundError{problem: fmt.Sprintf("The number has more than %d digits", maxDigits)}
		}
		return nil
	case map[string]any, []any:
		if level == levels {
			return &boundError{problem: fmt.Sprintf("The value is nested more than %d levels deep", levels)}
		}
		for name, element := range elements(value) {
			if err := bounded(element, level+1, levels); err != nil {
				var at *boundError
				if errors.As(err, &at) {
					at.names = append(at.names, name)
				}
				return err
			}
		}
		return nil
	}
	return fmt.Errorf("a value of the Go type %T cannot be checked: it is not plain", value)
}

// fewDigits reports whether a number has not too many digits when it is written
// without an exponent.
func fewDigits(literal string) bool {
	digits, exponent, _ := strings.Cut(strings.ToLower(literal), "e")
	if exponent == "" {
		exponent = "0"
	}
	zeros, err := strconv.Atoi(exponent)
	return err == nil && len(digits) <= maxDigits && zeros >= -maxDigits && zeros <= maxDigits
}
