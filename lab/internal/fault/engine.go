package fault

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
)

// Decision is a line of the decision log: a rule matched a request.
type Decision struct {
	Time    time.Time `json:"time"`
	Rule    string    `json:"rule"`
	Action  string    `json:"action"`
	Request Request   `json:"request"`
	// Nth counts the requests with the same verb, resource, namespace and name
	// that the rule has matched.
	Nth int  `json:"nth"`
	Hit bool `json:"hit"`
}

// engine decides about requests and logs its decisions.
type engine struct {
	log io.Writer
	now func() time.Time

	mu      sync.Mutex
	rules   Rules
	seen    map[string]int // by rule and key
	hits    map[string]int // by rule
	changed chan struct{}  // closed when the rules change
}

func newEngine(log io.Writer) *engine {
	return &engine{log: log, now: time.Now, seen: map[string]int{}, hits: map[string]int{}, changed: make(chan struct{})}
}

// set replaces the rules. A rule whose name stays continues to count, one that is removed does not;
// with another seed, everything starts anew.
func (e *engine) set(rules Rules) {
	e.mu.Lock()
	defer e.mu.Unlock()
	stays := func(name string) bool {
		return rules.Seed == e.rules.Seed && slices.ContainsFunc(rules.Rules, func(rule Rule) bool { return rule.Name == name })
	}
	maps.DeleteFunc(e.hits, func(name string, _ int) bool { return !stays(name) })
	maps.DeleteFunc(e.seen, func(counter string, _ int) bool {
		name, _, _ := strings.Cut(counter, "\x00")
		return !stays(name)
	})
	e.rules = rules
	close(e.changed)
	e.changed = make(chan struct{})
}

func (e *engine) get() Rules {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.rules
}

// decide returns the rules that hit the request: delays, and at the end at most
// one rule that breaks it. Stalls are not among them; they are asked for with
// stalled while a watch runs.
func (e *engine) decide(request Request) (delays []Rule, breaks *Rule) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, rule := range e.rules.Rules {
		if rule.Action == ActionStall || !rule.matches(request) || !e.hit(rule, request) {
			continue
		}
		if rule.Action == ActionDelay {
			delays = append(delays, rule)
			continue
		}
		return delays, &rule
	}
	return delays, nil
}

// hit counts, decides and logs; the caller holds the lock.
func (e *engine) hit(rule Rule, request Request) bool {
	if rule.Times > 0 && e.hits[rule.Name] >= rule.Times {
		return false
	}
	counter := rule.Name + "\x00" + request.key()
	e.seen[counter]++
	decision := Decision{
		Time: e.now().UTC(), Rule: rule.Name, Action: rule.Action, Request: request, Nth: e.seen[counter],
		Hit: rule.hits(e.rules.Seed, request, e.seen[counter]),
	}
	if decision.Hit {
		e.hits[rule.Name]++
	}
	if line, err := json.Marshal(decision); err == nil {
		_, _ = fmt.Fprintf(e.log, "%s\n", line)
	}
	return decision.Hit
}

// watchDecisions are what was decided for one watch, by rule.
type watchDecisions map[string]bool

// waitWhileStalled returns once no rule stalls the watch any more.
func (e *engine) waitWhileStalled(ctx context.Context, request Request, decided watchDecisions) {
	for {
		stalled, changed := e.stalled(request, decided)
		if !stalled {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}

func (e *engine) stalled(request Request, decided watchDecisions) (bool, <-chan struct{}) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, rule := range e.rules.Rules {
		if rule.Action != ActionStall || !rule.matches(request) {
			continue
		}
		hit, known := decided[rule.Name]
		if !known {
			hit = e.hit(rule, request)
			decided[rule.Name] = hit
		}
		if hit {
			return true, e.changed
		}
	}
	return false, e.changed
}
