package lifecycle

import (
	"errors"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/internal/controller/shootflux/gardener"
	"go.landscaper.dev/internal/runtime/expectations/leftover"
)

// TestExtensionsAreForgotten: nothing is remembered of an Extension that no longer exists, although no
// cache has shown the last writes.
func TestExtensionsAreForgotten(t *testing.T) {
	s := newSeed(t, extension(), cluster(plainShoot))
	if _, err := s.look(t); err != nil {
		t.Fatal(err)
	}
	if left := leftover.Of(s.Reconciler, at.Namespace); len(left) == 0 {
		t.Fatal("the test looks past what is remembered")
	}
	// Other clients delete everything, so that no run of the controller looks for it.
	for _, name := range []string{ConfigName, InstallName, DataName} {
		if err := s.Client.Delete(t.Context(), &gardener.ManagedResource{ObjectMeta: metav1.ObjectMeta{Namespace: at.Namespace, Name: name}}); client.IgnoreNotFound(err) != nil {
			t.Fatal(err)
		}
	}
	e := s.stored(t)
	e.Finalizers = nil
	if err := errors.Join(s.Client.Update(t.Context(), e), s.Client.Delete(t.Context(), e)); err != nil {
		t.Fatal(err)
	}
	if _, err := s.look(t); err != nil {
		t.Fatal(err)
	}
	if left := leftover.Of(s.Reconciler, at.Namespace, at.Name); len(left) > 0 {
		t.Errorf("remembered are %q", left)
	}
}
