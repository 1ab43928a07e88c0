package itemorder

import "go.landscaper.dev/api/v1alpha1"

// UnfinishedSiblings returns the siblings of an item that are at work in its job, and those that may
// still get that job: the item can wait for them. After a failure no item gets the job any more, and
// items that depend on this one, directly or through others, get it later.
func UnfinishedSiblings(item *v1alpha1.DeployItem, all []*v1alpha1.DeployItem) (working, open []*v1alpha1.DeployItem) {
	later := dependentsOf(NameOf(item), Noted(all))
	jobID, failed := item.Status.JobID, false
	for i, sibling := range all {
		status := &sibling.Status
		over := status.JobIDFinished == jobID
		failed = failed || over && status.Phase.IsFailed()
		switch {
		case sibling.UID == item.UID, over:
		case status.JobID == jobID:
			working = append(working, sibling)
		case !later[i]:
			open = append(open, sibling)
		}
	}
	if failed {
		open = nil
	}
	return working, open
}

// dependentsOf returns which members depend on a name, directly or through others. Those of the name
// itself are among them.
func dependentsOf(name string, members []Member) map[int]bool {
	found := map[int]bool{}
	var named []int
	for i, m := range members {
		if m.Name == name {
			named, found[i] = append(named, i), true
		}
	}
	for _, i := range Graph(members).Reversed().Reachable(named...) {
		found[i] = true
	}
	return found
}
