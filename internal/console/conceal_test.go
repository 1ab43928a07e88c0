package console

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"go.landscaper.dev/api/v1alpha1"
)

const secret = "hunter2hunter2"

// fill writes a secret into each field of an object that takes any content.
func fill(value reflect.Value) {
	switch field := value.Addr().Interface().(type) {
	case *v1alpha1.AnyJSON:
		field.RawMessage = json.RawMessage(`{"a":[{"b":"` + secret + `"}]}`)
		return
	case *v1alpha1.UnstructuredTypedObject:
		_ = json.Unmarshal([]byte(`{"type":"`+secret+`","a":"`+secret+`"}`), field)
		return
	case *runtime.RawExtension:
		field.Raw = []byte(`{"apiVersion":"v1","kind":"Secret","metadata":{"name":"n","labels":{"a":"` + secret + `"}},"data":{"apiVersion":"v1","kind":"x","name":"` + secret + `"}}`)
		return
	case *[]byte:
		*field = []byte(secret)
		return
	}
	switch value.Kind() {
	case reflect.Pointer:
		value.Set(reflect.New(value.Type().Elem()))
		fill(value.Elem())
	case reflect.Struct:
		for i := range value.NumField() {
			if value.Type().Field(i).IsExported() && value.Type() != reflect.TypeFor[metav1.Time]() {
				fill(value.Field(i))
			}
		}
	case reflect.Slice:
		value.Set(reflect.MakeSlice(value.Type(), 1, 1))
		fill(value.Index(0))
	case reflect.Map:
		element := reflect.New(value.Type().Elem()).Elem()
		fill(element)
		value.Set(reflect.MakeMap(value.Type()))
		value.SetMapIndex(reflect.ValueOf("key").Convert(value.Type().Key()), element)
	}
}

// TestNoFreeFieldIsShown: a field of any content that the API gets later is concealed, or this fails.
func TestNoFreeFieldIsShown(t *testing.T) {
	for _, object := range []metav1.Object{&v1alpha1.Installation{}, &v1alpha1.Execution{}, &v1alpha1.DeployItem{}, &v1alpha1.TargetSync{}} {
		value := reflect.ValueOf(object).Elem()
		fill(value.FieldByName("Spec"))
		fill(value.FieldByName("Status"))
		text, err := concealer{}.yaml(object)
		if err != nil {
			t.Fatal(err)
		}
		raw, err := json.Marshal(object)
		if err != nil || !strings.Contains(string(raw), secret) && value.Type().Name() != "TargetSync" && value.Type().Name() != "Execution" {
			t.Errorf("the test has filled nothing in: %s %v", raw, err)
		}
		if strings.Contains(text, secret) {
			t.Errorf("%T shows it:\n%s", object, text)
		}
	}
}

func TestConceal(t *testing.T) {
	item := func(config string) *v1alpha1.DeployItem {
		d := &v1alpha1.DeployItem{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "i", ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "m"}}}}
		d.Annotations = map[string]string{"kubectl.kubernetes.io/last-applied-configuration": secret, "a": "https://user:" + secret + "@example.org/x?token=" + secret}
		d.Spec.Configuration = &runtime.RawExtension{Raw: []byte(config)}
		return d
	}
	shown := func(d *v1alpha1.DeployItem, salt string) string {
		text, err := concealer{salt: []byte(salt)}.yaml(d)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	text := shown(item(`{"apiVersion":"m/v1","kind":"ProviderConfiguration","wait":true,"none":null,"port":7,"manifests":[{"manifest":{"apiVersion":"v1","kind":"Secret","metadata":{"name":"login","namespace":"shop"},"stringData":{"name":"`+secret+`"}}}]}`), "1")
	for _, want := range []string{"kind: ProviderConfiguration", "name: login", "wait: true", "none: null", "port: (hidden, ", "  name: (hidden, ", "https://hidden@example.org/x?hidden"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	for _, refused := range []string{secret, "managedFields", "last-applied"} {
		if strings.Contains(text, refused) {
			t.Errorf("%q is in\n%s", refused, text)
		}
	}

	same := shown(item(`{"a":"x","b":"x","c":"y","d":1,"e":"1"}`), "1")
	of := func(text, key string) string {
		_, after, _ := strings.Cut(text, "config:\n")
		_, after, _ = strings.Cut("\n"+after, "\n    "+key+": ")
		line, _, _ := strings.Cut(after, "\n")
		return line
	}
	if of(same, "a") == "" || of(same, "a") != of(same, "b") || of(same, "a") == of(same, "c") || of(same, "d") == of(same, "e") {
		t.Errorf("a fingerprint says whether values are the same:\n%s", same)
	}
	if other := shown(item(`{"a":"x"}`), "2"); of(other, "a") == of(same, "a") {
		t.Error("another process has the same fingerprint: a value can be guessed")
	}
	elsewhere := item(`{"a":"x"}`)
	elsewhere.Namespace = "other"
	if of(shown(elsewhere, "1"), "a") == of(same, "a") {
		t.Error("another namespace has the same fingerprint: its users can guess a value")
	}
}
