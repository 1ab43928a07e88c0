package yamltext

import (
	"encoding/json"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Encode writes a value as Decode returns it.
func Encode(value any) (string, error) {
	var out strings.Builder
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	encoder.CompactSeqIndent()
	if err := encoder.Encode(literal(value)); err != nil {
		return "", fmt.Errorf("encode as YAML: %w", err)
	}
	return out.String(), nil
}

// literal puts nodes in the place of numbers: the encoder takes them for texts.
func literal(value any) any {
	switch value := value.(type) {
	case json.Number:
		return &yaml.Node{Kind: yaml.ScalarNode, Value: value.String()}
	case []any:
		list := make([]any, len(value))
		for i, element := range value {
			list[i] = literal(element)
		}
		return list
	case map[string]any:
		fields := make(map[string]any, len(value))
		for key, field := range value {
			fields[key] = literal(field)
		}
		return fields
	}
	return value
}
