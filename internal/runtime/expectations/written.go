package expectations

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Writes remembers which version of each object this process wrote last, so
// that a controller does not act on an older one from its cache.
// Versions that are not numeric are believed: then a conflict stops a write that is too late.
type Writes struct{ versions versions[types.UID] }

const (
	// liveReadAfter is how long a cache may be behind before the API server is asked. Watches are
	// mostly behind by milliseconds, and by seconds when the API server or this process is busy:
	// further requests would make that worse.
	liveReadAfter = 10 * time.Second
	// maxLiveReadPause is the longest time between two questions about one object.
	maxLiveReadPause = 30 * time.Second
	// retention is how long a version is remembered. A cache that does not show it by then never
	// will: the object was deleted.
	retention = 10 * time.Minute
	// sweepInterval is the time between two sweeps.
	sweepInterval = time.Minute
)

// StaleCacheError is the error of an attempt that cannot go on because a cache shows less than this
// process has written. The newer version triggers the next attempt; should it not come, the
// pause does.
type StaleCacheError struct{ RetryAfter time.Duration }

// Error implements error.
func (b StaleCacheError) Error() string {
	return "the cache is behind the last write: another attempt follows within " + b.RetryAfter.String()
}

// RetryAfter returns when the next attempt is made at the latest, if an error is one of StaleCacheError.
func RetryAfter(err error) (time.Duration, bool) {
	var behind StaleCacheError
	if !errors.As(err, &behind) {
		return 0, false
	}
	return behind.RetryAfter, true
}

// Record remembers the version of an object that was just written.
func (w *Writes) Record(object metav1.Object) {
	w.versions.sweep(sweepInterval, retention)
	w.versions.record(object.GetUID(), versionOf(object))
}

// Await returns nil if an object from a cache is at least as new as what this process wrote,
// and an error if the cache does not show the newer version yet.
//
// The wait always ends. When a cache stays behind for long, the API server is asked: if it has
// an older version than was written, its store was restored from a backup, and the newer one
// will not come back. Then the older version counts, and the write is forgotten.
func (w *Writes) Await(ctx context.Context, live client.Reader, object client.Object) error {
	w.versions.sweep(sweepInterval, retention)
	uid, version := object.GetUID(), versionOf(object)
	last := w.versions.last(uid)
	if w.versions.observe(uid, version) {
		return nil
	}
	ask, pause := w.versions.due(uid)
	if !ask {
		return StaleCacheError{pause}
	}
	// The types of the API have the names of their kinds.
	kind, key := reflect.TypeOf(object).Elem(), client.ObjectKeyFromObject(object)
	now, ok := reflect.New(kind).Interface().(client.Object)
	if !ok {
		return fmt.Errorf("%s %s is not an object of the API", kind.Name(), key)
	}
	err := live.Get(ctx, key, now)
	switch {
	case client.IgnoreNotFound(err) != nil:
		return fmt.Errorf("read %s %s, which the cache shows in an old version: %w", kind.Name(), key, err)
	case err != nil, now.GetUID() != uid, versionOf(now) >= last:
		// The cache will show its end, or the newer version.
		return StaleCacheError{pause}
	}
	w.versions.rewound(uid, last)
	if versionOf(now) != version {
		return StaleCacheError{liveReadAfter}
	}
	return nil
}

// Forget drops what is remembered of a deleted object.
func (w *Writes) Forget(uid types.UID) { w.versions.forget(uid) }
