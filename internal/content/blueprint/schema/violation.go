package schema

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"go.landscaper.dev/internal/base/number"
	"go.landscaper.dev/internal/content/blueprint/schema/link"
)

// Violation is one rule that a value does not keep. It says nothing about the
// value but names of properties, types and positions: values may be secret.
type Violation struct {
	// Path is where the value is, with dots between names and indices.
	Path string
	// Rule is the keyword of the schema.
	Rule string
	// Message states the rule in words.
	Message string
}

// String returns the path and the message.
func (v Violation) String() string { return v.Path + ": " + v.Message }

// InvalidError lists all rules that a value breaks, sorted by path.
type InvalidError struct{ Violations []Violation }

// maxShown is how many violations a message shows.
const maxShown = 20

// Error implements error.
func (e *InvalidError) Error() string {
	if len(e.Violations) == 1 {
		return e.Violations[0].String()
	}
	shown := make([]string, 0, maxShown+1)
	for i, violation := range e.Violations {
		if i == maxShown {
			shown = append(shown, fmt.Sprintf("and %d more", len(e.Violations)-maxShown))
			break
		}
		shown = append(shown, violation.String())
	}
	return "[" + strings.Join(shown, ", ") + "]"
}

// maxFindings is how many findings become violations; a large value that is wrong
// everywhere is not worth more.
const maxFindings = 10_000

// finding is a violation while it is collected.
type finding struct {
	names   []string
	rule    string
	message string
}

// violations turns what the library found into violations. Name turns a path into
// text.
func violations(details *jsonschema.ValidationError, value any, name func([]string) string) []Violation {
	c := collector{value: value, left: maxFindings}
	found := c.collect(details)
	slices.SortStableFunc(found, func(a, b finding) int {
		return cmp.Or(slices.CompareFunc(a.names, b.names, compareNames), cmp.Compare(a.message, b.message))
	})
	all := make([]Violation, len(found))
	for i, f := range found {
		all[i] = Violation{Path: name(f.names), Rule: f.rule, Message: f.message}
	}
	return slices.Compact(all)
}

// compareNames puts indices in the order of numbers.
func compareNames(a, b string) int {
	i, errA := strconv.Atoi(a)
	j, errB := strconv.Atoi(b)
	if errA == nil && errB == nil {
		return cmp.Compare(i, j)
	}
	return cmp.Compare(a, b)
}

// collector collects what the library found.
type collector struct {
	value any
	// left is how many findings may still be made.
	left int
}

func (c *collector) collect(details *jsonschema.ValidationError) []finding {
	if c.left <= 0 {
		return nil
	}
	var all []finding
	switch details.ErrorKind.(type) {
	case *kind.Schema, *kind.Group, *kind.Reference, *kind.AllOf:
		for _, cause := range details.Causes {
			all = append(all, c.collect(cause)...)
		}
		return all
	}
	rule := "schema"
	if path := details.ErrorKind.KeywordPath(); len(path) > 0 {
		rule = path[0]
	}
	for _, message := range c.messages(details) {
		c.left--
		all = append(all, finding{names: details.InstanceLocation, rule: rule, message: message})
	}
	switch details.ErrorKind.(type) {
	case *kind.AnyOf, *kind.OneOf:
		return append(all, c.closest(details)...)
	}
	return all
}

// messages states a broken rule in words, with names of properties.
func (c *collector) messages(details *jsonschema.ValidationError) []string {
	var all []string
	switch k := details.ErrorKind.(type) {
	case *kind.Type:
		given := link.TypeName(at(c.value, details.InstanceLocation))
		return []string{fmt.Sprintf("Invalid type. Expected: %s, given: %s", strings.Join(k.Want, "/"), given)}
	case *badName:
		names := collector{value: k.name, left: c.left}
		for _, cause := range details.Causes {
			for _, f := range names.collect(cause) {
				all = append(all, fmt.Sprintf("The property name %s is not allowed: %s", link.Name(k.name), f.message))
			}
		}
	case *kind.Required:
		for _, name := range k.Missing {
			all = append(all, link.Name(name)+" is required")
		}
	case *kind.AdditionalProperties:
		for _, name := range k.Properties {
			all = append(all, fmt.Sprintf("Additional property %s is not allowed", link.Name(name)))
		}
	case *kind.Dependency:
		for _, name := range k.Missing {
			all = append(all, fmt.Sprintf("%s is required, because %s is given", link.Name(name), link.Name(k.Prop)))
		}
	default:
		return []string{sentence(k)}
	}
	return all
}

// closest returns what is wrong with the alternative that fits best.
func (c *collector) closest(details *jsonschema.ValidationError) []finding {
	var best []finding
	lowest := 0
	for i, cause := range details.Causes {
		found := c.collect(cause)
		distance := len(found)
		for _, f := range found {
			switch {
			case len(f.names) == len(details.InstanceLocation) && f.rule == "type":
				distance += 1000
			case f.rule == "const", f.rule == "enum":
				// These distinguish alternatives.
				distance += 10
			}
		}
		if i == 0 || distance < lowest {
			best, lowest = found, distance
		}
	}
	return best
}

// sentence states a simple rule in words.
func sentence(k jsonschema.ErrorKind) string {
	switch k := k.(type) {
	case *kind.Enum:
		return "Must be one of: " + literals(k.Want)
	case *kind.Const:
		return "Must be " + literals([]any{k.Want})
	case *kind.Format:
		return "Must have the format " + strings.TrimPrefix(k.Want, link.FormatPrefix)
	case *kind.Pattern:
		return "Must match the pattern " + k.Want
	case *kind.Minimum:
		return "Must be greater than or equal to " + shownLimit(k.Want)
	case *kind.Maximum:
		return "Must be less than or equal to " + shownLimit(k.Want)
	case *kind.ExclusiveMinimum:
		return "Must be greater than " + shownLimit(k.Want)
	case *kind.ExclusiveMaximum:
		return "Must be less than " + shownLimit(k.Want)
	case *kind.MultipleOf:
		return "Must be a multiple of " + shownLimit(k.Want)
	case *kind.MinLength:
		return fmt.Sprintf("String length must be greater than or equal to %d", k.Want)
	case *kind.MaxLength:
		return fmt.Sprintf("String length must be less than or equal to %d", k.Want)
	}
	return sentenceOfMany(k)
}

// sentenceOfMany states a rule for arrays, objects or anything.
func sentenceOfMany(k jsonschema.ErrorKind) string {
	switch k := k.(type) {
	case *kind.MinItems:
		return fmt.Sprintf("Array must have at least %d items", k.Want)
	case *kind.MaxItems:
		return fmt.Sprintf("Array must have at most %d items", k.Want)
	case *kind.UniqueItems:
		return fmt.Sprintf("Items must be unique, but items %d and %d are equal", k.Duplicates[0], k.Duplicates[1])
	case *kind.AdditionalItems:
		return fmt.Sprintf("Additional items are not allowed, there are %d", k.Count)
	case *kind.Contains:
		return "At least one of the items must match (contains)"
	case *kind.MinProperties:
		return fmt.Sprintf("Must have at least %d properties", k.Want)
	case *kind.MaxProperties:
		return fmt.Sprintf("Must have at most %d properties", k.Want)
	case *kind.AnyOf:
		return "Must validate at least one schema (anyOf)"
	case *kind.OneOf:
		return "Must validate one and only one schema (oneOf)"
	case *kind.Not:
		return "Must not validate the schema (not)"
	case *kind.FalseSchema:
		return "No value is allowed here"
	}
	// The library's own text may show the value.
	return "Must keep the rule " + strings.Join(k.KeywordPath(), " ")
}

// at returns a part of a value.
func at(value any, names []string) any {
	for _, name := range names {
		switch holder := value.(type) {
		case map[string]any:
			value = holder[name]
		case []any:
			if i, err := strconv.Atoi(name); err == nil && i < len(holder) {
				value = holder[i]
			}
		}
	}
	return value
}

// literals shows values that a schema allows.
func literals(values []any) string {
	var shown []string
	for i, value := range values {
		if i == maxShown {
			shown = append(shown, "...")
			break
		}
		// A value that was decoded from JSON can be encoded.
		text, _ := json.Marshal(value)
		shown = append(shown, link.Shortened(string(text)))
	}
	return strings.Join(shown, ", ")
}

// number shows a limit of a schema.
func shownLimit(limit *big.Rat) string {
	if limit.IsInt() {
		return limit.Num().String()
	}
	f, _ := limit.Float64()
	return number.Short(f)
}
