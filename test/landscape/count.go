package landscape

import (
	"context"
	"strings"

	"go.landscaper.dev/test/lab"
)

// Caller is a user of a cluster whose requests are counted.
type Caller struct {
	Cluster *lab.Cluster
	User    string
}

// Count knows since when requests are counted, and whose.
type Count struct {
	since map[Caller]lab.Mark
}

// StartCount counts from now on.
func StartCount(ctx context.Context, callers ...Caller) (*Count, error) {
	count := &Count{since: map[Caller]lab.Mark{}}
	for _, caller := range callers {
		mark, err := caller.Cluster.Mark(ctx)
		if err != nil {
			return nil, err
		}
		count.since[caller] = mark
	}
	return count, nil
}

// Request is a request in the audit log of a cluster.
type Request struct {
	Cluster string
	lab.Request
}

// Key is what requests are summed up by: cluster, verb and kind.
func (r Request) Key() string { return r.Cluster + " " + r.Verb + " " + r.Resource }

// Requests are those since the start, without watches, which cost nothing while
// nothing happens, and without the leases of the leader.
func (c *Count) Requests(ctx context.Context) ([]Request, error) {
	var requests []Request
	for caller, mark := range c.since {
		list, err := caller.Cluster.Requests(ctx, mark, caller.User)
		if err != nil {
			return nil, err
		}
		for _, request := range list {
			if counts(request) {
				requests = append(requests, Request{caller.Cluster.Name, request})
			}
		}
	}
	return requests, nil
}

func counts(request lab.Request) bool {
	return request.Verb != "watch" && !strings.HasPrefix(request.Resource, "leases")
}

// Sums are the numbers of the requests by their keys.
func Sums(requests []Request) map[string]int {
	sums := map[string]int{}
	for _, request := range requests {
		sums[request.Key()]++
	}
	return sums
}
