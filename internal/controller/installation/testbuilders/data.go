package testbuilders

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/model/dataflow/valueobject"
)

// DataOf is a DataObject that anybody may import.
func DataOf(name, value string) *v1alpha1.DataObject {
	object := &v1alpha1.DataObject{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: name}}
	object.Data = v1alpha1.NewAnyJSON([]byte(value))
	return object
}

// Concealed returns the copy of an import that came from a Secret.
func Concealed(name, value string, owners ...metav1.OwnerReference) (*v1alpha1.DataObject, *corev1.Secret) {
	meta := metav1.ObjectMeta{Namespace: "team-a", Name: name, OwnerReferences: owners, Labels: map[string]string{v1alpha1.DataObjectContextLabel: "Inst.shop", v1alpha1.DataObjectKeyLabel: name}}
	object := &v1alpha1.DataObject{ObjectMeta: *meta.DeepCopy(), Data: v1alpha1.NewAnyJSON([]byte(`"elsewhere"`))}
	object.Annotations = map[string]string{v1alpha1.DataObjectSecretAnnotation: name}
	return object, &corev1.Secret{ObjectMeta: meta, Type: valueobject.ValueSecretType, Data: map[string][]byte{"value": []byte(value)}}
}
