// Package fault is a proxy in front of an API server that can be told, while it
// runs, to make requests fail in the ways that requests fail in real life.
package fault

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"path"
	"slices"
	"time"
)

// The actions of a rule.
const (
	// ActionStatus answers with an error and does not ask the API server.
	ActionStatus = "status"
	// ActionDelay waits before the API server is asked.
	ActionDelay = "delay"
	// ActionCut breaks the connection off before the API server is asked; a
	// watch runs for the delay first.
	ActionCut = "cut"
	// ActionLose asks the API server, which acts, and breaks the connection off
	// instead of passing its answer on.
	ActionLose = "lose"
	// ActionStall holds back what a watch would report, from the moment that the
	// rule exists until it is removed, also for watches that are open already.
	ActionStall = "stall"
)

// Duration is a duration that JSON shows as 1.5s.
type Duration time.Duration

// MarshalText renders the duration.
func (d Duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

// UnmarshalText parses a duration.
func (d *Duration) UnmarshalText(text []byte) error {
	parsed, err := time.ParseDuration(string(text))
	*d = Duration(parsed)
	return err
}

// Rule says which requests fail, how many of them, and how. An empty list
// matches everything; list items may contain * as in file names.
type Rule struct {
	Name string `json:"name"`
	// Verbs are get, list, watch, create, update, patch, delete, deletecollection.
	Verbs []string `json:"verbs,omitempty"`
	// Resources are written as in configmaps, deployments.apps or
	// deployments.apps/status.
	Resources  []string `json:"resources,omitempty"`
	Namespaces []string `json:"namespaces,omitempty"`
	Names      []string `json:"names,omitempty"`
	// Share of the matching requests that are hit, above 0 and up to 1.
	Share float64 `json:"share"`
	// Times is the number of hits after which the rule rests; 0 is no limit.
	Times  int    `json:"times,omitempty"`
	Action string `json:"action"`
	// Status is the HTTP status of ActionStatus.
	Status int      `json:"status,omitempty"`
	Delay  Duration `json:"delay,omitempty"`
}

// Rules are a proxy's present rules and the seed of its decisions.
type Rules struct {
	Seed  uint64 `json:"seed"`
	Rules []Rule `json:"rules"`
}

var statuses = []int{400, 403, 404, 409, 410, 422, 429, 500, 502, 503, 504}

// Check says what is wrong with the rules.
func (r Rules) Check() error {
	names := map[string]bool{}
	for i, rule := range r.Rules {
		if rule.Name == "" || names[rule.Name] {
			return fmt.Errorf("rule %d: name %q: every rule needs a name of its own", i+1, rule.Name)
		}
		names[rule.Name] = true
		if err := rule.check(); err != nil {
			return fmt.Errorf("rule %s: %w", rule.Name, err)
		}
	}
	return nil
}

func (r Rule) check() error {
	if !(r.Share > 0 && r.Share <= 1) {
		return fmt.Errorf("share %v: use a number above 0 and up to 1", r.Share)
	}
	for _, list := range [][]string{r.Verbs, r.Resources, r.Namespaces, r.Names} {
		for _, pattern := range list {
			if _, err := path.Match(pattern, ""); err != nil {
				return fmt.Errorf("pattern %q: %w", pattern, err)
			}
		}
	}
	switch r.Action {
	case ActionStatus:
		if !slices.Contains(statuses, r.Status) {
			return fmt.Errorf("status %d: use one of %v", r.Status, statuses)
		}
	case ActionDelay:
		if r.Delay <= 0 {
			return fmt.Errorf("delay %s: use a duration above 0, such as 200ms", time.Duration(r.Delay))
		}
	case ActionCut, ActionLose, ActionStall:
	default:
		return fmt.Errorf("action %q: use status, delay, cut, lose or stall", r.Action)
	}
	return nil
}

// matches says whether the rule is about the request.
func (r Rule) matches(request Request) bool {
	if r.Action == ActionStall && request.Verb != "watch" {
		return false
	}
	return matches(r.Verbs, request.Verb) && matchesResource(r.Resources, request) &&
		matches(r.Namespaces, request.Namespace) && matches(r.Names, request.Name)
}

func matches(patterns []string, value string) bool {
	if len(patterns) == 0 {
		return true
	}
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		matched, err := path.Match(pattern, value)
		return err == nil && matched
	})
}

// matchesResource lets * match any resource, with or without a subresource, and
// nothing that is no resource.
func matchesResource(patterns []string, request Request) bool {
	if len(patterns) == 0 {
		return true
	}
	return request.Resource != "" && (slices.Contains(patterns, "*") || matches(patterns, request.resource()))
}

// hits decides about the nth request with the same key. The decision depends on
// nothing else, so that the same requests meet the same faults again, in
// whichever order requests for different objects arrive.
func (r Rule) hits(seed uint64, request Request, nth int) bool {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d\x00%s\x00%s\x00%d", seed, r.Name, request.key(), nth))
	return float64(binary.BigEndian.Uint64(sum[:8])) < r.Share*math.MaxUint64
}
