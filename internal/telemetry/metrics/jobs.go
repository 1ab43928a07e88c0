package metrics

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/runtime/reporter"
)

// The results of jobs.
const (
	succeeded    = "succeeded"
	failed       = "failed"
	deleted      = "deleted"
	deleteFailed = "delete_failed"
)

// durations are the bounds of the histogram, in seconds: from one item on a cluster
// nearby to a landscape that grows for an hour.
var durations = []float64{.05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1800, 3600}

// Jobs counts the jobs of all objects of some kinds.
type Jobs struct {
	// OnEnd is called with each job that was seen at work, when it has ended; nil for no
	// call. It must not wait.
	OnEnd func(Job)

	kinds []string
	now   func() time.Time

	ended   *prometheus.HistogramVec
	running *prometheus.GaugeVec
	waiting *prometheus.GaugeVec

	// It is held while Ended is called, so that of two events of one object the second one
	// cannot overtake.
	mutex sync.Mutex
	// began is when the counting began.
	began time.Time
	// known are the jobs that have not ended, by the objects that they are of.
	known map[types.UID]runningJob
	// deletions are the deleted items.
	deletions deletions
}

// runningJob is a job that has not ended.
type runningJob struct {
	job   string
	since time.Time
	waits Reason
	// begun and written are when work on it began, and when its children were written;
	// zero as long as that has not happened.
	begun, written time.Time
	// unseen says that the job was dispatched in this process, and no cache has shown it.
	unseen bool
}

// Job is one that has ended.
type Job struct {
	ID, Kind, Result string
	// Object is what it was of; it is only read.
	Object client.Object
	// AssignedAt is when the job was assigned, Begun when work on it began, Written when its
	// children were written, and Ended when it ended. Begun and Written are zero if that
	// was not seen.
	AssignedAt, StartedAt, ChildrenWrittenAt, EndedAt time.Time
}

// NewJobs returns the counts for some kinds of objects.
func NewJobs(kinds []string, now func() time.Time) *Jobs {
	j := &Jobs{
		kinds: kinds, now: now, began: now(), known: map[types.UID]runningJob{},
		ended: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "landscaper_job_duration_seconds", Buckets: durations,
			Help: "Jobs that have ended, by their result, and the time from the request to the end.",
		}, []string{"kind", "result"}),
		running: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "landscaper_jobs_running", Help: "Jobs that have not ended.",
		}, []string{"kind"}),
		waiting: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "landscaper_jobs_waiting", Help: "Those of the running jobs that wait, by what they wait for.",
		}, []string{"kind", "reason"}),
	}
	for _, kind := range kinds {
		// What never happened is 0, not absent: an alert needs a value before.
		for _, result := range []string{succeeded, failed, deleted, deleteFailed} {
			j.ended.WithLabelValues(kind, result)
		}
		j.running.WithLabelValues(kind)
		for _, reason := range possible[kind] {
			j.waiting.WithLabelValues(kind, string(reason))
		}
	}
	return j
}

// Describe implements prometheus.Collector.
func (j *Jobs) Describe(to chan<- *prometheus.Desc) {
	j.ended.Describe(to)
	j.running.Describe(to)
	j.waiting.Describe(to)
}

// Collect implements prometheus.Collector.
func (j *Jobs) Collect(to chan<- prometheus.Metric) {
	j.ended.Collect(to)
	j.running.Collect(to)
	j.waiting.Collect(to)
}

// Follow counts what the caches show from now on. It is for a replica that works: one
// that waits for that would count everything once more.
func (j *Jobs) Follow(ctx context.Context, caches cache.Cache) error {
	j.mutex.Lock()
	j.began = j.now()
	j.mutex.Unlock()
	objects := map[string]client.Object{
		"Installation": &v1alpha1.Installation{}, "Execution": &v1alpha1.Execution{}, "DeployItem": &v1alpha1.DeployItem{},
	}
	for _, kind := range j.kinds {
		informer, err := caches.GetInformer(ctx, objects[kind], cache.BlockUntilSynced(false))
		if err != nil {
			return fmt.Errorf("count jobs of kind %s: %w", kind, err)
		}
		if _, err := informer.AddEventHandler(j.handler()); err != nil {
			return fmt.Errorf("count jobs of kind %s: %w", kind, err)
		}
	}
	return nil
}

func (j *Jobs) handler() toolscache.ResourceEventHandler {
	return toolscache.ResourceEventHandlerFuncs{
		AddFunc:    func(object any) { j.observe(nil, subject(object)) },
		UpdateFunc: func(before, now any) { j.observe(subject(before), subject(now)) },
		DeleteFunc: func(object any) {
			if last, ok := object.(toolscache.DeletedFinalStateUnknown); ok {
				object = last.Obj
			}
			j.observeDeletion(subject(object))
		},
	}
}

// subject returns an object of the cache with its job. It is only read.
func subject(object any) *reporter.Subject {
	switch object := object.(type) {
	case *v1alpha1.Installation:
		return reporter.Installation(object)
	case *v1alpha1.Execution:
		return reporter.Execution(object)
	case *v1alpha1.DeployItem:
		return reporter.DeployItem(object)
	}
	return nil
}

func kindOf(s *reporter.Subject) string {
	switch s.Object.(type) {
	case *v1alpha1.Installation:
		return "Installation"
	case *v1alpha1.Execution:
		return "Execution"
	}
	return "DeployItem"
}

// observe notes how an object is now. Before is how it was, or nil if it was not known.
//
// It is called for each version that the watch delivers; versions in between may be
// missing, so that a job can be seen for the first time when it has ended.
func (j *Jobs) observe(before, now *reporter.Subject) {
	if now == nil {
		return
	}
	j.mutex.Lock()
	defer j.mutex.Unlock()
	kind, uid, id := kindOf(now), now.Object.GetUID(), *now.Status.JobID
	known, was := j.known[uid]
	if was && known.unseen && known.job != id {
		// The object as it was before.
		return
	}
	if now.Status.Unfinished() {
		known.unseen = false
		if was && known.job != id {
			j.forget(kind, uid)
			was = false
		}
		if !was {
			known = runningJob{job: id, since: j.since(before, now)}
			j.running.WithLabelValues(kind).Inc()
		}
		j.move(kind, known.waits, -1)
		known.waits = waitsFor(kind, now.Status)
		known.observeStage(*now.Status.TransitionTimes, before != nil, j.now())
		j.move(kind, known.waits, 1)
		j.known[uid] = known
		return
	}
	j.forget(kind, uid)
	switch {
	case was && known.job == id:
		j.record(now, known, resultOf(*now.Status.Phase))
	case before != nil && *before.Status.JobIDFinished != id, before == nil && j.endedSince(now):
		// The job was so short that it was never seen running.
		j.end(kind, resultOf(*now.Status.Phase), jobDuration(now))
	}
}

// Dispatched records the job of an item that was dispatched in this process and is not stored
// yet: it may be stored with its end, or never if the item is deleted. A deleted item has
// none.
func (j *Jobs) Dispatched(item *v1alpha1.DeployItem) {
	j.mutex.Lock()
	defer j.mutex.Unlock()
	subject := reporter.DeployItem(item)
	kind := kindOf(subject)
	if !slices.Contains(j.kinds, kind) || j.deletions.has(item.UID) {
		return
	}
	j.forget(kind, item.UID)
	j.running.WithLabelValues(kind).Inc()
	known := runningJob{job: item.Status.JobID, since: j.now(), unseen: true, waits: waitsFor(kind, subject.Status)}
	j.move(kind, known.waits, 1)
	j.known[item.UID] = known
}

// observeDeletion records that an object was deleted, which is how the job of a deletion succeeds.
func (j *Jobs) observeDeletion(last *reporter.Subject) {
	if last == nil {
		return
	}
	j.mutex.Lock()
	defer j.mutex.Unlock()
	kind, uid := kindOf(last), last.Object.GetUID()
	known, was := j.known[uid]
	j.forget(kind, uid)
	if kind == "DeployItem" {
		// Jobs of other kinds are not dispatched in memory.
		j.deletions.note(uid, j.now())
	}
	if was && last.Object.GetDeletionTimestamp() != nil {
		j.record(last, known, deleted)
	}
}

// since returns when a job began that was not known. That of an object which was known
// begins now; the times of a status are rounded to seconds.
func (j *Jobs) since(before, now *reporter.Subject) time.Time {
	times := *now.Status.TransitionTimes
	if before == nil && times != nil && times.TriggerTime != nil && times.TriggerTime.Time.Before(j.began) {
		return times.TriggerTime.Time
	}
	return j.now()
}

// endedSince reports whether a job has ended since the counting began.
func (j *Jobs) endedSince(now *reporter.Subject) bool {
	times := *now.Status.TransitionTimes
	return *now.Status.JobID != "" && times != nil && times.FinishedTime != nil && !times.FinishedTime.Time.Before(j.began.Truncate(time.Second))
}

// jobDuration returns the duration of a job according to its status.
func jobDuration(now *reporter.Subject) time.Duration {
	times := *now.Status.TransitionTimes
	if times == nil || times.TriggerTime == nil || times.FinishedTime == nil {
		return 0
	}
	return times.FinishedTime.Sub(times.TriggerTime.Time)
}

func (j *Jobs) forget(kind string, uid types.UID) {
	if known, was := j.known[uid]; was {
		delete(j.known, uid)
		j.running.WithLabelValues(kind).Dec()
		j.move(kind, known.waits, -1)
	}
}

func (j *Jobs) move(kind string, waits Reason, by float64) {
	if waits != Working {
		j.waiting.WithLabelValues(kind, string(waits)).Add(by)
	}
}

// observeStage notes which stages a job has reached: now, if it was seen before, which is more
// exact than the seconds of a status.
func (u *runningJob) observeStage(times *v1alpha1.TransitionTimes, seen bool, now time.Time) {
	if times == nil {
		return
	}
	note := func(at *time.Time, recorded *metav1.Time) {
		switch {
		case recorded == nil || !at.IsZero():
		case seen:
			*at = now
		default:
			*at = recorded.Time
		}
	}
	note(&u.begun, times.InitTime)
	note(&u.written, times.WaitTime)
}

// record counts a job whose end was seen.
func (j *Jobs) record(s *reporter.Subject, known runningJob, result string) {
	now, kind := j.now(), kindOf(s)
	j.end(kind, result, now.Sub(known.since))
	if j.OnEnd != nil {
		j.OnEnd(Job{
			ID: known.job, Kind: kind, Result: result, Object: s.Object,
			AssignedAt: known.since, StartedAt: known.begun, ChildrenWrittenAt: known.written, EndedAt: now,
		})
	}
}

func (j *Jobs) end(kind, result string, took time.Duration) {
	j.ended.WithLabelValues(kind, result).Observe(max(0, took.Seconds()))
}

// resultOf returns the result of a final phase.
func resultOf(phase string) string {
	switch phase {
	case v1alpha1.PhaseStringSucceeded:
		return succeeded
	case v1alpha1.PhaseStringDeleteFailed:
		return deleteFailed
	}
	return failed
}
