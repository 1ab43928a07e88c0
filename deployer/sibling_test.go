package deployer

import (
	"context"
	"slices"
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

func TestUnfinishedSiblings(t *testing.T) {
	phases := v1alpha1.DeployItemPhases
	self := relative("self", "two", "one", phases.Progressing, "")
	tests := []struct {
		reason           string
		family           []*v1alpha1.DeployItem
		working, waiting []string
	}{
		{"an item is none of its siblings", nil, nil, nil},
		{"one that is at work", []*v1alpha1.DeployItem{relative("a", "two", "one", phases.Progressing, "")}, []string{"a"}, nil},
		{"one that was not reached yet", []*v1alpha1.DeployItem{relative("a", "one", "one", phases.Succeeded, "")}, nil, []string{"a"}},
		{"one that is done", []*v1alpha1.DeployItem{relative("a", "two", "two", phases.Succeeded, "")}, nil, nil},
		{"one that has failed, and so the others get no job", []*v1alpha1.DeployItem{relative("a", "two", "two", phases.Failed, ""), relative("b", "one", "one", phases.Succeeded, "")}, nil, nil},
		{"one that has failed before", []*v1alpha1.DeployItem{relative("a", "one", "one", phases.Failed, "")}, nil, []string{"a"}},
		{"one that waits for the item", []*v1alpha1.DeployItem{relative("a", "one", "one", phases.Succeeded, "self")}, nil, nil},
		{"one that waits for it by way of another one", []*v1alpha1.DeployItem{relative("a", "one", "one", phases.Succeeded, "c,b"), relative("b", "two", "two", phases.Succeeded, "self"), relative("c", "two", "two", phases.Succeeded, "")}, nil, nil},
		{"one that waits for others, in a circle", []*v1alpha1.DeployItem{relative("a", "one", "one", phases.Succeeded, "b"), relative("b", "one", "one", phases.Succeeded, "a")}, nil, []string{"a", "b"}},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			family := []v1alpha1.DeployItem{*self}
			for _, item := range test.family {
				family = append(family, *item)
			}
			working, waiting := unfinishedSiblings(self, family)
			if !slices.Equal(namesOf(working), test.working) || !slices.Equal(namesOf(waiting), test.waiting) {
				t.Errorf("%v work, %v wait", namesOf(working), namesOf(waiting))
			}
		})
	}
}

func namesOf(items []*v1alpha1.DeployItem) (names []string) {
	for _, item := range items {
		names = append(names, item.Name)
	}
	return names
}

// TestSibling: an item finds the siblings that it may wait for, and the end of one of
// them wakes it. One that was not reached counts only in a job of the Execution.
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
		{"one at work", own, []client.Object{relative("a", jobID, "", phases.Progressing, "")}, "a"},
		{"two at work: the first one, in each look", own, []client.Object{relative("a", jobID, "", phases.Progressing, ""), relative("ab", jobID, "", phases.Progressing, "")}, "a"},
		{"one at work that nobody means", own, []client.Object{relative("other", jobID, "", phases.Progressing, "")}, ""},
		{"one that the job of the Execution reaches later", own, []client.Object{relative("a", "old", "old", phases.Succeeded, ""), execution(jobID, "old")}, "a"},
		{"a job of the item alone", own, []client.Object{relative("a", "old", "old", phases.Succeeded, ""), execution("old", "old")}, ""},
		{"a job of an Execution that is gone", own, []client.Object{relative("a", "old", "old", phases.Succeeded, "")}, ""},
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
			woken := s.reconciler.siblingsOf(t.Context(), relative("a", "", "", "", ""))
			if asked := test.item.Labels != nil; (len(woken) == 1 && woken[0].NamespacedName == key) != asked {
				t.Errorf("woken: %v", woken)
			}
			if s.look(); len(s.script.calls) != 1+len(woken) {
				t.Errorf("the deployer was called %d times", len(s.script.calls))
			}
		})
	}
}

func TestPartOver(t *testing.T) {
	before, after := relative("a", "two", "one", "", ""), relative("a", "two", "two", "", "")
	if !partEnded.Update(event.UpdateEvent{ObjectOld: before, ObjectNew: after}) {
		t.Error("the end of a job does not wake")
	}
	if partEnded.Update(event.UpdateEvent{ObjectOld: before, ObjectNew: before}) || partEnded.Create(event.CreateEvent{Object: before}) {
		t.Error("something else wakes")
	}
	if !partEnded.Delete(event.DeleteEvent{Object: before}) {
		t.Error("an item that is gone does not wake")
	}
}
