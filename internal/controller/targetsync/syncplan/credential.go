package syncplan

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/api/v1alpha1"
)

const (
	// CredentialLifetime is how long the credentials of a shoot are to be valid. The
	// garden may grant less.
	CredentialLifetime = 24 * time.Hour
	// renewalAge is after which time they are renewed at the latest.
	renewalAge = 12 * time.Hour
	// clockSkew is how far a recorded time may be ahead of the local clock.
	clockSkew = 5 * time.Minute
)

// Secret has the facts of a Secret in the namespace of a TargetSync that a plan needs.
type Secret struct {
	Version string
	// Ours says that it has the label of what a TargetSync makes.
	Ours bool
	// kind is its type.
	kind corev1.SecretType
	// content says that it holds a kubeconfig; hash identifies all it holds.
	content bool
	hash    string
	// maker is the TargetSync that made it; empty in Secrets of upstream.
	maker string
	// shootUID and authorities are of the shoot that its credentials are for.
	shootUID, authorities string
	Issued, expires       time.Time
}

// Ours reports whether a TargetSync has made an object, or was asked to adopt it. The
// Copies of Targets that Installations import have all labels of what they are copies
// of; they belong to the Installations.
func Ours(object metav1.Object) bool {
	labels := object.GetLabels()
	_, copied := labels[v1alpha1.DataObjectContextLabel]
	return labels[v1alpha1.TargetSyncLabel] == v1alpha1.TargetSyncLabelValue && !copied
}

// FactsOf returns the facts of a Secret. Its values are not kept.
func FactsOf(object *corev1.Secret) Secret {
	notes := object.Annotations
	return Secret{
		Version: object.ResourceVersion, Ours: Ours(object), kind: object.Type,
		content: len(object.Data[CredentialKey]) > 0, hash: hashOf(object.Data),
		maker: notes[v1alpha1.TargetSyncNameAnnotation], shootUID: notes[v1alpha1.ShootUIDAnnotation], authorities: notes[v1alpha1.ShootAuthoritiesAnnotation],
		Issued: TimeIn(notes, v1alpha1.KubeconfigIssuedAnnotation), expires: TimeIn(notes, v1alpha1.KubeconfigExpirationAnnotation),
	}
}

// TimeIn reads a time from an annotation; an invalid time counts as missing.
func TimeIn(annotations map[string]string, name string) time.Time {
	parsed, err := time.Parse(time.RFC3339, annotations[name])
	if err != nil {
		return time.Time{}
	}
	return parsed
}

// renewal says when the credentials of a shoot are to be renewed; the zero time means
// at once. Target may be nil.
func renewal(existing Secret, target *v1alpha1.Target, of Item, now time.Time) time.Time {
	switch {
	case existing.kind != corev1.SecretTypeOpaque, !existing.content,
		// It was copied from a Secret.
		existing.maker != "" && existing.shootUID == "",
		// A later shoot has the same name, and other authorities.
		existing.shootUID != "" && existing.shootUID != of.uid,
		existing.maker != "" && existing.authorities != of.Shoot.authorities:
		return time.Time{}
	}
	issued := existing.Issued
	if issued.IsZero() && target != nil {
		// Upstream records the time here.
		issued = TimeIn(target.Annotations, v1alpha1.LastTargetSyncAnnotation)
	}
	if issued.IsZero() || issued.After(now.Add(clockSkew)) || of.Shoot.authoritiesDone.After(issued) {
		return time.Time{}
	}
	at := issued.Add(renewalAge)
	if half := issued.Add(existing.expires.Sub(issued) / 2); existing.expires.After(issued) && half.Before(at) {
		at = half
	}
	return at
}

// latest is when credentials should be renewed at the latest if they are to be renewed at a time: a
// part of the remaining lifetime is reserved for failed attempts.
func latest(at time.Time, existing Secret) time.Time {
	if existing.expires.After(at) {
		return at.Add(existing.expires.Sub(at) / 4)
	}
	return at
}
