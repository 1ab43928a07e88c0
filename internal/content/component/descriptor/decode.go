package descriptor

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"go.landscaper.dev/internal/base/jsonvalue"
	"go.landscaper.dev/internal/base/yamltext"
)

// MaxSize is the size of the largest descriptor that is read.
const MaxSize = 32 << 20

// maxDepth bounds how deep objects and lists may be nested in a descriptor.
const maxDepth = 200

// Text that is read costs many times its length in memory; these bounds keep a
// descriptor below a few hundred megabytes, before anything is made of it.
const (
	// maxYAML is the size of the largest descriptor in YAML.
	maxYAML = 8 << 20
	// maxValues is how many values a descriptor may have.
	maxValues = 400_000
)

// Decode reads a descriptor of any schema, in YAML or JSON, and checks it.
func Decode(data []byte) (*Descriptor, error) {
	raw, err := toJSON(data)
	if err != nil {
		return nil, err
	}
	d, err := decodeJSON(raw)
	if err != nil {
		return nil, err
	}
	if err := d.Validate(); err != nil {
		if d.Name == "" && d.Version == "" {
			return nil, fmt.Errorf("the component descriptor is not valid: %w", err)
		}
		return nil, fmt.Errorf("the component descriptor of %s:%s is not valid: %w", d.Name, d.Version, err)
	}
	return d, nil
}

// toJSON returns a YAML or JSON document as JSON.
func toJSON(data []byte) ([]byte, error) {
	if len(data) > MaxSize {
		return nil, fmt.Errorf("the component descriptor has %d bytes, at most %d are read", len(data), MaxSize)
	}
	raw := bytes.TrimSpace(data)
	if len(raw) == 0 {
		return nil, errors.New("the component descriptor is empty")
	}
	if !json.Valid(raw) {
		value, err := yamltext.Decode(data, yamltext.Limits{Text: maxYAML, Values: maxValues, Bytes: MaxSize, Depth: maxDepth})
		if err == nil {
			raw, err = json.Marshal(value)
		}
		if err != nil {
			return nil, fmt.Errorf("the component descriptor is neither YAML nor JSON: %w", err)
		}
		if len(raw) > MaxSize {
			return nil, fmt.Errorf("the component descriptor has %d bytes as JSON, at most %d are read", len(raw), MaxSize)
		}
	}
	deepest, values := measure(raw)
	if deepest > maxDepth {
		return nil, fmt.Errorf("the component descriptor is nested deeper than %d levels", maxDepth)
	}
	if values > maxValues {
		return nil, fmt.Errorf("the component descriptor has more than %d values", maxValues)
	}
	return raw, nil
}

// measure returns how deep a JSON text is nested, and about how many values it has.
func measure(raw []byte) (deepest, values int) {
	level, inText := 0, false
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case inText && c == '\\':
			i++
		case c == '"':
			inText = !inText
		case inText:
		case c == '{' || c == '[':
			level++
			values++
			deepest = max(deepest, level)
		case c == '}' || c == ']':
			level--
		case c == ',':
			values++
		}
	}
	return deepest, values
}

func decodeJSON(raw []byte) (*Descriptor, error) {
	var probe struct {
		Meta *struct {
			SchemaVersion string `json:"schemaVersion"`
		} `json:"meta"`
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
	}
	if err := json.Unmarshal(raw, &probe); err != nil {
		return nil, fmt.Errorf("decode the component descriptor: %w", err)
	}
	schema := ""
	if probe.Meta != nil {
		schema = probe.Meta.SchemaVersion
	}
	switch {
	case schema != "" && probe.APIVersion != "":
		return nil, errors.New("the component descriptor has both meta.schemaVersion and apiVersion: keep one")
	case schema == "" && probe.APIVersion == "":
		return nil, errors.New("the component descriptor has neither meta.schemaVersion nor apiVersion: set meta.schemaVersion to v2")
	case schema == SchemaV2:
		return decodeV2(raw)
	case probe.APIVersion == SchemaV3Alpha1, probe.APIVersion == schemaV3Alias:
		if probe.Kind != kindV3 {
			return nil, fmt.Errorf("the component descriptor has another kind than %s", kindV3)
		}
		return decodeV3(raw)
	}
	return nil, fmt.Errorf("the component descriptor has a schema that is not known: use %s or %s", SchemaV2, SchemaV3Alpha1)
}

// Encode writes the descriptor as JSON in its schema.
func (d *Descriptor) Encode() ([]byte, error) {
	form, err := d.form()
	if err != nil {
		return nil, err
	}
	raw, err := json.Marshal(form)
	if err != nil {
		return nil, fmt.Errorf("encode the component descriptor of %s:%s: %w", d.Name, d.Version, err)
	}
	return raw, nil
}

// EncodeYAML writes the descriptor as YAML in its schema.
func (d *Descriptor) EncodeYAML() ([]byte, error) {
	raw, err := d.Encode()
	if err != nil {
		return nil, err
	}
	value, err := jsonvalue.FromJSONWithNumbers(raw)
	if err != nil {
		return nil, fmt.Errorf("encode the component descriptor of %s:%s: %w", d.Name, d.Version, err)
	}
	text, err := yamltext.Encode(value)
	if err != nil {
		return nil, fmt.Errorf("encode the component descriptor of %s:%s: %w", d.Name, d.Version, err)
	}
	return []byte(text), nil
}

func (d *Descriptor) form() (any, error) {
	switch d.Schema {
	case "", SchemaV2:
		return d.formV2(), nil
	case SchemaV3Alpha1, schemaV3Alias:
		return d.formV3(), nil
	}
	return nil, fmt.Errorf("the component descriptor of %s:%s has schema %q: %s and %s are known", d.Name, d.Version, d.Schema, SchemaV2, SchemaV3Alpha1)
}

// As returns the descriptor in another schema.
func (d *Descriptor) As(schema string) *Descriptor {
	converted := *d
	converted.Schema = schema
	return &converted
}
