package apiserver

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// defaultWatch is how long a watch lasts that names no time.
const defaultWatch = time.Hour

// watch answers with the changes after a version.
func (s *Server) watch(ctx context.Context, made *call) *answer {
	wanted, err := newFilter(made)
	if err != nil {
		return failed(err)
	}
	if made.name != "" {
		return failed(apierrors.NewBadRequest("watch one object with a field selector"))
	}
	w := &watcher{server: s, call: made, filter: wanted}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	in := s.collection(made.kind)
	w.version = s.version
	initial, _ := strconv.ParseBool(made.query.Get("sendInitialEvents"))
	switch from := made.query.Get("resourceVersion"); {
	case initial || from == "" || from == "0":
		w.list(in)
		if initial {
			w.mark()
		}
	default:
		if w.version, err = strconv.ParseInt(from, 10, 64); err != nil {
			return failed(apierrors.NewBadRequest("invalid resource version"))
		}
		if w.version < in.dropped {
			return failed(apierrors.NewResourceExpired(fmt.Sprintf("too old resource version: %d (%d)", w.version, in.dropped)))
		}
	}
	limit := defaultWatch
	if seconds, err := strconv.Atoi(made.query.Get("timeoutSeconds")); err == nil && seconds > 0 {
		limit = time.Duration(seconds) * time.Second
	}
	w.ctx, w.cancel = context.WithTimeout(ctx, limit)
	return &answer{code: 200, stream: w}
}

// watcher is the body of the answer to a watch. It is read by one goroutine.
type watcher struct {
	server *Server
	call   *call
	filter *filter
	// ctx lives as long as the answer is read.
	ctx     context.Context
	cancel  context.CancelFunc
	version int64
	pending bytes.Buffer
}

// list sends what there is.
func (w *watcher) list(in *collection) {
	for _, found := range in.sorted() {
		if w.filter.fits(found) {
			w.send("ADDED", found)
		}
	}
}

// mark says that all that there was has been sent.
func (w *watcher) mark() {
	apiVersion, kind := w.call.kind.GroupVersion().String(), w.call.kind.Kind
	if onlyMetadata(w.call.accept) {
		apiVersion, kind = "meta.k8s.io/v1", "PartialObjectMetadata"
	}
	w.write("BOOKMARK", map[string]any{"apiVersion": apiVersion, "kind": kind, "metadata": map[string]any{
		"resourceVersion": strconv.FormatInt(w.version, 10), "annotations": map[string]any{metav1.InitialEventsAnnotationKey: "true"},
	}})
}

func (w *watcher) send(kind string, found *stored) {
	w.write(kind, shown(inVersion(found.object, w.call.kind), w.call.accept))
}

func (w *watcher) write(kind string, object map[string]any) {
	// What is stored was encoded before.
	_ = json.NewEncoder(&w.pending).Encode(map[string]any{"type": kind, "object": object})
}

// Read implements io.Reader.
func (w *watcher) Read(into []byte) (int, error) {
	for w.pending.Len() == 0 {
		news, err := w.fill()
		if err != nil {
			return 0, err
		}
		if w.pending.Len() > 0 {
			break
		}
		select {
		case <-news:
		case <-w.ctx.Done():
			return 0, io.EOF
		case <-w.server.closed:
			return 0, io.EOF
		}
	}
	return w.pending.Read(into)
}

// Close implements io.Closer.
func (w *watcher) Close() error {
	w.cancel()
	return nil
}

// fill takes the changes since the last time, and returns what is closed at the next one.
func (w *watcher) fill() (<-chan struct{}, error) {
	w.server.mutex.Lock()
	defer w.server.mutex.Unlock()
	in := w.server.collection(w.call.kind)
	if w.version < in.dropped {
		return nil, io.EOF // the client lists anew
	}
	for i := len(in.history) - 1; i >= -1; i-- {
		if i >= 0 && in.history[i].version > w.version {
			continue
		}
		for _, change := range in.history[i+1:] {
			w.tell(change)
			w.version = change.version
		}
		break
	}
	return in.news, nil
}

// tell sends a change as those see it who watch some objects only.
func (w *watcher) tell(change event) {
	was, is := w.filter.fits(change.before), w.filter.fits(change.after)
	switch {
	case was && is:
		w.send("MODIFIED", change.after)
	case is:
		w.send("ADDED", change.after)
	case was:
		last := change.before
		if change.after != nil {
			last = change.after
		}
		// A deletion has a version of its own.
		object := last.object.DeepCopy()
		object.SetResourceVersion(strconv.FormatInt(change.version, 10))
		w.send("DELETED", &stored{object: object})
	}
}
