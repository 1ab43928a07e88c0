package deployer

import "go.landscaper.dev/internal/runtime/job"

// Change is what a job makes of an object on a cluster.
type Change uint8

// The changes.
const (
	ObjectCreated Change = 1 << iota
	ObjectChanged
	ObjectDeleted
)

// Changes counts what jobs change on clusters. It may be called by several goroutines.
type Changes interface {
	// Note notes a change of an object in a job. An object has the same name in each call.
	Note(jobID string, change Change, object string)
}

// Noter returns what notes changes of objects in the present job of the item, also when the attempt is over;
// nil if nothing is to be noted, as in a plan or at a look at a finished item.
func (i *Item) Noter() func(change Change, object string) {
	if i.reconciler == nil || i.reconciler.options.Changes == nil || i.run == nil || i.run.jobID == "" {
		return nil
	}
	changes, jobID := i.reconciler.options.Changes, job.BaseOf(i.run.jobID)
	return func(change Change, object string) { changes.Note(jobID, change, object) }
}
