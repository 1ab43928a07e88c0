package installation

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/internal/controller/installation/observe"
	"go.landscaper.dev/internal/controller/installation/planstore"
	"go.landscaper.dev/internal/controller/installation/resolve"
	"go.landscaper.dev/internal/controller/installation/treesize"
	"go.landscaper.dev/internal/model/siblings"
	"go.landscaper.dev/internal/runtime/expectations"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/reporter"
)

// memory is what the process remembers between two attempts. A restart forgets all of it, which costs
// requests and nothing else.
type memory struct {
	// Records are those of Installations and Executions.
	expectations.Records[record]

	// plans, arrivals and relations are what records have in common. They have nothing of an
	// Installation that has no record, but relations follow from what is given to them.
	plans     planstore.Cache
	arrivals  observe.Arrivals
	relations siblings.Cache
}

// record is what is remembered of one object. It is dropped whole when the object is deleted.
type record struct {
	reporter.Known

	marks marks
	// kept is the generation whose specification is kept, or cannot be.
	kept atomic.Int64
	// created are the subinstallations and the Execution that the cache has not shown yet.
	created expectations.Creations
	outage  resolve.Outage
	plan    planstore.Known
	tree    treesize.Member
	waits   observe.Waits
	ahead   ahead
}

// End implements what expectations.Records asks of a record that others count or point to.
func (r *record) End() {
	r.plan.End()
	r.tree.End()
	r.waits.End()
}

// mark is something that is true of an Installation, and that no object says.
type mark int

const (
	// unstored: an attempt has made something whose job was not stored.
	unstored mark = iota
	// pickedUp: the first job was picked up and is not stored yet.
	pickedUp
	// terminating: the Execution is being deleted, or is absent.
	terminating
	// executionDeleted: this process has deleted the Execution.
	executionDeleted
)

// marks are the marks of an Installation, with the times at which they were made.
type marks struct {
	mu sync.Mutex
	at map[mark]time.Time
}

// note makes a mark, or removes it. The time of a mark is that of the last note.
func (m *marks) note(what mark, has bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !has {
		delete(m.at, what)
		return
	}
	if m.at == nil {
		m.at = map[mark]time.Time{}
	}
	m.at[what] = time.Now()
}

func (m *marks) has(what mark) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return !m.at[what].IsZero()
}

// age returns how long ago a mark was made.
func (m *marks) age(what mark) time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	return time.Since(m.at[what])
}

// forget is for the event that reports the deletion of an Installation or an Execution.
func (m *memory) forget(object client.Object) {
	m.Forget(object.GetUID())
	if owner, isChild := job.OwnerOf(object, "Installation"); isChild {
		if parent := m.Find(owner.UID); parent != nil {
			parent.created.Forget(object.GetName())
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
