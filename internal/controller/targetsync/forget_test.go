package targetsync

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/runtime/expectations/leftover"
)

// TestTargetSyncsAreForgotten: nothing is remembered of a TargetSync that no longer exists, nor of what it
// has made.
func TestTargetSyncsAreForgotten(t *testing.T) {
	for _, test := range []struct {
		reason string
		end    func(b *bench, sync *v1alpha1.TargetSync) error
	}{
		{"it is deleted with all that it has made", func(b *bench, sync *v1alpha1.TargetSync) error {
			return b.Client.Delete(t.Context(), sync)
		}},
		{"another client has removed the finalizer", func(b *bench, sync *v1alpha1.TargetSync) error {
			sync.Finalizers = nil
			if err := b.Client.Update(t.Context(), sync); err != nil {
				return err
			}
			return b.Client.Delete(t.Context(), sync)
		}},
	} {
		t.Run(test.reason, func(t *testing.T) {
			b := newBench(t, newGarden(t, "eu"), withStatus(interceptor.Funcs{}), annotatedFleet(nil))
			b.settle(t)
			sync := b.stored(t)
			made := &corev1.SecretList{}
			if err := b.Client.List(t.Context(), made); err != nil || len(made.Items) < 2 {
				t.Fatalf("%d Secrets, %v", len(made.Items), err)
			}
			if left := leftover.Of(b.Reconciler, string(sync.UID), sync.Name); len(left) == 0 {
				t.Fatal("the test looks past what is remembered")
			}
			if err := test.end(b, sync); err != nil {
				t.Fatal(err)
			}
			for range 3 {
				if _, err := b.Reconcile(t.Context(), ctrl.Request{NamespacedName: key}); err != nil {
					t.Fatal(err)
				}
			}
			texts := []string{string(sync.UID), sync.Name}
			for _, secret := range made.Items {
				if secret.Name != sync.Spec.SecretRef.Name {
					texts = append(texts, secret.Name)
				}
			}
			if left := leftover.Of(b.Reconciler, texts...); len(left) > 0 {
				t.Errorf("remembered are %q", left)
			}
		})
	}
}
