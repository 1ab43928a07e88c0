package gotemplate

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"

	"go.landscaper.dev/internal/plain"
	"go.landscaper.dev/internal/yamltext"
)

// writable is the estimate of what a value is as JSON or YAML, and a check that it
// does not contain itself.
func (r *renderer) writable(value any) error {
	w, err := r.measure(value)
	if err != nil {
		return err
	}
	if estimate := w.bytes + w.nodes*(2*w.depth+4); estimate > r.Limits.Text {
		return r.spend(estimate)
	}
	return nil
}

func (r *renderer) toYAML(value any) (string, error) {
	if err := r.writable(value); err != nil {
		return "", err
	}
	text, err := yamltext.Encode(value)
	if err != nil {
		return "", &callError{name: "toYaml", reason: err.Error()}
	}
	return strings.TrimSuffix(text, "\n"), nil
}

func (r *renderer) fromYAML(text string) (any, error) {
	if err := yamltext.DefaultLimits().Check([]byte(text)); err != nil {
		return nil, &refusal{reason: err.Error()}
	}
	return r.while(yamlSize(text), func() (any, error) {
		value, err := plain.FromYAML([]byte(text))
		if err != nil {
			return nil, &callError{name: "fromYaml", reason: "the text is not YAML: " + err.Error()}
		}
		return made(value), nil
	})
}

func (r *renderer) toJSON(value any) (string, error) { return r.writeJSON(value, true, "") }

func (r *renderer) toPrettyJSON(value any) (string, error) { return r.writeJSON(value, true, "  ") }

func (r *renderer) toRawJSON(value any) (string, error) { return r.writeJSON(value, false, "") }

func (r *renderer) writeJSON(value any, escapeHTML bool, indent string) (string, error) {
	if err := r.writable(value); err != nil {
		return "", err
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(escapeHTML)
	encoder.SetIndent("", indent)
	if err := encoder.Encode(value); err != nil {
		return "", &callError{reason: "the value cannot be written as JSON"}
	}
	return strings.TrimSuffix(out.String(), "\n"), nil
}

func (r *renderer) fromJSON(text string) (any, error) {
	if err := yamltext.DefaultLimits().Check([]byte(text)); err != nil {
		return nil, &refusal{reason: err.Error()}
	}
	return r.while(jsonSize(text), func() (any, error) {
		value, err := plain.FromJSON([]byte(text))
		if err != nil {
			return nil, &callError{name: "fromJson", reason: "the text is not JSON"}
		}
		return made(value), nil
	})
}

// fromJSONLenient gives nothing for a text that is not JSON.
func (r *renderer) fromJSONLenient(text string) (any, error) {
	value, err := r.fromJSON(text)
	var refused *refusal
	if errors.As(err, &refused) {
		return nil, err
	}
	return value, nil
}
