package server

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"

	"go.landscaper.dev/api/v1alpha1"
)

// canary must not be in any message: it stands for a value of an object.
const canary = "canary-value"

// at is a moment, and unreachable why a request fails.
func at(seconds int) time.Time {
	return time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(seconds) * time.Second)
}

var unreachable = &url.Error{Op: "Get", URL: "https://" + canary, Err: errors.New(canary)}

func TestWatchState(t *testing.T) {
	unreadable := errors.New(`parsing time "` + canary + `"`)
	refused := apierrors.NewForbidden(corev1.Resource("secrets"), canary, errors.New(canary))
	errorEvent := watch.Event{Type: watch.Error, Object: apierrors.NewClientErrorReporter(500, "GET", "ClientWatchDecoding").AsObject(unreadable)}
	expired := watch.Event{Type: watch.Error, Object: &metav1.Status{Status: metav1.StatusFailure, Code: 410, Reason: metav1.StatusReasonExpired}}
	tests := []struct {
		reason string
		synced bool
		events func(*watchState)
		now    int
		want   string
	}{
		{"nothing has come yet", false, func(*watchState) {}, 1, "not filled yet"},
		{"the first list fails: there is no reason to wait before saying so", false, func(s *watchState) { s.ended(at(0), refused) }, 1, "403 Forbidden"},
		{"a list works", true, func(s *watchState) { s.ended(at(0), nil) }, 1000, ""},
		{"a short failure is nothing to speak of", true, func(s *watchState) { s.ended(at(0), unreachable) }, 20, ""},
		{"a long one is", true, func(s *watchState) { s.ended(at(0), unreachable) }, 31, "fails for 31 s, so that changes are not seen: the API server cannot be reached"},
		{"the time counts from the first failure", true, func(s *watchState) { s.ended(at(0), unreachable); s.ended(at(30), unreachable) }, 31, "fails for 31 s"},
		{"a success ends it", true, func(s *watchState) { s.ended(at(0), unreachable); s.ended(at(30), nil) }, 100, ""},
		{"an event ends a failure", true, func(s *watchState) {
			s.ended(at(0), unreachable)
			s.saw(at(30), watch.Event{Type: watch.Bookmark, Object: &corev1.ConfigMap{}})
		}, 100, ""},
		{"a watch that stays open without events ends a failure", true, func(s *watchState) { s.ended(at(0), unreachable); s.opened = at(20) }, 31, ""},
		{"a watch that has just been opened may be the next to fail", true, func(s *watchState) { s.ended(at(0), unreachable); s.opened = at(28) }, 31, "cannot be reached"},
		{"an object that cannot be read ends each watch again", true, func(s *watchState) {
			for second := 0; second < 40; second += 10 {
				s.opened = at(second)
				s.saw(at(second), errorEvent)
			}
		}, 31, "an object in an answer of the API server cannot be read"},
		{"a version that is too old is nothing special", true, func(s *watchState) { s.saw(at(0), expired) }, 100, ""},
		{"a list that hangs has no error", true, func(s *watchState) { s.listing = at(0) }, 31, "no answer for 31 s"},
		{"a list may take a while", true, func(s *watchState) { s.listing = at(0) }, 29, ""},
		{"who ends does not fail", true, func(s *watchState) { s.ended(at(0), context.Canceled) }, 100, ""},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			state := watchState{}
			test.events(&state)
			wantTrouble(t, state, test.synced, test.now, test.want)
		})
	}
}

// wantTrouble compares what is told with what is to be told, and that nothing else is.
func wantTrouble(t *testing.T, state watchState, synced bool, now int, want string) {
	t.Helper()
	got := state.trouble(synced, at(now), 30*time.Second)
	if want == "" && got != "" || !strings.Contains(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if strings.Contains(got, canary) {
		t.Errorf("%q repeats what came from outside", got)
	}
}

// TestWatchEnds: what the end of a watch without an error says.
func TestWatchEnds(t *testing.T) {
	tests := []struct {
		reason string
		events func(*watchState)
		now    int
		want   string
	}{
		{"a watch that ends after some time, until the next one is open", func(s *watchState) { s.opened = at(0); s.closed(at(600)) }, 700, ""},
		{"a watch that was open for a while ends a failure", func(s *watchState) {
			s.ended(at(0), unreachable)
			s.opened = at(10)
			s.closed(at(300))
		}, 301, ""},
		{"a watch that ends at once is not a success", func(s *watchState) {
			s.ended(at(0), unreachable)
			s.opened = at(20)
			s.closed(at(20))
		}, 31, "cannot be reached"},
		{"several watches that end at once are a failure", func(s *watchState) {
			for second := 0; second < 40; second += 10 {
				s.opened = at(second)
				s.closed(at(second))
			}
		}, 40, "fails for 40 s, so that changes are not seen: it ends as soon as it is open"},
		{"a connection that is cut at once, and another one", func(s *watchState) {
			s.opened = at(0)
			s.closed(at(2))
			s.opened = at(3)
		}, 9, ""},
		{"the end of one that has failed is nothing more", func(s *watchState) {
			s.opened = at(0)
			s.ended(at(1), unreachable)
			s.closed(at(1))
		}, 32, "cannot be reached"},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			state := watchState{}
			test.events(&state)
			wantTrouble(t, state, true, test.now, test.want)
		})
	}
	t.Run("there is time for another one however soon failures are told", func(t *testing.T) {
		state := watchState{opened: at(0)}
		state.closed(at(2))
		state.opened = at(5)
		if got := state.trouble(true, at(9), time.Second); got != "" {
			t.Error(got)
		}
		state.closed(at(9))
		if got := state.trouble(true, at(11), time.Second); !strings.Contains(got, endsAtOnce) {
			t.Errorf("got %q", got)
		}
	})
}

// source is what an informer lists and watches.
type source struct {
	list func() (runtime.Object, error)
}

func (s source) List(metav1.ListOptions) (runtime.Object, error)   { return s.list() }
func (s source) Watch(metav1.ListOptions) (watch.Interface, error) { return watch.NewFake(), nil }
func (s source) IsWatchListSemanticsUnSupported() bool             { return true }

// TestReady runs real informers and asks over HTTP.
func TestReady(t *testing.T) {
	watches := &watches{grace: time.Hour, now: time.Now}
	inform := watches.newInformer(Scheme())
	works := inform(source{func() (runtime.Object, error) {
		return &corev1.ConfigMapList{ListMeta: metav1.ListMeta{ResourceVersion: "1"}}, nil
	}}, &corev1.ConfigMap{}, 0, toolscache.Indexers{})
	failed := make(chan struct{}, 100)
	fails := inform(source{func() (runtime.Object, error) {
		failed <- struct{}{}
		return nil, errors.New(canary)
	}}, &corev1.Secret{}, 0, toolscache.Indexers{})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	checks := &health{watches: watches, synced: func(ctx context.Context) bool { return true }}
	handler := checks.handler()

	go works.RunWithContext(ctx)
	if !toolscache.WaitForCacheSync(ctx.Done(), works.HasSynced) {
		t.Fatal("the informer that works does not sync")
	}
	go fails.RunWithContext(ctx)
	// The second attempt shows that the end of the first has been noted.
	<-failed
	<-failed
	code, body := ask(handler, "/readyz")
	if code != http.StatusServiceUnavailable || !strings.Contains(body, "Secret: the cache is not filled; requests fail") || strings.Contains(body, "ConfigMap") {
		t.Errorf("with a watch that fails: %d %q, want one that names Secret and nothing else", code, body)
	}
	if strings.Contains(body, canary) {
		t.Errorf("%q repeats what came from outside", body)
	}
	if code, body := ask(handler, "/healthz"); code != http.StatusOK {
		t.Errorf("a process whose watch fails lives: %d %q", code, body)
	}
}

func TestReadyWithoutTrouble(t *testing.T) {
	elected := make(chan struct{})
	close(elected)
	tests := []struct {
		reason  string
		synced  bool
		elected chan struct{}
		kinds   []string
		want    string
	}{
		{"the caches are not filled", false, nil, nil, "not filled yet"},
		{"a replica that waits for its turn watches nothing", true, nil, []string{"Execution"}, "ok"},
		{"the leader before its watches have begun", true, elected, []string{"Execution", "Secret"}, "there is no watch for Execution, Secret yet"},
		{"the leader with all its watches", true, elected, nil, "ok"},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			checks := &health{
				watches: &watches{now: time.Now}, elected: test.elected, kinds: test.kinds,
				synced: func(context.Context) bool { return test.synced },
			}
			code, body := ask(checks.handler(), "/readyz")
			if (code == http.StatusOK) != (test.want == "ok") || !strings.Contains(body, test.want) {
				t.Errorf("%d %q, want %q", code, body, test.want)
			}
		})
	}
}

func ask(handler http.Handler, path string) (int, string) {
	answer := httptest.NewRecorder()
	handler.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, path, nil))
	return answer.Code, answer.Body.String()
}

// TestFollow: a watch that is stopped ends.
func TestFollow(t *testing.T) {
	from := watch.NewFakeWithChanSize(2, false)
	seen := make(chan watch.EventType, 2)
	followed := follow(from, func(event watch.Event) { seen <- event.Type }, func() {})
	from.Add(&corev1.ConfigMap{})
	if got := (<-followed.ResultChan()).Type; got != watch.Added || <-seen != watch.Added {
		t.Errorf("got %s", got)
	}
	from.Modify(&corev1.ConfigMap{})
	<-seen // the event is in flight, and is not received
	followed.Stop()
	followed.Stop()
	for range followed.ResultChan() {
		t.Log("one that was on its way")
	}
	if !from.IsStopped() {
		t.Error("the watch goes on behind the one that was stopped")
	}
}

// TestFollowedEnd: that a watch ends is seen before its reader sees it, but not if it was
// the reader who had enough.
func TestFollowedEnd(t *testing.T) {
	for _, stopped := range []bool{false, true} {
		from, ended := watch.NewFake(), false
		followed := follow(from, func(watch.Event) {}, func() { ended = true })
		if stopped {
			followed.Stop()
		}
		from.Stop()
		for event := range followed.ResultChan() {
			t.Errorf("an event after the end: %+v", event)
		}
		if ended == stopped {
			t.Errorf("stopped %t, an end is seen: %t", stopped, ended)
		}
	}
}

// silent is a connection to an API server that does not answer.
type silent struct{}

// RoundTrip implements http.RoundTripper.
func (silent) RoundTrip(*http.Request) (*http.Response, error) { return nil, os.ErrDeadlineExceeded }

// TestSilentServer: that an API server does not answer is told, though to the client library
// each attempt to watch is a watch that ends at once.
func TestSilentServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		watches := &watches{grace: 30 * time.Second, now: time.Now}
		client, err := rest.RESTClientForConfigAndClient(&rest.Config{
			Host: "http://silent", QPS: -1, APIPath: "/apis",
			ContentConfig: rest.ContentConfig{GroupVersion: &v1alpha1.GroupVersion, NegotiatedSerializer: serializer.NewCodecFactory(Scheme()).WithoutConversion()},
		}, &http.Client{Transport: silent{}})
		if err != nil {
			t.Fatal(err)
		}
		seen := &watched{owner: watches, kind: "Installation"}
		source := seen.observe(&toolscache.ListWatch{WatchFuncWithContext: func(ctx context.Context, _ metav1.ListOptions) (watch.Interface, error) {
			return client.Get().Resource("installations").Watch(ctx)
		}}, &v1alpha1.Installation{})
		for range 5 {
			events, err := source.WatchWithContext(t.Context(), metav1.ListOptions{})
			if err != nil {
				t.Fatalf("the client library reports it: %v", err)
			}
			for event := range events.ResultChan() {
				t.Errorf("an event: %+v", event)
			}
		}
		// Well into the next attempt.
		later := time.Now().Add(10 * time.Second)
		if got := seen.state.trouble(true, later, watches.grace); !strings.Contains(got, "the watch fails for") {
			t.Errorf("got %q", got)
		}
	})
}
