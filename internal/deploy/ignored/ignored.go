// Package ignored finds what a configuration of an item says without effect: the published
// deployers ignore fields that they do not know, so that a misspelt one is no error.
package ignored

import (
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"

	"k8s.io/apimachinery/pkg/runtime"

	"go.landscaper.dev/api/deployer"
	"go.landscaper.dev/internal/base/yamltext"
	"go.landscaper.dev/internal/deploy/several"
)

// nameForm is what names of fields look like. Anything else may be a value of an import
// that a template has put where a name belongs.
var nameForm = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9]{0,39}$`)

// aliases are the types of configurations that read themselves, each with the names that it accepts
// besides its fields.
var aliases = map[reflect.Type][]string{
	reflect.TypeFor[deployer.PredefinedResourceGroup](): {"force-delete"},
	reflect.TypeFor[deployer.CustomResourceGroup]():     {"force-delete"},
	reflect.TypeFor[deployer.ResourceType]():            {"namespace"},
	reflect.TypeFor[deployer.ResourceSelector]():        nil,
}

// search looks for unknown fields of configurations, whose decoders accept any case.
var search = yamltext.Search{AnyCase: true, Aliases: aliases, Show: Name}

// Fields lists the fields of a configuration of type T that do not exist. What is free, as
// manifests and values of charts, is not looked into.
func Fields[T any](config *runtime.RawExtension) []string {
	return search.Ignored("spec.config", fieldsOf(config), reflect.TypeFor[T]())
}

// Refused returns an error for each field of a configuration of type T that does not exist, for a
// deployer that refuses them; nil if all exist.
func Refused[T any](config *runtime.RawExtension) error {
	var problems several.Errors
	for _, unknown := range search.Unknown("", fieldsOf(config), reflect.TypeFor[T]()) {
		problems = append(problems, fmt.Errorf("unknown field %q%s", unknown.Path, unknown.Question()))
	}
	return problems.OrNil()
}

// fieldsOf returns the fields of a configuration; the deployer that reads it reports what is wrong with
// it.
func fieldsOf(config *runtime.RawExtension) map[string]any {
	var fields map[string]any
	if config == nil || json.Unmarshal(config.Raw, &fields) != nil {
		return nil
	}
	return fields
}

// Name shows a name if it looks like that of a field.
func Name(name string) string {
	if !nameForm.MatchString(name) {
		return "…"
	}
	return name
}
