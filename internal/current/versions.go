package current

import (
	"strconv"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// versions are those that were written last, as long as no cache has shown them.
type versions[K comparable] struct {
	mutex sync.Mutex
	known map[K]uint64
}

func (v *versions[K]) wrote(key K, version uint64) {
	v.mutex.Lock()
	defer v.mutex.Unlock()
	if v.known == nil {
		v.known = make(map[K]uint64)
	}
	// Who was slower may tell later.
	v.known[key] = max(version, v.known[key])
}

// shown says whether a version is as new as what was written. What need not be remembered
// any more is forgotten.
func (v *versions[K]) shown(key K, version uint64) bool {
	v.mutex.Lock()
	defer v.mutex.Unlock()
	if version < v.known[key] {
		return false
	}
	delete(v.known, key)
	return true
}

func (v *versions[K]) last(key K) uint64 {
	v.mutex.Lock()
	defer v.mutex.Unlock()
	return v.known[key]
}

func (v *versions[K]) forget(key K) {
	v.mutex.Lock()
	defer v.mutex.Unlock()
	delete(v.known, key)
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
