package webhook

import (
	"context"
	"net/netip"
	"sync"
	"time"

	"golang.org/x/time/rate"
	"k8s.io/apimachinery/pkg/types"
)

const (
	// perClient is how many notifications a client sends in a second, and burst how many at once.
	perClient = 5
	burst     = 20
	// maxClients is how many clients are told apart; those that come then share a limit.
	maxClients = 1000
	// forgetAfter is how long a client is remembered.
	forgetAfter = time.Minute
)

// limits are those of clients.
type limits struct {
	mutex   sync.Mutex
	clients map[netip.Prefix]*limited
	others  *rate.Limiter
	swept   time.Time
}

type limited struct {
	*rate.Limiter
	seen time.Time
}

func (l *limits) allow(of netip.Prefix, now time.Time) bool {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if l.clients == nil {
		l.clients, l.others = map[netip.Prefix]*limited{}, rate.NewLimiter(perClient, burst)
	}
	if now.Sub(l.swept) > forgetAfter {
		for client, known := range l.clients {
			if now.Sub(known.seen) > forgetAfter {
				delete(l.clients, client)
			}
		}
		l.swept = now
	}
	known, exists := l.clients[of]
	switch {
	case exists:
	case len(l.clients) >= maxClients:
		return l.others.AllowN(now, 1)
	default:
		known = &limited{Limiter: rate.NewLimiter(perClient, burst)}
		l.clients[of] = known
	}
	known.seen = now
	return known.AllowN(now, 1)
}

// collected is the shortest time between two polls that notifications lead to.
const collected = 5 * time.Second

// maxCollected is how many Channels are remembered with their last notification.
const maxCollected = 10_000

// collector makes one call of many within a time.
type collector struct {
	ctx  context.Context // of the process
	now  func() time.Time
	call func(types.NamespacedName)
	// after calls something after a time.
	after func(time.Duration, func())

	mutex sync.Mutex
	// last is when there was a call, and waiting which ones will come.
	last    map[types.NamespacedName]time.Time
	waiting map[types.NamespacedName]bool
}

func newCollector(ctx context.Context, now func() time.Time, call func(types.NamespacedName)) *collector {
	return &collector{
		ctx: ctx, now: now, call: call, after: func(pause time.Duration, do func()) { time.AfterFunc(pause, do) },
		last: map[types.NamespacedName]time.Time{}, waiting: map[types.NamespacedName]bool{},
	}
}

// add lets the call be made now, or as soon as the time since the last one is over.
func (c *collector) add(key types.NamespacedName) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.waiting[key] {
		return
	}
	c.waiting[key] = true
	c.after(max(0, c.last[key].Add(collected).Sub(c.now())), func() { c.make(key) })
}

func (c *collector) make(key types.NamespacedName) {
	c.mutex.Lock()
	delete(c.waiting, key)
	if len(c.last) >= maxCollected {
		clear(c.last)
	}
	c.last[key] = c.now()
	c.mutex.Unlock()
	if c.ctx.Err() == nil {
		c.call(key)
	}
}
