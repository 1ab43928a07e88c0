// Package workpool carries out work that depends on the outside (registries, target
// clusters) away from the workers of a controller. A worker asks for a result; if it is
// not there yet, the work goes on elsewhere and the object is enqueued at its end. So a
// registry that sends a byte now and then delays what needs it, and nothing else.
package workpool

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"go.landscaper.dev/internal/runtime/fairqueue"
)

// State is how far work is for the one that fetches its result.
type State int

const (
	// Working means that there is no result yet.
	Working State = iota
	// Done means that the work has ended by itself, well or not.
	Done
	// Preempted means that the work has taken long while other work had to wait, and was ended for that. It
	// may be begun again.
	Preempted
)

// errPreempted is the error of preempted work, for users. Its own is that of a cancelled context.
var errPreempted = errors.New("work on another system took long while other work was waiting, and was ended for it: it is begun again")

// Options say how much is done at the same time, and how results are announced.
type Options struct {
	// MaxConcurrent is how many pieces of work run at the same time.
	MaxConcurrent int
	// Most is how many run if more namespaces than that have work: each may have one. A tenant with
	// many namespaces could otherwise hold all places. 0 is MaxConcurrent.
	Most int
	// MaxPerNamespace is how many of them may be of one namespace, even if it is alone: slow
	// work does not end just because work of another namespace comes.
	MaxPerNamespace int
	// MaxResults is how many results wait to be fetched at most. What is lost is done again.
	MaxResults int
	// PreemptAfter is how long work runs undisturbed. After that it goes on only as long
	// as no other work needs its place.
	PreemptAfter time.Duration
	// Timeout is how long work runs at all.
	Timeout time.Duration
	// Enqueue is called when there is something to fetch.
	Enqueue func(types.NamespacedName)
	// Go lets work run beside its caller, and returns before the work has ended; nil for a
	// goroutine.
	Go func(work func())
}

// Version is the state of an object that work is for. A result for another one is of
// no use.
type Version struct {
	UID        types.UID
	Job        string
	Generation int64
}

// Pool carries out work that makes values of one type.
//
// The mutex guards everything below it. Neither the work nor Wake is called while it is
// held; drop, start, watch, victim and what they call expect that it is.
type Pool[T any] struct {
	options Options
	// background outlives the callers: the context of a worker ends with its reconcile.
	background context.Context

	mutex   sync.Mutex
	queue   fairqueue.Queue[*task[T]]
	tasks   map[types.NamespacedName]*task[T]
	running map[*task[T]]struct{}
	// completed are the tasks with results, the oldest first.
	completed []*task[T]
	// preemptTimer fires when running work may have to be preempted.
	preemptTimer *time.Timer
	// sequence numbers what is asked for.
	sequence uint64
}

// stage is how far a task is.
type stage int

const (
	waiting stage = iota
	running
	finished
	// dropped tasks may still run, but their results are not wanted.
	dropped
)

type task[T any] struct {
	key     types.NamespacedName
	version Version
	work    func(context.Context) (T, error)
	// A task goes from waiting over running to finished, and to dropped from each of them.
	// It leaves the pool's map with dropped, its place only when its work has returned.
	state     stage
	cancel    context.CancelCauseFunc
	startedAt time.Time
	// cancelledAt is the time when the context of the work was cancelled, and preempted says that this
	// was for other work.
	cancelledAt time.Time
	preempted   bool
	value       T
	err         error
}

// New returns a pool. All work ends with the context.
func New[T any](background context.Context, options Options) *Pool[T] {
	return &Pool[T]{
		options: options, background: background,
		tasks: map[types.NamespacedName]*task[T]{}, running: map[*task[T]]struct{}{},
	}
}

// Fetch returns the result of work for a version of an object. Without a result, the
// work is begun; as long as it goes on, the state is Working, and the object is enqueued at its end.
// A result is returned once. Work for an older version is given up.
//
// The work turns its panics into errors itself: only the caller knows how they are reported.
func (p *Pool[T]) Fetch(key types.NamespacedName, version Version, work func(context.Context) (T, error)) (result T, how State, err error) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	known, ok := p.tasks[key]
	if ok && known.version != version {
		p.drop(known)
		ok = false
	}
	if !ok {
		p.sequence++
		added := &task[T]{key: key, version: version, work: work}
		p.tasks[key] = added
		p.queue.Push(key.Namespace, added, p.sequence)
		p.start()
		return result, Working, nil
	}
	if known.state != finished {
		return result, Working, nil
	}
	// A result is returned once, whether it is good or bad: a caller that asks again after an
	// error wants another attempt.
	p.drop(known)
	if known.preempted && known.err != nil {
		return known.value, Preempted, errPreempted
	}
	return known.value, Done, known.err
}

// Has reports whether work for a version was asked for and not fetched yet.
func (p *Pool[T]) Has(key types.NamespacedName, version Version) bool {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	known, ok := p.tasks[key]
	return ok && known.version == version
}

// Load is how much work runs, and how much waits for that.
func (p *Pool[T]) Load() (running, waiting int) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return len(p.running), p.queue.Len()
}

// Busy reports whether work for any version of an object was asked for and not fetched
// yet.
func (p *Pool[T]) Busy(key types.NamespacedName) bool {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	_, ok := p.tasks[key]
	return ok
}

// Forget gives up whatever is done, or was made, for an object.
func (p *Pool[T]) Forget(key types.NamespacedName) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if known, ok := p.tasks[key]; ok {
		p.drop(known)
		p.start()
	}
}

// drop takes a task out, wherever it stands.
func (p *Pool[T]) drop(known *task[T]) {
	delete(p.tasks, known.key)
	switch known.state {
	case waiting:
		p.queue.Remove(known)
	case running:
		known.cancelledAt = time.Now()
		known.cancel(context.Canceled)
	case finished:
		for i, other := range p.completed {
			if other == known {
				p.completed = append(p.completed[:i], p.completed[i+1:]...)
				break
			}
		}
	}
	known.state = dropped
}

// start begins what has its turn.
func (p *Pool[T]) start() {
	for len(p.running) < max(p.options.MaxConcurrent, p.options.Most) {
		share := p.options.MaxPerNamespace
		if len(p.running) >= p.options.MaxConcurrent {
			share = 1
		}
		next, ok := p.queue.Next(share)
		if !ok {
			break
		}
		ctx, cancel := context.WithCancelCause(p.background)
		next.state, next.cancel, next.startedAt = running, cancel, time.Now()
		p.running[next] = struct{}{}
		p.spawn(func() { p.run(ctx, next) })
	}
	p.checkPreemption()
}

func (p *Pool[T]) spawn(work func()) {
	if p.options.Go != nil {
		p.options.Go(work)
		return
	}
	go work()
}

// run carries a task out and notes its result.
func (p *Pool[T]) run(ctx context.Context, t *task[T]) {
	limited, cancel := context.WithTimeout(ctx, p.options.Timeout)
	value, err := t.work(limited)
	cancel()
	t.cancel(nil)
	if p.finish(t, value, err) && p.options.Enqueue != nil {
		p.options.Enqueue(t.key)
	}
}

// finish frees the place of a task. It reports whether the result is still wanted.
//
// A dropped task, too, gives its place back only here: it has kept the place until then.
func (p *Pool[T]) finish(t *task[T], value T, err error) bool {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	delete(p.running, t)
	p.queue.Done(t.key.Namespace)
	wanted := t.state == running && p.background.Err() == nil
	if wanted {
		t.state, t.value, t.err = finished, value, err
		p.completed = append(p.completed, t)
		if len(p.completed) > p.options.MaxResults {
			p.drop(p.completed[0])
		}
	}
	// The work holds all that it was made for, such as an object with its inputs; a result
	// may wait for long.
	t.work = nil
	p.start()
	return wanted
}

// preemptionGrace is how long cancelled work may take to end before other work is cancelled as
// well.
const preemptionGrace = time.Second

// checkPreemption checks whether work has to be preempted, now or later.
//
// One task is cancelled at a time, and a second one only after the grace: mostly the
// first place is free at once. An alarm that has fired already while it was stopped checks
// once more, which changes nothing.
func (p *Pool[T]) checkPreemption() {
	if p.preemptTimer != nil {
		p.preemptTimer.Stop()
		p.preemptTimer = nil
	}
	chosen, after := p.victim()
	switch {
	case chosen != nil:
		chosen.cancelledAt, chosen.preempted = time.Now(), true
		chosen.cancel(errPreempted)
		after = preemptionGrace
	case after == 0:
		return
	}
	p.preemptTimer = time.AfterFunc(after, func() {
		p.mutex.Lock()
		defer p.mutex.Unlock()
		p.checkPreemption()
	})
}

// victim returns the work that is preempted now: of the tasks whose time is over and
// whose place other work needs, those of the namespace that holds most, and of these
// the oldest. Without such a task, it returns when to look again; 0 means never.
func (p *Pool[T]) victim() (chosen *task[T], after time.Duration) {
	sooner := func(left time.Duration) {
		if after == 0 || left < after {
			after = left
		}
	}
	crowded := len(p.running) >= p.options.MaxConcurrent && p.queue.HasReady(p.options.MaxPerNamespace)
	for t := range p.running {
		if !t.cancelledAt.IsZero() {
			if left := preemptionGrace - time.Since(t.cancelledAt); left > 0 {
				// Its place is about to be free.
				return nil, left
			}
			continue
		}
		if !crowded && !p.exceedsShare(t) {
			continue
		}
		left := p.options.PreemptAfter - time.Since(t.startedAt)
		switch {
		case left > 0:
			sooner(left)
		case chosen == nil || p.before(t, chosen):
			chosen = t
		}
	}
	return chosen, after
}

// exceedsShare reports whether other work of the same namespace waits because the
// namespace has its share.
func (p *Pool[T]) exceedsShare(t *task[T]) bool {
	return p.queue.Running(t.key.Namespace) >= p.options.MaxPerNamespace && p.queue.Waiting(t.key.Namespace) > 0
}

func (p *Pool[T]) before(a, b *task[T]) bool {
	if heldA, heldB := p.queue.Running(a.key.Namespace), p.queue.Running(b.key.Namespace); heldA != heldB {
		return heldA > heldB
	}
	return a.startedAt.Before(b.startedAt)
}

// Counts describes how much waits, runs and can be fetched.
func (p *Pool[T]) Counts() string {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return fmt.Sprintf("%d waiting, %d running, %d fetchable", p.queue.Len(), len(p.running), len(p.completed))
}
