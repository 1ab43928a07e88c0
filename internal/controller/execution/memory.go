package execution

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/internal/runtime/expectations"
	"go.landscaper.dev/internal/runtime/reporter"
)

// memory is what the process remembers of Executions and their items between two attempts. A restart
// forgets all of it, which costs requests and nothing else.
type memory struct{ expectations.Records[record] }

// record is what is remembered of one object. It is dropped whole when the object is deleted.
type record struct {
	reporter.Known

	// made are the items that were created and that the cache has not shown yet, created those
	// that may have been.
	made, created expectations.Creations
}

// forget is for the event that reports the deletion of an Execution or an item: no cache will show
// the last write, which has often removed the finalizer.
func (m *memory) forget(object client.Object) {
	m.Forget(object.GetUID())
	if owner := metav1.GetControllerOf(object); owner != nil {
		if known := m.Find(owner.UID); known != nil {
			known.made.Forget(object.GetName())
			known.created.Forget(object.GetName())
		}
	}
}

// await returns expectations.StaleCacheError if an object from a cache is older than our last write.
func (m *memory) await(ctx context.Context, live client.Reader, object client.Object) error {
	if known := m.Find(object.GetUID()); known != nil {
		return known.Written.Await(ctx, live, object) // says what was read
	}
	return nil
}

// awaitItem is await for an item, of which nothing but the last write is remembered.
func (m *memory) awaitItem(ctx context.Context, live client.Reader, item client.Object) error {
	err := m.await(ctx, live, item)
	if err == nil {
		m.Forget(item.GetUID())
	}
	return err // says what was read
}

// wrote notes a write.
func (m *memory) wrote(item client.Object) { m.Of(item.GetUID()).Written.Record(item) }
