package cluster

import (
	"sync"
	"time"

	"go.landscaper.dev/internal/cluster/answerlimit"
	"go.landscaper.dev/internal/cluster/clustererror"
)

const (
	firstPause = time.Second
	maxPause   = 30 * time.Second
)

// health remembers that a cluster does not answer, so that one caller at a time tries it again and
// the others do not wait. Only timeouts count. A refused connection, a bad certificate or a 401 is
// reported at once, so that every caller may try.
type health struct {
	now func() time.Time

	mutex sync.Mutex
	down  error
	pause time.Duration
	until time.Time
	// probing says that a caller is trying whether the cluster answers again.
	probing bool
}

// refuse returns the failure of the last attempt if it is too early for another.
func (h *health) refuse() error {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	if h.down == nil {
		return nil
	}
	now := h.now()
	if now.Before(h.until) {
		return h.down
	}
	// This caller tries; the others get the known error until the cluster answers. If this caller
	// never reports back, the next one may try when its request must have timed out.
	h.until, h.probing = now.Add(answerlimit.RequestTimeout), true
	return nil
}

// learn records the result of a request.
func (h *health) learn(err error) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	if !clustererror.Silent(err) {
		h.down, h.pause, h.probing = nil, 0, false
		return
	}
	if h.down != nil && !h.probing {
		// Several requests were in flight; the first one has recorded the failure.
		return
	}
	h.probing = false
	h.pause = min(max(2*h.pause, firstPause), maxPause)
	h.down, h.until = err, h.now().Add(h.pause)
}
