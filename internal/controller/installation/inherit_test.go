package installation

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/runtime/job"
)

// foreignJob is a job that upstream has brought up: it stores no plan, and does not note that
// exports are pending.
func foreignJob(t *testing.T) *bench {
	t.Helper()
	b := newBench(t, publishing(t)...)
	b.reconcile(t)
	if err := b.api.DeleteAllOf(t.Context(), &corev1.Secret{}, client.InNamespace(shop.Namespace)); err != nil {
		t.Fatal(err)
	}
	inst := b.installation(t)
	job.DropCondition(&inst.Status.Conditions, v1alpha1.CreateExportsCondition)
	if err := b.api.Status().Update(t.Context(), inst); err != nil {
		t.Fatal(err)
	}
	b.forgetPlans()
	b.finishWith(t, "https://shop")
	return b
}

// TestInheritedJob: a job that another release has begun exports what that release
// would have exported, and leaves nothing behind.
func TestInheritedJob(t *testing.T) {
	b := foreignJob(t)
	b.reconcile(t)
	b.reconcile(t)
	if s := b.installation(t).Status; s.InstallationPhase != "Succeeded" || s.JobIDFinished != "job-1" {
		t.Fatalf("%s, %+v", s.InstallationPhase, s.LastError)
	}
	if got := string(b.export(t).Data.RawMessage); got != `"https://shop"` {
		t.Errorf("exported %s", got)
	}
	secrets := &corev1.SecretList{}
	if err := b.api.List(t.Context(), secrets); err != nil || len(secrets.Items) > 0 {
		t.Errorf("%d Secrets are left, %v", len(secrets.Items), err)
	}
}

// TestInheritedJobWithoutInputs: inputs that no longer exist are named, as at the beginning of a
// job.
func TestInheritedJobWithoutInputs(t *testing.T) {
	b := foreignJob(t)
	target := &v1alpha1.Target{}
	target.Namespace, target.Name = shop.Namespace, b.installation(t).Spec.Imports.Targets[0].Target
	if err := b.api.Delete(t.Context(), target); err != nil {
		t.Fatal(err)
	}
	b.reconcile(t)
	s := b.installation(t).Status
	if s.InstallationPhase != "Failed" || s.LastError == nil || s.LastError.Reason != "ImportsSatisfied" || !strings.Contains(s.LastError.Message, target.Name) {
		t.Errorf("%s, %+v", s.InstallationPhase, s.LastError)
	}
}
