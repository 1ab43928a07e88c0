package rewatch

import (
	"sync"
	"time"
)

// settleTime is how long the caches of a process may take to list anew, each for itself, after
// the history of the API server was rewound.
const settleTime = 2 * time.Minute

// Recent knows whether the history of the API server was rewound a moment ago. Then one cache
// may still show what another one has lost already.
type Recent struct {
	// Now returns the time.
	Now func() time.Time

	mutex sync.Mutex
	last  time.Time
}

// Note notes that the history was rewound.
func (r *Recent) Note() {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.last = r.Now()
}

// Unsettled reports whether caches may contradict each other.
func (r *Recent) Unsettled() bool {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return !r.last.IsZero() && r.Now().Sub(r.last) < settleTime
}
