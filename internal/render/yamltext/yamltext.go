// Package yamltext reads and writes YAML that templates print: within bounds, with
// integers as they are, and with errors that do not repeat the text.
package yamltext

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"sigs.k8s.io/yaml"

	"go.landscaper.dev/internal/plain"
)

// MaxBytes is the size of the largest text that is read.
const MaxBytes = 4 << 20

// maxValues bounds the values of a text, each of which costs about 250 bytes while
// it is read.
const maxValues = 750_000

// CheckSize refuses a text that is too long, or has so many separators of values
// that reading it would take too much memory.
func CheckSize(text []byte) error {
	if len(text) > MaxBytes {
		return &Error{Reason: fmt.Sprintf("the text is longer than %d bytes", MaxBytes)}
	}
	if len(text) < maxValues {
		return nil
	}
	separators := 0
	for _, separator := range []byte("\n,:[{") {
		separators += bytes.Count(text, []byte{separator})
	}
	if separators > maxValues {
		return &Error{Reason: fmt.Sprintf("the text has more than %d values", maxValues)}
	}
	return nil
}

// Error says what is wrong with a text, and in which line if that is known.
type Error struct {
	// Line counts from 1, 0 is unknown.
	Line int
	// Reason repeats nothing of the text.
	Reason string
}

// Error implements error.
func (e *Error) Error() string {
	if e.Line > 0 {
		return fmt.Sprintf("line %d: %s", e.Line, e.Reason)
	}
	return e.Reason
}

// Parse returns the value of a text of one document.
func Parse(text []byte) (any, error) {
	raw, err := ToJSON(text)
	if err != nil {
		return nil, err
	}
	value, err := plain.FromJSON(raw)
	if err != nil {
		return nil, &Error{Reason: "the text holds a value that JSON does not know"}
	}
	return value, nil
}

// ToJSON returns a text of one document as JSON.
func ToJSON(text []byte) ([]byte, error) {
	if err := CheckSize(text); err != nil {
		return nil, err
	}
	if err := checkAliases(text); err != nil {
		return nil, err
	}
	raw, err := yaml.YAMLToJSON(text)
	if err != nil {
		return nil, explain(err)
	}
	return raw, nil
}

var located = regexp.MustCompile(`^(?:error converting YAML to JSON: )?yaml: (?:line (\d+): )?(.*)$`)

// problems are what the parser says without a word of the text.
var problems = map[string]bool{
	"mapping values are not allowed in this context":               true,
	"mapping keys are not allowed in this context":                 true,
	"block sequence entries are not allowed in this context":       true,
	"did not find expected key":                                    true,
	"did not find expected '-' indicator":                          true,
	"did not find expected ',' or ']'":                             true,
	"did not find expected ',' or '}'":                             true,
	"did not find expected node content":                           true,
	"did not find expected <document start>":                       true,
	"did not find expected <stream-start>":                         true,
	"did not find expected digit or '-'":                           true,
	"did not find expected comment or line break":                  true,
	"did not find expected alphabetic or numeric character":        true,
	"did not find expected hexdecimal number":                      true,
	"did not find expected whitespace":                             true,
	"did not find expected whitespace or line break":               true,
	"could not find expected ':'":                                  true,
	"could not find expected directive name":                       true,
	"found character that cannot start any token":                  true,
	"found a tab character that violates indentation":              true,
	"found a tab character where an indentation space is expected": true,
	"found unexpected end of stream":                               true,
	"found unexpected document indicator":                          true,
	"found unexpected ':'":                                         true,
	"found undefined tag handle":                                   true,
	"found unknown escape character":                               true,
	"found unknown directive name":                                 true,
	"found incompatible YAML document":                             true,
	"found duplicate %YAML directive":                              true,
	"found duplicate %TAG directive":                               true,
	"found an indentation indicator equal to 0":                    true,
	"found invalid Unicode character escape code":                  true,
	"document contains excessive aliasing":                         true,
	"exceeded max depth of 10000":                                  true,
	"control characters are not allowed":                           true,
	"invalid leading UTF-8 octet":                                  true,
	"invalid trailing UTF-8 octet":                                 true,
	"incomplete UTF-8 octet sequence":                              true,
	"invalid Unicode character":                                    true,
	"map merge requires map or sequence of maps as the value":      true,
	"!!binary value contains invalid base64 data":                  true,
}

// explain keeps the position and the kind of a problem.
func explain(err error) *Error {
	match := located.FindStringSubmatch(err.Error())
	if match == nil {
		return &Error{Reason: "the text is not YAML that JSON can say"}
	}
	line, _ := strconv.Atoi(match[1])
	reason := "the text is not YAML"
	switch {
	case problems[match[2]]:
		reason = match[2]
	case strings.HasPrefix(match[2], "unknown anchor"):
		reason = "an alias refers to an anchor that does not exist"
	case strings.HasPrefix(match[2], "anchor "):
		reason = "an anchor contains itself"
	case strings.HasPrefix(match[2], "invalid map key"):
		reason = "a map or a list is used as a key"
	}
	return &Error{Line: line, Reason: reason}
}

// Write returns a value as YAML: keys sorted, without a line break at the end.
func Write(value any) (string, error) {
	numbers := map[string]string{}
	if holdsLiteral(value) {
		value = standIns(value, numbers)
	}
	text, err := yaml.Marshal(value)
	if err != nil {
		return "", errors.New("the value cannot be written as YAML")
	}
	written := strings.TrimSuffix(string(text), "\n")
	for name, digits := range numbers {
		written = strings.ReplaceAll(written, name, digits)
	}
	return written, nil
}

// holdsLiteral tells whether a value has an integer that no Go number can hold.
func holdsLiteral(value any) bool {
	switch value := value.(type) {
	case json.Number:
		return true
	case map[string]any:
		for _, field := range value {
			if holdsLiteral(field) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(value, holdsLiteral)
	}
	return false
}

// standIns copies a value with texts in the place of literals, which the YAML
// library would round.
func standIns(value any, numbers map[string]string) any {
	switch value := value.(type) {
	case json.Number:
		name := "the-integer-" + value.String() + "-as-text"
		numbers[name] = value.String()
		return name
	case map[string]any:
		copied := make(map[string]any, len(value))
		for key, field := range value {
			copied[key] = standIns(field, numbers)
		}
		return copied
	case []any:
		copied := make([]any, len(value))
		for i, element := range value {
			copied[i] = standIns(element, numbers)
		}
		return copied
	}
	return value
}
