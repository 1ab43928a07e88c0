package managed

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"go.landscaper.dev/internal/controller/shootflux/gardener"
)

const (
	// Manager is the value of ManagerLabel.
	Manager = "gardener-extension-shoot-flux"
	// ManagerLabel names the tool that manages an object.
	ManagerLabel = "app.kubernetes.io/managed-by"
	// maxSecretBytes is safely below the API server's limit for a Secret.
	maxSecretBytes = 900 << 10
	// contentsPrefix is the prefix of the names of Secrets with contents.
	contentsPrefix = "managedresource-"
	// dataKey is the key of the objects in a Secret.
	dataKey = "objects.yaml"
)

// Piece is the desired content of one ManagedResource.
type Piece struct {
	Name    string
	Objects []*unstructured.Unstructured
	// Once lets the objects be created if they are missing, and never changed.
	Once bool
	// Left drops the objects from the management of the resource manager, which neither
	// changes nor deletes them from then on.
	Left bool
}

// Secrets returns the contents of a piece for a namespace. The same objects always give the same
// Secrets.
//
// They are immutable and named for their content: another content is another Secret, and readers of
// the old one find it unchanged.
func (p Piece) Secrets(namespace string) ([]*corev1.Secret, error) {
	var secrets []*corev1.Secret
	var text bytes.Buffer
	end := func() {
		if text.Len() > 0 {
			secrets = append(secrets, p.secret(namespace, bytes.Clone(text.Bytes())))
			text.Reset()
		}
	}
	for _, object := range p.Objects {
		document, err := json.Marshal(p.prepared(object).Object)
		if err != nil {
			return nil, fmt.Errorf("encode %s %s of %s: %w", object.GetKind(), object.GetName(), p.Name, err)
		}
		if len(document) > maxSecretBytes {
			return nil, fmt.Errorf("%s %s of %s is too large for a Secret: %d bytes, at most %d", object.GetKind(), object.GetName(), p.Name, len(document), maxSecretBytes)
		}
		if text.Len()+len(document) > maxSecretBytes {
			end()
		}
		text.WriteString("---\n")
		text.Write(document)
		text.WriteString("\n")
	}
	if text.Len() == 0 && len(secrets) == 0 {
		// An empty piece has a Secret, too: a ManagedResource must name one.
		text.WriteString("---\n")
	}
	end()
	return secrets, nil
}

// prepared returns the object for the resource manager: gardenlet must not delete it with the
// shoot, since the extension deletes its objects in order.
func (p Piece) prepared(object *unstructured.Unstructured) *unstructured.Unstructured {
	object = object.DeepCopy()
	labels := maps.Clone(object.GetLabels())
	if labels == nil {
		labels = map[string]string{}
	}
	labels[gardener.NoCleanupLabel] = "true"
	object.SetLabels(labels)
	annotations := maps.Clone(object.GetAnnotations())
	if annotations == nil {
		annotations = map[string]string{}
	}
	if p.Once {
		annotations[gardener.IgnoreAnnotation] = "true"
	}
	if p.Left {
		annotations[gardener.ModeAnnotation] = gardener.ModeIgnore
	}
	if len(annotations) > 0 {
		object.SetAnnotations(annotations)
	}
	return object
}

func (p Piece) secret(namespace string, text []byte) *corev1.Secret {
	immutable := true
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: contentsPrefix + p.Name + "-" + short(text),
			Labels: map[string]string{gardener.GarbageLabel: "true", ManagerLabel: Manager},
		},
		Type: corev1.SecretTypeOpaque, Immutable: &immutable, Data: map[string][]byte{dataKey: text},
	}
}

func short(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:4])
}

// wanted returns the ManagedResource with these contents, based on the existing one. Fields and
// annotations of other clients stay.
func wanted(present *gardener.ManagedResource, secrets []*corev1.Secret) *gardener.ManagedResource {
	made := present.DeepCopy()
	keep := true
	made.Spec.KeepObjects = &keep
	made.Spec.SecretRefs = nil
	for name := range made.Annotations {
		if len(name) > len(gardener.ReferenceAnnotationPrefix) && name[:len(gardener.ReferenceAnnotationPrefix)] == gardener.ReferenceAnnotationPrefix {
			delete(made.Annotations, name)
		}
	}
	// Written contents must be applied.
	delete(made.Annotations, gardener.IgnoreAnnotation)
	delete(made.Annotations, ObjectsAnnotation)
	for _, secret := range secrets {
		made.Spec.SecretRefs = append(made.Spec.SecretRefs, corev1.LocalObjectReference{Name: secret.Name})
		metav1.SetMetaDataAnnotation(&made.ObjectMeta, gardener.ReferenceAnnotationPrefix+short([]byte(secret.Name)), secret.Name)
	}
	metav1.SetMetaDataLabel(&made.ObjectMeta, ManagerLabel, Manager)
	return made
}
