package inspect

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	deliveryv1alpha1 "go.landscaper.dev/api/delivery/v1alpha1"
	"go.landscaper.dev/api/v1alpha1"
)

// TestDeferral: an Installation with a deferred job waits, and what waits for it says the same.
func TestDeferral(t *testing.T) {
	const said = "deferred by DeliveryPolicy freeze: frozen; it may begin at 2027-01-04T00:00:00Z"
	deferred := func(phase v1alpha1.InstallationPhase, change func(*v1alpha1.Installation)) *v1alpha1.Installation {
		inst := &v1alpha1.Installation{}
		inst.Name = "shop"
		inst.Status.JobID, inst.Status.JobIDFinished, inst.Status.InstallationPhase = "a", "a", phase
		inst.Status.Conditions = []v1alpha1.Condition{
			{Type: v1alpha1.StalledCondition, Status: v1alpha1.ConditionTrue, Reason: "Failed", Message: "of the job before"},
			{Type: deliveryv1alpha1.DeferredCondition, Status: v1alpha1.ConditionTrue, Reason: "Frozen", Message: said},
		}
		change(inst)
		return inst
	}
	requested := func(inst *v1alpha1.Installation) {
		inst.Annotations = map[string]string{v1alpha1.OperationAnnotation: "reconcile"}
	}
	deleted := func(inst *v1alpha1.Installation) {
		now := metav1.Now()
		inst.DeletionTimestamp = &now
	}
	for reason, inst := range map[string]*v1alpha1.Installation{
		"after a success": deferred("Succeeded", requested), "after a failure": deferred("Failed", requested), "a deletion": deferred("Succeeded", deleted),
	} {
		node := &Node{Kind: KindInstallation, Name: "shop", Installation: inst}
		installationFacts(inst).fill(node)
		if node.State != Waiting || node.Reason != "Frozen" || node.Message != said {
			t.Errorf("%s: %s, %s: %s", reason, node.State, node.Reason, node.Message)
		}
		if why, done := settled(inst, Start{}); done || why != said {
			t.Errorf("%s: what waits for it says %q", reason, why)
		}
	}
	if _, done := settled(deferred("Succeeded", func(*v1alpha1.Installation) {}), Start{}); !done {
		t.Error("a deferred repetition keeps what waits for the last job from ending")
	}
}
