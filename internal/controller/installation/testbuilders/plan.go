package testbuilders

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/internal/landscape/plan/parcel"
)

// PlanOf is the Secret with a plan of a job of an Installation, with the given owners.
func PlanOf(t *testing.T, jobID, content string, owners ...metav1.OwnerReference) *corev1.Secret {
	t.Helper()
	inst := InstallationOf(t, "{}")
	inst.Status.JobID = jobID
	secrets := parcel.Key(nil).Secrets(inst, []byte(content))
	if len(secrets) != 1 {
		t.Fatalf("%d Secrets", len(secrets))
	}
	if len(owners) > 0 {
		secrets[0].OwnerReferences = owners
	}
	return secrets[0]
}
