package deployer

import (
	"context"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"go.landscaper.dev/api/v1alpha1"
)

// relative is an item of an Execution, with the state of its last job.
func relative(name, jobID, finished string, phase v1alpha1.DeployItemPhase, dependsOn string) *v1alpha1.DeployItem {
	return &v1alpha1.DeployItem{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: key.Namespace, Name: name, UID: types.UID(name),
			Labels:      map[string]string{v1alpha1.ExecutionManagedByLabel: "shop", v1alpha1.ExecutionManagedNameLabel: name},
			Annotations: map[string]string{v1alpha1.ExecutionDependsOnAnnotation: dependsOn},
		},
		Status: v1alpha1.DeployItemStatus{JobID: jobID, JobIDFinished: finished, Phase: phase},
	}
}

// TestSibling: an item finds the siblings that it may wait for, and the end of one of them enqueues
// it. A sibling without the job counts only in a job of the Execution.
func TestSibling(t *testing.T) {
	phases := v1alpha1.DeployItemPhases
	execution := func(jobID, finished string) *v1alpha1.Execution {
		return &v1alpha1.Execution{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: "shop"}, Status: v1alpha1.ExecutionStatus{JobID: jobID, JobIDFinished: finished}}
	}
	own := newItem(func(item *v1alpha1.DeployItem) {
		item.Labels = map[string]string{v1alpha1.ExecutionManagedByLabel: "shop", v1alpha1.ExecutionManagedNameLabel: "self"}
	})
	jobID := own.Status.JobID
	alone := own.DeepCopy()
	alone.Labels = nil
	tests := []struct {
		reason string
		item   *v1alpha1.DeployItem
		others []client.Object
		want   string
	}{
		{"a sibling at work", own, []client.Object{relative("a", jobID, "", phases.Progressing, "")}, "a"},
		{"of two siblings at work always the first one", own, []client.Object{relative("a", jobID, "", phases.Progressing, ""), relative("ab", jobID, "", phases.Progressing, "")}, "a"},
		{"a sibling at work that is not chosen", own, []client.Object{relative("other", jobID, "", phases.Progressing, "")}, ""},
		{"a sibling that gets the job of the Execution later", own, []client.Object{relative("a", "old", "old", phases.Succeeded, ""), execution(jobID, "old")}, "a"},
		{"a job of the item alone", own, []client.Object{relative("a", "old", "old", phases.Succeeded, ""), execution("old", "old")}, ""},
		{"a job of an Execution that does not exist", own, []client.Object{relative("a", "old", "old", phases.Succeeded, "")}, ""},
		{"an item without Execution", alone, []client.Object{relative("a", jobID, "", phases.Progressing, "")}, ""},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			found := ""
			s := onStage(t, &script{reconcile: func(ctx context.Context, item *Item) (Result, error) {
				sibling, err := item.Sibling(ctx, func(item *v1alpha1.DeployItem) bool { return strings.HasPrefix(item.Name, "a") })
				if sibling != nil {
					found = sibling.Name
				}
				return WaitFor("a sibling"), err
			}}, append(test.others, test.item.DeepCopy())...)
			if s.look(); found != test.want {
				t.Errorf("found %q, want %q", found, test.want)
			}
			signalled := s.reconciler.siblingsOf(t.Context(), relative("a", "", "", "", ""))
			if asked := test.item.Labels != nil; (len(signalled) == 1 && signalled[0].NamespacedName == key) != asked {
				t.Errorf("enqueued: %v", signalled)
			}
			if s.look(); len(s.script.calls) != 1+len(signalled) {
				t.Errorf("the deployer was called %d times", len(s.script.calls))
			}
		})
	}
}

func TestPartOver(t *testing.T) {
	before, after := relative("a", "two", "one", "", ""), relative("a", "two", "two", "", "")
	if !partEnded.Update(event.UpdateEvent{ObjectOld: before, ObjectNew: after}) {
		t.Error("the end of a job enqueues no item")
	}
	if partEnded.Update(event.UpdateEvent{ObjectOld: before, ObjectNew: before}) || partEnded.Create(event.CreateEvent{Object: before}) {
		t.Error("another event enqueues an item")
	}
	if !partEnded.Delete(event.DeleteEvent{Object: before}) {
		t.Error("a deleted item enqueues no item")
	}
}
