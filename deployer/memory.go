package deployer

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/runtime/expectations"
)

// memory is what this process knows about items beyond what is stored: one record for each item, by the
// name that triggers know. All of it can be lost: another process begins the work again.
type memory struct {
	mutex   sync.Mutex
	records map[types.NamespacedName]*record
}

// record is what is known about one item. It is dropped whole when the item is deleted, or when another
// one has its name.
type record struct {
	uid     types.UID
	written expectations.Write
	// run is that of the job in work. The mutex guards it, for triggers; the rest is for the only attempt
	// on the item.
	run *run
	// looked is when the finished item was looked at.
	looked time.Time
	// exports watches the values of the finished item.
	exports *exportWatch
}

// end ends what goes on for an item, once no trigger finds the record any more: a deployer may wait for its
// own watch there, which triggers items.
func (r *record) end() {
	if r.run != nil {
		r.run.forget()
	}
	if r.exports != nil {
		_ = r.exports.watcher.Close()
	}
}

// of returns the record of an item, if necessary a new one.
func (m *memory) of(item *v1alpha1.DeployItem) *record {
	found, former := m.swap(item)
	if former != nil {
		former.end()
	}
	return found
}

// swap returns the record of an item, and that of an earlier item of its name which it takes the place of.
func (m *memory) swap(item *v1alpha1.DeployItem) (found, former *record) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	former = m.records[keyOf(item)]
	if former != nil && former.uid == item.UID {
		return former, nil
	}
	if m.records == nil {
		m.records = map[types.NamespacedName]*record{}
	}
	found = &record{uid: item.UID}
	m.records[keyOf(item)] = found
	return found, former
}

// forget drops the record of an item that no longer exists.
func (m *memory) forget(key types.NamespacedName) {
	m.mutex.Lock()
	former := m.records[key]
	delete(m.records, key)
	m.mutex.Unlock()
	if former != nil {
		former.end()
	}
}

// rest ends the work on an item, and drops its record if nothing is left in it.
func (m *memory) rest(key types.NamespacedName) {
	m.end(key)
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if found := m.records[key]; found != nil && found.exports == nil && found.looked.IsZero() && !found.written.Pending() {
		delete(m.records, key)
	}
}

// find returns the run of the job that an item has now, or nil.
func (m *memory) find(item *v1alpha1.DeployItem) *run {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	found := m.records[keyOf(item)]
	if found == nil || found.uid != item.UID || !found.run.isOf(item) {
		return nil
	}
	return found.run
}

// begin returns the run of an item's job, if necessary a new one. What was remembered of another
// job or of an older specification is dropped.
func (m *memory) begin(item *v1alpha1.DeployItem) *run {
	known := m.of(item)
	m.mutex.Lock()
	defer m.mutex.Unlock()
	old := known.run
	if old.isOf(item) {
		return old
	}
	known.run = &run{jobID: item.Status.JobID, generation: item.Generation, history: historyOf(item)}
	if old != nil {
		old.forget()
		// A job that the deployer starts itself has another ID after each conflict: its backoff
		// continues.
		known.run.conflicts = old.conflicts
	}
	return known.run
}

// ofRun does something with the run of an item, if there is one, and reports whether there is.
func (m *memory) ofRun(key types.NamespacedName, do func(*record)) bool {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	found := m.records[key]
	if found == nil || found.run == nil {
		return false
	}
	do(found)
	return true
}

// end drops what is remembered of the job of an item.
func (m *memory) end(key types.NamespacedName) {
	m.ofRun(key, func(known *record) {
		known.run.forget()
		known.run = nil
	})
}

// markTriggered lets the run of an item continue at once, whatever it waits for. It reports whether there
// is one.
func (m *memory) markTriggered(key types.NamespacedName) bool {
	return m.ofRun(key, func(known *record) { known.run.triggered.Store(true) })
}

// uses records that the run of an item has asked for an object.
func (m *memory) uses(item types.NamespacedName, object need) {
	m.ofRun(item, func(known *record) {
		if known.run.needs == nil {
			known.run.needs = make(map[need]struct{})
		}
		known.run.needs[object] = struct{}{}
	})
}

// users returns the items whose runs have asked for an object.
func (m *memory) users(object need) []types.NamespacedName {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	var users []types.NamespacedName
	for item, known := range m.records {
		if known.run == nil {
			continue
		}
		if _, ok := known.run.needs[object]; ok {
			users = append(users, item)
		}
	}
	return users
}

// dropExportWatch ends the export watch of an item.
func (m *memory) dropExportWatch(key types.NamespacedName) {
	m.mutex.Lock()
	found := m.records[key]
	var held *exportWatch
	if found != nil {
		held, found.exports = found.exports, nil
	}
	m.mutex.Unlock()
	if held != nil {
		_ = held.watcher.Close()
	}
}
