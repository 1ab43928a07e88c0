package targetsync

import (
	"maps"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/api/v1alpha1"
)

// wantedTarget returns the Target for a step as it should be, and whether that is
// another one than the existing one, which may be nil. Labels and annotations of others
// stay. Issued is when the credentials in its Secret were requested, or zero.
func wantedTarget(sync *v1alpha1.TargetSync, s step, existing *v1alpha1.Target, issued time.Time) (*v1alpha1.Target, bool) {
	wanted := &v1alpha1.Target{ObjectMeta: metav1.ObjectMeta{Namespace: sync.Namespace, Name: s.name}}
	if existing != nil {
		wanted = existing.DeepCopy()
	}
	mark(wanted, sync)
	note(wanted, shootNotes(sync, s.of))
	if s.of == nil || s.of.shoot == nil {
		delete(wanted.Annotations, v1alpha1.LastTargetSyncAnnotation)
	} else if !issued.IsZero() {
		wanted.Annotations[v1alpha1.LastTargetSyncAnnotation] = issued.UTC().Format(time.RFC3339)
	}
	ref := v1alpha1.LocalSecretReference{Name: s.name, Key: credentialKey}
	if s.of == nil {
		ref = v1alpha1.LocalSecretReference{Name: sync.Spec.SecretRef.Name, Key: accessKey(sync)}
	}
	wanted.Spec = v1alpha1.TargetSpec{Type: v1alpha1.KubernetesClusterTargetType, SecretRef: &ref}
	return wanted, existing == nil || !equality.Semantic.DeepEqual(wanted, existing)
}

// wantedSecret returns the Secret for a step with the data, as it should be. Labels and
// annotations of others stay. The type is always the same: what a source says about
// that could give a Secret a meaning for somebody else.
func wantedSecret(sync *v1alpha1.TargetSync, s step, existing *corev1.Secret, data map[string][]byte, issued, expires time.Time) *corev1.Secret {
	wanted := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: sync.Namespace, Name: s.name}, Type: corev1.SecretTypeOpaque}
	if existing != nil {
		wanted = existing.DeepCopy()
	}
	mark(wanted, sync)
	notes := shootNotes(sync, s.of)
	notes[v1alpha1.ShootAuthoritiesAnnotation], notes[v1alpha1.KubeconfigIssuedAnnotation], notes[v1alpha1.KubeconfigExpirationAnnotation] = "", "", ""
	if s.of.shoot != nil {
		notes[v1alpha1.ShootAuthoritiesAnnotation] = s.of.shoot.authorities
		notes[v1alpha1.KubeconfigIssuedAnnotation] = issued.UTC().Format(time.RFC3339)
		if !expires.IsZero() {
			notes[v1alpha1.KubeconfigExpirationAnnotation] = expires.UTC().Format(time.RFC3339)
		}
	}
	note(wanted, notes)
	wanted.Data, wanted.StringData = maps.Clone(data), nil
	return wanted
}

// mark says who has made an object.
func mark(object metav1.Object, sync *v1alpha1.TargetSync) {
	labels := object.GetLabels()
	if labels == nil {
		labels = map[string]string{}
	}
	labels[v1alpha1.TargetSyncLabel] = v1alpha1.TargetSyncLabelValue
	object.SetLabels(labels)
	note(object, map[string]string{v1alpha1.TargetSyncNameAnnotation: sync.Name})
}

// note sets annotations; empty ones are removed.
func note(object metav1.Object, notes map[string]string) {
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

// shootNotes tell which shoot an object is for; they are empty if it is for none.
func shootNotes(sync *v1alpha1.TargetSync, of *item) map[string]string {
	notes := map[string]string{v1alpha1.ShootNameAnnotation: "", v1alpha1.ShootNamespaceAnnotation: "", v1alpha1.ShootUIDAnnotation: ""}
	if of != nil && of.shoot != nil {
		notes[v1alpha1.ShootNameAnnotation], notes[v1alpha1.ShootNamespaceAnnotation] = of.name, sync.Spec.SourceNamespace
		notes[v1alpha1.ShootUIDAnnotation] = of.uid
	}
	return notes
}

// accessKey is the key of the kubeconfig in the Secret with the access to the source.
func accessKey(sync *v1alpha1.TargetSync) string {
	if sync.Spec.SecretRef.Key != "" {
		return sync.Spec.SecretRef.Key
	}
	return credentialKey
}
