package itemorder

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/runtime/job"
)

// State is where an item stands in a job.
type State string

// The states of items.
const (
	// Pending items wait for others: see WaitsFor.
	Pending State = "pending"
	// Runnable items can be triggered.
	Runnable State = "runnable"
	// Running items have the job and are not finished.
	Running State = "running"
	// Succeeded items have finished the job well.
	Succeeded State = "succeeded"
	// Failed items have finished the job badly, or are missing.
	Failed State = "failed"
)

// Order says where each of some items stands in a job.
type Order struct {
	Members []Member
	// States are those of the members, by number.
	States []State

	verdict func(count map[State]int) Verdict
	waits   func(at int) []string
}

// Of returns the members in a state.
func (o Order) Of(state State) []Member {
	var found []Member
	for i, m := range o.Members {
		if o.States[i] == state {
			found = append(found, m)
		}
	}
	return found
}

// WaitsFor returns the names of the items that a pending one waits for, in the order of the members;
// names without a member come last. All others wait for no item.
func (o Order) WaitsFor(at int) []string {
	if o.States[at] != Pending {
		return nil
	}
	return o.waits(at)
}

// ToDeploy says where each item stands in a job that deploys: it waits until all that it depends on
// have finished.
//
// A dependency that has failed counts as finished here, and its dependents as runnable: the verdict
// lets nothing begin after a failure, so that no such item starts.
func ToDeploy(jobID string, members []Member) Order {
	finished := make(map[string]bool, len(members))
	for _, m := range members {
		finished[m.Name] = m.Item != nil && m.Item.Status.JobID == jobID && m.Item.Status.JobIDFinished == jobID
	}
	open := func(name string) bool { return !finished[name] }
	states := make([]State, len(members))
	for i, m := range members {
		switch {
		case m.Item == nil:
			states[i] = Failed
		case finished[m.Name] && m.Item.Status.Phase == v1alpha1.DeployItemPhases.Succeeded:
			states[i] = Succeeded
		case finished[m.Name]:
			states[i] = Failed
		case m.Item.Status.JobID == jobID:
			states[i] = Running
		case slices.ContainsFunc(m.DependsOn, open):
			states[i] = Pending
		default:
			states[i] = Runnable
		}
	}
	return Order{members, states, deploying, func(at int) []string { return openDependencies(members, at, open) }}
}

// openDependencies returns what a member depends on and is not finished, without the member itself.
func openDependencies(members []Member, at int, open func(string) bool) []string {
	self := members[at].Name
	left := slices.DeleteFunc(slices.Clone(members[at].DependsOn), func(name string) bool { return name == self || !open(name) })
	var names []string
	for _, m := range members {
		if slices.Contains(left, m.Name) && !slices.Contains(names, m.Name) {
			names = append(names, m.Name)
		}
	}
	for _, name := range left {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// ToDelete says where each item stands in a job that deletes. Deleted items are not among them. An
// item waits until those that depend on it are deleted. Those that are under way are not written
// before a newer version of them arrives.
func ToDelete(jobID string, members []Member, underWay map[types.UID]bool) Order {
	needed := map[string]bool{}
	for _, m := range members {
		for _, name := range m.DependsOn {
			if name != m.Name {
				needed[name] = true
			}
		}
	}
	states := make([]State, len(members))
	for i, m := range members {
		status := &m.Item.Status
		switch {
		case status.JobID == jobID && !job.Unfinished(status.JobID, status.JobIDFinished) && status.Phase.IsFailed():
			states[i] = Failed
		// Also with a job that has succeeded: its deployer has removed the finalizer or is about
		// to, and only the deletion of the item counts.
		case status.JobID == jobID, underWay[m.Item.UID], isReleasedByOthers(m.Item):
			states[i] = Running
		case needed[m.Name]:
			states[i] = Pending
		default:
			states[i] = Runnable
		}
	}
	return Order{members, states, deleting, func(at int) []string { return dependents(members, members[at].Name) }}
}

// ToRemove says where the items of a removal round stand that have not ended it: those that have kept
// something, and those that the Execution does not want any more.
func ToRemove(round string, wanted, orphans []Member, underWay map[types.UID]bool) Order {
	open := slices.DeleteFunc(InRound(round, wanted), func(m Member) bool {
		return m.Item.Status.JobIDFinished == round && m.Item.Status.Phase == v1alpha1.DeployItemPhases.Succeeded
	})
	return ToDelete(round, append(open, orphans...), underWay)
}

// dependents returns the names of the members that depend on another one.
func dependents(members []Member, on string) []string {
	var names []string
	for _, m := range members {
		if m.Name != on && slices.Contains(m.DependsOn, on) {
			names = append(names, m.Name)
		}
	}
	return names
}

// isReleasedByOthers reports whether an item waits only for finalizers of others.
func isReleasedByOthers(item *v1alpha1.DeployItem) bool {
	return item.DeletionTimestamp != nil && StaysInstalled(item) && !slices.Contains(item.Finalizers, v1alpha1.Finalizer)
}
