package channel

import (
	"maps"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	fleetv1alpha1 "go.landscaper.dev/api/fleet/v1alpha1"
	"go.landscaper.dev/internal/model/channel"
	"go.landscaper.dev/internal/runtime/expectations"
)

// collected is the shortest time between two polls of a Channel: requests within it are one.
const collected = 5 * time.Second

// lookAgain is how many polls pass until the tag of the offered version is looked at again.
const lookAgain = 6

// memory is what this process knows of a Channel. After a restart, the status has what matters, and the
// next poll begins at once.
type memory struct {
	uid     types.UID
	written expectations.Write
	// generation is that of the last poll, began is when that poll began, and next when another one is
	// due.
	generation  int64
	began, next time.Time
	// requested is the last request by annotation, at requestedAt; seen says that there was a look at it,
	// and pending that no poll has served it yet.
	requested   string
	requestedAt time.Time
	seen        bool
	pending     bool
	// serves says that the poll under way is for a request.
	serves bool
	// failures is how many polls have failed in a row.
	failures int
	// found is what polls have found out.
	found found
}

// found is what polls have found out. A poll gets it, and returns another one.
type found struct {
	known channel.Known
	// basis stands for the rules, the repository and the keys by which versions were looked at.
	basis string
	// state is that of the list of tags that was judged last, with the judgement.
	state     uint64
	judged    bool
	judgement channel.Judgement
	// refused is what was found out about refused versions: the same content is refused for the same reason.
	refused map[string]channel.Finding
	// polls counts polls since the last look at the tag of the offered version.
	polls int
}

// observe notes a request of a user or of a registry.
func (m *memory) observe(ch *fleetv1alpha1.Channel, now time.Time) {
	request := ch.Annotations[fleetv1alpha1.PollAnnotation]
	if m.seen && request != m.requested && request != "" {
		m.pending, m.requestedAt = true, now
	}
	m.seen, m.requested = true, request
}

// due is when the next poll has to begin.
func (m *memory) due(ch *fleetv1alpha1.Channel) time.Time {
	switch {
	case ch.Generation != m.generation || m.next.IsZero():
		return time.Time{}
	case m.pending:
		if soonest := m.began.Add(collected); soonest.Before(m.next) {
			return soonest
		}
	}
	return m.next
}

// memories are those of all Channels.
type memories struct {
	mutex sync.Mutex
	known map[types.NamespacedName]*memory
}

// of returns the memory of a Channel. That of another object with the same name is dropped.
func (m *memories) of(key types.NamespacedName, ch *fleetv1alpha1.Channel) *memory {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if m.known == nil {
		m.known = map[types.NamespacedName]*memory{}
	}
	known := m.known[key]
	if known == nil || known.uid != ch.UID {
		known = &memory{uid: ch.UID, found: found{known: channel.Remember(&ch.Status)}}
		// What another specification has found says nothing about this one.
		known.found.known.Void = ch.Status.ObservedGeneration != ch.Generation
		m.known[key] = known
	}
	return known
}

func (m *memories) forget(key types.NamespacedName) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	delete(m.known, key)
}

// clone returns what a poll may change.
func (f found) clone() found {
	f.known.Digests, f.refused = maps.Clone(f.known.Digests), maps.Clone(f.refused)
	return f
}
