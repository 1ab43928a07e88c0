package descriptor

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// Typed is a JSON object with a field "type": a repository context or an access.
// Its text is kept as it was read.
type Typed json.RawMessage

// NewTyped encodes a value, which must have a field "type".
func NewTyped(value any) (Typed, error) {
	raw, err := json.Marshal(value)
	if err != nil {
		return nil, fmt.Errorf("encode a typed object: %w", err)
	}
	return Typed(raw), nil
}

// Type returns the value of the field "type", or "".
func (t Typed) Type() string {
	var typed struct {
		Type any `json:"type"`
	}
	if json.Unmarshal(t, &typed) != nil {
		return ""
	}
	name, _ := typed.Type.(string)
	return name
}

// Kind returns the type without its version: ociArtifact for ociArtifact/v1.
func (t Typed) Kind() string {
	kind, _, _ := strings.Cut(t.Type(), "/")
	return kind
}

// Decode reads the object into a value.
func (t Typed) Decode(into any) error {
	if err := json.Unmarshal(t, into); err != nil {
		return fmt.Errorf("decode an object of type %q: %w", t.Type(), err)
	}
	return nil
}

// IsZero reports whether the object is missing.
func (t Typed) IsZero() bool {
	trimmed := bytes.TrimSpace(t)
	return len(trimmed) == 0 || bytes.Equal(trimmed, []byte("null"))
}

// MarshalJSON writes the object as it was read.
func (t Typed) MarshalJSON() ([]byte, error) {
	if len(t) == 0 {
		return []byte("null"), nil
	}
	return t, nil
}

// UnmarshalJSON keeps the object.
func (t *Typed) UnmarshalJSON(data []byte) error {
	*t = append((*t)[:0], data...)
	return nil
}

// String returns the JSON text.
func (t Typed) String() string { return string(t) }
