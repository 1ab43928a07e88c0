package parcel

import (
	"bytes"
	"errors"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/api/v1alpha1"
)

func installation() *v1alpha1.Installation {
	inst := &v1alpha1.Installation{ObjectMeta: metav1.ObjectMeta{Namespace: "space", Name: "inst", UID: "uid"}}
	inst.Status.JobID = "job-1"
	return inst
}

var key = Key("of the server")

// large is a content that takes two Secrets.
func large() []byte {
	content := make([]byte, partSize+1000)
	_, _ = rand.NewChaCha8([32]byte{}).Read(content)
	return content
}

// TestSecrets: whose they are, and what they are called.
func TestSecrets(t *testing.T) {
	secret := key.Secrets(installation(), []byte("content"))[0]
	owner := metav1.GetControllerOf(secret)
	if owner == nil || owner.UID != "uid" || owner.Kind != "Installation" || secret.Namespace != "space" || secret.Type != Type {
		t.Errorf("%+v", secret)
	}
	if secret.Labels[v1alpha1.DataObjectJobIDLabel] != "job-1" || secret.Labels[Label] != "Inst.inst" {
		t.Errorf("labels %v", secret.Labels)
	}
	later := installation()
	later.Status.JobID = "job-2"
	if again := key.Secrets(later, []byte("content"))[0]; again.Name != secret.Name {
		t.Errorf("another job has another name: %s, %s", secret.Name, again.Name)
	}
	namesake := installation()
	namesake.UID = "later"
	if other := key.Secrets(namesake, []byte("content"))[0]; other.Name == secret.Name {
		t.Error("a later Installation of the name meets the Secret of the first")
	}
}

// TestContent: what is not the plan of the job is not used.
func TestContent(t *testing.T) {
	content, inst := large(), installation()
	for _, test := range []struct {
		reason string
		change func(secrets []*corev1.Secret) []*corev1.Secret
		want   error
	}{
		{"nothing is changed", func(s []*corev1.Secret) []*corev1.Secret { return s }, nil},
		{"in another order", func(s []*corev1.Secret) []*corev1.Secret { slices.Reverse(s); return s }, nil},
		{"a part that an earlier attempt has left", func(s []*corev1.Secret) []*corev1.Secret {
			left := s[1].DeepCopy()
			left.Data[partKey] = []byte("2")
			return append(s, left)
		}, nil},
		{"a part of an earlier job beside the parts", func(s []*corev1.Secret) []*corev1.Secret {
			left := s[1].DeepCopy()
			left.Labels[v1alpha1.DataObjectJobIDLabel] = "job-0"
			return append(s, left)
		}, nil},
		{"deleted", func([]*corev1.Secret) []*corev1.Secret { return nil }, ErrNone},
		{"a part is deleted", func(s []*corev1.Secret) []*corev1.Secret { return s[:1] }, ErrDamaged},
		{"the first part is deleted", func(s []*corev1.Secret) []*corev1.Secret { return s[1:] }, ErrDamaged},
		{"a part is cut off", func(s []*corev1.Secret) []*corev1.Secret {
			s[1].Data[contentKey] = s[1].Data[contentKey][:10]
			return s
		}, ErrDamaged},
		{"a byte is changed", func(s []*corev1.Secret) []*corev1.Secret {
			s[0].Data[contentKey] = bytes.Clone(s[0].Data[contentKey])
			s[0].Data[contentKey][99]++
			return s
		}, ErrDamaged},
		{"of another job", func(s []*corev1.Secret) []*corev1.Secret {
			for _, secret := range s {
				secret.Labels = maps.Clone(secret.Labels)
				secret.Labels[v1alpha1.DataObjectJobIDLabel] = "job-0"
			}
			return s
		}, ErrOtherJob},
		{"of another owner", func(s []*corev1.Secret) []*corev1.Secret {
			for _, secret := range s {
				secret.OwnerReferences = nil
			}
			return s
		}, ErrOtherJob},
		{"made by a tenant, who knows everything but the key", func([]*corev1.Secret) []*corev1.Secret {
			return Key("of another").Secrets(inst, content)
		}, ErrDamaged},
		{"made without a key", func([]*corev1.Secret) []*corev1.Secret { return Key(nil).Secrets(inst, content) }, ErrDamaged},
		{"that of another Installation of the tenant", func([]*corev1.Secret) []*corev1.Secret {
			other := installation()
			other.UID = "other"
			secrets := key.Secrets(other, content)
			for _, secret := range secrets {
				secret.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(inst, v1alpha1.GroupVersion.WithKind("Installation"))}
			}
			return secrets
		}, ErrDamaged},
		{"that of another job, with the label of this one", func([]*corev1.Secret) []*corev1.Secret {
			other := installation()
			other.Status.JobID = "job-0"
			secrets := key.Secrets(other, content)
			for _, secret := range secrets {
				secret.Labels[v1alpha1.DataObjectJobIDLabel] = "job-1"
			}
			return secrets
		}, ErrDamaged},
		{"no numbers", func(s []*corev1.Secret) []*corev1.Secret { delete(s[0].Data, partKey); return s }, ErrDamaged},
	} {
		t.Run(test.reason, func(t *testing.T) {
			secrets := key.Secrets(inst, content)
			if len(secrets) != 2 {
				t.Fatalf("%d Secrets", len(secrets))
			}
			got, err := key.Content(inst, test.change(secrets))
			if !errors.Is(err, test.want) || test.want == nil && !bytes.Equal(got, content) {
				t.Errorf("%d bytes, %v", len(got), err)
			}
		})
	}
}
