package desired

import (
	"reflect"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"go.landscaper.dev/api/v1alpha1"
)

// filled sets every field below a value, each to something else than its zero, so
// that a new field of a kind is in the tests without that anybody thinks of it.
func filled(t *testing.T, value reflect.Value, path string) {
	t.Helper()
	switch v := value.Addr().Interface().(type) {
	case *v1alpha1.Duration:
		v.Duration = 90 * time.Second
		return
	case *runtime.RawExtension:
		v.Raw = []byte(`{"apiVersion":"example.org/v1","kind":"Config","large":9007199254740993,"nested":{"list":[1,"two",null]}}`)
		return
	case *v1alpha1.UnstructuredTypedObject:
		v.Raw = []byte(`{"type":"ociRegistry"}`)
		return
	case *v1alpha1.AnyJSON:
		v.RawMessage = []byte(`{"a":[1.5,true]}`)
		return
	case *metav1.FieldsV1:
		v.SetRawString(`{"f:x":{}}`)
		return
	case *metav1.Time:
		*v = metav1.NewTime(noon)
		return
	}
	switch value.Kind() {
	case reflect.Pointer:
		value.Set(reflect.New(value.Type().Elem()))
		filled(t, value.Elem(), path)
	case reflect.Struct:
		for i := range value.NumField() {
			filled(t, value.Field(i), path+"."+value.Type().Field(i).Name)
		}
	case reflect.Slice:
		value.Set(reflect.MakeSlice(value.Type(), 1, 1))
		filled(t, value.Index(0), path)
	case reflect.Map:
		key, element := reflect.New(value.Type().Key()).Elem(), reflect.New(value.Type().Elem()).Elem()
		filled(t, key, path)
		filled(t, element, path)
		value.Set(reflect.MakeMap(value.Type()))
		value.SetMapIndex(key, element)
	case reflect.String:
		value.SetString("text")
	case reflect.Bool:
		value.SetBool(true)
	case reflect.Int, reflect.Int32, reflect.Int64:
		value.SetInt(7)
	case reflect.Uint8:
		value.SetUint(7)
	default:
		t.Fatalf("%s: there is no value for a %s", path, value.Type())
	}
}
