package execution

import (
	"slices"
	"testing"

	"go.landscaper.dev/api/v1alpha1"
)

func item(id, finished string, phase v1alpha1.DeployItemPhase) *v1alpha1.DeployItem {
	return &v1alpha1.DeployItem{Status: v1alpha1.DeployItemStatus{JobID: id, JobIDFinished: finished, Phase: phase}}
}

func TestClassify(t *testing.T) {
	const j, old = "j", "old"
	tests := []struct {
		reason  string
		members []member
		want    []class
		verdict verdict
	}{
		{"no items at all", nil, nil, allDone},
		{"independent items run at once", []member{{name: "a", item: item("", "", "")}, {name: "b", item: item(old, old, "Succeeded")}},
			[]class{runnable, runnable}, goOn},
		{"an item waits for one that has not finished", []member{{name: "a", item: item(j, "", "Progressing")}, {name: "b", dependsOn: []string{"a"}, item: item("", "", "")}},
			[]class{running, pending}, wait},
		{"success of the last job does not count", []member{{name: "a", item: item(old, old, "Succeeded")}, {name: "b", dependsOn: []string{"a"}, item: item(old, old, "Succeeded")}},
			[]class{runnable, pending}, goOn},
		{"the next item runs", []member{{name: "a", item: item(j, j, "Succeeded")}, {name: "b", dependsOn: []string{"a"}, item: item("", "", "")}},
			[]class{succeeded, runnable}, goOn},
		{"everything is done", []member{{name: "a", item: item(j, j, "Succeeded")}}, []class{succeeded}, allDone},
		{"a failure stops what has not begun", []member{{name: "a", item: item(j, j, "Failed")}, {name: "b", item: item("", "", "")}},
			[]class{failed, runnable}, someFailed},
		{"a failure waits for what runs", []member{{name: "a", item: item(j, j, "Failed")}, {name: "b", item: item(j, "", "Progressing")}},
			[]class{failed, running}, wait},
		{"another client has deleted an item", []member{{name: "a"}}, []class{failed}, someFailed},
		{"items that wait for each other never run", []member{{name: "a", dependsOn: []string{"b"}, item: item("", "", "")}, {name: "b", dependsOn: []string{"a"}, item: item("", "", "")}},
			[]class{pending, pending}, stuck},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			got := classify(j, test.members)
			if !slices.Equal(got, test.want) {
				t.Errorf("%s: %v, want %v", test.reason, got, test.want)
			}
			if verdict := judge(got); verdict != test.verdict {
				t.Errorf("%s: %s, want %s", test.reason, verdict, test.verdict)
			}
		})
	}
}

func TestClassifyDeletion(t *testing.T) {
	const j, old = "j", "old"
	tests := []struct {
		reason  string
		members []member
		want    []class
		verdict verdict
	}{
		{"all items are deleted", nil, nil, allDone},
		{"the last item is deleted first", []member{{name: "a", item: item(old, old, "Succeeded")}, {name: "b", dependsOn: []string{"a"}, item: item(old, old, "Succeeded")}},
			[]class{pending, runnable}, goOn},
		{"an item stays until its dependent is deleted", []member{{name: "a", item: item(old, old, "Succeeded")}, {name: "b", dependsOn: []string{"a"}, item: item(j, "", "Deleting")}},
			[]class{pending, running}, wait},
		{"an item whose dependents are deleted", []member{{name: "a", item: item(old, old, "Succeeded")}}, []class{runnable}, goOn},
		{"a finished item counts until its finalizer is removed", []member{{name: "a", item: item(j, j, "Succeeded")}}, []class{running}, wait},
		{"a deletion has failed", []member{{name: "a", item: item(j, j, "DeleteFailed")}}, []class{failed}, someFailed},
		{"an item that cannot be deleted does not hold back a stranger", []member{{name: "a", item: item(j, j, "DeleteFailed")}, {name: "b", item: item(old, old, "Succeeded")}},
			[]class{failed, runnable}, goOn},
		{"an item that cannot be deleted holds back its foundation", []member{{name: "a", item: item(old, old, "Succeeded")}, {name: "b", dependsOn: []string{"a"}, item: item(j, j, "DeleteFailed")}},
			[]class{pending, failed}, someFailed},
		{"items that wait for each other", []member{{name: "a", dependsOn: []string{"b"}, item: item("", "", "")}, {name: "b", dependsOn: []string{"a"}, item: item("", "", "")}},
			[]class{pending, pending}, stuck},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			got := classifyDeletion(j, test.members, nil)
			if !slices.Equal(got, test.want) {
				t.Errorf("%s: %v, want %v", test.reason, got, test.want)
			}
			if verdict := judgeDeletion(got); verdict != test.verdict {
				t.Errorf("%s: %s, want %s", test.reason, verdict, test.verdict)
			}
		})
	}
}

// TestOrphansKeepTheirOrder: an item that is no longer wanted is uninstalled after
// those that depend on it, as noted when they were created.
func TestOrphansKeepTheirOrder(t *testing.T) {
	item := func(name, needs string) *v1alpha1.DeployItem {
		item := &v1alpha1.DeployItem{}
		item.Labels = map[string]string{v1alpha1.ExecutionManagedNameLabel: name}
		item.Annotations = map[string]string{v1alpha1.ExecutionDependsOnAnnotation: needs}
		return item
	}
	_, orphans := members(nil, []*v1alpha1.DeployItem{item("base", ""), item("top", "base")})
	classes := classifyDeletion("job", orphans, nil)
	if orphans[1].name != "top" || classes[1] != runnable || classes[0] != pending {
		t.Errorf("got %v", classes)
	}
}
