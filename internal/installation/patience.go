package installation

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// patience is how long a job goes on asking a registry that does not answer.
const patience = 5 * time.Minute

// outages remembers since when Installations find no answer. The beginning of the
// job does not tell: it may have waited for something else before. A restart
// forgets the outages, which only makes us more patient.
type outages struct {
	mu    sync.Mutex
	since map[types.UID]time.Time
}

// lasts notes an outage, and returns how long it has lasted.
func (o *outages) lasts(uid types.UID, now time.Time) time.Duration {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.since == nil {
		o.since = map[types.UID]time.Time{}
	}
	since, known := o.since[uid]
	if !known {
		o.since[uid], since = now, now
	}
	return now.Sub(since)
}

// over forgets an outage.
func (o *outages) over(uid types.UID) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.since, uid)
}
