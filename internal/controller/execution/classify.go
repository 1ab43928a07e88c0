package execution

import (
	"strings"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/runtime/job"
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

// member is an item of an Execution: its template and its DeployItem.
type member struct {
	name      string
	dependsOn []string
	// item is the DeployItem, or nil.
	item *v1alpha1.DeployItem
	// unwanted says that the Execution does not want the item any more.
	unwanted bool
}

// itemName returns the name that a DeployItem has in its Execution.
func itemName(item *v1alpha1.DeployItem) string {
	return item.Labels[v1alpha1.ExecutionManagedNameLabel]
}

// members connects the templates of the Execution with the existing items. Items without a template
// are returned as orphans. Of several items with one name, the first counts: see single.
func members(templates v1alpha1.DeployItemTemplateList, items []*v1alpha1.DeployItem) (wanted, orphans []member) {
	byName := make(map[string]*v1alpha1.DeployItem, len(items))
	for _, item := range items {
		if _, ok := byName[itemName(item)]; !ok {
			byName[itemName(item)] = item
		}
	}
	counts := make(map[*v1alpha1.DeployItem]bool, len(templates))
	for i := range templates {
		item := byName[templates[i].Name]
		wanted = append(wanted, member{name: templates[i].Name, dependsOn: templates[i].DependsOn, item: item})
		counts[item] = true
	}
	for _, item := range items {
		if !counts[item] {
			orphan := remaining([]*v1alpha1.DeployItem{item})[0]
			orphan.unwanted = true
			orphans = append(orphans, orphan)
		}
	}
	return wanted, orphans
}

// remaining returns the items of a deletion with their order as it was noted when
// they were created.
func remaining(items []*v1alpha1.DeployItem) []member {
	all := make([]member, 0, len(items))
	for _, item := range items {
		m := member{name: itemName(item), item: item}
		if noted := item.Annotations[v1alpha1.ExecutionDependsOnAnnotation]; noted != "" {
			m.dependsOn = strings.Split(noted, ",")
		}
		all = append(all, m)
	}
	return all
}

// classify says where each item stands in a job that deploys.
//
// A dependency that has failed counts as finished here, and its dependents as runnable: judge lets
// nothing begin after a failure, so that no such item starts.
func classify(jobID string, members []member) []class {
	finished := make(map[string]bool, len(members))
	for _, m := range members {
		finished[m.name] = m.item != nil && m.item.Status.JobID == jobID && m.item.Status.JobIDFinished == jobID
	}
	classes := make([]class, len(members))
	for i, m := range members {
		switch {
		case m.item == nil:
			classes[i] = failed
		case finished[m.name] && m.item.Status.Phase == v1alpha1.DeployItemPhases.Succeeded:
			classes[i] = succeeded
		case finished[m.name]:
			classes[i] = failed
		case m.item.Status.JobID == jobID:
			classes[i] = running
		default:
			classes[i] = runnable
			for _, name := range m.dependsOn {
				if !finished[name] {
					classes[i] = pending
				}
			}
		}
	}
	return classes
}

// classifyDeletion says where each item stands in a job that deletes. Deleted items are not listed.
// An item waits until those that depend on it are deleted.
func classifyDeletion(jobID string, members []member, underWay map[types.UID]bool) []class {
	needed := map[string]bool{}
	for _, m := range members {
		for _, name := range m.dependsOn {
			if name != m.name {
				needed[name] = true
			}
		}
	}
	classes := make([]class, len(members))
	for i, m := range members {
		status := &m.item.Status
		switch {
		case status.JobID == jobID && !job.Unfinished(status.JobID, status.JobIDFinished) && status.Phase.IsFailed():
			classes[i] = failed
		// Also with a job that has succeeded: its deployer has removed the finalizer or is about
		// to, and only the deletion of the item counts.
		case status.JobID == jobID, underWay[m.item.UID], isReleasedByOthers(m.item):
			classes[i] = running
		case needed[m.name]:
			classes[i] = pending
		default:
			classes[i] = runnable
		}
	}
	return classes
}

// staysInstalled reports whether an item is deleted without its objects.
func staysInstalled(item *v1alpha1.DeployItem) bool {
	return item.Annotations[v1alpha1.DeleteWithoutUninstallAnnotation] == "true"
}

// isReleasedByOthers reports whether an item waits only for finalizers of others.
func isReleasedByOthers(item *v1alpha1.DeployItem) bool {
	return item.DeletionTimestamp != nil && staysInstalled(item) && !controllerutil.ContainsFinalizer(item, v1alpha1.Finalizer)
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

func count(classes []class) map[class]int {
	count := map[class]int{}
	for _, c := range classes {
		count[c]++
	}
	return count
}

// judge looks at all classes. After a failure nothing new is triggered, but items at work may end.
func judge(classes []class) verdict {
	count := count(classes)
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
func judgeDeletion(classes []class) verdict {
	count := count(classes)
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

// ofClass returns the members in a class.
func ofClass(wanted class, classes []class, members []member) []member {
	var found []member
	for i, m := range members {
		if classes[i] == wanted {
			found = append(found, m)
		}
	}
	return found
}

func names(members []member) []string {
	list := make([]string, len(members))
	for i, m := range members {
		list[i] = m.name
	}
	return list
}

func objects(members []member) []*v1alpha1.DeployItem {
	list := make([]*v1alpha1.DeployItem, len(members))
	for i, m := range members {
		list[i] = m.item
	}
	return list
}

// changeOf returns the wake by a change of any of some items.
func changeOf(members []member) job.Wake {
	list := make([]string, len(members))
	for i, m := range members {
		list[i] = m.item.Name
	}
	return job.OnChange("DeployItem", list...)
}

// unfinishedItems returns the items that have not ended the running job.
func unfinishedItems(s snapshot) []*v1alpha1.DeployItem {
	var items []*v1alpha1.DeployItem
	for _, item := range concerned(s) {
		if item.Status.JobIDFinished != s.exec.Status.JobID {
			items = append(items, item)
		}
	}
	return items
}
