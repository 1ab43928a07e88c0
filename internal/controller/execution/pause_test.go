package execution

import (
	"context"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	deliveryv1alpha1 "go.landscaper.dev/api/delivery/v1alpha1"
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/runtime/job"
)

func paused(s *snapshot) { s.pause = pause{"p", "paused by DeliveryPolicy p"} }

// saying lets the condition say that the job is paused.
func saying(s *snapshot) {
	s.exec.Status.Conditions = append(s.exec.Status.Conditions, v1alpha1.Condition{Type: deliveryv1alpha1.DeferredCondition, Status: v1alpha1.ConditionTrue, Reason: "Paused", Message: "paused by DeliveryPolicy p"})
}

// TestPause: what a pause stops, and what it does not.
func TestPause(t *testing.T) {
	running := jobs("a", "", "Progressing")
	for _, test := range []struct {
		reason  string
		options []option
		want    step
		wake    string
	}{
		{"an item whose turn has come waits, and that is said", []option{running, wants("one"), has("one", "z", "z", "Succeeded"), paused}, sayPause, "the step itself"},
		{"it is said once", []option{running, wants("one"), has("one", "z", "z", "Succeeded"), paused, saying}, rest, "DeliveryPolicy p"},
		{"another item is at work: it ends", []option{running, wants("one", "two"), has("one", "z", "z", "Succeeded"), has("two", "a", "z", "Progressing"), paused, saying}, rest, "DeliveryPolicy p, DeployItem x-two"},
		{"an item that is to be uninstalled waits", []option{jobs("a", "", "Deleting"), deleting, has("one", "z", "z", "Succeeded", goes), paused}, sayPause, "the step itself"},
		{"the items are written: no deployer reads them without the job", []option{jobs("a", "", ""), finalized, wants("one"), paused}, begin, "the step itself"},
		{"all items have ended: the job does", []option{running, wants("one"), has("one", "a", "a", "Succeeded"), paused}, complete, "the step itself"},
		{"a failure ends the job", []option{running, wants("one"), has("one", "a", "a", "Failed"), paused}, fail, "the step itself"},
		{"an interruption is not kept back", []option{running, wants("one"), has("one", "z", "z", "Succeeded"), interrupted, paused, saying}, interrupt, "the step itself"},
		{"the pause is over, and that is said", []option{running, wants("one"), has("one", "z", "z", "Succeeded"), saying}, sayPause, "the step itself"},
		{"the pause is over, and the item begins", []option{running, wants("one"), has("one", "z", "z", "Succeeded")}, trigger, "the step itself"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			s := snapshot{exec: &v1alpha1.Execution{ObjectMeta: metav1.ObjectMeta{Name: "x"}}, now: noon}
			for _, option := range test.options {
				option(&s)
			}
			if got := decide(s); got.do != test.want || got.wake.String() != test.wake {
				t.Errorf("%s and waits for %s, want %s and %s", got.do, got.wake, test.want, test.wake)
			}
		})
	}
}

// TestPauseOfTree: a job is paused by a policy that selects its root, says so, and goes on where it
// stopped.
func TestPauseOfTree(t *testing.T) {
	controls := true
	root := &v1alpha1.Installation{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: "root", UID: "root", Finalizers: []string{v1alpha1.Finalizer}}}
	root.Status.JobID, root.Status.InstallationPhase = "a", v1alpha1.InstallationPhases.Progressing
	owned := func(object metav1.Object, name string) {
		object.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: v1alpha1.GroupVersion.String(), Kind: "Installation", Name: name, UID: types.UID(name), Controller: &controls}})
	}
	sub := root.DeepCopy()
	sub.Name, sub.UID = "sub", "sub"
	owned(sub, "root")
	exec := withItems(v1alpha1.DeployItemTemplate{Name: "one"})
	owned(exec, "sub")
	b := newBench(t, exec, root, sub)
	policy := &deliveryv1alpha1.DeliveryPolicy{ObjectMeta: metav1.ObjectMeta{Name: "p"}, Spec: deliveryv1alpha1.DeliveryPolicySpec{Installations: []string{"root"}, Paused: &deliveryv1alpha1.Pause{Reason: "incident 7"}}}
	b.Policies = func(context.Context, string) ([]*deliveryv1alpha1.DeliveryPolicy, error) {
		return []*deliveryv1alpha1.DeliveryPolicy{policy}, nil
	}
	b.handOver(t, "a")
	b.reconcile(t)
	said := job.GetCondition(b.execution(t).Status.Conditions, deliveryv1alpha1.DeferredCondition)
	if items := b.items(t); len(items) != 1 || items[0].Status.JobID != "" || said == nil || said.Message != "paused by DeliveryPolicy p (incident 7)" || !strings.Contains(job.Obstacle(b.execution(t).Status.Conditions), "incident 7") {
		t.Fatalf("%+v, %+v", items, b.execution(t).Status.Conditions)
	}
	policy.Spec.Paused = nil
	b.reconcile(t)
	if items := b.items(t); items[0].Status.JobID != "a" || job.GetCondition(b.execution(t).Status.Conditions, deliveryv1alpha1.DeferredCondition) != nil || job.Obstacle(b.execution(t).Status.Conditions) != "" {
		t.Errorf("%+v, %+v", items[0].Status, b.execution(t).Status.Conditions)
	}
	b.finish(t, v1alpha1.DeployItemPhases.Succeeded)
	b.reconcile(t)
	if s := b.execution(t).Status; s.ExecutionPhase != "Succeeded" {
		t.Errorf("%+v", s)
	}
}
