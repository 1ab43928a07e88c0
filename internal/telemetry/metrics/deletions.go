package metrics

import (
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// deletionRetention is how long the end of an object is remembered: longer than the work on an
// Execution takes that has read its items before.
const deletionRetention = 5 * time.Minute

// deletions are the objects whose deletion was seen not long ago. An Execution that has not seen
// the deletion may dispatch a job to one: no event would ever end the count of such a job.
type deletions struct {
	known map[types.UID]struct{}
	// ends are their ends, the oldest first.
	ends []deletion
}

// deletion is that of an object.
type deletion struct {
	uid types.UID
	at  time.Time
}

// note remembers the end of an object, and forgets those that were long ago.
func (d *deletions) note(uid types.UID, now time.Time) {
	if d.known == nil {
		d.known = map[types.UID]struct{}{}
	}
	past := 0
	for past < len(d.ends) && now.Sub(d.ends[past].at) > deletionRetention {
		delete(d.known, d.ends[past].uid)
		past++
	}
	d.known[uid] = struct{}{}
	d.ends = append(d.ends[past:], deletion{uid, now})
}

// has reports whether the end of an object was seen.
func (d *deletions) has(uid types.UID) bool {
	_, known := d.known[uid]
	return known
}
