package execution

import (
	"context"
	"testing"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
)

// counting counts what is written to the API server.
type counting struct {
	client.Client
	writes int
}

func (c *counting) Patch(ctx context.Context, object client.Object, patch client.Patch, options ...client.PatchOption) error {
	c.writes++
	return c.Client.Patch(ctx, object, patch, options...)
}

func (c *counting) Status() client.SubResourceWriter {
	return &countingStatus{c.Client.Status(), c}
}

type countingStatus struct {
	client.SubResourceWriter
	of *counting
}

func (c *countingStatus) Update(ctx context.Context, object client.Object, options ...client.SubResourceUpdateOption) error {
	c.of.writes++
	return c.SubResourceWriter.Update(ctx, object, options...)
}

// TestOrphanWhoseDeletionFails: another client has removed the finalizer of the Installation while
// an item could not be deleted. The Execution deletes itself once, comes to rest, tries again on
// request, and is deleted when the item no longer exists.
func TestOrphanWhoseDeletionFails(t *testing.T) {
	exec := withItems(v1alpha1.DeployItemTemplate{Name: "one"})
	exec.OwnerReferences = []metav1.OwnerReference{{APIVersion: v1alpha1.GroupVersion.String(), Kind: "Installation", Name: "x", UID: "gone"}}
	b := newBench(t, exec)
	b.handOver(t, "a")
	b.reconcile(t)
	b.finish(t, v1alpha1.DeployItemPhases.Succeeded)
	b.reconcile(t)
	// A deployer has worked on the item: it does not just disappear.
	item := b.items(t)[0]
	item.Finalizers = []string{v1alpha1.Finalizer}
	if err := b.api.Update(t.Context(), &item); err != nil {
		t.Fatal(err)
	}
	if err := b.api.Delete(t.Context(), b.execution(t)); err != nil {
		t.Fatal(err)
	}
	// fail lets deletions fail for as long as there are any, with each event of the Execution.
	counted := &counting{Client: b.api}
	b.Client = counted
	fail := func() int {
		counted.writes = 0
		for range 20 {
			b.reconcile(t)
			b.finish(t, v1alpha1.DeployItemPhases.DeleteFailed)
		}
		return counted.writes
	}
	if writes := fail(); writes > 6 || b.execution(t).Status.ExecutionPhase != "DeleteFailed" {
		t.Fatalf("%d writes, %+v", writes, b.execution(t).Status)
	}
	last := b.execution(t).Status.JobID
	if writes := fail(); writes != 0 {
		t.Errorf("there is no request, and there are %d writes", writes)
	}
	asking := b.execution(t)
	asking.Annotations = map[string]string{v1alpha1.OperationAnnotation: string(v1alpha1.ReconcileOperation)}
	if err := b.api.Update(t.Context(), asking); err != nil {
		t.Fatal(err)
	}
	writes := fail()
	if now := b.execution(t); writes > 6 || now.Status.JobID == last || now.Status.JobIDFinished != now.Status.JobID || now.Annotations[v1alpha1.OperationAnnotation] != "" {
		t.Errorf("%d writes, %v, %+v", writes, now.Annotations, now.Status)
	}
	item = b.items(t)[0]
	item.Finalizers = nil
	if err := b.api.Update(t.Context(), &item); err != nil {
		t.Fatal(err)
	}
	b.reconcile(t)
	if err := b.api.Get(t.Context(), key, &v1alpha1.Execution{}); client.IgnoreNotFound(err) != nil || err == nil {
		t.Errorf("the Execution is still there: %v", err)
	}
}

// unchanging counts writes of a status that is stored already.
type unchanging struct {
	client.Client
	writes int
}

func (c *unchanging) Status() client.SubResourceWriter {
	return &unchangingStatus{c.Client.Status(), c}
}

type unchangingStatus struct {
	client.SubResourceWriter
	of *unchanging
}

func (c *unchangingStatus) Update(ctx context.Context, object client.Object, options ...client.SubResourceUpdateOption) error {
	if exec, ok := object.(*v1alpha1.Execution); ok {
		stored := &v1alpha1.Execution{}
		if err := c.of.Get(ctx, client.ObjectKeyFromObject(object), stored); err == nil && equality.Semantic.DeepEqual(stored.Status, exec.Status) {
			c.of.writes++
		}
	}
	return c.SubResourceWriter.Update(ctx, object, options...)
}

// TestRequestOfStoredJob: the answer to the write of a requested job was lost, or the process ended
// after it. The request is removed then, and the job is not written again.
func TestRequestOfStoredJob(t *testing.T) {
	for _, test := range []struct{ reason, job string }{
		{"the job is stored, and the request was not removed", "b"},
		{"the job is not stored", "a"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			exec := withItems(v1alpha1.DeployItemTemplate{Name: "one"})
			exec.OwnerReferences = []metav1.OwnerReference{{APIVersion: v1alpha1.GroupVersion.String(), Kind: "Installation", Name: "x", UID: "gone"}}
			exec.Annotations = map[string]string{v1alpha1.OperationAnnotation: string(v1alpha1.ReconcileOperation)}
			exec.DeletionTimestamp = &metav1.Time{Time: noon}
			exec.Status = v1alpha1.ExecutionStatus{JobID: test.job, JobIDFinished: "a", ExecutionPhase: "DeleteFailed"}
			item := &v1alpha1.DeployItem{ObjectMeta: metav1.ObjectMeta{
				Namespace: key.Namespace, Name: "x-one", UID: "one", Finalizers: []string{v1alpha1.Finalizer}, DeletionTimestamp: &metav1.Time{Time: noon},
				Labels: map[string]string{v1alpha1.ExecutionManagedByLabel: key.Name, v1alpha1.ExecutionManagedNameLabel: "one"},
			}}
			b := newBench(t, exec, item)
			counted := &unchanging{Client: b.api}
			b.Client = counted
			b.reconcile(t)
			now := b.execution(t)
			if counted.writes != 0 || now.Annotations[v1alpha1.OperationAnnotation] != "" || now.Status.ExecutionPhase != "Deleting" || now.Status.JobID == "a" || test.job == "b" && now.Status.JobID != "b" {
				t.Errorf("%d writes of what is stored, %v, %+v", counted.writes, now.Annotations, now.Status)
			}
		})
	}
}
