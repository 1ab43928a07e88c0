package yamltext

import (
	"reflect"
	"strings"
)

// Fields returns the fields of a struct, and of those embedded in it, under the
// names that they have in a text.
func Fields(of reflect.Type) map[string]reflect.Type {
	fields := map[string]reflect.Type{}
	collect(of, fields)
	return fields
}

func collect(of reflect.Type, into map[string]reflect.Type) {
	for of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	for i := range of.NumField() {
		field := of.Field(i)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case field.Anonymous && name == "":
			collect(field.Type, into)
		case name == "-" || !field.IsExported():
		case name == "":
			into[field.Name] = field.Type
		default:
			into[name] = field.Type
		}
	}
}
