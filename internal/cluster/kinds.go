package cluster

import (
	"context"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// kinds maps kinds to resources, as the cluster said when it was asked last. Concurrent callers
// share one set of requests in the background: each caller must be able to give up when the cluster
// does not answer.
type kinds struct {
	// fetch asks the cluster.
	fetch func(context.Context) (meta.RESTMapper, error)

	mutex   sync.Mutex
	current meta.RESTMapper
	asking  *question
}

// question is a request for all kinds that is in flight.
type question struct {
	done chan struct{}
	// err may be read when it is done.
	err   error
	wakes []func()
}

func (k *kinds) known() meta.RESTMapper {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	return k.current
}

// lookUp finds a kind among those that are known.
func (k *kinds) lookUp(kind schema.GroupVersionKind) (*meta.RESTMapping, error) {
	current := k.known()
	if current == nil {
		return nil, &meta.NoKindMatchError{GroupKind: kind.GroupKind(), SearchedVersions: []string{kind.Version}}
	}
	return current.RESTMapping(kind.GroupKind(), kind.Version)
}

// find asks the cluster, unless its answer is newer than the one before, and finds
// a kind in its answer.
func (k *kinds) find(ctx context.Context, kind schema.GroupVersionKind, before meta.RESTMapper) (*meta.RESTMapping, error) {
	if asked := k.ask(before); asked != nil {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-asked.done:
		}
		if asked.err != nil {
			return nil, asked.err
		}
	}
	return k.lookUp(kind)
}

// ask asks the cluster in the background, or joins a request in flight. It returns nil if there is
// an answer newer than the one before.
//
// Before is the answer that the caller has looked at. Answers are compared by identity: an answer
// is replaced, never changed.
func (k *kinds) ask(before meta.RESTMapper) *question {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	if k.current != before {
		return nil
	}
	if k.asking == nil {
		k.asking = &question{done: make(chan struct{})}
		go k.answer(k.asking)
	}
	return k.asking
}

// answer carries a question out.
//
//nolint:contextcheck // all callers share the question, so no caller's context may end it
func (k *kinds) answer(asked *question) {
	mapper, err := k.fetch(context.Background())
	k.mutex.Lock()
	if err == nil {
		k.current = mapper
	}
	k.asking, asked.err = nil, err
	wakes := asked.wakes
	k.mutex.Unlock()
	// Without the lock, and after the answer is stored: the callers look it up at once.
	close(asked.done)
	for _, wake := range wakes {
		wake()
	}
}

// afterwards calls wake when a question is answered, unless it is answered already.
func (k *kinds) afterwards(asked *question, wake func()) (answered bool) {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	if k.asking != asked {
		return true
	}
	asked.wakes = append(asked.wakes, wake)
	return false
}
