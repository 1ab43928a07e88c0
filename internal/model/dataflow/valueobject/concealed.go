package valueobject

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/api/v1alpha1"
)

// ValueSecretType is the type of the Secrets that hold values for DataObjects.
const ValueSecretType corev1.SecretType = v1alpha1.GroupName + "/value"

// ValueKey is the key of the value, as JSON.
const ValueKey = "value"

// Concealed returns the copy of a value that came from a Secret: a Secret again, and
// the DataObject that others expect, which refers to it.
func Concealed(inst *v1alpha1.Installation, place Place, value v1alpha1.AnyJSON, salt string) (*v1alpha1.DataObject, *corev1.Secret, error) {
	raw, err := EncodeJSON(value.RawMessage)
	if err != nil {
		return nil, nil, err
	}
	compact := compacted(raw)
	if len(compact) > corev1.MaxSecretSize {
		return nil, nil, fmt.Errorf("the value comes from a Secret and needs %d bytes as JSON, but the Secret for its copy holds at most %d: import single keys", len(compact), corev1.MaxSecretSize)
	}
	object, err := DataObject(inst, place, pointer(place.Name))
	if err != nil {
		return nil, nil, err
	}
	secret := &corev1.Secret{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"},
		ObjectMeta: *object.ObjectMeta.DeepCopy(),
		Type:       ValueSecretType,
		Data:       map[string][]byte{ValueKey: compact},
	}
	secret.Annotations = nil
	object.Annotations[v1alpha1.DataObjectHashAnnotation] = SaltedHash(salt, raw)
	object.Annotations[v1alpha1.DataObjectSecretAnnotation] = secret.Name
	return object, secret, nil
}

// pointer is what a DataObject says instead of its value, for people. The annotation
// counts.
func pointer(name string) v1alpha1.AnyJSON {
	return v1alpha1.NewAnyJSON(fmt.Appendf(nil, `{"secretRef":{"key":%q,"name":%q}}`, ValueKey, name))
}

// SecretOf returns the name of the Secret, in the same namespace, that holds the value
// of a DataObject. It is empty if the DataObject holds it itself.
func SecretOf(object *v1alpha1.DataObject) string {
	return object.Annotations[v1alpha1.DataObjectSecretAnnotation]
}

// ValueOf returns the value of a DataObject, and the salt of one that its Secret holds.
func ValueOf(object *v1alpha1.DataObject, secret *corev1.Secret) (value v1alpha1.AnyJSON, salt string, err error) {
	name := SecretOf(object)
	switch {
	case name == "":
		return object.Data, "", nil
	case secret == nil:
		return value, "", fmt.Errorf("DataObject %s has its value in Secret %s, which is missing: start another job of the Installation that it belongs to", object.Name, name)
	case secret.Name != name || secret.Namespace != object.Namespace || secret.Type != ValueSecretType || !sameOwner(object, secret) || !json.Valid(secret.Data[ValueKey]):
		return value, "", fmt.Errorf("DataObject %s refers to Secret %s, which was not written for it: start another job of the Installation that it belongs to", object.Name, name)
	}
	// An object that is only in memory has no UID.
	return v1alpha1.NewAnyJSON(secret.Data[ValueKey]), cmp.Or(string(secret.UID), secret.Name), nil
}

// sameOwner reports whether an Installation owns both objects.
func sameOwner(a, b metav1.Object) bool {
	return slices.ContainsFunc(a.GetOwnerReferences(), func(owner metav1.OwnerReference) bool {
		return owner.Kind == "Installation" && owner.UID != "" && slices.ContainsFunc(b.GetOwnerReferences(), func(other metav1.OwnerReference) bool {
			return other.Kind == owner.Kind && other.UID == owner.UID
		})
	})
}
