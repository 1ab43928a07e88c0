package current

import (
	"strconv"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// versions are those that were written last, as long as no cache has shown them.
type versions[K comparable] struct {
	mutex sync.Mutex
	known map[K]written
	// swept is when what has lasted was last forgotten.
	swept time.Time
}

type written struct {
	version uint64
	at      time.Time
}

func (v *versions[K]) wrote(key K, version uint64) {
	v.mutex.Lock()
	defer v.mutex.Unlock()
	if v.known == nil {
		v.known = make(map[K]written)
	}
	// Who was slower may tell later.
	if version >= v.known[key].version {
		v.known[key] = written{version, time.Now()}
	}
}

// shown says whether a version is as new as what was written. What need not be remembered
// any more is forgotten.
func (v *versions[K]) shown(key K, version uint64) bool {
	v.mutex.Lock()
	defer v.mutex.Unlock()
	if version < v.known[key].version {
		return false
	}
	delete(v.known, key)
	return true
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

// sweep forgets what has lasted for long enough, and looks for that now and then.
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
