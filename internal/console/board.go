package console

import (
	"bytes"
	"context"
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
	// maxStreams is how many pages can be open.
	maxStreams = 200
)

// board has the state of the landscape that all pages share.
type board struct {
	options Options
	places  chan struct{}

	mutex   sync.Mutex
	current *state
	// changed is closed when the state is not current any more.
	changed chan struct{}
}

func newBoard(options Options) *board {
	return &board{options: options, places: make(chan struct{}, maxStreams), changed: make(chan struct{})}
}

// follow tells the pages of changes until the context ends.
func (b *board) follow(ctx context.Context) {
	clock := time.NewTicker(refresh)
	defer clock.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-clock.C:
		case <-b.options.Source.Changed():
			select {
			case <-ctx.Done():
				return
			case <-time.After(debounce):
			}
		}
		b.mutex.Lock()
		b.current = nil
		close(b.changed)
		b.changed = make(chan struct{})
		b.mutex.Unlock()
	}
}

// now returns the state, and what is closed when there is a newer one. It is made once for all pages, and
// only if there is one.
func (b *board) now() (*state, <-chan struct{}) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	if b.current == nil {
		b.current = newState(b.options)
	}
	return b.current, b.changed
}

// stream sends a view, and again when it has changed, as server-sent events.
func (b *board) stream(view func(*state, *http.Request) any) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		select {
		case b.places <- struct{}{}:
			defer func() { <-b.places }()
		default:
			http.Error(w, fmt.Sprintf("%d pages are open: close some", maxStreams), http.StatusServiceUnavailable)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		control := http.NewResponseController(w)
		var sent []byte
		for {
			state, changed := b.now()
			text, err := json.Marshal(view(state, r))
			if err != nil {
				return // views have nothing that cannot be written
			}
			event := "data: " + string(text) + "\n\n"
			if bytes.Equal(text, sent) {
				event = ":\n\n" // a comment: a connection that has ended is noticed
			}
			sent = text
			if _, err := fmt.Fprint(w, event); err != nil || control.Flush() != nil {
				return
			}
			select {
			case <-changed:
			case <-r.Context().Done():
				return
			}
		}
	}
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
	notes         []string
}

// valueKey names a DataObject or Target.
type valueKey struct{ kind, namespace, name string }

func newState(options Options) *state {
	s := &state{
		options: options, snapshot: options.Source.Snapshot(), above: map[*inspect.Node]*inspect.Node{},
		installations: map[types.NamespacedName]*inspect.Node{}, digests: map[valueKey]string{},
	}
	s.forest = inspect.Forest(s.snapshot)
	for _, root := range s.forest {
		root.Walk(func(node *inspect.Node) {
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
		s.notes = append(s.notes, "something is missing here: "+unreadable.Error())
	}
	return s
}
