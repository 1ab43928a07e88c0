package syncplan

import (
	"maps"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/api/v1alpha1"
)

// WantedTarget returns the Target for a step as it should be, and whether that is another one than
// the existing one, which may be nil. Labels and annotations of other owners stay. Issued is when
// the credentials in its Secret were requested, or zero.
func WantedTarget(sync *v1alpha1.TargetSync, s Step, existing *v1alpha1.Target, issued time.Time) (*v1alpha1.Target, bool) {
	wanted := &v1alpha1.Target{ObjectMeta: metav1.ObjectMeta{Namespace: sync.Namespace, Name: s.Name}}
	if existing != nil {
		wanted = existing.DeepCopy()
	}
	mark(wanted, sync)
	Note(wanted, shootNotes(sync, s.Of))
	if s.Of == nil || s.Of.Shoot == nil {
		delete(wanted.Annotations, v1alpha1.LastTargetSyncAnnotation)
	} else if !issued.IsZero() {
		wanted.Annotations[v1alpha1.LastTargetSyncAnnotation] = issued.UTC().Format(time.RFC3339)
	}
	ref := v1alpha1.LocalSecretReference{Name: s.Name, Key: CredentialKey}
	if s.Of == nil {
		ref = v1alpha1.LocalSecretReference{Name: sync.Spec.SecretRef.Name, Key: AccessKey(sync)}
	}
	wanted.Spec = v1alpha1.TargetSpec{Type: v1alpha1.KubernetesClusterTargetType, SecretRef: &ref}
	return wanted, existing == nil || !equality.Semantic.DeepEqual(wanted, existing)
}

// WantedSecret returns the Secret for a step with the data, as it should be. Labels and annotations
// of other owners stay. The type is always the same: the type of the Secret in the source could
// give the copy a meaning for another controller.
func WantedSecret(sync *v1alpha1.TargetSync, s Step, existing *corev1.Secret, data map[string][]byte, issued, expires time.Time) *corev1.Secret {
	wanted := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: sync.Namespace, Name: s.Name}, Type: corev1.SecretTypeOpaque}
	if existing != nil {
		wanted = existing.DeepCopy()
	}
	mark(wanted, sync)
	notes := shootNotes(sync, s.Of)
	notes[v1alpha1.ShootAuthoritiesAnnotation], notes[v1alpha1.KubeconfigIssuedAnnotation], notes[v1alpha1.KubeconfigExpirationAnnotation] = "", "", ""
	if s.Of.Shoot != nil {
		notes[v1alpha1.ShootAuthoritiesAnnotation] = s.Of.Shoot.authorities
		notes[v1alpha1.KubeconfigIssuedAnnotation] = issued.UTC().Format(time.RFC3339)
		if !expires.IsZero() {
			notes[v1alpha1.KubeconfigExpirationAnnotation] = expires.UTC().Format(time.RFC3339)
		}
	}
	Note(wanted, notes)
	wanted.Data, wanted.StringData = maps.Clone(data), nil
	return wanted
}

// mark records the maker of an object.
func mark(object metav1.Object, sync *v1alpha1.TargetSync) {
	labels := object.GetLabels()
	if labels == nil {
		labels = map[string]string{}
	}
	labels[v1alpha1.TargetSyncLabel] = v1alpha1.TargetSyncLabelValue
	object.SetLabels(labels)
	Note(object, map[string]string{v1alpha1.TargetSyncNameAnnotation: sync.Name})
}

// Note sets annotations; empty ones are removed.
func Note(object metav1.Object, notes map[string]string) {
	annotations := object.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	for name, value := range notes {
		if value == "" {
			delete(annotations, name)
		} else {
			annotations[name] = value
		}
	}
	object.SetAnnotations(annotations)
}

// shootNotes name the shoot that an object is for; they are empty for other objects.
func shootNotes(sync *v1alpha1.TargetSync, of *Item) map[string]string {
	notes := map[string]string{v1alpha1.ShootNameAnnotation: "", v1alpha1.ShootNamespaceAnnotation: "", v1alpha1.ShootUIDAnnotation: ""}
	if of != nil && of.Shoot != nil {
		notes[v1alpha1.ShootNameAnnotation], notes[v1alpha1.ShootNamespaceAnnotation] = of.Name, sync.Spec.SourceNamespace
		notes[v1alpha1.ShootUIDAnnotation] = of.uid
	}
	return notes
}

// AccessKey is the key of the kubeconfig in the Secret with the access to the source.
func AccessKey(sync *v1alpha1.TargetSync) string {
	if sync.Spec.SecretRef.Key != "" {
		return sync.Spec.SecretRef.Key
	}
	return CredentialKey
}
