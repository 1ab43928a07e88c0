package execution

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/model/siblings/itemorder"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/job/reasons"
)

// installation gives the Installation a job, which may be in its removal round.
func (b *bench) installation(t *testing.T, jobID string, removing bool) {
	t.Helper()
	inst := &v1alpha1.Installation{}
	if err := b.api.Get(t.Context(), key, inst); err != nil {
		t.Fatal(err)
	}
	inst.Status.JobID, inst.Status.InstallationPhase, inst.Status.Conditions = jobID, v1alpha1.InstallationPhases.Progressing, nil
	if removing {
		inst.Status.Conditions = []v1alpha1.Condition{{Type: v1alpha1.PendingRemovalsCondition, Status: v1alpha1.ConditionTrue, Reason: string(reasons.Removing)}}
	}
	if err := b.api.Status().Update(t.Context(), inst); err != nil {
		t.Fatal(err)
	}
}

// rename gives the only item of the Execution another name.
func (b *bench) rename(t *testing.T, name string) {
	t.Helper()
	exec := b.execution(t)
	exec.Spec.DeployItems[0].Name = name
	exec.Generation++
	if err := b.api.Update(t.Context(), exec); err != nil {
		t.Fatal(err)
	}
}

func (b *bench) item(t *testing.T, name string) *v1alpha1.DeployItem {
	t.Helper()
	for _, item := range b.items(t) {
		if itemorder.NameOf(&item) == name {
			return &item
		}
	}
	return nil
}

// record lets an item have recorded an object.
func (b *bench) record(t *testing.T, name string) {
	t.Helper()
	item := b.item(t, name)
	item.Status.ProviderStatus = &runtime.RawExtension{Raw: []byte(oneObject)}
	if err := b.api.Status().Update(t.Context(), item); err != nil {
		t.Fatal(err)
	}
}

// renamed is an Execution whose only item has deployed an object, and has another name now.
func renamed(t *testing.T) *bench {
	t.Helper()
	inst := &v1alpha1.Installation{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name, UID: "inst", Finalizers: []string{v1alpha1.Finalizer}}}
	exec := withItems(v1alpha1.DeployItemTemplate{Name: "old", Target: &v1alpha1.ObjectReference{Name: "t", Namespace: key.Namespace}})
	exec.OwnerReferences = []metav1.OwnerReference{{APIVersion: v1alpha1.GroupVersion.String(), Kind: "Installation", Name: inst.Name, UID: inst.UID}}
	b := newBench(t, inst, exec)
	b.installation(t, "a", false)
	b.reconcile(t)
	b.finish(t, v1alpha1.DeployItemPhases.Succeeded)
	b.reconcile(t)
	b.record(t, "old")
	b.rename(t, "new")
	b.installation(t, "b", false)
	b.reconcile(t)
	return b
}

// TestRenamedItem: the item of the old name stays until the root begins the removal round.
func TestRenamedItem(t *testing.T) {
	b := renamed(t)
	if old := b.item(t, "old"); old.DeletionTimestamp != nil || old.Status.JobID != "a" {
		t.Fatalf("the old item is touched: %+v", old)
	}
	b.finish(t, v1alpha1.DeployItemPhases.Succeeded)
	b.reconcile(t)
	status := b.execution(t).Status
	if pending := job.Pending(status.Conditions); status.JobIDFinished != "b" || status.ExecutionPhase != "Succeeded" || pending == nil || b.item(t, "old").DeletionTimestamp != nil {
		t.Fatalf("%+v", status)
	}
	b.installation(t, "b", true)
	b.reconcile(t)
	if old, next := b.item(t, "old"), b.item(t, "new"); old.DeletionTimestamp == nil || next.Status.JobID != "b" {
		t.Fatalf("old: %+v, new: %+v", old, next)
	}
	old := b.item(t, "old")
	if old.Finalizers = nil; b.api.Update(t.Context(), old) != nil {
		t.Fatal("the old item does not go")
	}
	b.reconcile(t)
	status = b.execution(t).Status
	if status.JobIDFinished != "b-removal" || status.ExecutionPhase != "Succeeded" || job.Pending(status.Conditions) != nil {
		t.Errorf("%+v, %+v", status, status.LastError)
	}
}

// TestRenamedBack: a job that fails has removed nothing, and the former name gets its item back
// unchanged.
func TestRenamedBack(t *testing.T) {
	b := renamed(t)
	b.record(t, "new")
	b.finish(t, v1alpha1.DeployItemPhases.Failed)
	b.reconcile(t)
	before := b.item(t, "old")
	if status := b.execution(t).Status; status.ExecutionPhase != "Failed" || job.Pending(status.Conditions) == nil || before.DeletionTimestamp != nil || before.Status.Phase != "Succeeded" {
		t.Fatalf("%+v, %+v", status, before)
	}
	b.rename(t, "old")
	b.installation(t, "c", false)
	b.reconcile(t)
	if after := b.item(t, "old"); after.UID != before.UID || after.Status.JobID != "c" || b.item(t, "new") == nil {
		t.Errorf("%+v", after)
	}
	if err := b.api.Get(t.Context(), client.ObjectKeyFromObject(before), &v1alpha1.DeployItem{}); err != nil {
		t.Error(err)
	}
}
