package template

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"go.landscaper.dev/internal/base/jsonvalue"
	"go.landscaper.dev/internal/base/textscan"
	"go.landscaper.dev/internal/content/template/gotemplate"
	"go.landscaper.dev/internal/content/template/mask"
)

// Output is what an execution gives.
type Output struct {
	source source
	// rendered is what a Go template printed, with what is known about it.
	rendered *gotemplate.Result
	// document is the JSON of the document, and fields are those of its root.
	document []byte
	fields   map[string]json.RawMessage
	// broken says why the output is not a document.
	broken error
	state  []byte
}

// State returns the state to be stored as YAML; nil if what is stored stays.
func (o *Output) State() []byte { return o.state }

// take keeps a document. An empty one is a map without fields.
func (o *Output) take(raw []byte) error {
	raw = bytes.TrimSpace(raw)
	o.document = raw
	if bytes.Equal(raw, []byte("null")) {
		return nil
	}
	if len(raw) == 0 || raw[0] != '{' {
		return errors.New("the root of the output must be a map with fields such as deployItems")
	}
	if err := json.Unmarshal(raw, &o.fields); err != nil {
		return errors.New("the output is not a document")
	}
	return nil
}

// Field returns a field of the root as a plain value; nil if it does not exist.
// Its name matches in any case.
func (o *Output) Field(name string) any {
	value, err := jsonvalue.FromJSON(o.field(name))
	if err != nil {
		return nil
	}
	return value
}

// field returns the JSON of a field of the root, null if it does not exist.
func (o *Output) field(name string) json.RawMessage {
	null := json.RawMessage("null")
	for _, key := range slices.Sorted(maps.Keys(o.fields)) {
		if strings.EqualFold(key, name) && !bytes.Equal(o.fields[key], null) {
			return o.fields[key]
		}
	}
	return null
}

// ignored is a value that is never read.
type ignored struct{}

// UnmarshalJSON keeps nothing.
func (ignored) UnmarshalJSON([]byte) error { return nil }

// FieldNames are the names of the fields of a map, in order; anything else has none.
type FieldNames []string

// UnmarshalJSON keeps only names.
func (n *FieldNames) UnmarshalJSON(raw []byte) error {
	var fields map[string]ignored
	if json.Unmarshal(raw, &fields) == nil {
		*n = slices.Sorted(maps.Keys(fields))
	}
	return nil
}

// FieldsOf returns the names of the fields of each element of a list at the root, in order; nil if
// the value is not a list.
func (o *Output) FieldsOf(list string) []FieldNames {
	var names []FieldNames
	o.Look(list, &names)
	return names
}

// Look reads as much of a field of the root as a value takes, and nothing of a field of another type.
func (o *Output) Look(field string, into any) {
	if value := reflect.ValueOf(into).Elem(); json.Unmarshal(o.field(field), into) != nil {
		value.SetZero()
	}
}

// Says reports whether the template has a text literally, as a word of its own. Such a text is not
// secret.
func (o *Output) Says(text string) bool {
	if o.rendered != nil {
		return o.rendered.Says(text)
	}
	return textscan.HasWord(o.source.spiffText(), text)
}

// Show returns a text of the output as messages may show it: what the template says
// literally stays, anything else is hidden.
func (o *Output) Show(text string) string {
	if o.Says(text) {
		return text
	}
	return mask.Hidden
}

// Decode stores the document in a struct. Names of fields match in any case, as
// in deployItems and deployitems. Other fields are ignored. Values of type any are
// plain values.
//
// The library decodes first, because that is fast; only where it fails, the document is
// walked once more, to find the place without repeating the value.
func (o *Output) Decode(into any) error {
	if o.broken != nil {
		return o.explain(o.broken, nil)
	}
	target := reflect.TypeOf(into).Elem()
	if err := o.checkSpellings(target); err != nil {
		return o.explain(err, nil)
	}
	decoder := json.NewDecoder(bytes.NewReader(o.document))
	decoder.UseNumber()
	if err := decoder.Decode(into); err != nil {
		document, parseErr := jsonvalue.FromJSON(o.document)
		if parseErr != nil {
			return o.explain(errors.New("the output is not a document"), nil)
		}
		path, problem := misfit(document, target)
		return o.explain(problem, path)
	}
	return exactNumbers(reflect.ValueOf(into))
}

// checkSpellings refuses a field of the root that is there in two spellings, of
// which one would be lost.
func (o *Output) checkSpellings(target reflect.Type) error {
	if target.Kind() != reflect.Struct {
		return nil
	}
	for _, name := range fieldNames(target) {
		var found []string
		for _, key := range slices.Sorted(maps.Keys(o.fields)) {
			if strings.EqualFold(key, name) {
				found = append(found, key)
			}
		}
		if len(found) > 1 {
			return fmt.Errorf("the output has the field %s more than once, as %s: use one spelling", name, strings.Join(found, " and "))
		}
	}
	return nil
}

// exactNumbers replaces the number literals in fields of type any.
func exactNumbers(v reflect.Value) error {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			return exactNumbers(v.Elem())
		}
	case reflect.Interface:
		if v.IsNil() || !v.CanSet() {
			return nil
		}
		value, err := jsonvalue.FromObject(v.Interface())
		if err != nil {
			return fmt.Errorf("decode a value of any type: %w", err)
		}
		if value != nil {
			v.Set(reflect.ValueOf(value))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				if err := exactNumbers(v.Field(i)); err != nil {
					return err
				}
			}
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return nil
		}
		for i := range v.Len() {
			if err := exactNumbers(v.Index(i)); err != nil {
				return err
			}
		}
	case reflect.Map:
		return exactMap(v)
	}
	return nil
}

// exactMap replaces elements of a map, which cannot be changed in place.
func exactMap(v reflect.Value) error {
	for iter := v.MapRange(); iter.Next(); {
		element := reflect.New(v.Type().Elem()).Elem()
		element.Set(iter.Value())
		if err := exactNumbers(element); err != nil {
			return err
		}
		v.SetMapIndex(iter.Key(), element)
	}
	return nil
}
