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
	// run is that of the job in work.
	run *run
	// looked is when the finished item was looked at.
	looked time.Time
	// exports watches the values of the finished item.
	exports *exportWatch
}

// end ends what goes on for an item.
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
	m.mutex.Lock()
	defer m.mutex.Unlock()
	found := m.records[keyOf(item)]
	if found != nil && found.uid == item.UID {
		return found
	}
	if found != nil {
		defer found.end()
	}
	if m.records == nil {
		m.records = map[types.NamespacedName]*record{}
	}
	found = &record{uid: item.UID}
	m.records[keyOf(item)] = found
	return found
}

// forget drops the record of an item that no longer exists.
func (m *memory) forget(key types.NamespacedName) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if found := m.records[key]; found != nil {
		delete(m.records, key)
		defer found.end()
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

// end drops what is remembered of the job of an item.
func (m *memory) end(key types.NamespacedName) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if found := m.records[key]; found != nil && found.run != nil {
		found.run.forget()
		found.run = nil
	}
}

// markTriggered lets the run of an item continue at once, whatever it waits for.
func (m *memory) markTriggered(key types.NamespacedName) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if found := m.records[key]; found != nil && found.run != nil {
		found.run.triggered.Store(true)
	}
}

// working reports whether an item has a run.
func (m *memory) working(key types.NamespacedName) bool {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	found := m.records[key]
	return found != nil && found.run != nil
}

// uses records that the run of an item has asked for an object.
func (m *memory) uses(item types.NamespacedName, object need) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	found := m.records[item]
	if found == nil || found.run == nil {
		return
	}
	if found.run.needs == nil {
		found.run.needs = make(map[need]struct{})
	}
	found.run.needs[object] = struct{}{}
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

// noteLook records when a finished item was looked at; zero if the look does not count.
func (m *memory) noteLook(item *v1alpha1.DeployItem, at time.Time) {
	known := m.of(item)
	m.mutex.Lock()
	defer m.mutex.Unlock()
	known.looked = at
}

// looked returns when a finished item was looked at last, or zero.
func (m *memory) looked(item *v1alpha1.DeployItem) time.Time {
	known := m.of(item)
	m.mutex.Lock()
	defer m.mutex.Unlock()
	return known.looked
}

// exportWatch returns the export watch of the last job of an item, or nil.
func (m *memory) exportWatch(item *v1alpha1.DeployItem) *exportWatch {
	known := m.of(item)
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if known.exports != nil && known.exports.jobID == item.Status.JobID {
		return known.exports
	}
	return nil
}

// setExportWatch keeps an export watch until it is dropped, instead of an older one.
func (m *memory) setExportWatch(item *v1alpha1.DeployItem, watcher ExportWatcher) *exportWatch {
	m.dropExportWatch(keyOf(item))
	known := m.of(item)
	m.mutex.Lock()
	defer m.mutex.Unlock()
	known.exports = &exportWatch{jobID: item.Status.JobID, watcher: watcher}
	return known.exports
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
