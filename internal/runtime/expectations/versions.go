package expectations

import (
	"strconv"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// versions are those that were written last, as long as no cache has shown them.
type versions[K comparable] struct {
	mutex sync.Mutex
	known map[K]writeRecord
	// swept is the time of the last sweep.
	swept time.Time
}

type writeRecord struct {
	version uint64
	at      time.Time
	// nextLiveRead is when the API server is asked about a cache that is still behind, and pause how
	// long the cache is left alone after that.
	nextLiveRead time.Time
	pause        time.Duration
}

func (v *versions[K]) record(key K, version uint64) {
	v.mutex.Lock()
	defer v.mutex.Unlock()
	if v.known == nil {
		v.known = make(map[K]writeRecord)
	}
	// A slower writer may record its version later.
	if version >= v.known[key].version {
		now := time.Now()
		v.known[key] = writeRecord{version, now, now.Add(liveReadAfter), liveReadAfter}
	}
}

// observe reports whether a version is as new as the last write. A write that need not be
// remembered any more is forgotten.
func (v *versions[K]) observe(key K, version uint64) bool {
	v.mutex.Lock()
	defer v.mutex.Unlock()
	if version < v.known[key].version {
		return false
	}
	delete(v.known, key)
	return true
}

// due reports whether the API server is to be asked about a cache that is behind now, and how
// long the cache is left alone. Of several concurrent callers one gets the answer true.
func (v *versions[K]) due(key K) (ask bool, pause time.Duration) {
	v.mutex.Lock()
	defer v.mutex.Unlock()
	now := time.Now()
	known := v.known[key]
	if left := known.nextLiveRead.Sub(now); left > 0 {
		return false, left
	}
	known.pause = min(2*max(known.pause, liveReadAfter), maxLiveReadPause)
	known.nextLiveRead = now.Add(known.pause)
	if known.version > 0 {
		v.known[key] = known
	}
	return true, known.pause
}

// rewound forgets what was written last if that was no newer than a version: the API server
// has an older one, so that no cache will ever show it.
func (v *versions[K]) rewound(key K, last uint64) {
	v.mutex.Lock()
	defer v.mutex.Unlock()
	if v.known[key].version <= last {
		delete(v.known, key)
	}
}

func (v *versions[K]) last(key K) uint64 {
	v.mutex.Lock()
	defer v.mutex.Unlock()
	return v.known[key].version
}

func (v *versions[K]) forget(key K) {
	v.mutex.Lock()
	defer v.mutex.Unlock()
	delete(v.known, key)
}

// sweep forgets, at intervals, the versions whose time is over.
func (v *versions[K]) sweep(every, lasts time.Duration) {
	v.mutex.Lock()
	defer v.mutex.Unlock()
	now := time.Now()
	if now.Sub(v.swept) < every {
		return
	}
	v.swept = now
	for key, known := range v.known {
		if now.Sub(known.at) >= lasts {
			delete(v.known, key)
		}
	}
}

// versionOf is the version of an object as a number, 0 for one that is not there: an object
// that was made again has a larger one than its predecessor.
func versionOf(object metav1.Object) uint64 {
	version, err := strconv.ParseUint(object.GetResourceVersion(), 10, 64)
	if err != nil {
		return 0
	}
	return version
}
