package readiness

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"go.landscaper.dev/api/deployer"
	"go.landscaper.dev/internal/deploy/fieldpath"
)

// operator is what a requirement asks of a field.
type operator string

const (
	exists    operator = "exists"
	missing   operator = "!"
	oneOf     operator = "in"
	noneOf    operator = "notin"
	equals    operator = "=="
	different operator = "!="
)

// operators are the spellings of operators, in lower case.
var operators = map[string]operator{
	"exists": exists, "!": missing, "doesnotexist": missing, "=": equals, "==": equals, "equals": equals,
	"in": oneOf, "!=": different, "notequals": different, "notin": noneOf,
}

// requirement is a requirement that was checked.
type requirement struct {
	path     fieldpath.Path
	operator operator
	values   []any
}

// newRequirement checks a requirement.
func newRequirement(spec deployer.RequirementSpec) (requirement, error) {
	if spec.JSONPath == "" {
		return requirement{}, errors.New("jsonPath is missing")
	}
	path, err := fieldpath.Parse(spec.JSONPath)
	if err != nil {
		return requirement{}, fmt.Errorf("jsonPath: %w", err)
	}
	r := requirement{path: path, operator: operators[strings.ToLower(spec.Operator)]}
	for i, value := range spec.Values {
		var decoded any
		if raw := value.Value.RawMessage; len(raw) > 0 { // null has no text
			if err := json.Unmarshal(raw, &decoded); err != nil {
				return requirement{}, fmt.Errorf("values[%d].value is not JSON", i)
			}
		}
		r.values = append(r.values, decoded)
	}
	switch several := r.operator == oneOf || r.operator == noneOf; {
	case r.operator == "":
		return requirement{}, errors.New("operator does not exist: use exists, !, =, ==, !=, in or notin")
	case r.operator == exists || r.operator == missing:
		return r, nil
	case len(r.values) == 0:
		return requirement{}, fmt.Errorf("values is missing: operator %s compares with them", r.operator)
	case len(r.values) > 1 && !several:
		return requirement{}, fmt.Errorf("values has several entries: operator %s compares with one, use in or notin", r.operator)
	}
	return r, nil
}

// unmet returns why an object does not meet the requirement, or "" if it does. It contains no
// value: the object may be a Secret.
func (r requirement) unmet(object map[string]any) string {
	results, err := r.path.Find(object)
	if err != nil {
		results = nil
	}
	there := len(results) > 0
	switch {
	case r.operator == missing && there:
		return fmt.Sprintf("field %s still exists", r.path)
	case r.operator == missing:
		return ""
	case !there:
		// Also != and notin need a field: what is not there yet proves nothing.
		return fmt.Sprintf("field %s does not exist yet", r.path)
	case r.operator == exists:
		return ""
	}
	wanted := r.operator == equals || r.operator == oneOf
	for _, result := range results {
		if r.matches(result) != wanted {
			return fmt.Sprintf("field %s has another value than required", r.path)
		}
	}
	return ""
}

// matches reports whether a value equals one of the requirement's. Both sides are
// what JSON makes of them: all numbers are of one type.
func (r requirement) matches(value any) bool {
	content, err := json.Marshal(value)
	if err != nil {
		return false
	}
	var decoded any
	if err := json.Unmarshal(content, &decoded); err != nil {
		return false
	}
	return slices.ContainsFunc(r.values, func(wanted any) bool { return reflect.DeepEqual(wanted, decoded) })
}
