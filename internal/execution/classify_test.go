package execution

import (
	"maps"
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
		want    map[string]class
		verdict verdict
	}{
		{"no items at all", nil, map[string]class{}, allDone},
		{"independent items run at once", []member{{name: "a", item: item("", "", "")}, {name: "b", item: item(old, old, "Succeeded")}},
			map[string]class{"a": runnable, "b": runnable}, goOn},
		{"an item waits for one that has not finished", []member{{name: "a", item: item(j, "", "Progressing")}, {name: "b", dependsOn: []string{"a"}, item: item("", "", "")}},
			map[string]class{"a": running, "b": pending}, wait},
		{"success of the last job does not count", []member{{name: "a", item: item(old, old, "Succeeded")}, {name: "b", dependsOn: []string{"a"}, item: item(old, old, "Succeeded")}},
			map[string]class{"a": runnable, "b": pending}, goOn},
		{"the next item runs", []member{{name: "a", item: item(j, j, "Succeeded")}, {name: "b", dependsOn: []string{"a"}, item: item("", "", "")}},
			map[string]class{"a": succeeded, "b": runnable}, goOn},
		{"everything is done", []member{{name: "a", item: item(j, j, "Succeeded")}}, map[string]class{"a": succeeded}, allDone},
		{"a failure stops what has not begun", []member{{name: "a", item: item(j, j, "Failed")}, {name: "b", item: item("", "", "")}},
			map[string]class{"a": failed, "b": runnable}, someFailed},
		{"a failure waits for what runs", []member{{name: "a", item: item(j, j, "Failed")}, {name: "b", item: item(j, "", "Progressing")}},
			map[string]class{"a": failed, "b": running}, wait},
		{"somebody deleted an item", []member{{name: "a"}}, map[string]class{"a": failed}, someFailed},
		{"items that wait for each other never run", []member{{name: "a", dependsOn: []string{"b"}, item: item("", "", "")}, {name: "b", dependsOn: []string{"a"}, item: item("", "", "")}},
			map[string]class{"a": pending, "b": pending}, stuck},
	}
	for _, test := range tests {
		got := classify(j, test.members)
		if !maps.Equal(got, test.want) {
			t.Errorf("%s: %v, want %v", test.reason, got, test.want)
		}
		if verdict := judge(got); verdict != test.verdict {
			t.Errorf("%s: %s, want %s", test.reason, verdict, test.verdict)
		}
	}
}

func TestClassifyDeletion(t *testing.T) {
	const j, old = "j", "old"
	tests := []struct {
		reason  string
		members []member
		want    map[string]class
		verdict verdict
	}{
		{"everything is gone", nil, map[string]class{}, allDone},
		{"the last one goes first", []member{{name: "a", item: item(old, old, "Succeeded")}, {name: "b", dependsOn: []string{"a"}, item: item(old, old, "Succeeded")}},
			map[string]class{"a": pending, "b": runnable}, goOn},
		{"its foundation stays until it is gone", []member{{name: "a", item: item(old, old, "Succeeded")}, {name: "b", dependsOn: []string{"a"}, item: item(j, "", "Deleting")}},
			map[string]class{"a": pending, "b": running}, wait},
		{"a foundation whose dependents are gone", []member{{name: "a", item: item(old, old, "Succeeded")}}, map[string]class{"a": runnable}, goOn},
		{"a finished item is still there until its finalizer is gone", []member{{name: "a", item: item(j, j, "Succeeded")}}, map[string]class{"a": running}, wait},
		{"a deletion has failed", []member{{name: "a", item: item(j, j, "DeleteFailed")}}, map[string]class{"a": failed}, someFailed},
		{"an item that cannot be deleted does not hold back a stranger", []member{{name: "a", item: item(j, j, "DeleteFailed")}, {name: "b", item: item(old, old, "Succeeded")}},
			map[string]class{"a": failed, "b": runnable}, goOn},
		{"an item that cannot be deleted holds back its foundation", []member{{name: "a", item: item(old, old, "Succeeded")}, {name: "b", dependsOn: []string{"a"}, item: item(j, j, "DeleteFailed")}},
			map[string]class{"a": pending, "b": failed}, someFailed},
		{"items that wait for each other", []member{{name: "a", dependsOn: []string{"b"}, item: item("", "", "")}, {name: "b", dependsOn: []string{"a"}, item: item("", "", "")}},
			map[string]class{"a": pending, "b": pending}, stuck},
	}
	for _, test := range tests {
		got := classifyDeletion(j, test.members)
		if !maps.Equal(got, test.want) {
			t.Errorf("%s: %v, want %v", test.reason, got, test.want)
		}
		if verdict := judgeDeletion(got); verdict != test.verdict {
			t.Errorf("%s: %s, want %s", test.reason, verdict, test.verdict)
		}
	}
}
