package yamltext

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// Unmarshal reads the first document of a YAML or JSON text into a Go value, as the
// JSON library does it. An error about the text is an *Error; one about a value of
// a wrong type names the field.
func Unmarshal(text []byte, limits Limits, into any) error {
	raw, err := ToJSON(text, limits)
	if err != nil {
		return err
	}
	return Explain(json.Unmarshal(raw, into))
}

// UnmarshalStrict is Unmarshal, but fields that the Go value does not have are an
// error, which names them.
func UnmarshalStrict(text []byte, limits Limits, into any) error {
	raw, err := ToJSON(text, limits)
	if err != nil {
		return err
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.DisallowUnknownFields()
	err = decoder.Decode(into)
	var fields map[string]any
	if err != nil && json.Unmarshal(raw, &fields) == nil {
		// The library names neither the place nor what may be meant.
		for _, unknown := range (Search{AnyCase: true}).Unknown("", fields, reflect.TypeOf(into)) {
			return fmt.Errorf("unknown field %q%s", unknown.Path, unknown.Question())
		}
	}
	return Explain(err)
}

// KindOf names in the words of YAML what a Go type holds.
func KindOf(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Struct, reflect.Map:
		return "a map"
	case reflect.Slice:
		return "a list"
	case reflect.String:
		return "a text"
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int32, reflect.Int64:
		return "an integer"
	}
	return "a number"
}

// Explain says in the words of YAML what the JSON library says about a value of a
// wrong type; other errors stay as they are.
func Explain(err error) error {
	var mismatch *json.UnmarshalTypeError
	if !errors.As(err, &mismatch) {
		return err
	}
	want := KindOf(mismatch.Type)
	// A number is followed by its digits.
	given, _, _ := strings.Cut(mismatch.Value, " ")
	// Names of Go's embedded structs begin with a capital; fields never do.
	steps := slices.DeleteFunc(strings.Split(mismatch.Field, "."), func(step string) bool {
		return step == "" || step[0] >= 'A' && step[0] <= 'Z'
	})
	if len(steps) == 0 {
		return fmt.Errorf("the text must be %s, not %s", want, given)
	}
	return fmt.Errorf("field %s must be %s, not %s", strings.Join(steps, "."), want, given)
}
