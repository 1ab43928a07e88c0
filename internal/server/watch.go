package server

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/watchlist"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"go.landscaper.dev/internal/runtime/watchdecoder"
)

// settled is how long a watch must stay open after a failure to count as working: a watch that
// meets an object which cannot be decoded opens, and ends at once.
const settled = 5 * time.Second

// watches has the health of the watches that fill the caches. Without it, a server whose watch has
// ended for good would silently work on outdated objects.
type watches struct {
	// grace is how long a watch may fail before it is reported.
	grace time.Duration
	now   func() time.Time

	mutex sync.Mutex
	all   []*watched
}

// watched is the watch of one kind, or of one kind in one namespace.
type watched struct {
	owner    *watches
	kind     string
	informer toolscache.SharedIndexInformer
	state    watchState
}

// watchState is the state of a watch from its requests.
type watchState struct {
	// failing is since when no request succeeds, why the reason of the last failure.
	failing time.Time
	why     string
	// listing is since when a list is in flight.
	listing time.Time
	// opened is since when a watch is open; zero without an open watch.
	opened time.Time
}

// newInformer returns a constructor of informers whose requests are observed; see cache.Options.
func (w *watches) newInformer(scheme *runtime.Scheme) func(toolscache.ListerWatcher, runtime.Object, time.Duration, toolscache.Indexers) toolscache.SharedIndexInformer {
	return func(from toolscache.ListerWatcher, example runtime.Object, resync time.Duration, indexers toolscache.Indexers) toolscache.SharedIndexInformer {
		kind := reflect.Indirect(reflect.ValueOf(example)).Type().Name()
		if gvk, err := apiutil.GVKForObject(example, scheme); err == nil {
			kind = gvk.Kind
		}
		seen := &watched{owner: w, kind: kind}
		source := observed{seen.observe(toolscache.ToListerWatcherWithContext(from), example), from}
		seen.informer = toolscache.NewSharedIndexInformer(source, example, resync, indexers)
		w.mutex.Lock()
		defer w.mutex.Unlock()
		w.all = append(w.all, seen)
		return seen.informer
	}
}

// observed is a source of objects whose requests are observed.
type observed struct {
	*toolscache.ListWatch
	from toolscache.ListerWatcher
}

// IsWatchListSemanticsUnSupported returns the answer of the source: with a source that cannot send
// a list as a watch, the informer would wait for ever.
func (o observed) IsWatchListSemanticsUnSupported() bool {
	return watchlist.DoesClientNotSupportWatchListSemantics(o.from)
}

// observe forwards requests and records their results.
func (w *watched) observe(from toolscache.ListerWatcherWithContext, example runtime.Object) *toolscache.ListWatch {
	return &toolscache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			w.note(func(s *watchState, now time.Time) { s.listing = now })
			list, err := from.ListWithContext(ctx, options)
			w.note(func(s *watchState, now time.Time) {
				s.listing = time.Time{}
				s.ended(now, err)
			})
			return list, err
		},
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			events, err := watchdecoder.Watch(ctx, from, options, example)
			if err != nil {
				w.note(func(s *watchState, now time.Time) { s.ended(now, err) })
				return nil, err
			}
			w.note(func(s *watchState, now time.Time) { s.opened = now })
			see := func(event watch.Event) { w.note(func(s *watchState, now time.Time) { s.saw(now, event) }) }
			end := func() { w.note(func(s *watchState, now time.Time) { s.closed(now) }) }
			return follow(events, see, end), nil
		},
	}
}

func (w *watched) note(change func(*watchState, time.Time)) {
	w.owner.mutex.Lock()
	defer w.owner.mutex.Unlock()
	change(&w.state, w.owner.now())
}

// ended records the end of a request.
//
// A success keeps opened: the watch goes on, while each failure ends it.
func (s *watchState) ended(now time.Time, err error) {
	// An expired resource version is normal: the informer lists again.
	if err == nil || apierrors.IsResourceExpired(err) || apierrors.IsGone(err) || errors.Is(err, context.Canceled) {
		if err == nil {
			s.failing, s.why = time.Time{}, ""
		}
		return
	}
	s.opened, s.why = time.Time{}, reasonOf(err)
	if s.failing.IsZero() {
		s.failing = now
	}
}

// saw records an event of a watch.
func (s *watchState) saw(now time.Time, event watch.Event) {
	if event.Type == watch.Error {
		s.ended(now, apierrors.FromObject(event.Object))
		return
	}
	s.ended(now, nil)
}

// endsAtOnce is the reason of a watch that opens but does not work.
const endsAtOnce = "it ends as soon as it is open"

// closed records that a watch has ended without an error, as each watch does after some minutes.
//
// A watch that ends as soon as it is open has not worked: for the client library, an API server
// that does not answer for minutes is a watch without events.
func (s *watchState) closed(now time.Time) {
	switch {
	case s.opened.IsZero(): // the watch has failed
	case now.Sub(s.opened) > settled:
		s.failing, s.why = time.Time{}, ""
	case s.failing.IsZero():
		s.failing, s.why = s.opened, endsAtOnce
	}
	s.opened = time.Time{}
}

// trouble says what is wrong; "" if the watch works.
//
// The zero time of failing means that the last request succeeded. A watch that was opened again
// counts as working only when it stays open, since a watch with an undecodable object opens each
// time.
func (s watchState) trouble(synced bool, now time.Time, grace time.Duration) string {
	seconds := func(since time.Time) int { return int(now.Sub(since).Seconds()) }
	switch {
	case !s.listing.IsZero() && now.Sub(s.listing) > grace:
		return fmt.Sprintf("a list has no answer for %d s", seconds(s.listing))
	case !synced && !s.failing.IsZero():
		return fmt.Sprintf("the cache is not filled; requests fail for %d s: %s", seconds(s.failing), s.why)
	case !synced:
		return "the cache is not filled yet"
	case s.failing.IsZero():
		return ""
	case !s.opened.IsZero() && now.Sub(s.opened) > settled:
		return ""
	case s.why == endsAtOnce && now.Sub(s.failing) <= 2*settled:
		// The connection may just have been cut. The next watch gets the time to stay open.
		return ""
	case now.Sub(s.failing) > grace:
		return fmt.Sprintf("the watch fails for %d s, so that changes are not seen: %s", seconds(s.failing), s.why)
	}
	return ""
}

// reasonOf returns a fixed text for the failure of a request: the text of the error may quote the
// object that could not be decoded.
func reasonOf(err error) string {
	var status apierrors.APIStatus
	var transport *url.Error
	switch {
	case apierrors.HasStatusCause(err, watchdecoder.UnreadableEvent):
		return "an object in an answer of the API server cannot be read"
	case errors.As(err, &status):
		return fmt.Sprintf("the API server answers %d %s", status.Status().Code, status.Status().Reason)
	case errors.As(err, &transport), errors.Is(err, context.DeadlineExceeded):
		return "the API server cannot be reached"
	}
	return "an object in an answer of the API server cannot be read"
}

// troubles are those of all watches, each with its kind, in order.
func (w *watches) troubles() []string {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	now := w.now()
	var found []string
	for _, watched := range w.all {
		if trouble := watched.state.trouble(watched.informer.HasSynced(), now, w.grace); trouble != "" {
			found = append(found, strings.TrimSpace(watched.kind+": "+trouble))
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// missing returns the kinds that are not watched.
func (w *watches) missing(kinds []string) []string {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return slices.DeleteFunc(slices.Clone(kinds), func(kind string) bool {
		return slices.ContainsFunc(w.all, func(watched *watched) bool { return watched.kind == kind })
	})
}

// followed is a watch whose events are observed. Only the goroutine of follow closes events, when
// the source has ended or the watch was stopped. Stop may be called concurrently and again.
type followed struct {
	from   watch.Interface
	events chan watch.Event
	done   chan struct{}
	once   sync.Once
}

// follow lets a watch be observed: each of its events, and its end, until the watch is stopped.
func follow(from watch.Interface, see func(watch.Event), end func()) watch.Interface {
	f := &followed{from: from, events: make(chan watch.Event), done: make(chan struct{})}
	go func() {
		defer close(f.events)
		for event := range from.ResultChan() {
			see(event)
			select {
			case f.events <- event:
			case <-f.done: // stopped: the events are not read any more
				return
			}
		}
		select {
		case <-f.done: // stopped
		default:
			end()
		}
	}()
	return f
}

// ResultChan implements watch.Interface.
func (f *followed) ResultChan() <-chan watch.Event { return f.events }

// Stop implements watch.Interface.
func (f *followed) Stop() {
	f.once.Do(func() {
		close(f.done)
		f.from.Stop()
	})
}
