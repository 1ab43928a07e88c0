package dataflow

import (
	"bytes"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/base/jsonvalue"
	"go.landscaper.dev/internal/model/dataflow/valueobject"
)

// FuzzValue reads a value from where users write values. What is read has a digest that
// does not change when it is copied and read again, and messages do not repeat it.
func FuzzValue(f *testing.F) {
	for _, text := range []string{"", "null", "1.0", `{"a":[1e400,"<"]}`, "a: &a [1]\nb: *a", "- 2020-01-01\n- 0x1f\n- ~", strings.Repeat("[", 3_000) + strings.Repeat("]", 3_000), "a: b: hunter2hunter2hunter2hunter2"} {
		f.Add([]byte(text))
	}
	inst := &v1alpha1.Installation{ObjectMeta: metav1.ObjectMeta{Name: "a", Namespace: "b", UID: "c"}}
	f.Fuzz(func(t *testing.T, text []byte) {
		item, err := FromSecret(map[string][]byte{"key": text}, "key")
		if err != nil {
			notRepeated(t, text, err)
			return
		}
		if _, err := item.plain(); err != nil {
			notRepeated(t, text, err)
			return
		}
		item.Salt = "salt"
		object, secret, err := valueobject.Concealed(inst, valueobject.Imported(inst, "a"), item.Value, item.Salt)
		if err != nil {
			notRepeated(t, text, err)
			return
		}
		again, err := FromDataObject(object, secret)
		if err != nil {
			t.Fatal(err)
		}
		first, firstErr := valueobject.EncodeJSON(item.Value.RawMessage)
		second, secondErr := valueobject.EncodeJSON(again.Value.RawMessage)
		if firstErr != nil || secondErr != nil || !bytes.Equal(first, second) || len(first) > valueobject.MaxEncoded {
			t.Errorf("%q, %v became %q, %v", first, firstErr, second, secondErr)
		}
	})
}

// FuzzReference reads DataObjects that refer to Secrets. Only those of one owner fit.
func FuzzReference(f *testing.F) {
	f.Add("copy", "copy", "Installation", "u", "u", string(valueobject.ValueSecretType), []byte("1"))
	f.Add("copy", "other", "Deployment", "", "", "Opaque", []byte("{"))
	f.Fuzz(func(t *testing.T, named, name, kind, owner, other, secretType string, value []byte) {
		object := &v1alpha1.DataObject{ObjectMeta: metav1.ObjectMeta{Name: "copy", Annotations: map[string]string{v1alpha1.DataObjectSecretAnnotation: named}, OwnerReferences: []metav1.OwnerReference{{Kind: kind, UID: types.UID(owner)}}}}
		secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name, OwnerReferences: []metav1.OwnerReference{{Kind: kind, UID: types.UID(other)}}}, Type: corev1.SecretType(secretType), Data: map[string][]byte{valueobject.ValueKey: value}}
		item, err := FromDataObject(object, secret)
		if fits := named == "" || named == name && kind == "Installation" && owner == other && owner != "" && secret.Type == valueobject.ValueSecretType; err == nil && !fits {
			t.Errorf("%s was read", item.Value.RawMessage)
		}
	})
}

// FuzzTargetTemplate reads Targets that blueprints export.
func FuzzTargetTemplate(f *testing.F) {
	for _, text := range []string{`{"type":"a","config":{"kubeconfig":"x"}}`, `{"type":["hunter2hunter2hunter2hunter2"]}`, `{"type":"a","secretRef":{"name":"b"}}`, `{"type":"a","configuration":null}`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		value, err := jsonvalue.FromJSON(text)
		if err != nil {
			return
		}
		template, err := valueobject.DecodeTargetTemplate(value)
		if err != nil {
			notRepeated(t, text, err)
			return
		}
		if template.Type == "" || template.Configuration != nil && template.SecretRef != nil {
			t.Errorf("%+v", template)
		}
	})
}

// notRepeated demands that a message does not repeat a long word of a text.
func notRepeated(t *testing.T, text []byte, err error) {
	t.Helper()
	for _, word := range bytes.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" \n\t\"'{}[],:", r) }) {
		if len(word) > 24 && strings.Contains(err.Error(), string(word)) {
			t.Errorf("%v repeats %q", err, word)
		}
	}
}
