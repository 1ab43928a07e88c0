package yamltext

import (
	"encoding/json"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Encode writes a value as Decode returns it.
func Encode(value any) (string, error) {
	prepared, err := literal(value, DefaultLimits().Depth)
	if err != nil {
		return "", fmt.Errorf("encode as YAML: %w", err)
	}
	var out strings.Builder
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	encoder.CompactSeqIndent()
	if err := encoder.Encode(prepared); err != nil {
		return "", fmt.Errorf("encode as YAML: %w", err)
	}
	return out.String(), nil
}

// literal puts nodes in the place of numbers: the encoder takes them for texts.
// The depth is bounded, since the indentation grows with its square.
func literal(value any, depth int) (any, error) {
	if depth < 0 {
		return nil, fmt.Errorf("the value is more than %d levels deep", DefaultLimits().Depth)
	}
	var err error
	switch value := value.(type) {
	case json.Number:
		return &yaml.Node{Kind: yaml.ScalarNode, Value: value.String()}, nil
	case []any:
		list := make([]any, len(value))
		for i, element := range value {
			if list[i], err = literal(element, depth-1); err != nil {
				return nil, err
			}
		}
		return list, nil
	case map[string]any:
		fields := make(map[string]any, len(value))
		for key, field := range value {
			if fields[key], err = literal(field, depth-1); err != nil {
				return nil, err
			}
		}
		return fields, nil
	}
	return value, nil
}
