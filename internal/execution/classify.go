package execution

import (
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/job"
)

// class is where an item stands in a job.
type class string

const (
	// pending items wait for items that they depend on.
	pending class = "pending"
	// runnable items can be triggered.
	runnable class = "runnable"
	// running items have the job and are not finished.
	running class = "running"
	// succeeded items have finished the job well.
	succeeded class = "succeeded"
	// failed items have finished the job badly, or are missing.
	failed class = "failed"
)

// member is an item of an Execution: what the Execution wants and what there is.
type member struct {
	name      string
	dependsOn []string
	// item is the DeployItem, or nil.
	item *v1alpha1.DeployItem
}

// classify tells where each item stands in a job that deploys.
func classify(jobID string, members []member) map[string]class {
	finished := make(map[string]bool, len(members))
	for _, m := range members {
		finished[m.name] = m.item != nil && m.item.Status.JobID == jobID && m.item.Status.JobIDFinished == jobID
	}
	classes := make(map[string]class, len(members))
	for _, m := range members {
		switch {
		case m.item == nil:
			classes[m.name] = failed
		case finished[m.name] && m.item.Status.Phase == v1alpha1.DeployItemPhases.Succeeded:
			classes[m.name] = succeeded
		case finished[m.name]:
			classes[m.name] = failed
		case m.item.Status.JobID == jobID:
			classes[m.name] = running
		default:
			classes[m.name] = runnable
			for _, name := range m.dependsOn {
				if !finished[name] {
					classes[m.name] = pending
				}
			}
		}
	}
	return classes
}

// classifyDeletion tells where each item stands in a job that deletes. Gone items
// are not listed. An item waits until those that depend on it are gone.
func classifyDeletion(jobID string, members []member) map[string]class {
	needed := map[string]bool{}
	for _, m := range members {
		for _, name := range m.dependsOn {
			if name != m.name {
				needed[name] = true
			}
		}
	}
	classes := make(map[string]class, len(members))
	for _, m := range members {
		status := &m.item.Status
		switch {
		case status.JobID == jobID && !job.Unfinished(status.JobID, status.JobIDFinished) && status.Phase.IsFailed():
			classes[m.name] = failed
		case status.JobID == jobID:
			classes[m.name] = running
		case needed[m.name]:
			classes[m.name] = pending
		default:
			classes[m.name] = runnable
		}
	}
	return classes
}

// verdict is what the classes of all items together mean.
type verdict string

const (
	// goOn means that items can be triggered.
	goOn verdict = "go on"
	// wait means that items are at work.
	wait verdict = "wait"
	// allDone means that every item is done.
	allDone verdict = "all done"
	// someFailed means that items have failed and nothing is at work any more.
	someFailed verdict = "some failed"
	// stuck means that items wait for each other.
	stuck verdict = "stuck"
)

// judge looks at all classes. After a failure nothing new is triggered, but what
// runs may end.
func judge(classes map[string]class) verdict {
	count := map[class]int{}
	for _, c := range classes {
		count[c]++
	}
	switch {
	case count[failed] > 0 && count[running] > 0:
		return wait
	case count[failed] > 0:
		return someFailed
	case count[runnable] > 0:
		return goOn
	case count[running] > 0:
		return wait
	case count[pending] > 0:
		return stuck
	}
	return allDone
}

// judgeDeletion looks at all classes of a deletion. An item that cannot be deleted
// holds back only those that it depends on.
func judgeDeletion(classes map[string]class) verdict {
	count := map[class]int{}
	for _, c := range classes {
		count[c]++
	}
	switch {
	case count[runnable] > 0:
		return goOn
	case count[running] > 0:
		return wait
	case count[failed] > 0:
		return someFailed
	case count[pending] > 0:
		return stuck
	}
	return allDone
}

// in returns the names of members in a class, in the order of the members.
func in(wanted class, classes map[string]class, members []member) []string {
	var names []string
	for _, m := range members {
		if classes[m.name] == wanted {
			names = append(names, m.name)
		}
	}
	return names
}
