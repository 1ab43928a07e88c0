// Package yamltext reads YAML of unknown origin: aliases are counted before they
// become a document, keys that are there twice are an error, and numbers keep
// their digits.
package yamltext

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Limits bound a text with all aliases resolved. A short text with aliases can
// stand for a document that fits into no memory.
type Limits struct {
	// Values is how many scalars, lists and maps there may be.
	Values int
	// Bytes is how much all scalars may have together.
	Bytes int
	// Depth is how deep they may be in each other.
	Depth int
}

// DefaultLimits are far above what people write.
func DefaultLimits() Limits {
	return Limits{Values: 500_000, Bytes: 64 << 20, Depth: 500}
}

// maxDigits is how long a number may be.
const maxDigits = 1000

// Decode returns the value of the first document of a YAML or JSON text: nil,
// bool, string, json.Number, []any or map[string]any. The words that were booleans
// in YAML 1.1 still are; keys are always texts.
func Decode(text []byte, limits Limits) (any, error) {
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil {
		return nil, err //nolint:wrapcheck // the caller tells what the text is
	}
	if len(document.Content) == 0 {
		return nil, nil
	}
	r := reader{limits: limits, open: map[*yaml.Node]bool{}}
	return r.value(document.Content[0])
}

type reader struct {
	limits               Limits
	values, bytes, depth int
	// open are the nodes with an anchor that are being read.
	open map[*yaml.Node]bool
}

func (r *reader) value(n *yaml.Node) (any, error) {
	r.depth++
	defer func() { r.depth-- }()
	r.values++
	r.bytes += len(n.Value)
	switch {
	case r.values > r.limits.Values || r.bytes > r.limits.Bytes:
		return nil, at(n, fmt.Errorf("the text has more than %d values or %d bytes after its aliases are resolved", r.limits.Values, r.limits.Bytes))
	case r.depth > r.limits.Depth:
		return nil, at(n, fmt.Errorf("the text is more than %d levels deep", r.limits.Depth))
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
		value, err := scalar(n)
		if err != nil {
			return nil, at(n, err)
		}
		return value, nil
	}
	return nil, at(n, errors.New("unexpected YAML"))
}

func at(n *yaml.Node, err error) error { return fmt.Errorf("line %d: %w", n.Line, err) }

func (r *reader) alias(n *yaml.Node) (any, error) {
	if r.open[n.Alias] {
		return nil, at(n, fmt.Errorf("anchor %q contains itself", n.Value))
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
		key := n.Content[i]
		if key.Kind == yaml.AliasNode {
			key = key.Alias
		}
		if key.Kind != yaml.ScalarNode {
			return nil, at(key, errors.New("the key of a map must be a text"))
		}
		value, err := r.value(n.Content[i+1])
		if err != nil {
			return nil, err
		}
		if key.ShortTag() == "!!merge" {
			if err := merge(merged, value); err != nil {
				return nil, at(key, err)
			}
			continue
		}
		if _, exists := result[key.Value]; exists {
			return nil, at(key, fmt.Errorf("key %q is there twice", key.Value))
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

// merge adds what is behind the key "<<": a map or a list of them, of which
// earlier ones win.
func merge(into map[string]any, value any) error {
	if list, ok := value.([]any); ok {
		for _, element := range list {
			if _, nested := element.([]any); nested {
				return errors.New("only maps can be merged with <<")
			}
			if err := merge(into, element); err != nil {
				return err
			}
		}
		return nil
	}
	from, ok := value.(map[string]any)
	if !ok {
		return errors.New("only maps can be merged with <<")
	}
	for key, value := range from {
		if _, exists := into[key]; !exists {
			into[key] = value
		}
	}
	return nil
}

func scalar(n *yaml.Node) (any, error) {
	switch n.ShortTag() {
	case "!!null":
		return nil, nil
	case "!!bool":
		return strings.EqualFold(n.Value, "true") || isOldBool(n.Value) == "true", nil
	case "!!int", "!!float":
		return number(n)
	case "!!binary":
		var content string
		if err := n.Decode(&content); err != nil {
			return nil, fmt.Errorf("decode base64: %w", err)
		}
		return content, nil
	}
	if n.Style == 0 {
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

func number(n *yaml.Node) (any, error) {
	if len(n.Value) > maxDigits {
		return nil, fmt.Errorf("a number has more than %d digits", maxDigits)
	}
	var decoded any
	if err := n.Decode(&decoded); err != nil {
		return nil, err //nolint:wrapcheck // the caller tells the line
	}
	switch decoded := decoded.(type) {
	case int, int64, uint64:
		return json.Number(fmt.Sprint(decoded)), nil
	case float64:
		return float(n.Value, decoded)
	}
	return nil, fmt.Errorf("%.80q is no number", n.Value)
}

// float keeps the digits of a number where JSON can write them in the same way.
func float(text string, f float64) (any, error) {
	if i, ok := new(big.Int).SetString(text, 10); ok {
		return json.Number(i.String()), nil
	}
	switch {
	case json.Valid([]byte(text)):
		return json.Number(text), nil
	case math.IsInf(f, 0) || math.IsNaN(f):
		return nil, fmt.Errorf("%s is not a number that JSON has", text)
	}
	if f == 0 {
		// A zero has no sign that an integer could keep.
		f = 0
	}
	return json.Number(strconv.FormatFloat(f, 'g', -1, 64)), nil
}
