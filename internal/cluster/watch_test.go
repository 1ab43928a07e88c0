package cluster

import (
	"errors"
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"

	"go.landscaper.dev/internal/base/resourceversion"
	"go.landscaper.dev/internal/cluster/answerlimit"
	"go.landscaper.dev/internal/cluster/watch"
)

// stream is an API server that lists ConfigMaps and lets a test send events.
type stream struct {
	recorder
	list   string
	status int
	events chan string
	// end ends a watch, ended gets one for each that has ended.
	end, ended chan struct{}

	mutex sync.Mutex
}

func newStream(list string) *stream {
	return &stream{list: list, status: http.StatusOK, events: make(chan string), end: make(chan struct{}), ended: make(chan struct{}, 100)}
}

func (s *stream) ServeHTTP(out http.ResponseWriter, request *http.Request) {
	s.ask(request)
	query := request.URL.Query()
	s.mutex.Lock()
	status, list := s.status, s.list
	s.mutex.Unlock()
	switch {
	case status != http.StatusOK:
		write(out, status, fmt.Sprintf(`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","code":%d}`, status))
	case query.Get("watch") == "":
		write(out, http.StatusOK, list)
	case query.Get("sendInitialEvents") != "":
		write(out, http.StatusUnprocessableEntity, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Invalid","code":422,"details":{"causes":[{"reason":"FieldValueForbidden","field":"sendInitialEvents"}]}}`)
	default:
		s.follow(out, request)
	}
}

func (s *stream) follow(out http.ResponseWriter, request *http.Request) {
	out.Header().Set("Content-Type", "application/json")
	out.WriteHeader(http.StatusOK)
	_ = http.NewResponseController(out).Flush()
	defer func() { s.ended <- struct{}{} }()
	for {
		select {
		case event := <-s.events:
			_, _ = fmt.Fprintln(out, event)
			_ = http.NewResponseController(out).Flush()
		case <-s.end:
			return
		case <-request.Context().Done():
			return
		}
	}
}

// set changes what the server answers.
func (s *stream) set(status int) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.status = status
}

// lists counts the lists and watches that were asked for.
func (s *stream) lists() (lists, watches int) {
	for _, line := range s.requests() {
		switch {
		case strings.Contains(line, "sendInitialEvents"):
		case strings.Contains(line, "watch="):
			watches++
		default:
			lists++
		}
	}
	return lists, watches
}

func event(kind, name, version, x string) string {
	return fmt.Sprintf(`{"type":%q,"object":{"kind":"ConfigMap","apiVersion":"v1","metadata":{"namespace":"a","name":%q,"resourceVersion":%q,"managedFields":[{"manager":"m"}]},"data":{"x":%q}}}`, kind, name, version, x)
}

// follower is a subscriber that waits for changes.
type follower struct {
	*testing.T
	*watch.Subscription
	signalled chan struct{}
}

func follow(t *testing.T, subscribe func(wake func()) *watch.Subscription) *follower {
	t.Helper()
	f := &follower{T: t, signalled: make(chan struct{}, 100)}
	f.Subscription = subscribe(func() { f.signalled <- struct{}{} })
	t.Cleanup(func() { _ = f.Close() })
	return f
}

// until waits for news until a condition holds.
func (f *follower) until(what string, holds func(watch.State, error) bool) watch.State {
	f.Helper()
	deadline := time.After(5 * time.Minute)
	for {
		state, err := f.State()
		if holds(state, err) {
			return state
		}
		select {
		case <-f.signalled:
		case <-deadline:
			f.Fatalf("%s did not happen: %+v, error %v", what, state, err)
		}
	}
}

func known(state watch.State, err error) bool { return err == nil && state.Known }

// TestSubscriptionsShareAWatch: all subscribers to objects of one kind and namespace cause one list
// and one watch; each is called for its own object, and the watch ends with the last of them.
func TestSubscriptionsShareAWatch(t *testing.T) {
	server := newStream(page("", "one"))
	connection, pool := connected(t, 0, server.ServeHTTP)
	one := follow(t, func(wake func()) *watch.Subscription {
		return connection.Subscribe(configMaps, "a", "one", false, wake)
	})
	two := follow(t, func(wake func()) *watch.Subscription {
		return connection.Subscribe(configMaps, "a", "two", false, wake)
	})
	if state := one.until("the first state", known); state.Object == nil || state.Object.GetName() != "one" {
		t.Errorf("%+v", state)
	}
	if state := two.until("the first state", known); state.Object != nil || state.Version != "7" {
		t.Errorf("what does not exist: %+v", state)
	}
	server.events <- event("ADDED", "two", "8", "2")
	state := two.until("the creation", func(state watch.State, err error) bool { return err == nil && state.Object != nil })
	if len(state.Object.GetManagedFields()) != 0 {
		t.Error("unused parts are kept")
	}
	server.events <- event("DELETED", "two", "9", "2")
	two.until("the deletion", func(state watch.State, err error) bool {
		return err == nil && state.Object == nil && resourceversion.AtLeast(state.Version, "9")
	})
	select {
	case <-one.signalled:
		if state, _ := one.State(); state.Object == nil {
			t.Error("the first object is missing")
		}
	default:
	}
	if lists, watches := server.lists(); lists != 1 || watches != 1 {
		t.Errorf("%d lists, %d watches", lists, watches)
	}
	_, _ = one.Close(), one.Close()
	if !connection.watched() {
		t.Error("the watch has ended although there is a subscriber")
	}
	_ = two.Close()
	<-server.ended
	if connection.watched() || pool.memory.Used.Load() != 0 {
		t.Errorf("something stays: watched %t, %d bytes", connection.watched(), pool.memory.Used.Load())
	}
}

// TestMetadataOnly has no content.
func TestMetadataOnly(t *testing.T) {
	server := newStream(`{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"7"},"items":[{"metadata":{"namespace":"a","name":"one","finalizers":["f"]}}]}`)
	connection, _ := connected(t, 0, server.ServeHTTP)
	one := follow(t, func(wake func()) *watch.Subscription { return connection.Subscribe(configMaps, "a", "one", true, wake) })
	if state := one.until("the first state", known); state.Object == nil || len(state.Object.GetFinalizers()) != 1 || state.Object.Object["data"] != nil {
		t.Errorf("%+v", state)
	}
}

// TestSelected follows all objects with some labels, wherever they are.
func TestSelected(t *testing.T) {
	server := newStream(page("", "one"))
	connection, _ := connected(t, 0, server.ServeHTTP)
	all := follow(t, func(wake func()) *watch.Subscription {
		return connection.SubscribeSelected(configMaps, "", labels.Set{"k": "v"}, wake)
	})
	if objects, isKnown, err := all.Objects(); len(objects) != 0 && !isKnown {
		t.Errorf("objects before they are known: %v, error %v", objects, err)
	}
	all.until("the first state", known)
	server.events <- event("ADDED", "two", "8", "2")
	all.until("the second object", func(watch.State, error) bool {
		objects, isKnown, err := all.Objects()
		return isKnown && err == nil && len(objects) == 2
	})
	for _, line := range server.requests() {
		if !strings.HasPrefix(line, "GET /api/v1/configmaps?") || !strings.Contains(line, "labelSelector=k%3Dv") {
			t.Errorf("request %s", line)
		}
	}
}

// TestWatchFailsAndRecovers tells a failure at once, to objects and selections, and goes
// on by itself when the failure is over.
func TestWatchFailsAndRecovers(t *testing.T) {
	server := newStream(page("", "one"))
	server.set(http.StatusForbidden)
	connection, _ := connected(t, 0, server.ServeHTTP)
	one := follow(t, func(wake func()) *watch.Subscription {
		return connection.Subscribe(configMaps, "a", "one", false, wake)
	})
	one.until("the failure", func(_ watch.State, err error) bool { return apierrors.IsForbidden(err) })
	if _, isKnown, err := one.Objects(); isKnown || !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "watch configmaps") {
		t.Errorf("known %t, error %v", isKnown, err)
	}
	server.set(http.StatusOK)
	if state := one.until("the recovery", known); state.Object == nil {
		t.Errorf("%+v", state)
	}
}

// TestVersionIsNotAheadOfTheObjects creates objects one after the other: whenever a state says that
// it is as new as the creation, it has the object. Otherwise a new object would count as deleted.
func TestVersionIsNotAheadOfTheObjects(t *testing.T) {
	server := newStream(page(""))
	connection, _ := connected(t, 0, server.ServeHTTP)
	all := follow(t, func(wake func()) *watch.Subscription {
		return connection.Subscribe(configMaps, "a", "none", false, wake)
	})
	all.until("the begin", known)
	ahead := 0
	for i := 100; i < 400; i++ {
		name, version := fmt.Sprintf("new-%d", i), fmt.Sprint(i)
		created := connection.Subscribe(configMaps, "a", name, false, func() {})
		server.events <- event("ADDED", name, version, "1")
		for {
			state, err := created.State()
			if err != nil {
				t.Fatal(err)
			}
			if state.Known && resourceversion.AtLeast(state.Version, version) {
				if state.Object == nil {
					ahead++
				}
				_ = created.Close()
				break
			}
			runtime.Gosched()
		}
	}
	if ahead > 0 {
		t.Errorf("%d of 300 states say that a new object is deleted", ahead)
	}
}

// TestWatchRecoversWithoutNews: a watch that goes on after a failure has no failure any more, even
// without any object.
func TestWatchRecoversWithoutNews(t *testing.T) {
	server := newStream(page(""))
	connection, _ := connected(t, 0, server.ServeHTTP)
	one := follow(t, func(wake func()) *watch.Subscription {
		return connection.Subscribe(configMaps, "a", "one", false, wake)
	})
	one.until("the first state", known)
	server.set(http.StatusForbidden)
	server.end <- struct{}{}
	one.until("the failure", func(_ watch.State, err error) bool { return apierrors.IsForbidden(err) })
	server.set(http.StatusOK)
	if state := one.until("the recovery", known); state.Object != nil {
		t.Errorf("%+v", state)
	}
}

// TestBusyIsNotForGood: a watch that ended because others used up the memory does not affect later
// subscribers when memory is free again, even while the old subscription is still open.
func TestBusyIsNotForGood(t *testing.T) {
	const limit = 8 << 20
	server := newStream(`{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"7"},"items":[{"kind":"ConfigMap","apiVersion":"v1","metadata":{"namespace":"a","name":"one","resourceVersion":"7"},"data":{"a":"` + strings.Repeat("a", 2<<20) + `"}}]}`)
	connection, pool := connected(t, limit, server.ServeHTTP)
	subscribe := func(wake func()) *watch.Subscription {
		return connection.Subscribe(configMaps, "a", "one", false, wake)
	}
	pool.memory.Used.Add(limit)
	first := follow(t, subscribe)
	first.until("the end", func(_ watch.State, err error) bool { return errors.As(err, &answerlimit.Busy{}) })
	pool.memory.Used.Add(-limit)
	second := follow(t, subscribe)
	if state := second.until("the first state", known); state.Object == nil {
		t.Errorf("%+v", state)
	}
	_ = first.Close()
	if third := follow(t, subscribe); third.until("the same state", known).Object == nil {
		t.Error("the end of the old watch has ended the new one")
	}
	if lists, _ := server.lists(); lists != 2 {
		t.Errorf("%d lists", lists)
	}
}
