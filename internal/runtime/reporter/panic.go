package reporter

import (
	"context"
	"errors"
	"maps"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"go.landscaper.dev/internal/runtime/job"
)

// panicked handles a panic: the panic is recorded, and the job of the object ends.
func (r *Reporter) panicked(ctx context.Context, s *Subject, step string, broken *job.Panic, err error) ctrl.Result {
	where := r.Action
	if s != nil {
		where += " of " + client.ObjectKeyFromObject(s.Object).String()
	}
	logger := log.FromContext(ctx)
	logger.Error(errors.New(broken.Problem), "a step panicked", "step", step, "stack", broken.Stack)
	if r.Problems != nil {
		if recordErr := r.Problems.Record(ctx, where+": "+broken.Problem); recordErr != nil {
			logger.Error(recordErr, "the problem could not be recorded")
		}
	}
	if s == nil {
		return ctrl.Result{RequeueAfter: maxPanicBackoff}
	}
	r.panics.note(s.Object, r.Now(), func(uid types.UID, known panicBackoff) bool { return r.isDeleted(ctx, s.Object, uid, known) })
	if !s.Status.Unfinished() {
		return ctrl.Result{}
	}
	var result ctrl.Result
	reportErr := job.RecoverPanic(func() (reportErr error) {
		result, reportErr = r.report(ctx, s, err)
		return reportErr
	})
	if reportErr != nil {
		logger.Error(reportErr, "the end of the job could not be stored")
		return ctrl.Result{RequeueAfter: max(ConflictBackoff, r.panics.pause(s.Object, r.Now()))}
	}
	return result
}

// PanicBackoff returns how long an object is left alone because its reconciles panicked again and
// again.
func (r *Reporter) PanicBackoff(s *Subject) time.Duration { return r.panics.pause(s.Object, r.Now()) }

// ResetPanics notes that a reconcile of an object did not panic.
func (r *Reporter) ResetPanics(s *Subject) { r.panics.reset(s.Object.GetUID()) }

// isDeleted reports whether an object whose reconcile panicked does not exist any more. The
// object has the given kind, and is read from the cache.
func (r *Reporter) isDeleted(ctx context.Context, kind client.Object, uid types.UID, known panicBackoff) bool {
	object := kind.DeepCopyObject().(client.Object)
	err := r.Client.Get(ctx, known.key, object)
	return apierrors.IsNotFound(err) || err == nil && object.GetUID() != uid
}

// panicBackoffs delays the attempts on objects whose reconciles panic again and again. A
// changed object is tried at once, above all one that is being deleted: both change the
// generation.
// It is kept in memory only. A restart tries all objects once more, which is right: it may
// be a new release.
type panicBackoffs struct {
	mutex sync.Mutex
	known map[types.UID]panicBackoff
	// kept is how many objects were left when the deleted ones were dropped.
	kept int
}

type panicBackoff struct {
	key        client.ObjectKey
	generation int64
	count      int
	until      time.Time
}

// maxPanicBackoff is the longest time that an object is left alone. Upstream waits as long.
const maxPanicBackoff = 5 * time.Minute

// note counts a panic of the reconcile of an object. A deleted object may never be reset, so
// deleted ones are dropped whenever twice as many objects are known as were left last time.
func (b *panicBackoffs) note(object client.Object, now time.Time, gone func(types.UID, panicBackoff) bool) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	if b.known == nil {
		b.known = map[types.UID]panicBackoff{}
	}
	if len(b.known) > 2*b.kept {
		maps.DeleteFunc(b.known, gone)
		b.kept = len(b.known)
	}
	last := b.known[object.GetUID()]
	if last.generation != object.GetGeneration() {
		last = panicBackoff{generation: object.GetGeneration()}
	}
	last.key = client.ObjectKeyFromObject(object)
	last.count++
	// The first one may be the only one: the job has ended with it.
	// 16 seconds after the second one, then 64, then 256, then the longest; the bound on
	// the exponent keeps the shift from overflowing.
	if last.count > 1 {
		last.until = now.Add(min(maxPanicBackoff, time.Second<<min(2*last.count, 20)))
	}
	b.known[object.GetUID()] = last
}

func (b *panicBackoffs) pause(object client.Object, now time.Time) time.Duration {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	last, ok := b.known[object.GetUID()]
	if !ok || last.generation != object.GetGeneration() {
		return 0
	}
	return max(0, last.until.Sub(now))
}

func (b *panicBackoffs) reset(uid types.UID) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	delete(b.known, uid)
}
