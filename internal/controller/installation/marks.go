package installation

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// marks are what is remembered of some Installations until a restart.
type marks struct {
	mu sync.Mutex
	by map[types.UID]time.Time
}

func (m *marks) note(uid types.UID, has bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !has {
		delete(m.by, uid)
		return
	}
	if m.by == nil {
		m.by = map[types.UID]time.Time{}
	}
	if m.by[uid].IsZero() {
		m.by[uid] = time.Now()
	}
}

func (m *marks) has(uid types.UID) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return !m.by[uid].IsZero()
}

// age returns how long ago a mark was made.
func (m *marks) age(uid types.UID) time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	return time.Since(m.by[uid])
}
