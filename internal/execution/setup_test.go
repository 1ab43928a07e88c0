package execution

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/api/v1alpha1"
)

// TestExecutionOf: which events of an Installation wake its Execution.
func TestExecutionOf(t *testing.T) {
	for _, test := range []struct {
		reason string
		change func(*v1alpha1.Installation)
		wakes  bool
	}{
		{"a job that has not written the Execution yet", func(*v1alpha1.Installation) {}, false},
		{"the job has ended before: an interruption on the Execution must go with it", func(i *v1alpha1.Installation) { i.Status.JobIDFinished = "1" }, true},
		{"the Execution is written", func(i *v1alpha1.Installation) { i.Status.ExecutionReference = &v1alpha1.ObjectReference{} }, true},
		{"a deletion", func(i *v1alpha1.Installation) { i.DeletionTimestamp = &metav1.Time{} }, true},
	} {
		t.Run(test.reason, func(t *testing.T) {
			inst := &v1alpha1.Installation{}
			inst.Status.JobID = "1"
			test.change(inst)
			if wakes := len(executionOf(t.Context(), inst)) == 1; wakes != test.wakes {
				t.Errorf("it wakes the Execution: %t", wakes)
			}
		})
	}
}

// TestCreatedBefore: an item that the cache does not show yet may have been created
// from an older template.
func TestCreatedBefore(t *testing.T) {
	b := newBench(t)
	template := v1alpha1.DeployItemTemplate{Name: "one", DependsOn: []string{"other"}}
	exec := withItems(template)
	if _, err := b.createItem(t.Context(), exec, &exec.Spec.DeployItems[0]); err != nil {
		t.Fatal(err)
	}
	exec.Spec.DeployItems[0].DependsOn = nil
	item, err := b.createItem(t.Context(), exec, &exec.Spec.DeployItems[0])
	if err != nil {
		t.Fatal(err)
	}
	if needs := item.Annotations[v1alpha1.ExecutionDependsOnAnnotation]; needs != "" || len(b.items(t)) != 1 {
		t.Errorf("there are %d items; this one depends on %q still", len(b.items(t)), needs)
	}
}
