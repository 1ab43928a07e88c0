package targetsync_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"go.landscaper.dev/api/v1alpha1"
)

// TestSecrets: the Targets follow the Secrets of a namespace of another cluster.
func TestSecrets(t *testing.T) {
	s := newSpace(t, mayReadSecrets("list", "watch"))
	north := s.put("north.kubeconfig", kubeconfig(t, source, "north", "word-of-north"))
	s.put("south.kubeconfig", kubeconfig(t, source, "south", "word-of-south"))
	s.put("other", []byte("is not selected"))
	s.sync(v1alpha1.TargetSyncSpec{SecretNameExpression: `\.kubeconfig$`, CreateTargetToSource: true, TargetToSourceName: "garden"})

	synced := s.awaitReady("Synchronized")
	if synced.Status.SyncedTargets != 3 || synced.Status.ObservedGeneration != 1 || len(synced.Status.LastErrors) != 0 || synced.Status.LastSuccessTime == nil {
		t.Errorf("status %+v", synced.Status)
	}
	target, secret := s.target("north.kubeconfig"), s.secret("north.kubeconfig")
	want := v1alpha1.TargetSpec{Type: v1alpha1.KubernetesClusterTargetType, SecretRef: &v1alpha1.LocalSecretReference{Name: "north.kubeconfig", Key: "kubeconfig"}}
	if diff := cmp.Diff(want, target.Spec); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(north.Data, secret.Data); diff != "" || secret.Type != corev1.SecretTypeOpaque {
		t.Error(diff, secret.Type)
	}
	for _, labels := range []map[string]string{target.Labels, secret.Labels} {
		if diff := cmp.Diff(map[string]string{v1alpha1.TargetSyncLabel: "ok"}, labels); diff != "" {
			t.Error(diff)
		}
	}
	if _, dated := target.Annotations[v1alpha1.LastTargetSyncAnnotation]; dated {
		t.Error("only Targets of shoots have a time")
	}
	if garden := s.target("garden"); garden == nil || garden.Spec.SecretRef.Name != "access" || garden.Spec.SecretRef.Key != "kubeconfig" {
		t.Errorf("the Target to the source: %+v", garden)
	}
	if s.target("other") != nil || s.secret("other") != nil {
		t.Error("a Secret is synchronised that is not selected")
	}

	t.Run("a change is noticed by the watch of the source", func(t *testing.T) {
		north.Data["kubeconfig"] = kubeconfig(t, source, "north", "another-word")
		update(t, there, north)
		await(t, here, &corev1.SecretList{}, s.name, "north.kubeconfig", "changes", func(secret *corev1.Secret) bool {
			return cmp.Equal(secret.Data, north.Data)
		})
		s.put("west.kubeconfig", kubeconfig(t, source, "west", "word-of-west"))
		s.awaitTarget("west.kubeconfig", true)
	})
	t.Run("a Target whose Secret was deleted in the source is removed", func(t *testing.T) {
		remove(t, there, north)
		s.awaitTarget("north.kubeconfig", false)
		s.await("has three Targets", func(sync *v1alpha1.TargetSync) bool { return sync.Status.SyncedTargets == 3 })
		if s.secret("north.kubeconfig") != nil {
			t.Error("the Secret is left")
		}
	})
	t.Run("a deleted Target and a deleted Secret are restored at once", func(t *testing.T) {
		target := s.target("south.kubeconfig")
		remove(t, here, target)
		await(t, here, &v1alpha1.TargetList{}, s.name, "south.kubeconfig", "is back", func(seen *v1alpha1.Target) bool { return seen.UID != target.UID })
		secret := s.secret("south.kubeconfig")
		remove(t, here, secret)
		await(t, here, &corev1.SecretList{}, s.name, "south.kubeconfig", "is back", func(seen *corev1.Secret) bool { return seen.UID != secret.UID })
	})
	t.Run("a changed expression removes Targets that it does not match", func(t *testing.T) {
		s.awaitReady("Synchronized")
		s.change(func(spec *v1alpha1.TargetSyncSpec) {
			spec.SecretNameExpression, spec.CreateTargetToSource = "^west", false
		})
		s.awaitTarget("south.kubeconfig", false)
		s.awaitTarget("garden", false)
		s.await("has one Target", func(sync *v1alpha1.TargetSync) bool { return sync.Status.SyncedTargets == 1 })
		if s.secret("access") == nil || s.target("west.kubeconfig") == nil {
			t.Error("too much is removed")
		}
	})
	t.Run("deletion", func(t *testing.T) {
		remove(t, here, s.awaitReady("Synchronized"))
		s.awaitTarget("west.kubeconfig", false)
		if s.secret("access") == nil {
			t.Error("the access to the source is removed")
		}
	})
}
