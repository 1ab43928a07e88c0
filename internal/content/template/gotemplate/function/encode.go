package function

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"

	"github.com/BurntSushi/toml"

	"go.landscaper.dev/internal/base/jsonvalue"
	"go.landscaper.dev/internal/base/yamltext"
	"go.landscaper.dev/internal/content/template/gotemplate/failure"
	"go.landscaper.dev/internal/content/template/gotemplate/operand"
)

// writable is the estimate of what a value is as JSON or YAML, and a check that it
// does not contain itself.
func (l *Library) writable(value any) error {
	w, err := l.Measure(value)
	if err != nil {
		return err
	}
	if estimate := w.Bytes + w.Nodes*(2*w.Depth+4); estimate > l.Limits.Text {
		return l.Spend(estimate)
	}
	return nil
}

// ToYAML writes a value as YAML.
func (l *Library) ToYAML(value any) (string, error) {
	if err := l.writable(value); err != nil {
		return "", err
	}
	text, err := yamltext.Encode(value)
	if err != nil {
		return "", &failure.CallError{Name: "toYaml", Reason: err.Error()}
	}
	return strings.TrimSuffix(text, "\n"), nil
}

// FromYAML reads a text as YAML.
func (l *Library) FromYAML(text string) (any, error) {
	if err := yamltext.DefaultLimits().Check([]byte(text)); err != nil {
		return nil, &failure.Refusal{Reason: err.Error()}
	}
	return l.While(yamlSize(text), func() (any, error) {
		value, err := jsonvalue.FromYAML([]byte(text))
		if err != nil {
			return nil, &failure.CallError{Name: "fromYaml", Reason: "the text is not YAML: " + err.Error()}
		}
		return operand.Made(value), nil
	})
}

func (l *Library) toJSON(value any) (string, error) { return l.writeJSON(value, true, "") }

func (l *Library) toPrettyJSON(value any) (string, error) { return l.writeJSON(value, true, "  ") }

func (l *Library) toRawJSON(value any) (string, error) { return l.writeJSON(value, false, "") }

func (l *Library) writeJSON(value any, escapeHTML bool, indent string) (string, error) {
	if err := l.writable(value); err != nil {
		return "", err
	}
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
func (l *Library) FromJSON(text string) (any, error) {
	if err := yamltext.DefaultLimits().Check([]byte(text)); err != nil {
		return nil, &failure.Refusal{Reason: err.Error()}
	}
	return l.While(jsonSize(text), func() (any, error) {
		value, err := jsonvalue.FromJSON([]byte(text))
		if err != nil {
			return nil, &failure.CallError{Name: "fromJson", Reason: "the text is not JSON"}
		}
		return operand.Made(value), nil
	})
}

// fromJSONLenient gives nothing for a text that is not JSON.
func (l *Library) fromJSONLenient(text string) (any, error) {
	value, err := l.FromJSON(text)
	var refused *failure.Refusal
	if errors.As(err, &refused) {
		return nil, err
	}
	return value, nil
}

// ToTOML writes a value as TOML.
func (l *Library) ToTOML(value any) (string, error) {
	if err := l.writable(value); err != nil {
		return "", err
	}
	var out bytes.Buffer
	if err := toml.NewEncoder(&out).Encode(value); err != nil {
		return "", &failure.CallError{Name: "toToml", Reason: "the value cannot be written as TOML"}
	}
	return out.String(), nil
}

// FromTOML reads a text as TOML.
func (l *Library) FromTOML(text string) (any, error) {
	if err := yamltext.DefaultLimits().Check([]byte(text)); err != nil {
		return nil, &failure.Refusal{Reason: err.Error()}
	}
	return l.While(jsonSize(text)+readMap*int64(strings.Count(text, "\n")+strings.Count(text, ".")), func() (any, error) {
		var content map[string]any
		if _, err := toml.Decode(text, &content); err != nil {
			return nil, &failure.CallError{Name: "fromToml", Reason: "the text is not TOML"}
		}
		return operand.Made(content), nil
	})
}

// The memory that a value of a text takes while it is read. Braces in texts count, too: this is an
// upper bound.
const (
	readValue = 64
	readMap   = 370
	readNode  = 250
)

// jsonSize estimates the memory for reading a text as JSON.
func jsonSize(text string) int64 {
	return 2*int64(len(text)) + readMap*int64(strings.Count(text, "{")) +
		readValue*int64(strings.Count(text, ",")+strings.Count(text, ":")+strings.Count(text, "["))
}

// yamlSize is the same for YAML, which is read into nodes first.
func yamlSize(text string) int64 {
	return jsonSize(text) + readNode*int64(strings.Count(text, "\n")+strings.Count(text, ",")+strings.Count(text, ":")+strings.Count(text, "[")+strings.Count(text, "{"))
}
