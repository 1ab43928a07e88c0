package installation

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"
)

// marks are what is remembered of some Installations until a restart.
type marks struct {
	mu sync.Mutex
	by map[types.UID]bool
}

func (m *marks) note(uid types.UID, has bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !has {
		delete(m.by, uid)
		return
	}
	if m.by == nil {
		m.by = map[types.UID]bool{}
	}
	m.by[uid] = true
}

func (m *marks) has(uid types.UID) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.by[uid]
}
