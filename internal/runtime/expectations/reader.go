package expectations

import (
	"context"
	"reflect"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Reader reads the objects of one kind.
type Reader struct {
	// Cache is asked first, and API when the cache is behind.
	Cache, API client.Reader

	written versions[client.ObjectKey]
}

// Record remembers the version of an object that was just written.
func (r *Reader) Record(object client.Object) {
	r.written.record(client.ObjectKeyFromObject(object), versionOf(object))
}

// Get reads an object as it is after the last write of this process, or later.
func (r *Reader) Get(ctx context.Context, key client.ObjectKey, object client.Object) error {
	err := r.Cache.Get(ctx, key, object)
	if client.IgnoreNotFound(err) != nil || r.written.observe(key, versionOf(object)) {
		return err
	}
	return r.GetLive(ctx, key, object)
}

// GetLive reads an object from the API server, whatever the cache shows.
func (r *Reader) GetLive(ctx context.Context, key client.ObjectKey, object client.Object) error {
	before := r.written.last(key)
	// Decoding adds to what is there already.
	reflect.ValueOf(object).Elem().SetZero()
	err := r.API.Get(ctx, key, object)
	// A deleted object need not be remembered, nor one that the API server has in an older
	// version only: its store was restored from a backup, and no cache will show the newer one.
	if apierrors.IsNotFound(err) || err == nil && versionOf(object) < before {
		r.written.rewound(key, before)
	}
	return err
}

// IsStale reports whether an object of the cache is older than our last write.
func (r *Reader) IsStale(object client.Object) bool {
	return !r.written.observe(client.ObjectKeyFromObject(object), versionOf(object))
}
