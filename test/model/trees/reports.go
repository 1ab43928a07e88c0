package trees

import (
	"k8s.io/apimachinery/pkg/types"

	"go.landscaper.dev/test/model/store"
)

// reportsInJob is how many status writes of one object in one job may be no transition: a wait for
// each thing that comes late, and what was reached before a failure.
const reportsInJob = 12

// work is an object in one of its jobs.
type work struct {
	uid types.UID
	job string
}

// checkReports: status writes are transitions, and few more.
func (t *Trees) checkReports(c store.Change) {
	if c.Before == nil || c.After == nil || t.Writer == "" || !t.Store.Reporting || c.Before.GetGeneration() != c.After.GetGeneration() {
		return
	}
	id, finished, phase := jobOf(c.After)
	idBefore, finishedBefore, phaseBefore := jobOf(c.Before)
	if id == "" || id != idBefore || finished != finishedBefore || phase != phaseBefore {
		return
	}
	of := work{c.After.GetUID(), id}
	t.reports[of]++
	t.Counts.Reports = max(t.Counts.Reports, t.reports[of])
	if t.reports[of] > reportsInJob {
		t.Violate("%s has written the status of %s %s %d times in %s without a transition", t.Writer, c.Kind, c.Key.Name, t.reports[of], id)
	}
}
