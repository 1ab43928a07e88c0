package login

import (
	"maps"
	"slices"
	"sync"
	"time"
)

// maxEnded bounds the sessions that are known to have ended before their time.
const maxEnded = 10_000

// ended has the sessions that their users have logged out of. A copy of their cookie is of no use
// then, at this replica; the other ones take it until its time is over.
type ended struct {
	mutex sync.Mutex
	until map[string]time.Time
}

// add notes a session until its own end.
func (e *ended) add(s session) {
	if s.ID == "" {
		return
	}
	e.mutex.Lock()
	defer e.mutex.Unlock()
	if e.until == nil {
		e.until = map[string]time.Time{}
	}
	if len(e.until) >= maxEnded {
		now := time.Now()
		maps.DeleteFunc(e.until, func(_ string, until time.Time) bool { return !now.Before(until) })
	}
	if len(e.until) >= maxEnded {
		// Those that end next go first.
		ids := slices.Collect(maps.Keys(e.until))
		slices.SortFunc(ids, func(a, b string) int { return e.until[a].Compare(e.until[b]) })
		for _, id := range ids[:maxEnded/10] {
			delete(e.until, id)
		}
	}
	e.until[s.ID] = s.Ends
}

func (e *ended) has(s session) bool {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	_, found := e.until[s.ID]
	return found
}
