package itemorder_test

import (
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/model/siblings/itemorder"
)

// relative is an item of an Execution, with the state of its last job.
func relative(name, jobID, finished string, phase v1alpha1.DeployItemPhase, dependsOn string) *v1alpha1.DeployItem {
	return &v1alpha1.DeployItem{
		ObjectMeta: metav1.ObjectMeta{
			Name: name, UID: types.UID(name), Labels: map[string]string{v1alpha1.ExecutionManagedNameLabel: name},
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
		{"an item is not its own sibling", nil, nil, nil},
		{"a sibling at work", []*v1alpha1.DeployItem{relative("a", "two", "one", phases.Progressing, "")}, []string{"a"}, nil},
		{"a sibling without the job yet may get it", []*v1alpha1.DeployItem{relative("a", "one", "one", phases.Succeeded, "")}, nil, []string{"a"}},
		{"a finished sibling", []*v1alpha1.DeployItem{relative("a", "two", "two", phases.Succeeded, "")}, nil, nil},
		{"after a failed sibling the others get no job", []*v1alpha1.DeployItem{relative("a", "two", "two", phases.Failed, ""), relative("b", "one", "one", phases.Succeeded, "")}, nil, nil},
		{"a sibling that has failed in an earlier job may get the job", []*v1alpha1.DeployItem{relative("a", "one", "one", phases.Failed, "")}, nil, []string{"a"}},
		{"a sibling that depends on the item", []*v1alpha1.DeployItem{relative("a", "one", "one", phases.Succeeded, "self")}, nil, nil},
		{"a sibling that depends on the item through another one", []*v1alpha1.DeployItem{relative("a", "one", "one", phases.Succeeded, "c,b"), relative("b", "two", "two", phases.Succeeded, "self"), relative("c", "two", "two", phases.Succeeded, "")}, nil, nil},
		{"siblings that depend on each other in a cycle", []*v1alpha1.DeployItem{relative("a", "one", "one", phases.Succeeded, "b"), relative("b", "one", "one", phases.Succeeded, "a")}, nil, []string{"a", "b"}},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			// The item is read from a cache, too.
			all := append([]*v1alpha1.DeployItem{self.DeepCopy()}, test.family...)
			working, waiting := itemorder.UnfinishedSiblings(self, all)
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
