package expectations

import (
	"context"
	"reflect"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/internal/base/resourceversion"
)

// Reader reads the objects of one kind.
type Reader struct {
	// Cache is asked first, and API when the cache is behind.
	Cache, API client.Reader

	mutex sync.Mutex
	// written has the names of objects, not their UIDs: a cache that shows none, or the one that had the
	// name before, is behind as well.
	written map[client.ObjectKey]*Write
	// doubts counts the writes of an object that had no answer: no version is known that a cache has to
	// show.
	doubts map[client.ObjectKey]int
}

// Record remembers the version of an object that was just written.
func (r *Reader) Record(object client.Object) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if r.written == nil {
		r.written = map[client.ObjectKey]*Write{}
	}
	key := client.ObjectKeyFromObject(object)
	if r.written[key] == nil {
		r.written[key] = &Write{}
	}
	r.written[key].Record(object)
}

// Doubt remembers that it is unknown whether the API server has carried out a write of an object.
func (r *Reader) Doubt(object client.Object) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if r.doubts == nil {
		r.doubts = map[client.ObjectKey]int{}
	}
	r.doubts[client.ObjectKeyFromObject(object)]++
}

// Get reads an object as it is after the last write of this process, or later. After a write without an
// answer it asks the API server once, and from then on the caches have to show what that has said.
func (r *Reader) Get(ctx context.Context, key client.ObjectKey, object client.Object) error {
	if doubts := r.doubted(key); doubts > 0 {
		return r.ascertain(ctx, key, object, doubts)
	}
	err := r.Cache.Get(ctx, key, object)
	if client.IgnoreNotFound(err) != nil || !r.isBehind(key, object) {
		return err
	}
	return r.GetLive(ctx, key, object)
}

// ascertain asks the API server what has become of an object. A write that had no answer meanwhile needs
// another question.
func (r *Reader) ascertain(ctx context.Context, key client.ObjectKey, object client.Object, doubts int) error {
	err := r.GetLive(ctx, key, object)
	if client.IgnoreNotFound(err) != nil {
		return err
	}
	if err == nil {
		r.Record(object)
	}
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if r.doubts[key] == doubts {
		delete(r.doubts, key)
	}
	return err
}

func (r *Reader) doubted(key client.ObjectKey) int {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return r.doubts[key]
}

// GetLive reads an object from the API server, whatever the cache shows.
func (r *Reader) GetLive(ctx context.Context, key client.ObjectKey, object client.Object) error {
	before := r.last(key)
	// Decoding adds to what is there already.
	reflect.ValueOf(object).Elem().SetZero()
	err := r.API.Get(ctx, key, object)
	// A deleted object need not be remembered, nor one that the API server has in an older
	// version only: its store was restored from a backup, and no cache will show the newer one.
	if apierrors.IsNotFound(err) || err == nil && resourceversion.Older(object.GetResourceVersion(), before) {
		r.rewound(key, before)
	}
	return err
}

// IsStale reports whether an object of the cache is older than our last write.
func (r *Reader) IsStale(object client.Object) bool {
	return r.isBehind(client.ObjectKeyFromObject(object), object)
}

// isBehind reports whether an object, or none, is older than our last write. A write that was shown
// is forgotten.
func (r *Reader) isBehind(key client.ObjectKey, object client.Object) bool {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if written := r.written[key]; written != nil && !written.isShownBy(object) {
		return true
	}
	delete(r.written, key)
	return false
}

// Forget forgets the last write of an object that nothing reads any more.
func (r *Reader) Forget(key client.ObjectKey) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	delete(r.written, key)
	delete(r.doubts, key)
}

func (r *Reader) last(key client.ObjectKey) string {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if written := r.written[key]; written != nil {
		return written.last()
	}
	return ""
}

// rewound forgets a write that no cache will ever show.
func (r *Reader) rewound(key client.ObjectKey, last string) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	written := r.written[key]
	if written == nil {
		return
	}
	if written.rewound(last); !written.Pending() {
		delete(r.written, key)
	}
}
