package reading

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/internal/landscape/inspect"
)

// firstAttempts is how many requests for a kind may fail before the first snapshot.
const firstAttempts = 5

// Live is a snapshot that watches keep up to date. A watch that breaks is resumed where it was, or
// begins anew, also across a restart of the API server. The mutex is for failures and attempts,
// which the informers write; what they have stored has locks of its own.
type Live struct {
	namespace string
	sources   []Source
	informers []cache.SharedIndexInformer
	// It holds one value at most, and is never closed: its reader waits for a context as well.
	changed chan struct{}
	stop    context.CancelFunc

	mutex sync.Mutex
	// failures are the last errors, attempts the numbers of failed requests, by kind.
	failures []error
	attempts []int
}

// Follow begins to follow a namespace, or all if it is empty, until the context
// ends or Close is called. It returns when the first snapshot is complete, or with the error that
// makes one impossible.
func Follow(ctx context.Context, reader client.WithWatch, namespace string, more ...Source) (*Live, error) {
	l := &Live{namespace: namespace, sources: slices.Concat(sources, more), changed: make(chan struct{}, 1)}
	l.failures, l.attempts = make([]error, len(l.sources)), make([]int, len(l.sources))
	for i, source := range l.sources {
		informer, err := l.newInformer(reader, i, source)
		if err != nil {
			return nil, fmt.Errorf("watch %s: %w", source.resource, err)
		}
		l.informers = append(l.informers, informer)
	}
	ctx, l.stop = context.WithCancel(ctx)
	for _, informer := range l.informers {
		go informer.RunWithContext(ctx)
		go func() {
			if cache.WaitForCacheSync(ctx.Done(), informer.HasSynced) {
				l.notify()
			}
		}()
	}
	for {
		if err := l.fatal(); err != nil {
			l.Close()
			return nil, err
		}
		if l.complete() {
			return l, nil
		}
		select {
		case <-l.changed:
		case <-ctx.Done():
			l.Close()
			return nil, context.Cause(ctx)
		}
	}
}

// Close ends the watches. The snapshot stays as it is.
func (l *Live) Close() { l.stop() }

// Changed receives a value after every change; several changes may come as one.
func (l *Live) Changed() <-chan struct{} { return l.changed }

// Snapshot returns the present state. Its objects must not be changed.
func (l *Live) Snapshot() inspect.Snapshot {
	snapshot := inspect.Snapshot{Now: time.Now()}
	for _, informer := range l.informers {
		for _, object := range informer.GetStore().List() {
			// The informers hold nothing but the kinds of a snapshot.
			_ = snapshot.Add(object.(runtime.Object))
		}
	}
	l.mutex.Lock()
	defer l.mutex.Unlock()
	for i, err := range l.failures {
		if l.hidden(i, err) {
			snapshot.Unreadable = append(snapshot.Unreadable, l.readError(i))
		}
	}
	return snapshot
}

// Disconnected returns the last error of a watch that has not come back yet, or
// nil if the snapshot is up to date.
func (l *Live) Disconnected() error {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	for i, err := range l.failures {
		if err != nil && !l.hidden(i, err) {
			return l.readError(i)
		}
	}
	return nil
}

func (l *Live) newInformer(reader client.WithWatch, number int, source Source) (cache.SharedIndexInformer, error) {
	listAndWatch := &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			if options.ResourceVersion == "0" {
				// "0" allows an answer from the past, which may lack a job that a user has just requested.
				options.ResourceVersion = ""
			}
			list := source.newList()
			err := reader.List(ctx, list, listOptions(l.namespace, options))
			l.record(number, err)
			return list, err
		},
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			w, err := reader.Watch(ctx, source.newList(), listOptions(l.namespace, options))
			l.record(number, err)
			return w, err
		},
	}
	informer := cache.NewSharedIndexInformer(listAndWatch, source.newOne(), 0, nil)
	if err := informer.SetTransform(withKind(source)); err != nil {
		return nil, err
	}
	// The errors are recorded above; without a handler they would go to the log.
	if err := informer.SetWatchErrorHandlerWithContext(func(context.Context, *cache.Reflector, error) {}); err != nil {
		return nil, err
	}
	notify := func(any) { l.notify() }
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: notify, UpdateFunc: func(_, new any) { l.notify() }, DeleteFunc: notify,
	})
	return informer, err
}

// withKind sets the kind before an object is stored, because a stored object must not be changed.
func withKind(source Source) cache.TransformFunc {
	return func(object any) (any, error) {
		if typed, ok := object.(client.Object); ok {
			typed.GetObjectKind().SetGroupVersionKind(source.version.WithKind(string(source.kind)))
		}
		return object, nil
	}
}

func (l *Live) record(number int, err error) {
	l.mutex.Lock()
	l.failures[number] = err
	if err != nil {
		l.attempts[number]++
	}
	l.mutex.Unlock()
	l.notify()
}

func (l *Live) notify() {
	select {
	case l.changed <- struct{}{}:
	default:
	}
}

func (l *Live) readError(number int) *inspect.ReadError {
	return &inspect.ReadError{Resource: l.sources[number].groupResource(), Namespace: l.namespace, Err: l.failures[number]}
}

// complete reports that everything that may be read has been read.
func (l *Live) complete() bool {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	for i, informer := range l.informers {
		if !informer.HasSynced() && !l.hidden(i, l.failures[i]) {
			return false
		}
	}
	return true
}

// fatal returns the error for which the first snapshot will never be complete.
// Later, nothing is fatal: an API server that restarts may give any answer.
func (l *Live) fatal() error {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	for i, err := range l.failures {
		if err != nil && !l.hidden(i, err) && (!passes(err) || l.attempts[i] > firstAttempts) {
			return l.readError(i)
		}
	}
	return nil
}

// hidden reports that the snapshot lacks a kind, and is complete without it.
func (l *Live) hidden(number int, err error) bool { return l.sources[number].hides(err) }

// passes reports that an error may end by itself. An API server that does not exist, or does not
// know the user or the kind, stays so.
func passes(err error) bool {
	var network *net.OpError
	if errors.As(err, &network) && network.Op == "dial" {
		return false
	}
	return !apierrors.IsForbidden(err) && !apierrors.IsUnauthorized(err) && !apierrors.IsNotFound(err)
}
