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

// health remembers that a cluster does not answer, so that one attempt at a time
// finds out when it does and nobody else spends the time.
// Only silence counts. A refused connection, a certificate or a 401 is told in no time, so
// that every caller may find it out for itself.
type health struct {
	now func() time.Time

	mutex sync.Mutex
	down  error
	pause time.Duration
	until time.Time
	// probing says that somebody finds out whether it answers again.
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
	// This caller tries; the others get the known answer until it is back.
	// If this caller never reports back, the next one may try when its request must have
	// ended.
	h.until, h.probing = now.Add(answerlimit.RequestTimeout), true
	return nil
}

// learn takes note of the result of a request.
func (h *health) learn(err error) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	if !clustererror.Silent(err) {
		h.down, h.pause, h.probing = nil, 0, false
		return
	}
	if h.down != nil && !h.probing {
		// One of several requests that were under way; the first one has told it.
		return
	}
	h.probing = false
	h.pause = min(max(2*h.pause, firstPause), maxPause)
	h.down, h.until = err, h.now().Add(h.pause)
}
