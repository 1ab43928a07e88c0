package preview

import (
	"context"
	"reflect"
	"sync"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Remember returns a reader that reads each object once: all parts of a preview see the same state of
// it, and the items of a tree, which share few Targets and Secrets, cost no request each. It is for one
// preview.
func Remember(reader client.Reader) client.Reader {
	return &remembering{Reader: reader, read: map[exportedKey]*remembered{}}
}

type remembering struct {
	client.Reader
	mutex sync.Mutex
	read  map[exportedKey]*remembered
}

// remembered is an object that is read by the first who wants it; the others wait for it.
type remembered struct {
	once   sync.Once
	object client.Object
	err    error
}

// Get implements client.Reader.
func (r *remembering) Get(ctx context.Context, name client.ObjectKey, into client.Object, options ...client.GetOption) error {
	if len(options) > 0 {
		return r.Reader.Get(ctx, name, into, options...)
	}
	key := keyOf(into, name)
	r.mutex.Lock()
	found := r.read[key]
	if found == nil {
		found = &remembered{}
		r.read[key] = found
	}
	r.mutex.Unlock()
	found.once.Do(func() {
		object := reflect.New(reflect.TypeOf(into).Elem()).Interface().(client.Object)
		// Metadata alone says by its kind what is to be read.
		object.GetObjectKind().SetGroupVersionKind(into.GetObjectKind().GroupVersionKind())
		found.object, found.err = object, r.Reader.Get(ctx, name, object)
	})
	if found.err != nil {
		return found.err
	}
	reflect.ValueOf(into).Elem().Set(reflect.ValueOf(found.object.DeepCopyObject()).Elem())
	return nil
}
