package function

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/BurntSushi/toml"

	"go.landscaper.dev/internal/base/jsonvalue"
	"go.landscaper.dev/internal/base/yamltext"
	"go.landscaper.dev/internal/content/template/gotemplate/failure"
	"go.landscaper.dev/internal/content/template/gotemplate/operand"
)

// ToYAML writes a value as YAML.
func ToYAML(value any) (string, error) {
	text, err := yamltext.Encode(value)
	if err != nil {
		return "", &failure.CallError{Name: "toYaml", Reason: err.Error()}
	}
	return strings.TrimSuffix(text, "\n"), nil
}

// FromYAML reads a text as YAML.
func FromYAML(text string) (any, error) {
	value, err := jsonvalue.FromYAML([]byte(text))
	if err != nil {
		return nil, &failure.CallError{Name: "fromYaml", Reason: "the text is not YAML: " + err.Error()}
	}
	return operand.Made(value), nil
}

func toJSON(value any) (string, error) { return writeJSON(value, true, "") }

func toPrettyJSON(value any) (string, error) { return writeJSON(value, true, "  ") }

func toRawJSON(value any) (string, error) { return writeJSON(value, false, "") }

func writeJSON(value any, escapeHTML bool, indent string) (string, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(escapeHTML)
	encoder.SetIndent("", indent)
	if err := encoder.Encode(value); err != nil {
		return "", &failure.CallError{Reason: "the value cannot be written as JSON"}
	}
	return strings.TrimSuffix(out.String(), "\n"), nil
}

// FromJSON reads a text as JSON.
func FromJSON(text string) (any, error) {
	value, err := jsonvalue.FromJSON([]byte(text))
	if err != nil {
		return nil, &failure.CallError{Name: "fromJson", Reason: "the text is not JSON"}
	}
	return operand.Made(value), nil
}

// fromJSONLenient gives nothing for a text that is not JSON.
func fromJSONLenient(text string) (any, error) {
	value, err := FromJSON(text)
	if err != nil {
		return nil, nil //nolint:nilerr // see above
	}
	return value, nil
}

// ToTOML writes a value as TOML.
func ToTOML(value any) (string, error) {
	var out bytes.Buffer
	if err := toml.NewEncoder(&out).Encode(value); err != nil {
		return "", &failure.CallError{Name: "toToml", Reason: "the value cannot be written as TOML"}
	}
	return out.String(), nil
}

// FromTOML reads a text as TOML.
func FromTOML(text string) (any, error) {
	var content map[string]any
	if _, err := toml.Decode(text, &content); err != nil {
		return nil, &failure.CallError{Name: "fromToml", Reason: "the text is not TOML"}
	}
	return operand.Made(content), nil
}
