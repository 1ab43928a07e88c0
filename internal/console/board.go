package console

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/landscape/inspect"
)

const (
	// debounce is how long changes are collected before they are shown: a job makes many at once.
	debounce = 100 * time.Millisecond
	// refresh is how often pages are made again without a change: how long an object waits may
	// change what is said about it.
	refresh = 5 * time.Second
	// maxStreams is how many pages can be open, and maxStreamsOfOne how many of one visitor.
	maxStreams, maxStreamsOfOne = 200, 20
	// alive is how often a connection is looked at on which nothing is sent.
	alive = 20 * time.Second
	// writeTimeout is how long a page may take to read what is sent.
	writeTimeout = 30 * time.Second
)

// board has what all pages share.
type board struct {
	options Options

	mutex sync.Mutex
	// current is the present of the landscape; nil when it has changed.
	current *present
	// changed is closed when current is not current any more.
	changed chan struct{}
	// streams counts the open pages, by visitor.
	streams map[string]int
	all     int
}

// present is the landscape at one time, as different visitors see it.
type present struct {
	snapshot   inspect.Snapshot
	namespaces []string
	// states are by the keys of views: who sees the same shares one.
	states map[string]*state
}

func newBoard(options Options) *board {
	options.salt = []byte(rand.Text())
	return &board{options: options, changed: make(chan struct{}), streams: map[string]int{}}
}

// follow tells the pages of changes until the context ends.
func (b *board) follow(ctx context.Context) {
	clock := time.NewTicker(refresh)
	defer clock.Stop()
	var shown time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case <-clock.C:
		case <-b.options.Source.Changed():
			// A change after a quiet time is on the screen at once; only what follows it closely waits.
			select {
			case <-ctx.Done():
				return
			case <-time.After(max(debounce, b.options.Collect-time.Since(shown))):
			}
			shown = time.Now()
		}
		b.mutex.Lock()
		b.current = nil
		close(b.changed)
		b.changed = make(chan struct{})
		b.mutex.Unlock()
	}
}

// now returns the landscape, and what is closed when there is a newer one. It is read once for all
// pages, and only if there is one.
func (b *board) now() (*present, <-chan struct{}) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	if b.current == nil {
		snapshot := b.options.Source.Snapshot()
		b.current = &present{snapshot: snapshot, namespaces: namespaces(snapshot), states: map[string]*state{}}
	}
	return b.current, b.changed
}

// stateOf returns the landscape as a view shows it.
func (b *board) stateOf(now *present, view View) *state {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	key := view.key()
	if now.states[key] == nil {
		options := b.options
		options.Source, options.limited = seen{options.Source, view.of(now.snapshot)}, !view.Sees(Installations, "")
		now.states[key] = newState(options)
	}
	return now.states[key]
}

// seen is what a visitor sees of a landscape at one time.
type seen struct {
	Source
	snapshot inspect.Snapshot
}

// Snapshot implements Source.
func (s seen) Snapshot() inspect.Snapshot { return s.snapshot }

// begin takes a place for a page of a visitor, and returns how it is given back; nil without one.
func (b *board) begin(visitor string) (end func(), most int) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	if b.streams[visitor] >= maxStreamsOfOne {
		return nil, maxStreamsOfOne
	}
	if b.all >= maxStreams {
		return nil, maxStreams
	}
	b.all++
	b.streams[visitor]++
	return func() {
		b.mutex.Lock()
		defer b.mutex.Unlock()
		b.all--
		if b.streams[visitor]--; b.streams[visitor] == 0 {
			delete(b.streams, visitor)
		}
	}, 0
}

// stream sends a view, and again when it has changed, as server-sent events.
func (b *board) stream(view func(*state, *http.Request) any) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		visitor := visitorOf(r)
		end, most := b.begin(visitor.Name())
		if end == nil {
			http.Error(w, fmt.Sprintf("%d pages are open: close some", most), http.StatusServiceUnavailable)
			return
		}
		defer end()
		// The limits of the server are for answers of a moment.
		_ = http.NewResponseController(w).SetReadDeadline(time.Time{}) // a server without limits has no deadline
		look := time.NewTicker(alive)
		defer look.Stop()
		var sent []byte
		for {
			text, changed, err := b.text(visitor, view, r)
			if err != nil {
				// Pages ask for their session then, and come again.
				if sent == nil {
					http.Error(w, "it is not known what you may see: try again", http.StatusServiceUnavailable)
				}
				return
			}
			// Nothing is sent when others see a change: not even that there is one.
			if !bytes.Equal(text, sent) {
				sent = text
				if !send(w, "data: "+string(text)+"\n\n") {
					return
				}
			}
			if !await(r.Context(), w, changed, look.C) {
				return
			}
		}
	}
}

// text is a view as JSON, as a visitor sees it now.
func (b *board) text(visitor Visitor, view func(*state, *http.Request) any, r *http.Request) ([]byte, <-chan struct{}, error) {
	now, changed := b.now()
	// The rights for the namespace of a page are asked for whether there is anything or not.
	namespaces := now.namespaces
	if one := r.PathValue("namespace"); one != "" {
		namespaces = []string{one}
	}
	seen, err := visitor.View(r.Context(), namespaces)
	if err != nil {
		return nil, nil, err // the visitor says what it did
	}
	state := b.stateOf(now, seen)
	text, err := state.text(r.URL.RequestURI(), func() any { return view(state, r) })
	return text, changed, err
}

// text is a view as JSON. It is worked out once for all pages of an address: the most are overviews.
func (s *state) text(address string, view func() any) ([]byte, error) {
	write := sync.OnceValues(func() ([]byte, error) { return json.Marshal(view()) })
	s.mutex.Lock()
	if known := s.written[address]; known != nil {
		write = known
	} else if len(s.written) < maxStreams {
		// What more visitors than there are pages ask for is not kept.
		s.written[address] = write
	}
	s.mutex.Unlock()
	return write()
}

// await returns true when a view is to be made again, and false when its reader has left.
func await(ctx context.Context, w http.ResponseWriter, changed <-chan struct{}, look <-chan time.Time) bool {
	for {
		select {
		case <-changed:
			return ctx.Err() == nil
		case <-ctx.Done():
			return false
		case <-look:
			// A comment: a connection that has ended is noticed.
			if !send(w, ":\n\n") {
				return false
			}
		}
	}
}

// send writes a part of a stream, and reports whether it was taken.
func send(w http.ResponseWriter, event string) bool {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no") // proxies that know it pass events on at once
	control := http.NewResponseController(w)
	_ = control.SetWriteDeadline(time.Now().Add(writeTimeout)) // a server without limits has no deadline
	_, err := fmt.Fprint(w, event)                             //nolint:gosec // an event stream is no page, and browsers may not guess otherwise
	return err == nil && control.Flush() == nil
}

// state is the landscape at one time, with what all pages need of it.
type state struct {
	options  Options
	snapshot inspect.Snapshot
	forest   []*inspect.Node
	// above has the parent of each node of the forest.
	above map[*inspect.Node]*inspect.Node
	// installations are the nodes of the Installations, and digests those that the controller has
	// published with the values.
	installations map[types.NamespacedName]*inspect.Node
	digests       map[valueKey]string
	// nodes are all objects of the forest.
	nodes map[valueKey]*inspect.Node
	// targeting is worked out when a page needs it, once for all pages.
	targeting func() targeting
	notes     []string

	mutex sync.Mutex
	// written are the views that were asked for, by their addresses.
	written map[string]func() ([]byte, error)
}

// valueKey names an object.
type valueKey struct{ kind, namespace, name string }

func newState(options Options) *state {
	s := &state{
		options: options, snapshot: options.Source.Snapshot(), above: map[*inspect.Node]*inspect.Node{},
		installations: map[types.NamespacedName]*inspect.Node{}, digests: map[valueKey]string{}, nodes: map[valueKey]*inspect.Node{},
		written: map[string]func() ([]byte, error){},
	}
	s.forest, s.targeting = inspect.Forest(s.snapshot), sync.OnceValue(s.newTargeting)
	for _, root := range s.forest {
		root.Walk(func(node *inspect.Node) {
			s.nodes[valueKey{string(node.Kind), node.Namespace, node.Name}] = node
			if node.Installation != nil {
				s.installations[types.NamespacedName{Namespace: node.Namespace, Name: node.Name}] = node
			}
			for _, child := range node.Children {
				s.above[child] = node
			}
		})
	}
	for _, value := range s.snapshot.Values {
		s.digests[valueKey{value.Kind, value.Namespace, value.Name}] = value.Annotations[v1alpha1.DataObjectHashAnnotation]
	}
	if err := options.Source.Disconnected(); err != nil {
		s.notes = append(s.notes, "the cluster is out of reach, and what is shown may be out of date: "+err.Error())
	}
	for _, unreadable := range s.snapshot.Unreadable {
		if unreadable.Resource.Resource == targetSyncs {
			continue // the page of Targets says it
		}
		s.notes = append(s.notes, "something is missing here: "+unreadable.Error())
	}
	return s
}
