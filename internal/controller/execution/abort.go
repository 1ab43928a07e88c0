package execution

import (
	"slices"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/model/siblings/itemorder"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/job/published"
	"go.landscaper.dev/internal/runtime/job/reasons"
)

// aborted reports whether nothing new is to be started.
func aborted(s snapshot) bool {
	_, asked := job.AbortedAt(s.exec)
	return asked
}

// abortError is the error of what an abort has ended.
func abortError(message string) error {
	return job.NewError(published.AbortOperation, reasons.Aborted, message, v1alpha1.ErrorForInfoOnly)
}

// decideAbort lets the items at work end, and starts none.
//
// An abort is requested once and judged again with each change, until the items at work have ended
// or their time is over. The request stays on the object for as long: it says that nothing new
// begins.
func decideAbort(s snapshot) decision {
	late, next := overdue(s)
	if len(late) > 0 {
		return act(expire, late...)
	}
	busy := working(s)
	at, _ := job.AbortedAt(s.exec)
	until := at.Add(job.AbortGracePeriod)
	switch {
	case len(busy) > 0 && s.now.Before(until):
		return decision{do: rest, wake: job.OnChange("DeployItem", busy.names()...).By(until).By(next)}
	case len(busy) > 0:
		return act(giveUp, busy...)
	case finished(s):
		// The abort came too late.
		return decidePhase(s)
	}
	return failure(abortError("operation was aborted: items that had not begun were not started"))
}

// finished reports whether nothing is left to start, and no item was given up.
func finished(s snapshot) bool {
	for _, item := range s.items {
		if reasons.WasAborted(item.Status.LastError) && item.Status.JobIDFinished == s.exec.Status.JobID {
			return false
		}
	}
	if s.exec.DeletionTimestamp != nil {
		return len(s.items) == 0
	}
	wanted, orphans := itemorder.Members(s.templates, s.items)
	missing := slices.ContainsFunc(wanted, func(m itemorder.Member) bool { return m.Item == nil })
	return s.broken == nil && !missing && (len(orphans) == 0 || keeps(s, orphans)) && len(unfinishedItems(s)) == 0
}

type items []*v1alpha1.DeployItem

func (i items) names() []string {
	names := make([]string, len(i))
	for at, item := range i {
		names[at] = item.Name
	}
	return names
}

// working returns the items that have the job and have not ended it.
func working(s snapshot) items {
	var busy items
	for _, item := range unfinishedItems(s) {
		if item.Status.JobID == s.exec.Status.JobID {
			busy = append(busy, item)
		}
	}
	return busy
}
