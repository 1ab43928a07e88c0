package valueobject

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"go.landscaper.dev/api/v1alpha1"
)

// exportedTarget is what a blueprint gives for an exported Target. The older name
// of the field config is known, too.
type exportedTarget struct {
	v1alpha1.TargetTemplate `json:",inline"`
	OlderConfiguration      *v1alpha1.AnyJSON `json:"configuration"`
}

// DecodeTargetTemplate reads the value of an exported Target. Errors do not quote
// it.
func DecodeTargetTemplate(value any) (*v1alpha1.TargetTemplate, error) {
	if _, ok := value.(map[string]any); !ok {
		return nil, errors.New("it must be a map with type and config or secretRef")
	}
	raw, err := json.Marshal(value)
	if err != nil {
		return nil, errors.New("it cannot be encoded as JSON")
	}
	var decoded exportedTarget
	if err := json.Unmarshal(raw, &decoded); err != nil {
		return nil, wrongField(err)
	}
	template := &decoded.TargetTemplate
	if template.Configuration == nil {
		template.Configuration = decoded.OlderConfiguration
	}
	switch {
	case template.Type == "":
		return nil, errors.New("it has no type")
	case template.Configuration != nil && template.SecretRef != nil:
		return nil, errors.New("it has config and secretRef: give one of them")
	case template.SecretRef != nil && template.SecretRef.Name == "":
		return nil, errors.New("secretRef has no name")
	}
	return template, nil
}

// wrongField names the field that could not be read, but not what is in it.
func wrongField(err error) error {
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) && wrong.Field != "" {
		// The decoder names embedded types as if they were fields.
		name := strings.TrimPrefix(strings.TrimPrefix(wrong.Field, "TargetTemplate."), "TargetSpec.")
		return fmt.Errorf("field %s has not the form of %s", name, formOf(wrong))
	}
	return errors.New("a field has not the expected form")
}

func formOf(wrong *json.UnmarshalTypeError) string {
	switch kind := wrong.Type.Kind().String(); kind {
	case "string":
		return "a text"
	case "map", "struct":
		return "a map"
	default:
		return "a " + kind
	}
}
