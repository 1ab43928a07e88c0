package gardener

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

func TestDecodeShoot(t *testing.T) {
	cluster := &Cluster{}
	if _, err := cluster.DecodeShoot(); err == nil {
		t.Error("a Cluster without a shoot was read")
	}
	cluster.Spec.Shoot = runtime.RawExtension{Raw: []byte(`{"metadata":{"name":"bench","namespace":"garden-lab","generation":3},
		"spec":{"hibernation":{"enabled":true},"unknown":1,"resources":[
			{"name":"key","resourceRef":{"apiVersion":"v1","kind":"Secret","name":"fleet-ssh"}},
			{"name":"flux-config","resourceRef":{"apiVersion":"v1","kind":"ConfigMap","name":"ours"}}]},
		"status":{"technicalID":"shoot--lab--bench","observedGeneration":3,"lastOperation":{"state":"Failed"}}}`)}
	shoot, err := cluster.DecodeShoot()
	if err != nil {
		t.Fatal(err)
	}
	if !shoot.Hibernates() || !shoot.HasFailed() || shoot.Status.TechnicalID != "shoot--lab--bench" || shoot.Status.ClusterIdentity != nil {
		t.Errorf("read %+v", shoot)
	}
	if found, ok := shoot.Resource("key", "Secret"); !ok || found.Name != "fleet-ssh" {
		t.Errorf("the Secret is %v", found)
	}
	if _, ok := shoot.Resource("flux-config", "Secret"); ok {
		t.Error("a ConfigMap was taken for a Secret")
	}
	shoot.Generation = 4
	if shoot.HasFailed() {
		t.Error("a shoot that was changed since may be tried again")
	}
}

func TestSetConditionChangesTimesOnlyWithTheRest(t *testing.T) {
	first, second := metav1.NewTime(time.Unix(100, 0)), metav1.NewTime(time.Unix(200, 0))
	conditions := SetCondition([]Condition{{Type: "Other"}}, Condition{Type: "Mine", Status: ConditionTrue, Reason: "A"}, first)
	same := SetCondition(conditions, Condition{Type: "Mine", Status: ConditionTrue, Reason: "A"}, second)
	if got := FindCondition(same, "Mine"); !got.LastUpdateTime.Equal(&first) {
		t.Errorf("nothing changed, but %+v", got)
	}
	reason := SetCondition(conditions, Condition{Type: "Mine", Status: ConditionTrue, Reason: "B"}, second)
	if got := FindCondition(reason, "Mine"); !got.LastUpdateTime.Equal(&second) || !got.LastTransitionTime.Equal(&first) {
		t.Errorf("the reason changed: %+v", got)
	}
	status := SetCondition(conditions, Condition{Type: "Mine", Status: ConditionFalse, Reason: "B"}, second)
	if got := FindCondition(status, "Mine"); !got.LastTransitionTime.Equal(&second) {
		t.Errorf("the status changed: %+v", got)
	}
	if len(status) != 2 || FindCondition(status, "Other") == nil {
		t.Errorf("conditions of others: %+v", status)
	}
}
