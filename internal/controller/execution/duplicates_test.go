package execution

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/runtime/job"
)

// turned is a cache that lists the items the other way round.
type turned struct{ client.Client }

// List implements client.Reader.
func (c turned) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	err := c.Client.List(ctx, list, options...)
	if items, ok := list.(*v1alpha1.DeployItemList); ok {
		slices.Reverse(items.Items)
	}
	return err
}

// TestDuplicateItems: two DeployItems have the name of one item, as a crash of another release may
// have left them. In whichever order a cache lists them, the same one counts; the other one is not
// changed, which the status and an event report, and is uninstalled when another client deletes it.
func TestDuplicateItems(t *testing.T) {
	taken := func(name string, second int64, jobID string) *v1alpha1.DeployItem {
		return &v1alpha1.DeployItem{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: key.Namespace, Name: name, CreationTimestamp: metav1.Unix(second, 0), Finalizers: []string{v1alpha1.Finalizer},
				Labels:          map[string]string{v1alpha1.ExecutionManagedByLabel: key.Name, v1alpha1.ExecutionManagedNameLabel: "one"},
				OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(withItems(), v1alpha1.GroupVersion.WithKind("Execution"))},
			},
			Spec:   v1alpha1.DeployItemSpec{Type: "example.org/x"},
			Status: v1alpha1.DeployItemStatus{JobID: jobID, JobIDFinished: jobID, Phase: v1alpha1.DeployItemPhases.Succeeded},
		}
	}
	for _, test := range []struct {
		reason   string
		recorded string
		want     string
	}{
		{"the older item counts", "", "b-older"},
		{"the item that the status has recorded counts", "a-younger", "a-younger"},
	} {
		for _, order := range []string{"as listed", "turned round"} {
			t.Run(test.reason+"/"+order, func(t *testing.T) {
				exec := withItems(v1alpha1.DeployItemTemplate{Name: "one"})
				if test.recorded != "" {
					exec.Status.DeployItemCache = &v1alpha1.DeployItemCache{ActiveDIs: []v1alpha1.DiNamePair{{SpecName: "one", ObjectName: test.recorded}}}
				}
				younger, older := taken("a-younger", 200, "z"), taken("b-older", 100, "z")
				younger.UID, older.UID = "younger", "older"
				b := newBench(t, exec, younger, older)
				recorder := events.NewFakeRecorder(10)
				b.Events = recorder
				if order == "turned round" {
					b.Client = turned{b.api}
				}
				b.handOver(t, "a")
				b.reconcile(t)
				other := ""
				for _, item := range b.items(t) {
					if hasJob := item.Status.JobID == "a"; hasJob != (item.Name == test.want) {
						t.Errorf("DeployItem %s has job %s", item.Name, item.Status.JobID)
					}
					if item.Name != test.want {
						other = item.Name
					}
				}
				condition := job.GetCondition(b.execution(t).Status.Conditions, v1alpha1.DuplicateItemsCondition)
				if condition == nil || !strings.Contains(condition.Message, other+" has the name of item") || !strings.Contains(condition.Message, "DeployItem "+test.want+" counts") {
					t.Errorf("condition %+v", condition)
				}
				select {
				case event := <-recorder.Events:
					if !strings.Contains(event, "DuplicateItems") || !strings.Contains(event, other) {
						t.Error(event)
					}
				default:
					t.Error("no event says it")
				}
				b.finish(t, v1alpha1.DeployItemPhases.Succeeded)
				b.reconcile(t)
				if s := b.execution(t).Status; s.ExecutionPhase != "Succeeded" {
					t.Fatalf("%+v", s)
				}
				b.leaves(t, other)
			})
		}
	}
}

// leaves deletes a duplicate as another client: the next job uninstalls it, and does not report it
// any more.
func (b *bench) leaves(t *testing.T, other string) {
	t.Helper()
	for _, item := range b.items(t) {
		if item.Name == other {
			if err := b.api.Delete(t.Context(), &item); err != nil {
				t.Fatal(err)
			}
		}
	}
	b.now = b.now.Add(time.Minute)
	b.handOver(t, "b")
	b.reconcile(t)
	for _, item := range b.items(t) {
		if item.Name != other {
			continue
		}
		if item.Status.JobID != "b" {
			t.Errorf("the duplicate that was deleted has job %s", item.Status.JobID)
		}
		item.Finalizers = nil
		if err := b.api.Update(t.Context(), &item); err != nil {
			t.Fatal(err)
		}
	}
	b.reconcile(t)
	b.finish(t, v1alpha1.DeployItemPhases.Succeeded)
	b.reconcile(t)
	status := b.execution(t).Status
	if status.ExecutionPhase != "Succeeded" || job.GetCondition(status.Conditions, v1alpha1.DuplicateItemsCondition) != nil || len(b.items(t)) != 1 {
		t.Errorf("%d items, %+v", len(b.items(t)), status)
	}
}
