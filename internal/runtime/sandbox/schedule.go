package sandbox

import (
	"maps"
	"math"
	"slices"
	"time"
)

// Who gets a slot, and who has to leave one. The caller has the mutex of the pool.

// share is how many slots one tenant has at most, also if it is alone, and how many slots long works
// have while others wait.
func (p *Pool) share() int { return max(p.options.Slots/2, 1) }

// admit gives free slots to those who wait. If none is free, it takes those of long works that are
// too many.
func (p *Pool) admit() {
	for len(p.held) < p.options.Slots {
		next := p.next()
		if next < 0 {
			break
		}
		s := p.waiting[next]
		p.waiting = slices.Delete(p.waiting, next, next+1)
		p.busy[s.tenant]++
		p.held = append(p.held, s)
		s.held, s.since = true, time.Now()
		close(s.turn)
	}
	if next := p.next(); next >= 0 && !p.waiting[next].long {
		p.evict()
	}
	p.dismiss()
}

// dismiss sends those away who want no long work and would wait for one of their own tenant: no slot
// is made free for them. Those who wait for quick works stay, also on a busy machine.
func (p *Pool) dismiss() {
	p.waiting = slices.DeleteFunc(p.waiting, func(s *slot) bool {
		s.dismissed = s.quickOnly && !s.begun && p.fullOfLong(s.tenant)
		if s.dismissed {
			close(s.turn)
		}
		return s.dismissed
	})
}

// fullOfLong says whether a tenant has its share of slots, and long works in all of them.
func (p *Pool) fullOfLong(tenant string) bool {
	return p.busy[tenant] >= p.share() && !slices.ContainsFunc(p.held, func(s *slot) bool {
		return s.tenant == tenant && (!s.long || s.evicted)
	})
}

// next returns who is the next to get a slot, or -1.
func (p *Pool) next() int {
	next := -1
	for i, s := range p.waiting {
		if p.busy[s.tenant] < p.share() && (next < 0 || p.before(s, p.waiting[next])) {
			next = i
		}
	}
	return next
}

// before says whether a work goes before another one that waits for longer: long ones go last if
// there are enough of them, and first if not. One that holds memory goes before others, and then the
// tenant with the fewest works, and the one that has computed least in long works.
func (p *Pool) before(s, other *slot) bool {
	if s.long != other.long {
		return other.long == (p.long() >= p.share())
	}
	if s.begun != other.begun {
		return s.begun
	}
	if a, b := p.busy[s.tenant], p.busy[other.tenant]; a != b {
		return a < b
	}
	now := time.Now()
	return p.used[s.tenant].at(now) < p.used[other.tenant].at(now)
}

// long is how many long works have slots.
func (p *Pool) long() (count int) {
	for _, s := range p.held {
		if s.long && !s.evicted {
			count++
		}
	}
	return count
}

// evict ends the process of the long work that has begun last, if there are too many. The work begins
// again when it is its turn.
func (p *Pool) evict() {
	if p.long() <= p.share() {
		return
	}
	for _, s := range slices.Backward(p.held) {
		if s.long && !s.evicted && s.evict != nil {
			s.evicted = true
			s.evict()
			return
		}
	}
}

// release takes a slot back.
func (p *Pool) release(s *slot) {
	s.held = false
	p.held = slices.DeleteFunc(p.held, func(one *slot) bool { return one == s })
	if p.busy[s.tenant]--; p.busy[s.tenant] == 0 {
		delete(p.busy, s.tenant)
	}
	now := time.Now()
	if computed := now.Sub(s.since); computed > freeTime || s.evicted {
		p.used[s.tenant] = use{p.used[s.tenant].at(now) + computed.Seconds(), now}
	}
	if len(p.used) > manyTenants {
		maps.DeleteFunc(p.used, func(_ string, u use) bool { return u.at(now) == 0 })
	}
	p.admit()
}

// quick is how long a work of a tenant may compute until it is long: the less, the more the tenant has
// had. A tenant with 9 seconds, for example, has a tenth of quickTime.
func (p *Pool) quick(tenant string) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return time.Duration(float64(quickTime) / (1 + p.used[tenant].at(time.Now())))
}

// manyTenants is how many tenants may have used slots until those are forgotten that have used none lately.
const manyTenants = 1000

// freeTime is how long a work may hold a slot and cost its tenant nothing: a tenant with many quick works
// would otherwise come after one that has only just begun to compute without end.
const freeTime = 100 * time.Millisecond

// use is how long a tenant has had slots for works that are not quick. Half of it is forgotten in
// memoryTime, and all of it some time later, so that no tenant waits without end.
type use struct {
	seconds float64
	until   time.Time
}

// memoryTime is the half-life of what counts.
const memoryTime = 10 * time.Second

// at returns what counts of it now.
func (u use) at(now time.Time) float64 {
	left := u.seconds * math.Exp2(-now.Sub(u.until).Seconds()/memoryTime.Seconds())
	if left < 0.01 {
		return 0
	}
	return left
}
