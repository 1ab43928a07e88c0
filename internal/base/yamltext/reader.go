package yamltext

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"strings"

	"go.yaml.in/yaml/v3"

	"go.landscaper.dev/internal/base/number"
)

// reader makes values of nodes.
type reader struct {
	limits               Limits
	values, bytes, depth int
	// open are the nodes with an anchor that are being read.
	open map[*yaml.Node]bool
}

func newReader(limits Limits) *reader {
	return &reader{limits: limits, open: map[*yaml.Node]bool{}}
}

func (r *reader) value(n *yaml.Node) (any, error) {
	r.depth++
	defer func() { r.depth-- }()
	r.values++
	r.bytes += len(n.Value)
	switch {
	case r.values > r.limits.Values:
		return nil, at(n, fmt.Sprintf("the text has more than %d values", r.limits.Values))
	case r.bytes > r.limits.Bytes:
		return nil, at(n, fmt.Sprintf("with its aliases the text is longer than %d bytes", r.limits.Bytes))
	case r.depth > r.limits.Depth:
		return nil, at(n, fmt.Sprintf("the text is more than %d levels deep", r.limits.Depth))
	}
	switch n.Kind {
	case yaml.AliasNode:
		return r.alias(n)
	case yaml.MappingNode, yaml.SequenceNode:
		if n.Anchor != "" {
			r.open[n] = true
			defer delete(r.open, n)
		}
		if n.Kind == yaml.MappingNode {
			return r.mapping(n)
		}
		return r.sequence(n)
	case yaml.ScalarNode:
		return r.scalar(n)
	}
	return nil, at(n, "the text is not YAML")
}

func at(n *yaml.Node, reason string) error {
	return &Error{Line: n.Line, Column: n.Column, Reason: reason}
}

func (r *reader) alias(n *yaml.Node) (any, error) {
	if r.open[n.Alias] {
		return nil, at(n, "an anchor contains itself")
	}
	return r.value(n.Alias)
}

func (r *reader) sequence(n *yaml.Node) (any, error) {
	list := make([]any, 0, len(n.Content))
	for _, element := range n.Content {
		value, err := r.value(element)
		if err != nil {
			return nil, err
		}
		list = append(list, value)
	}
	return list, nil
}

func (r *reader) mapping(n *yaml.Node) (any, error) {
	result := make(map[string]any, len(n.Content)/2)
	merged := map[string]any{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := resolved(n.Content[i])
		if key.Kind != yaml.ScalarNode {
			return nil, at(key, "a map or a list is used as a key")
		}
		value, err := r.value(n.Content[i+1])
		if err != nil {
			return nil, err
		}
		if key.ShortTag() == "!!merge" {
			if !merge(merged, value) {
				return nil, at(key, "only maps can be merged with <<")
			}
			continue
		}
		if _, exists := result[key.Value]; exists && !r.limits.LastWins {
			return nil, at(n.Content[i], fmt.Sprintf("the key is there twice, first in line %d", lineOfKey(n, key.Value)))
		}
		r.bytes += len(key.Value)
		result[key.Value] = value
	}
	for key, value := range merged {
		if _, exists := result[key]; !exists {
			result[key] = value
		}
	}
	return result, nil
}

// lineOfKey returns the first line in which a map has a key.
func lineOfKey(n *yaml.Node, name string) int {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if key := resolved(n.Content[i]); key.Value == name && key.ShortTag() != "!!merge" {
			return n.Content[i].Line
		}
	}
	return n.Line
}

// merge adds what is behind the key "<<": a map or a list of them, of which
// earlier ones win. It reports whether that is so.
func merge(into map[string]any, value any) bool {
	list, isList := value.([]any)
	if !isList {
		list = []any{value}
	}
	for _, element := range list {
		from, isMap := element.(map[string]any)
		if !isMap {
			return false
		}
		for key, value := range from {
			if _, exists := into[key]; !exists {
				into[key] = value
			}
		}
	}
	return true
}

func (r *reader) scalar(n *yaml.Node) (any, error) {
	switch n.ShortTag() {
	case "!!null":
		return nil, nil
	case "!!bool":
		return strings.EqualFold(n.Value, "true") || isOldBool(n.Value) == "true", nil
	case "!!int", "!!float":
		return literal(n)
	case "!!binary":
		var content string
		if err := n.Decode(&content); err != nil {
			return nil, at(n, "a binary value is not base64")
		}
		return content, nil
	}
	if n.Style == 0 && !r.limits.OnlyTrue {
		if old := isOldBool(n.Value); old != "" {
			return old == "true", nil
		}
	}
	return n.Value, nil
}

// isOldBool returns "true" or "false" for the words that YAML 1.1 took for them,
// as do the tools with which blueprints are usually read.
func isOldBool(word string) string {
	switch word {
	case "y", "Y", "yes", "Yes", "YES", "on", "On", "ON":
		return "true"
	case "n", "N", "no", "No", "NO", "off", "Off", "OFF":
		return "false"
	}
	return ""
}

// literal returns a number as JSON writes it.
func literal(n *yaml.Node) (any, error) {
	if len(n.Value) > number.MaxDigits {
		return nil, at(n, "a "+number.TooLong)
	}
	var decoded any
	if err := n.Decode(&decoded); err != nil {
		return nil, at(n, "a value is not a number, although its tag says so")
	}
	switch decoded := decoded.(type) {
	case int, int64, uint64:
		return json.Number(fmt.Sprint(decoded)), nil
	case float64:
		return float(n, decoded)
	}
	return nil, at(n, "a value is not a number, although its tag says so")
}

// float keeps the digits of a number where JSON can write them in the same way.
func float(n *yaml.Node, f float64) (any, error) {
	text := n.Value
	if i, ok := new(big.Int).SetString(text, 10); ok {
		return json.Number(i.String()), nil
	}
	switch {
	case json.Valid([]byte(text)):
		return json.Number(text), nil
	case math.IsInf(f, 0) || math.IsNaN(f):
		return nil, at(n, "a number is infinite or none, which JSON does not know")
	}
	if f == 0 {
		// A zero has no sign that an integer could keep.
		f = 0
	}
	return json.Number(number.Short(f)), nil
}
