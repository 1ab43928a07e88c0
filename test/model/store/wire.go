package store

import (
	"encoding/json"
	"fmt"
	"reflect"

	"k8s.io/apimachinery/pkg/api/equality"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// merge applies a JSON merge patch.
func merge(base any, patch any) any {
	changes, ok := patch.(map[string]any)
	if !ok {
		return patch
	}
	merged, ok := base.(map[string]any)
	if !ok {
		merged = map[string]any{}
	}
	for name, value := range changes {
		if value == nil {
			delete(merged, name)
			continue
		}
		merged[name] = merge(merged[name], value)
	}
	return merged
}

func encode(value any) map[string]any {
	raw, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	fields := map[string]any{}
	if err := json.Unmarshal(raw, &fields); err != nil {
		panic(err)
	}
	return fields
}

func decode(fields, into any) {
	raw, err := json.Marshal(fields)
	if err != nil {
		panic(err)
	}
	if err := json.Unmarshal(raw, into); err != nil {
		panic(err)
	}
}

func parse(like client.Object, raw []byte) client.Object {
	decoded := reflect.New(reflect.TypeOf(like).Elem()).Interface().(client.Object)
	if err := json.Unmarshal(raw, decoded); err != nil {
		panic(err)
	}
	return decoded
}

// onTheWire returns an object as it arrives: with what JSON can say of it, but for the status, which is
// written otherwise.
func onTheWire(object client.Object) client.Object {
	sent := shallow(object)
	clearStatus(sent)
	raw, err := json.Marshal(sent)
	if err != nil {
		panic(err)
	}
	return parse(object, raw)
}

// Give fills an object with another one, as an answer does.
func Give(into, from client.Object) {
	reflect.ValueOf(into).Elem().Set(reflect.ValueOf(from.DeepCopyObject()).Elem())
}

func statusOf(object client.Object) (reflect.Value, bool) {
	field := reflect.ValueOf(object).Elem().FieldByName("Status")
	return field, field.IsValid()
}

// statusOnTheWire gives an object the status of another one as it arrives, and returns that.
func statusOnTheWire(next, from client.Object) string {
	field, ok := statusOf(next)
	if !ok {
		return ""
	}
	sent, _ := statusOf(from)
	raw, err := json.Marshal(sent.Addr().Interface())
	if err != nil {
		panic(err)
	}
	field.SetZero()
	into := field.Addr().Interface()
	if reads, ok := into.(json.Unmarshaler); ok { // the text is in order, and need not be looked at twice
		err = reads.UnmarshalJSON(raw)
	} else {
		err = json.Unmarshal(raw, into)
	}
	if err != nil {
		panic(err)
	}
	return string(raw)
}

func clearStatus(object client.Object) {
	if field, ok := statusOf(object); ok {
		field.SetZero()
	}
}

func copyStatus(into, from client.Object) {
	if field, ok := statusOf(into); ok {
		other, _ := statusOf(from)
		field.Set(other)
	}
}

// isContent says that a generation counts the changes of a field: of everything but metadata and
// status.
func isContent(name string) bool {
	return name != "TypeMeta" && name != "ObjectMeta" && name != "Status"
}

// sameFields compares some fields of two objects.
func sameFields(a, b client.Object, some func(name string) bool) bool {
	first, second := reflect.ValueOf(a).Elem(), reflect.ValueOf(b).Elem()
	for i := range first.NumField() {
		if some(first.Type().Field(i).Name) && !equality.Semantic.DeepEqual(first.Field(i).Addr().Interface(), second.Field(i).Addr().Interface()) {
			return false
		}
	}
	return true
}

// patched returns an object with the changes of a merge patch. Most patches are of metadata alone.
func patched(stored client.Object, data []byte) (client.Object, error) {
	var changes map[string]any
	if err := json.Unmarshal(data, &changes); err != nil {
		return nil, fmt.Errorf("decode the patch: %w", err)
	}
	if change, ok := changes["metadata"]; ok && len(changes) == 1 {
		next := shallow(stored)
		field := reflect.ValueOf(next).Elem().FieldByName("ObjectMeta")
		merged := merge(encode(field.Interface()), change)
		field.SetZero()
		decode(merged, field.Addr().Interface())
		return next, nil
	}
	next := reflect.New(reflect.TypeOf(stored).Elem()).Interface().(client.Object)
	decode(merge(encode(stored), changes), next)
	return next, nil
}

// Encoded returns a value in JSON.
func Encoded(value any) []byte {
	raw, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return raw
}
