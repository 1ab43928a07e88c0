package installation

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/internal/controller/installation/observe"
	"go.landscaper.dev/internal/controller/installation/planstore"
	"go.landscaper.dev/internal/controller/installation/resolve"
	"go.landscaper.dev/internal/controller/installation/treesize"
	"go.landscaper.dev/internal/model/siblings"
	"go.landscaper.dev/internal/runtime/expectations"
	"go.landscaper.dev/internal/runtime/job"
)

// memory is what the process remembers between two attempts. A restart forgets all of it, which costs
// requests and nothing else.
type memory struct {
	mu sync.Mutex
	// marks are the marks of each Installation, with the times at which they were made.
	marks map[types.UID]map[mark]time.Time

	// written are the versions of objects that the cache has not shown yet, created the
	// subinstallations and Executions.
	written expectations.Writes
	created expectations.Creations
	outages resolve.Outages
	// planCache is what is known of stored plans.
	planCache planstore.Cache
	trees     treesize.Tracker
	relations siblings.Cache
	arrivals  observe.Arrivals
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

// note makes a mark, or removes it. The time of a mark is that of the first note.
func (m *memory) note(uid types.UID, what mark, has bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !has {
		if delete(m.marks[uid], what); len(m.marks[uid]) == 0 {
			delete(m.marks, uid)
		}
		return
	}
	if m.marks == nil {
		m.marks = map[types.UID]map[mark]time.Time{}
	}
	if m.marks[uid] == nil {
		m.marks[uid] = map[mark]time.Time{}
	}
	if m.marks[uid][what].IsZero() {
		m.marks[uid][what] = time.Now()
	}
}

func (m *memory) has(uid types.UID, what mark) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return !m.marks[uid][what].IsZero()
}

// age returns how long ago a mark was made.
func (m *memory) age(uid types.UID, what mark) time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	return time.Since(m.marks[uid][what])
}

// forget drops all that is remembered of an Installation that no longer exists.
func (m *memory) forget(uid types.UID) {
	m.mu.Lock()
	delete(m.marks, uid)
	m.mu.Unlock()
	m.written.Forget(uid)
	m.outages.Forget(uid)
	m.planCache.Forget(uid)
	m.trees.Forget(uid)
	m.created.ForgetOwner(uid)
}

// forgetObject is for the event that reports the deletion of an Installation.
func (m *memory) forgetObject(inst client.Object) {
	m.forget(inst.GetUID())
	m.arrivals.Forget(client.ObjectKeyFromObject(inst))
	if parent, isSub := job.OwnerOf(inst, "Installation"); isSub {
		m.created.Forget(parent.UID, inst.GetName())
	}
}

// forgetExecution drops what is remembered of an Execution that no longer exists.
func (m *memory) forgetExecution(exec client.Object) {
	m.written.Forget(exec.GetUID())
	if parent, isChild := job.OwnerOf(exec, "Installation"); isChild {
		m.created.Forget(parent.UID, exec.GetName())
	}
}
