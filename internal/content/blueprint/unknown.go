package blueprint

import (
	"reflect"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/base/yamltext"
)

// unknownFields lists the fields of a description that have no effect. Parts
// that are free, such as schemas, defaults and templates, are not looked into.
func unknownFields(fields map[string]any) []string {
	return UnknownFields(fields, reflect.TypeFor[v1alpha1.Blueprint]())
}

// UnknownFields lists the fields that have no effect in a description of a type,
// such as v1alpha1.InstallationTemplate.
func UnknownFields(fields map[string]any, into reflect.Type) []string {
	return yamltext.UnknownFields(fields, into)
}
