package deployer

import (
	"io"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/deployer/internal/status"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/job/reasons"
)

const (
	firstBackoff  = time.Second
	firstConflict = 100 * time.Millisecond
	maxBackoff    = time.Minute
	// minReportInterval is the pause between the first reports of a wait in the status,
	// maxReportInterval that between all later ones.
	minReportInterval = time.Second
	maxReportInterval = 10 * time.Second
)

// run is what this process knows about the job of an item beyond what is stored.
type run struct {
	jobID      string
	generation int64

	failures   int
	conflicts  int
	notBefore  time.Time
	checkpoint string
	history    history
	memory     io.Closer
	triggered  atomic.Bool
	// reports is how often the status reported a change of a wait, reportedAt when it did so last.
	reports    int
	reportedAt time.Time
	// target is the version of the Target that the last attempt has seen, if any.
	target string
	// leaves is the earlier cluster that the item was to leave in the last attempt.
	leaves string
	// needs are other objects that the work has asked for.
	needs map[need]struct{}
	// warned are the reasons of the reported warnings, warnings their messages.
	warned   map[string]struct{}
	warnings []jobWarning
	// kept are the objects that the item does not want any more and has kept.
	kept []string
	// keptEarlier is what the item has left on earlier clusters.
	keptEarlier []string
	// inUse says which objects it keeps for longer, and why.
	inUse []string
	// exported says that the deployer has exported, or removed an export; then export is the
	// reference, or nil.
	exported bool
	export   *v1alpha1.ObjectReference
}

// isOf reports whether there is a run, for the job that an item has now.
func (r *run) isOf(item *v1alpha1.DeployItem) bool {
	return r != nil && r.jobID == item.Status.JobID && r.generation == item.Generation
}

// noteExport keeps the reference of an export. The deployer may remember the export as done, and
// not repeat it when the write of the status was lost.
func (r *run) noteExport(to *v1alpha1.ObjectReference) { r.exported, r.export = true, to }

// jobWarning has the warnings of one reason.
type jobWarning struct {
	reason   string
	messages []string
}

// noteWarnings writes the warnings of the job into the status of its item.
func (r *run) noteWarnings(item *v1alpha1.DeployItem, now time.Time) {
	for _, warning := range r.warnings {
		job.AddWarnings(&item.Status.Conditions, reasons.Reason(warning.reason), warning.messages, item.Generation, status.Stamp(now))
	}
}

// resume writes the results of earlier attempts into the status of an item.
func (r *run) resume(item *v1alpha1.DeployItem, now time.Time) {
	r.noteWarnings(item, now)
	if r.exported {
		item.Status.ExportReference = r.export.DeepCopy()
	}
}

// backoff returns the pause after another failure; each is longer than the one
// before.
func (r *run) backoff() time.Duration {
	r.failures++
	return nthPause(firstBackoff, r.failures)
}

// conflictBackoff returns the pause after another conflict.
func (r *run) conflictBackoff() time.Duration {
	r.conflicts++
	return nthPause(firstConflict, r.conflicts)
}

func nthPause(first time.Duration, nth int) time.Duration {
	return min(first<<min(nth-1, 16), maxBackoff)
}

// nextReport returns when a changed status may be written, or zero for now. Only changes of a wait
// are delayed: what the item waits for may change many times a second, and each write costs all
// clients that watch the item.
func (r *run) nextReport(now time.Time, stored, item *v1alpha1.DeployItem) time.Time {
	if !status.OnlyMessagesDiffer(stored, item) {
		// The status is written, with what the item waits for.
		r.reports, r.reportedAt = max(r.reports, 1), now
		return time.Time{}
	}
	if r.reports > 0 {
		if at := r.reportedAt.Add(min(nthPause(minReportInterval, r.reports), maxReportInterval)); now.Before(at) {
			return at
		}
	}
	r.reports, r.reportedAt = r.reports+1, now
	return time.Time{}
}

// wait returns when the run continues, or zero if a trigger came, or if a user lets the item leave
// an earlier cluster.
func (r *run) wait(item *v1alpha1.DeployItem) time.Time {
	if r.triggered.Load() || r.leaves != item.Annotations[v1alpha1.LeaveEarlierClusterAnnotation] {
		return time.Time{}
	}
	return r.notBefore
}

func (r *run) forget() {
	if r.memory != nil {
		_ = r.memory.Close()
		r.memory = nil
	}
}

// need is an object, besides the Target, that an item has asked for.
type need struct {
	kind string
	key  types.NamespacedName
}

const (
	targetKind  = "Target"
	contextKind = "Context"
)

// versionOf identifies the version of a Target; empty without a Target.
func versionOf(target *v1alpha1.Target) string {
	if target == nil {
		return ""
	}
	return string(target.UID) + "/" + target.ResourceVersion
}

func keyOf(item *v1alpha1.DeployItem) types.NamespacedName {
	return types.NamespacedName{Namespace: item.Namespace, Name: item.Name}
}
