package installation

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/controller/installation/testbuilders"
)

// TestLateChild: a cache shows a subinstallation when the others are being deleted already. It is
// deleted, too, and the status is not written again, because it says so.
func TestLateChild(t *testing.T) {
	b := newBench(t, installed(t, "web")...)
	b.settle(t)
	if err := b.api.Delete(t.Context(), b.installation(t)); err != nil {
		t.Fatal(err)
	}
	b.reconcile(t)
	if phase := b.installation(t).Status.InstallationPhase; phase != v1alpha1.InstallationPhases.Deleting {
		t.Fatalf("the phase is %s", phase)
	}
	late := &v1alpha1.Installation{ObjectMeta: metav1.ObjectMeta{
		Namespace: shop.Namespace, Name: "late", Finalizers: []string{v1alpha1.Finalizer},
		OwnerReferences: []metav1.OwnerReference{testbuilders.Owner("Installation", shop.Name, "2")},
	}}
	if err := b.api.Create(t.Context(), late); err != nil {
		t.Fatal(err)
	}
	if got := b.reconcile(t); got != "delete Installation" {
		t.Errorf("the requests are %q", got)
	}
}
