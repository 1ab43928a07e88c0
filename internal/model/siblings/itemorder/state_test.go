package itemorder_test

import (
	"slices"
	"strings"
	"testing"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/model/siblings/itemorder"
)

func item(id, finished string, phase v1alpha1.DeployItemPhase) *v1alpha1.DeployItem {
	return &v1alpha1.DeployItem{Status: v1alpha1.DeployItemStatus{JobID: id, JobIDFinished: finished, Phase: phase}}
}

func TestToDeploy(t *testing.T) {
	const j, old = "j", "old"
	tests := []struct {
		reason  string
		members []itemorder.Member
		want    []itemorder.State
		verdict itemorder.Verdict
	}{
		{"no items at all", nil, nil, itemorder.AllDone},
		{"independent items run at once", []itemorder.Member{{Name: "a", Item: item("", "", "")}, {Name: "b", Item: item(old, old, "Succeeded")}},
			[]itemorder.State{itemorder.Runnable, itemorder.Runnable}, itemorder.GoOn},
		{"an item waits for one that has not finished", []itemorder.Member{{Name: "a", Item: item(j, "", "Progressing")}, {Name: "b", DependsOn: []string{"a"}, Item: item("", "", "")}},
			[]itemorder.State{itemorder.Running, itemorder.Pending}, itemorder.Wait},
		{"success of the last job does not count", []itemorder.Member{{Name: "a", Item: item(old, old, "Succeeded")}, {Name: "b", DependsOn: []string{"a"}, Item: item(old, old, "Succeeded")}},
			[]itemorder.State{itemorder.Runnable, itemorder.Pending}, itemorder.GoOn},
		{"the next item runs", []itemorder.Member{{Name: "a", Item: item(j, j, "Succeeded")}, {Name: "b", DependsOn: []string{"a"}, Item: item("", "", "")}},
			[]itemorder.State{itemorder.Succeeded, itemorder.Runnable}, itemorder.GoOn},
		{"everything is done", []itemorder.Member{{Name: "a", Item: item(j, j, "Succeeded")}}, []itemorder.State{itemorder.Succeeded}, itemorder.AllDone},
		{"a failure stops what has not begun", []itemorder.Member{{Name: "a", Item: item(j, j, "Failed")}, {Name: "b", Item: item("", "", "")}},
			[]itemorder.State{itemorder.Failed, itemorder.Runnable}, itemorder.SomeFailed},
		{"a failure waits for what runs", []itemorder.Member{{Name: "a", Item: item(j, j, "Failed")}, {Name: "b", Item: item(j, "", "Progressing")}},
			[]itemorder.State{itemorder.Failed, itemorder.Running}, itemorder.Wait},
		{"another client has deleted an item", []itemorder.Member{{Name: "a"}}, []itemorder.State{itemorder.Failed}, itemorder.SomeFailed},
		{"items that wait for each other never run", []itemorder.Member{{Name: "a", DependsOn: []string{"b"}, Item: item("", "", "")}, {Name: "b", DependsOn: []string{"a"}, Item: item("", "", "")}},
			[]itemorder.State{itemorder.Pending, itemorder.Pending}, itemorder.Stuck},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			order := itemorder.ToDeploy(j, test.members)
			if got := order.States; !slices.Equal(got, test.want) {
				t.Errorf("%s: %v, want %v", test.reason, got, test.want)
			}
			if verdict := order.Verdict(); verdict != test.verdict {
				t.Errorf("%s: %s, want %s", test.reason, verdict, test.verdict)
			}
		})
	}
}

func TestToDelete(t *testing.T) {
	const j, old = "j", "old"
	tests := []struct {
		reason  string
		members []itemorder.Member
		want    []itemorder.State
		verdict itemorder.Verdict
	}{
		{"all items are deleted", nil, nil, itemorder.AllDone},
		{"the last item is deleted first", []itemorder.Member{{Name: "a", Item: item(old, old, "Succeeded")}, {Name: "b", DependsOn: []string{"a"}, Item: item(old, old, "Succeeded")}},
			[]itemorder.State{itemorder.Pending, itemorder.Runnable}, itemorder.GoOn},
		{"an item stays until its dependent is deleted", []itemorder.Member{{Name: "a", Item: item(old, old, "Succeeded")}, {Name: "b", DependsOn: []string{"a"}, Item: item(j, "", "Deleting")}},
			[]itemorder.State{itemorder.Pending, itemorder.Running}, itemorder.Wait},
		{"an item whose dependents are deleted", []itemorder.Member{{Name: "a", Item: item(old, old, "Succeeded")}}, []itemorder.State{itemorder.Runnable}, itemorder.GoOn},
		{"a finished item counts until its finalizer is removed", []itemorder.Member{{Name: "a", Item: item(j, j, "Succeeded")}}, []itemorder.State{itemorder.Running}, itemorder.Wait},
		{"a deletion has failed", []itemorder.Member{{Name: "a", Item: item(j, j, "DeleteFailed")}}, []itemorder.State{itemorder.Failed}, itemorder.SomeFailed},
		{"an item that cannot be deleted does not hold back a stranger", []itemorder.Member{{Name: "a", Item: item(j, j, "DeleteFailed")}, {Name: "b", Item: item(old, old, "Succeeded")}},
			[]itemorder.State{itemorder.Failed, itemorder.Runnable}, itemorder.GoOn},
		{"an item that cannot be deleted holds back its foundation", []itemorder.Member{{Name: "a", Item: item(old, old, "Succeeded")}, {Name: "b", DependsOn: []string{"a"}, Item: item(j, j, "DeleteFailed")}},
			[]itemorder.State{itemorder.Pending, itemorder.Failed}, itemorder.SomeFailed},
		{"items that wait for each other", []itemorder.Member{{Name: "a", DependsOn: []string{"b"}, Item: item("", "", "")}, {Name: "b", DependsOn: []string{"a"}, Item: item("", "", "")}},
			[]itemorder.State{itemorder.Pending, itemorder.Pending}, itemorder.Stuck},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			order := itemorder.ToDelete(j, test.members, nil)
			if got := order.States; !slices.Equal(got, test.want) {
				t.Errorf("%s: %v, want %v", test.reason, got, test.want)
			}
			if verdict := order.Verdict(); verdict != test.verdict {
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
	_, orphans := itemorder.Members(nil, []*v1alpha1.DeployItem{item("base", ""), item("top", "base")})
	classes := itemorder.ToDelete("job", orphans, nil).States
	if orphans[1].Name != "top" || classes[1] != itemorder.Runnable || classes[0] != itemorder.Pending {
		t.Errorf("got %v", classes)
	}
}

// TestWaitsFor: which items one waits for that is pending.
func TestWaitsFor(t *testing.T) {
	const j, old = "j", "old"
	member := func(name, jobID string, needs ...string) itemorder.Member {
		return itemorder.Member{Name: name, DependsOn: needs, Item: item(jobID, jobID, "Succeeded")}
	}
	for _, test := range []struct {
		reason  string
		deletes bool
		members []itemorder.Member
		// want is what the first member waits for.
		want string
	}{
		{"an item without dependencies", false, []itemorder.Member{member("a", old), member("b", old)}, ""},
		{"a dependency that has not finished", false, []itemorder.Member{member("a", old, "b"), member("b", old)}, "b"},
		{"a dependency that has finished", false, []itemorder.Member{member("a", old, "b"), member("b", j)}, ""},
		{"one of two dependencies has finished", false, []itemorder.Member{member("a", old, "b", "c"), member("b", j), member("c", old)}, "c"},
		{"two dependencies come in the order of the items", false, []itemorder.Member{member("a", old, "c", "b"), member("b", old), member("c", old)}, "b,c"},
		{"a dependency that another client has deleted", false, []itemorder.Member{member("a", old, "ghost", "b"), member("b", old)}, "b,ghost"},
		{"an item that names itself does not wait for itself", false, []itemorder.Member{member("a", old, "a")}, ""},
		{"an item at work waits for no item", false, []itemorder.Member{{Name: "a", DependsOn: []string{"b"}, Item: item(j, "", "Progressing")}, member("b", old)}, ""},
		{"a deletion waits for no dependency", true, []itemorder.Member{member("a", old, "b"), member("b", old)}, ""},
		{"a deletion waits for what depends on the item", true, []itemorder.Member{member("a", old), member("c", old, "a"), member("b", old, "a")}, "c,b"},
		{"a deletion does not wait for what depends on something else", true, []itemorder.Member{member("a", old), member("b", old, "c"), member("c", old)}, ""},
		{"an item that is deleted does not wait for itself", true, []itemorder.Member{member("a", old, "a")}, ""},
	} {
		t.Run(test.reason, func(t *testing.T) {
			order := itemorder.ToDeploy(j, test.members)
			if test.deletes {
				order = itemorder.ToDelete(j, test.members, nil)
			}
			if got := strings.Join(order.WaitsFor(0), ","); got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}
