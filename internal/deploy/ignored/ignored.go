// Package ignored finds what a configuration of an item says without effect: the published
// deployers ignore fields that they do not know, so that a misspelt one is no error.
package ignored

import (
	"encoding/json"
	"reflect"
	"regexp"

	"k8s.io/apimachinery/pkg/runtime"

	"go.landscaper.dev/internal/base/yamltext"
)

// UnknownFields is the reason of warnings about fields.
const UnknownFields = "UnknownFields"

// nameForm is what names of fields look like. Anything else may be a value of an import
// that a template has put where a name belongs.
var nameForm = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9]{0,39}$`)

// Fields lists the fields of a configuration of type T that do not exist. What is free, as
// manifests and values of charts, is not looked into.
func Fields[T any](config *runtime.RawExtension) []string {
	if config == nil {
		return nil
	}
	var fields map[string]any
	if json.Unmarshal(config.Raw, &fields) != nil {
		return nil // the deployer that reads the configuration says so
	}
	return yamltext.UnknownFieldsAnyCase("spec.config", shown(fields).(map[string]any), reflect.TypeFor[T]())
}

// shown replaces what does not look like the name of a field.
func shown(value any) any {
	switch value := value.(type) {
	case map[string]any:
		named := make(map[string]any, len(value))
		for name, element := range value {
			if !nameForm.MatchString(name) {
				name = "…"
			}
			named[name] = shown(element)
		}
		return named
	case []any:
		for i := range value {
			value[i] = shown(value[i])
		}
	}
	return value
}
