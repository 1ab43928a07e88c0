package expectations

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// Records are what a process remembers of objects between two attempts: one record for each UID, which
// is dropped whole when the object is deleted. A restart drops all of them, which costs requests and
// nothing else.
type Records[R any] struct {
	mutex sync.Mutex
	known map[types.UID]*entry[R]
	// swept is the time of the last sweep.
	swept time.Time
}

type entry[R any] struct {
	record R
	// asked is when the record was asked for last.
	asked time.Time
}

// Resync is the interval at which a cache reports each of its objects without a change. A cache whose
// objects have records must have it.
const Resync = 10 * time.Hour

const (
	// retention is how long a record stays that is not asked for. Each resync reconciles all objects, with
	// some delay, so that the object was deleted before the record was made.
	retention = 2*Resync + 4*time.Hour
	// sweepInterval is the time between two sweeps.
	sweepInterval = time.Hour
)

// Of returns the record of an object, if necessary a new one.
func (r *Records[R]) Of(uid types.UID) *R {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	now := time.Now()
	r.sweep(now)
	found := r.known[uid]
	if found == nil {
		found = &entry[R]{}
		if r.known == nil {
			r.known = map[types.UID]*entry[R]{}
		}
		r.known[uid] = found
	}
	found.asked = now
	return &found.record
}

// Find returns the record of an object, or nil.
func (r *Records[R]) Find(uid types.UID) *R {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	found := r.known[uid]
	if found == nil {
		return nil
	}
	return &found.record
}

// Forget drops the record of an object that no longer exists.
func (r *Records[R]) Forget(uid types.UID) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.drop(uid)
}

// drop drops a record. One that others count, or point to, ends that.
func (r *Records[R]) drop(uid types.UID) {
	found := r.known[uid]
	if found == nil {
		return
	}
	delete(r.known, uid)
	if record, counts := any(&found.record).(interface{ End() }); counts {
		record.End()
	}
}

// sweep drops, at intervals, the records that are not asked for any more.
func (r *Records[R]) sweep(now time.Time) {
	if now.Sub(r.swept) < sweepInterval {
		return
	}
	r.swept = now
	for uid, found := range r.known {
		if now.Sub(found.asked) >= retention {
			r.drop(uid)
		}
	}
}
