// Package parcel keeps what a job has to store in Secrets: in as many as it needs, found
// again by the next process, and refused if it is not what was stored.
package parcel

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/api/v1alpha1"
)

const (
	// partSize leaves space for the rest of a Secret of at most 1 MiB.
	partSize = 900 << 10
	// maxParts bounds how many Secrets a plan may take.
	maxParts = 8
	// MaxSize bounds a content.
	MaxSize = maxParts * partSize
)

// Errors about stored plans. A job cannot continue with any of them; the next one makes a plan of
// its own.
var (
	// ErrNone: the Secrets of the stored plan were deleted.
	ErrNone = errors.New("the stored plan of the job is missing: start another job with the annotation " + v1alpha1.OperationAnnotation + ": reconcile")
	// ErrOtherJob: what is stored belongs to another job or Installation.
	ErrOtherJob = errors.New("the stored plan belongs to another job: start another job with the annotation " + v1alpha1.OperationAnnotation + ": reconcile")
	// ErrDamaged: what is stored is not what a process with this key has written.
	ErrDamaged = errors.New("the stored plan of the job is damaged, or not from this server: start another job with the annotation " + v1alpha1.OperationAnnotation + ": reconcile")
)

// Type is the type of the Secrets that hold plans.
const Type corev1.SecretType = v1alpha1.GroupName + "/plan"

// Label names the Installation whose plan a Secret holds.
const Label = v1alpha1.GroupName + "/plan-of"

// Key authenticates what is stored: only the processes of one server have it, and a tenant who may write
// Secrets has not. Without a key, only damage is noticed.
type Key []byte

// digest authenticates the whole content, as one of this job.
func (k Key) digest(inst *v1alpha1.Installation, content []byte) string {
	mac := hmac.New(sha256.New, k)
	for _, text := range []string{inst.Namespace, string(inst.UID), inst.Status.JobID} {
		// The length says where a text ends.
		_, _ = mac.Write([]byte(strconv.Itoa(len(text)) + ":" + text)) // a hash does not fail
	}
	_, _ = mac.Write(content) // a hash does not fail
	return hex.EncodeToString(mac.Sum(nil))
}

// Keys of the Secrets: the content, the digest of the whole content, the number of
// the part and that of all parts.
const (
	contentKey = "plan"
	digestKey  = "digest"
	partKey    = "part"
	partsKey   = "parts"
)

// Labels select the Secrets with the plan of an Installation. At the end of a
// job they are deleted; after a job that stored less, so are those that Secrets does
// not return any more.
func Labels(inst *v1alpha1.Installation) map[string]string {
	return map[string]string{Label: v1alpha1.InstallationScope(inst.Name)}
}

// Secrets returns the Secrets that hold the plan of a job: one, unless it is large.
// Their names are the same for all jobs of an Installation, so that an attempt that
// was cut off, or another job, finds and replaces them.
func (k Key) Secrets(inst *v1alpha1.Installation, content []byte) []*corev1.Secret {
	digest := k.digest(inst, content)
	parts := slices.Collect(slices.Chunk(content, partSize))
	secrets := make([]*corev1.Secret, len(parts))
	for i, part := range parts {
		labels := Labels(inst)
		labels[v1alpha1.DataObjectJobIDLabel] = inst.Status.JobID
		secrets[i] = &corev1.Secret{
			TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"},
			ObjectMeta: metav1.ObjectMeta{
				Name: SecretName(inst, i), Namespace: inst.Namespace, Labels: labels,
				OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(inst, v1alpha1.GroupVersion.WithKind("Installation"))},
			},
			Type: Type,
			Data: map[string][]byte{
				contentKey: part, digestKey: []byte(digest),
				partKey: []byte(strconv.Itoa(i)), partsKey: []byte(strconv.Itoa(len(parts))),
			},
		}
	}
	return secrets
}

// Parts returns how many Secrets belong to a content, of which the first one is known; at most as many
// as a plan may take.
func Parts(first *corev1.Secret) int { return min(number(first, partsKey), maxParts) }

// SecretName follows from the UID: an Installation of the same name that comes later
// does not meet what is left of this one.
func SecretName(inst *v1alpha1.Installation, part int) string {
	return v1alpha1.HashedDataObjectName("Plan."+string(inst.UID), strconv.Itoa(part))
}

// Content joins what Secrets has split. Secrets of other owners and of other jobs are not looked
// at.
//
// After a crash, parts of two attempts of one job may lie beside each other. Each part has
// the digest of the whole content, which only parts of one attempt give.
//
// Without the digest, which needs the key, nothing is returned: what is unpacked is always what a
// server has stored, within its bounds.
func (k Key) Content(inst *v1alpha1.Installation, secrets []*corev1.Secret) ([]byte, error) {
	var own []*corev1.Secret
	for _, secret := range secrets {
		owner := metav1.GetControllerOf(secret)
		if owner != nil && owner.UID == inst.UID && secret.Labels[v1alpha1.DataObjectJobIDLabel] == inst.Status.JobID {
			own = append(own, secret)
		}
	}
	switch {
	case len(own) == 0 && len(secrets) > 0:
		return nil, ErrOtherJob
	case len(own) == 0:
		return nil, ErrNone
	}
	slices.SortStableFunc(own, func(a, b *corev1.Secret) int { return cmp.Compare(number(a, partKey), number(b, partKey)) })
	// An earlier attempt of the job may have left more parts: they are not of this one.
	if parts := number(own[0], partsKey); parts >= 0 && parts < len(own) {
		own = own[:parts]
	}
	var content []byte
	for i, secret := range own {
		if number(secret, partKey) != i || number(secret, partsKey) != len(own) {
			return nil, ErrDamaged
		}
		content = append(content, secret.Data[contentKey]...)
	}
	if len(own) == 0 || !hmac.Equal(own[0].Data[digestKey], []byte(k.digest(inst, content))) {
		return nil, ErrDamaged
	}
	return content, nil
}

func number(secret *corev1.Secret, key string) int {
	value, err := strconv.Atoi(string(secret.Data[key]))
	if err != nil {
		return -1
	}
	return value
}
