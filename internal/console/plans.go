package console

import (
	"context"
	"net/http"
	"sync"
	"time"
)

const (
	// maxPlans is how many plans are worked out at the same time, each of which renders a tree, and
	// maxWaiting how many requests of one visitor wait for the one that is worked out for this visitor.
	maxPlans, maxWaiting = 2, 3
	// turnTimeout is how long a plan waits for others: a page that was left ends its own soon.
	turnTimeout = 10 * time.Second
)

// plans bounds the plans that are worked out at the same time: a few in all, and one for each visitor.
type plans struct {
	timeout time.Duration
	all     chan struct{}

	mutex sync.Mutex
	own   map[string]*ownPlans
}

// ownPlans are the plans of a visitor.
type ownPlans struct {
	turn chan struct{}
	// asked counts the requests that have the turn or wait for it.
	asked int
}

func newPlans() *plans {
	return &plans{timeout: turnTimeout, all: make(chan struct{}, maxPlans), own: map[string]*ownPlans{}}
}

// begin waits until a plan of a visitor may be worked out. What it returns ends that.
func (p *plans) begin(ctx context.Context, visitor string) (end func(), err error) {
	ctx, cancel := context.WithTimeout(ctx, p.timeout)
	defer cancel()
	own := p.join(visitor)
	if own == nil {
		return nil, &Refusal{http.StatusTooManyRequests, "plans of yours are being worked out: wait for one of them"}
	}
	for _, places := range []struct {
		turn chan struct{}
		busy string
	}{{own.turn, "another plan of yours is being worked out: wait for it"}, {p.all, "too many plans are being worked out: try again"}} {
		select {
		case places.turn <- struct{}{}:
			continue
		case <-ctx.Done():
		}
		if places.turn == p.all {
			<-own.turn
		}
		p.leave(visitor, own)
		return nil, &Refusal{http.StatusTooManyRequests, places.busy}
	}
	return func() {
		<-p.all
		<-own.turn
		p.leave(visitor, own)
	}, nil
}

// join counts a request of a visitor; nil if there are too many.
func (p *plans) join(visitor string) *ownPlans {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	own := p.own[visitor]
	if own == nil {
		own = &ownPlans{turn: make(chan struct{}, 1)}
		p.own[visitor] = own
	}
	if own.asked > maxWaiting {
		return nil
	}
	own.asked++
	return own
}

func (p *plans) leave(visitor string, own *ownPlans) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if own.asked--; own.asked == 0 {
		delete(p.own, visitor)
	}
}

// plan answers with what a job would change. It ends when the page is left.
func (a *acting) plan(r *http.Request, actor Actor) (any, error) {
	node, _, err := a.installation(r)
	if err != nil {
		return nil, err
	}
	planner := actor.Planner()
	if planner == nil {
		return nil, &Refusal{http.StatusNotFound, "this console works out no plans: landscaper-cli installations plan does"}
	}
	end, err := a.plans.begin(r.Context(), visitorOf(r).Name())
	if err != nil {
		return nil, err // says what it waits for
	}
	defer end()
	ctx, cancel := context.WithTimeout(r.Context(), planTimeout)
	defer cancel()
	return planner.Plan(ctx, node.Namespace, node.Name)
}
