// Package current reads objects that this process writes as well, from a cache that may not
// show yet what was written last.
//
// An older object is no harm to a write, which is bound to the version that was read. It is
// one to a comparison: who finds on it what is to be there already writes nothing, and
// nobody comes again.
package current

import (
	"context"
	"reflect"
	"strconv"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Reader reads the objects of one kind.
type Reader struct {
	// Cache is asked first, and API when the cache is behind.
	Cache, API client.Reader

	mutex   sync.Mutex
	written map[client.ObjectKey]uint64
}

// Wrote remembers the version of an object that was just written.
func (r *Reader) Wrote(object client.Object) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if r.written == nil {
		r.written = map[client.ObjectKey]uint64{}
	}
	key := client.ObjectKeyFromObject(object)
	r.written[key] = max(versionOf(object), r.written[key])
}

// Get reads an object as it is after the last write of this process, or later.
func (r *Reader) Get(ctx context.Context, key client.ObjectKey, object client.Object) error {
	err := r.Cache.Get(ctx, key, object)
	if client.IgnoreNotFound(err) != nil || r.shows(key, versionOf(object)) {
		return err
	}
	return r.Ask(ctx, key, object)
}

// Ask reads an object from the API server, whatever the cache shows.
func (r *Reader) Ask(ctx context.Context, key client.ObjectKey, object client.Object) error {
	before := r.version(key)
	// Decoding adds to what is there already.
	reflect.ValueOf(object).Elem().SetZero()
	err := r.API.Get(ctx, key, object)
	if apierrors.IsNotFound(err) {
		r.shows(key, before)
	}
	return err
}

// Behind says whether an object, which the cache has shown, is older than our last write.
func (r *Reader) Behind(object client.Object) bool {
	return !r.shows(client.ObjectKeyFromObject(object), versionOf(object))
}

// shows says whether a version is as new as what was written. What need not be remembered
// any more is forgotten.
func (r *Reader) shows(key client.ObjectKey, version uint64) bool {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if version < r.written[key] {
		return false
	}
	delete(r.written, key)
	return true
}

func (r *Reader) version(key client.ObjectKey) uint64 {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return r.written[key]
}

// versionOf is the version of an object as a number, 0 for one that is not there: an object
// that was made again has a larger one than its predecessor.
func versionOf(object client.Object) uint64 {
	version, err := strconv.ParseUint(object.GetResourceVersion(), 10, 64)
	if err != nil {
		return 0
	}
	return version
}
