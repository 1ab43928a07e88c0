package expectations

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/internal/base/resourceversion"
)

// Write is the version of an object that this process wrote last, as long as no cache has shown it.
// So a controller does not act on an older one from its cache. Versions that are not numeric are
// believed: then a conflict stops a write that is too late.
type Write struct {
	mutex   sync.Mutex
	pending *pendingWrite
}

type pendingWrite struct {
	version string
	// nextLiveRead is when the API server is asked about a cache that is still behind, and pause how
	// long the cache is left alone after that.
	nextLiveRead time.Time
	pause        time.Duration
}

const (
	// liveReadAfter is how long a cache may be behind before the API server is asked. Watches are
	// mostly behind by milliseconds, and by seconds when the API server or this process is busy:
	// further requests would make that worse.
	liveReadAfter = 10 * time.Second
	// maxLiveReadPause is the longest time between two questions about one object.
	maxLiveReadPause = 30 * time.Second
)

// StaleCacheError is the error of an attempt that cannot go on because a cache shows its object, or one
// that it depends on, as it is no more. It is an error, and no result, because it ends an attempt wherever
// it is met: whatever was decided from the cache is void. No other error does so, and the engine alone
// knows what follows. All that a step finds out besides is a result, which the next decision depends on;
// test/controllers refuses other errors that are asked for.
type StaleCacheError struct {
	// RetryAfter is when the next attempt is made if the newer version, which triggers one, does not
	// come before.
	RetryAfter time.Duration
	// Deleted says that the object of the attempt does not exist any more. Nothing is retried then.
	Deleted bool
}

// Error implements error.
func (b StaleCacheError) Error() string {
	if b.Deleted {
		return "the object is deleted, and the cache does not show it yet"
	}
	return "the cache is behind the last write: another attempt follows within " + b.RetryAfter.String()
}

// RetryAfter returns when the next attempt is made at the latest, if an error is one of StaleCacheError.
func RetryAfter(err error) (time.Duration, bool) {
	behind, is := errors.AsType[StaleCacheError](err)
	return behind.RetryAfter, is
}

// IsDeleted reports whether an error says that the object of the attempt does not exist any more.
func IsDeleted(err error) bool {
	behind, is := errors.AsType[StaleCacheError](err)
	return is && behind.Deleted
}

// Record remembers the version of an object that was just written.
func (w *Write) Record(object metav1.Object) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	version := object.GetResourceVersion()
	// A slower writer may record its version later.
	if w.pending == nil || !resourceversion.Older(version, w.pending.version) {
		w.pending = &pendingWrite{version, time.Now().Add(liveReadAfter), liveReadAfter}
	}
}

// Await returns nil if an object from a cache is at least as new as what this process wrote,
// and an error if the cache does not show the newer version yet.
//
// The wait always ends. When a cache stays behind for long, the API server is asked: if it has
// an older version than was written, its store was restored from a backup, and the newer one
// will not come back. Then the older version counts, and the write is forgotten.
func (w *Write) Await(ctx context.Context, live client.Reader, object client.Object) error {
	last := w.last()
	if w.isShownBy(object) {
		return nil
	}
	ask, pause := w.due()
	if !ask {
		return StaleCacheError{RetryAfter: pause}
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
	case err != nil, now.GetUID() != object.GetUID(), !resourceversion.Older(now.GetResourceVersion(), last):
		// The cache will show its end, or the newer version.
		return StaleCacheError{RetryAfter: pause}
	}
	w.rewound(last)
	if now.GetResourceVersion() != object.GetResourceVersion() {
		return StaleCacheError{RetryAfter: liveReadAfter}
	}
	return nil
}

// Pending reports whether a write is remembered.
func (w *Write) Pending() bool { return w.last() != "" }

// last returns the version that is remembered.
func (w *Write) last() string {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if w.pending == nil {
		return ""
	}
	return w.pending.version
}

// isShownBy reports whether an object is as new as the last write, which need not be remembered any
// more then.
func (w *Write) isShownBy(object metav1.Object) bool {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if w.pending != nil && resourceversion.Older(object.GetResourceVersion(), w.pending.version) {
		return false
	}
	w.pending = nil
	return true
}

// due reports whether the API server is to be asked about a cache that is behind now, and how
// long the cache is left alone. Of several concurrent callers one gets the answer true.
func (w *Write) due() (ask bool, pause time.Duration) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if w.pending == nil {
		return false, liveReadAfter // another attempt has just seen the newer version
	}
	now := time.Now()
	if left := w.pending.nextLiveRead.Sub(now); left > 0 {
		return false, left
	}
	w.pending.pause = min(2*w.pending.pause, maxLiveReadPause)
	w.pending.nextLiveRead = now.Add(w.pending.pause)
	return true, w.pending.pause
}

// rewound forgets what was written last if that was no newer than a version: the API server
// has an older one, so that no cache will ever show it.
func (w *Write) rewound(last string) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if w.pending != nil && !resourceversion.Older(last, w.pending.version) {
		w.pending = nil
	}
}
