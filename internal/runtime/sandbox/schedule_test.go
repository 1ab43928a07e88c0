package sandbox

import (
	"testing"
	"time"
)

// TestNext: who gets the next slot of four, of which two are for long works.
func TestNext(t *testing.T) {
	p := Lazy(Options{Slots: 4})
	p.used = map[string]use{"frugal": {1, time.Now()}, "greedy": {100, time.Now()}, "reformed": {100, time.Now().Add(-10 * time.Minute)}}
	quick, long := func(tenant string) *slot { return &slot{tenant: tenant} }, func(tenant string) *slot { return &slot{tenant: tenant, long: true} }
	tests := []struct {
		reason        string
		held, waiting []*slot
		want          int
	}{
		{"no work waits", nil, nil, -1},
		{"who waits for longer", nil, []*slot{quick("a"), quick("b")}, 0},
		{"the tenant with the fewest works", []*slot{quick("a")}, []*slot{quick("a"), quick("b")}, 1},
		{"no tenant has more than half", []*slot{quick("a"), quick("a")}, []*slot{quick("a")}, -1},
		{"the tenant that has computed least", nil, []*slot{quick("greedy"), quick("frugal")}, 1},
		{"what was long ago does not count", nil, []*slot{quick("frugal"), quick("reformed")}, 1},
		{"a long work, if there is a place for it", []*slot{long("b")}, []*slot{quick("c"), long("greedy")}, 1},
		{"a quick work, if long ones have half of the slots", []*slot{long("b"), long("d")}, []*slot{long("a"), quick("c")}, 1},
		{"a place is free when a long work is being ended", []*slot{long("b"), {tenant: "d", long: true, evicted: true}}, []*slot{quick("c"), long("a")}, 1},
		{"a long work, if no other waits", []*slot{long("b"), long("d")}, []*slot{long("a")}, 0},
		{"a work that holds memory", nil, []*slot{quick("a"), {tenant: "greedy", begun: true}}, 1},
		{"a long one that holds memory waits like any other", []*slot{long("b"), long("d")}, []*slot{{tenant: "a", begun: true, long: true}, quick("c")}, 1},
	}
	for _, test := range tests {
		p.held, p.waiting, p.busy = test.held, test.waiting, map[string]int{}
		for _, s := range test.held {
			p.busy[s.tenant]++
		}
		if got := p.next(); got != test.want {
			t.Errorf("%s: %d, want %d", test.reason, got, test.want)
		}
	}
}

// TestDismiss: who wants no long work waits for quick ones, and not for long ones of its own tenant.
func TestDismiss(t *testing.T) {
	held := func(tenant string, long, evicted bool) *slot {
		return &slot{tenant: tenant, held: true, long: long, evicted: evicted}
	}
	tests := []struct {
		reason string
		held   []*slot
		waits  slot
		want   bool
	}{
		{"quick works of its tenant end soon", []*slot{held("a", false, false), held("a", false, false)}, slot{quickOnly: true}, false},
		{"so does one of two", []*slot{held("a", true, false), held("a", false, false)}, slot{quickOnly: true}, false},
		{"long works of its tenant do not", []*slot{held("a", true, false), held("a", true, false)}, slot{quickOnly: true}, true},
		{"one of them is being ended", []*slot{held("a", true, false), held("a", true, true)}, slot{quickOnly: true}, false},
		{"who may take long waits", []*slot{held("a", true, false), held("a", true, false)}, slot{}, false},
		{"who has begun waits", []*slot{held("a", true, false), held("a", true, false)}, slot{quickOnly: true, begun: true}, false},
		{"of other tenants, one has to leave", []*slot{held("b", true, false), held("b", true, false), held("c", true, false), held("c", true, false)}, slot{quickOnly: true}, false},
	}
	for _, test := range tests {
		p := Lazy(Options{Slots: 4})
		p.held = test.held
		for _, s := range test.held {
			p.busy[s.tenant]++
		}
		s := test.waits
		s.pool, s.tenant = p, "a"
		s.queue()
		if s.dismissed != test.want || len(p.waiting) == 0 != test.want {
			t.Errorf("%s: dismissed %t, %d wait", test.reason, s.dismissed, len(p.waiting))
		}
	}
}

// TestQuick: a tenant that has computed much has less time until its works are long.
func TestQuick(t *testing.T) {
	p := Lazy(Options{Slots: 4})
	p.used = map[string]use{"greedy": {9, time.Now()}}
	if first, later := p.quick("new"), p.quick("greedy"); first != quickTime || later < quickTime/11 || later > quickTime/9 {
		t.Errorf("%s for a new tenant, %s for a greedy one", first, later)
	}
}

// TestCounts: what counts of the time for which a work has had a slot.
func TestCounts(t *testing.T) {
	for _, test := range []struct {
		reason  string
		held    time.Duration
		evicted bool
		want    time.Duration
	}{
		{"a quick work costs nothing", 50 * time.Millisecond, false, 0},
		{"any other costs its time", 10 * time.Second, false, 10 * time.Second},
		{"so does one that had to leave", 50 * time.Millisecond, true, 50 * time.Millisecond},
	} {
		p := Lazy(Options{Slots: 1})
		s := &slot{pool: p, tenant: "a", held: true, evicted: test.evicted, since: time.Now().Add(-test.held)}
		p.held, p.busy["a"] = []*slot{s}, 1
		s.leave()
		if got := p.used["a"].at(time.Now()); got > test.want.Seconds()*1.1 || got < test.want.Seconds()*0.9 {
			t.Errorf("%s: %.3f s", test.reason, got)
		}
	}
}

// TestForgets: what tenants have used is not kept without end.
func TestForgets(t *testing.T) {
	p := Lazy(Options{Slots: 1})
	long := time.Now().Add(-time.Hour)
	for i := range manyTenants + 1 {
		p.used[string(rune(i))] = use{10, long}
	}
	s := &slot{pool: p, tenant: "a", held: true, since: time.Now().Add(-time.Second)}
	p.held, p.busy["a"] = []*slot{s}, 1
	s.leave()
	if len(p.used) != 1 || len(p.held) != 0 || len(p.busy) != 0 {
		t.Errorf("%d tenants are remembered", len(p.used))
	}
}
