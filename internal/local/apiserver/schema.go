package apiserver

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/base/jsonvalue"
)

// ownGroup is the group of Landscaper's own kinds.
const ownGroup = v1alpha1.GroupName

// applyDefaults puts the defaults of a schema into a value.
func applyDefaults(value any, schema *apiextensionsv1.JSONSchemaProps) {
	switch value := value.(type) {
	case map[string]any:
		for name := range schema.Properties {
			property := schema.Properties[name]
			if _, present := value[name]; !present && property.Default != nil {
				if given, err := jsonvalue.FromJSON(property.Default.Raw); err == nil {
					value[name] = given
				}
			}
			if inner, present := value[name]; present {
				applyDefaults(inner, &property)
			}
		}
		if schema.AdditionalProperties != nil && schema.AdditionalProperties.Schema != nil {
			for name, inner := range value {
				if _, own := schema.Properties[name]; !own {
					applyDefaults(inner, schema.AdditionalProperties.Schema)
				}
			}
		}
	case []any:
		if schema.Items != nil && schema.Items.Schema != nil {
			for _, inner := range value {
				applyDefaults(inner, schema.Items.Schema)
			}
		}
	}
}

// check compares a value with a schema: types, required fields, and words to choose from.
func check(value any, schema *apiextensionsv1.JSONSchemaProps, at *field.Path) (problems field.ErrorList) {
	if value == nil {
		return nil
	}
	if schema.XIntOrString {
		return nil
	}
	if problem := checkType(value, schema.Type, at); problem != nil {
		return field.ErrorList{problem}
	}
	if len(schema.Enum) > 0 && !slices.ContainsFunc(schema.Enum, func(allowed apiextensionsv1.JSON) bool { return sameJSON(allowed.Raw, value) }) {
		var words []string
		for _, allowed := range schema.Enum {
			words = append(words, string(allowed.Raw))
		}
		problems = append(problems, field.NotSupported(at, value, words))
	}
	switch value := value.(type) {
	case map[string]any:
		return append(problems, checkMap(value, schema, at)...)
	case []any:
		if schema.Items != nil && schema.Items.Schema != nil {
			for i, inner := range value {
				problems = append(problems, check(inner, schema.Items.Schema, at.Index(i))...)
			}
		}
	}
	return problems
}

func checkMap(value map[string]any, schema *apiextensionsv1.JSONSchemaProps, at *field.Path) (problems field.ErrorList) {
	for _, name := range schema.Required {
		if _, present := value[name]; !present {
			problems = append(problems, field.Required(at.Child(name), ""))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(value)) {
		if property, known := schema.Properties[name]; known {
			if at != nil || name != "metadata" && name != "apiVersion" && name != "kind" {
				problems = append(problems, check(value[name], &property, at.Child(name))...)
			}
		} else if more := schema.AdditionalProperties; more != nil && more.Schema != nil {
			problems = append(problems, check(value[name], more.Schema, at.Key(name))...)
		}
	}
	return problems
}

// checkType compares the type of a value with that of a schema.
func checkType(value any, wanted string, at *field.Path) *field.Error {
	found := ""
	switch value := value.(type) {
	case map[string]any:
		found = "object"
	case []any:
		found = "array"
	case string:
		found = "string"
	case bool:
		found = "boolean"
	case int64:
		found = "integer"
	case float64:
		found = "number"
		if value == float64(int64(value)) {
			found = "integer"
		}
	}
	if wanted == "" || found == wanted || found == "integer" && wanted == "number" || found == "" {
		return nil
	}
	return field.Invalid(at, found, fmt.Sprintf("must be of type %s", wanted))
}

func sameJSON(raw []byte, value any) bool {
	encoded, err := json.Marshal(value)
	return err == nil && string(encoded) == string(raw)
}
