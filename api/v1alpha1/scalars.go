package v1alpha1

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
)

// DurationNone is the text of a Duration that means "no limit".
const DurationNone = "none"

// Duration is a time span in Go's notation, such as "90s" or "1h30m", or the
// word "none", which means that there is no limit.
//
// It decodes from any string, because a watch must be able to read objects that
// carry a wrong one. Parsed reports whether the text is usable.
//
// +kubebuilder:validation:Type=string
type Duration struct {
	// Duration is the parsed time span; 0 stands for "none".
	Duration time.Duration `json:"-"`
	// invalid keeps a text that is not a duration.
	invalid string
}

// NewDuration returns the Duration of a time span.
func NewDuration(d time.Duration) *Duration { return &Duration{Duration: d} }

// Parsed returns the time span and an error if the text that was decoded is not
// a duration. 0 means that there is no limit.
func (d Duration) Parsed() (time.Duration, error) {
	if d.invalid != "" {
		// The text is not quoted: a template may have put anything there.
		return 0, fmt.Errorf("it is not a duration: use a number with a unit such as 90s, 10m or 1h30m, or %q", DurationNone)
	}
	return d.Duration, nil
}

// String returns the text that the Duration has on the wire.
func (d Duration) String() string {
	switch {
	case d.invalid != "":
		return d.invalid
	case d.Duration == 0:
		return DurationNone
	}
	return d.Duration.String()
}

// MarshalJSON writes the text of the Duration.
func (d Duration) MarshalJSON() ([]byte, error) { return json.Marshal(d.String()) }

// UnmarshalJSON reads any JSON value; what is not a duration is kept and
// reported by Parsed.
func (d *Duration) UnmarshalJSON(data []byte) error {
	*d = Duration{}
	text := string(data)
	if unquoted := ""; json.Unmarshal(data, &unquoted) == nil && unquoted != "" {
		text = unquoted
	}
	if text == DurationNone {
		return nil
	}
	if parsed, err := time.ParseDuration(text); err == nil && data[0] == '"' {
		d.Duration = parsed
	} else {
		d.invalid = text
	}
	return nil
}

// AnyJSON is a JSON value of any type.
//
// +kubebuilder:pruning:PreserveUnknownFields
// +kubebuilder:validation:Schemaless
type AnyJSON struct {
	// RawMessage is the value as JSON text; empty stands for null.
	RawMessage json.RawMessage `json:"-"`
}

// NewAnyJSON returns the AnyJSON of a JSON text.
func NewAnyJSON(raw []byte) AnyJSON { return AnyJSON{RawMessage: raw} }

// NewAnyJSONPointer returns a pointer to the AnyJSON of a JSON text.
func NewAnyJSONPointer(raw []byte) *AnyJSON { return &AnyJSON{RawMessage: raw} }

// MarshalJSON writes the value.
func (a AnyJSON) MarshalJSON() ([]byte, error) {
	if len(a.RawMessage) == 0 {
		return []byte("null"), nil
	}
	return a.RawMessage, nil
}

// UnmarshalJSON keeps the value; null becomes empty.
func (a *AnyJSON) UnmarshalJSON(data []byte) error {
	a.RawMessage = nil
	if !isJSONNull(data) {
		a.RawMessage = bytes.Clone(data)
	}
	return nil
}

// JSONSchemaDefinition is a JSON schema. It is checked when it is used.
//
// +kubebuilder:pruning:PreserveUnknownFields
// +kubebuilder:validation:Schemaless
type JSONSchemaDefinition struct {
	// RawMessage is the schema as JSON text.
	RawMessage json.RawMessage `json:"-"`
}

// MarshalJSON writes the schema.
func (s JSONSchemaDefinition) MarshalJSON() ([]byte, error) {
	return AnyJSON(s).MarshalJSON()
}

// UnmarshalJSON keeps the schema.
func (s *JSONSchemaDefinition) UnmarshalJSON(data []byte) error {
	return (*AnyJSON)(s).UnmarshalJSON(data)
}

// UnstructuredTypedObject is an object with a "type" and any further fields. It
// is used for repository contexts and for the access of component resources.
//
// +kubebuilder:pruning:PreserveUnknownFields
// +kubebuilder:validation:Schemaless
type UnstructuredTypedObject struct {
	// Raw is the object as canonical JSON text: keys are sorted, white space is
	// removed.
	Raw json.RawMessage `json:"-"`
}

// NewUnstructuredTypedObject returns the typed object with the given type and
// further fields.
func NewUnstructuredTypedObject(objectType string, fields map[string]any) (*UnstructuredTypedObject, error) {
	object := make(map[string]any, len(fields)+1)
	for key, value := range fields {
		object[key] = value
	}
	object["type"] = objectType
	raw, err := json.Marshal(object)
	if err != nil {
		return nil, fmt.Errorf("encode object of type %s: %w", objectType, err)
	}
	return &UnstructuredTypedObject{Raw: raw}, nil
}

// Type returns the value of the field "type", or "" without the field.
func (o *UnstructuredTypedObject) Type() string {
	if o == nil {
		return ""
	}
	var typed struct {
		Type any `json:"type"`
	}
	if json.Unmarshal(o.Raw, &typed) != nil {
		return ""
	}
	name, _ := typed.Type.(string)
	return name
}

// Decode reads the object into a value.
func (o *UnstructuredTypedObject) Decode(into any) error {
	if o.Type() == "" {
		return fmt.Errorf("the object has no field %q of type string", "type")
	}
	if err := json.Unmarshal(o.Raw, into); err != nil {
		return fmt.Errorf("decode object of type %s: %w", o.Type(), err)
	}
	return nil
}

// Equal reports whether both objects have the same content, in any order of
// keys.
func (o *UnstructuredTypedObject) Equal(other *UnstructuredTypedObject) bool {
	if o == nil || other == nil {
		return o == other
	}
	return bytes.Equal(o.Raw, other.Raw)
}

// MarshalJSON writes the object with sorted keys.
func (o UnstructuredTypedObject) MarshalJSON() ([]byte, error) {
	return AnyJSON{RawMessage: o.Raw}.MarshalJSON()
}

// UnmarshalJSON reads any JSON value; Type and Decode tell whether it is a typed
// object.
func (o *UnstructuredTypedObject) UnmarshalJSON(data []byte) error {
	o.Raw = nil
	if isJSONNull(data) {
		return nil
	}
	// Numbers stay as they were written: a round trip through float64 would
	// change large ones.
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return fmt.Errorf("decode typed object: %w", err)
	}
	raw, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("encode typed object: %w", err)
	}
	o.Raw = raw
	return nil
}

func isJSONNull(data []byte) bool {
	return bytes.Equal(bytes.TrimSpace(data), []byte("null"))
}

// A comparison of objects by equality.Semantic meets durations in them, and panics on fields
// that are not exported.
func init() {
	utilruntime.Must(equality.Semantic.AddFunc(func(a, b Duration) bool { return a == b }))
}
