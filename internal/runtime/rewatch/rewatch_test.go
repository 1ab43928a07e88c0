package rewatch

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

// TestTransport: only a watch that has ended early is checked before it is resumed, and only
// one that is ahead of the API server is refused.
func TestTransport(t *testing.T) {
	ok := func(body string) func() (int, string) { return func() (int, string) { return http.StatusOK, body } }
	at := func(version string) func() (int, string) {
		return ok(`{"metadata":{"resourceVersion":"` + version + `"}}`)
	}
	for _, test := range []struct {
		reason string
		// first is the status of the first watch.
		first int
		query string
		list  func() (int, string)
		// requests are what the API server gets, in order; code is that of the second watch.
		requests string
		code     int
		rewound  int
	}{
		{"a watch that has ended at its time is resumed", 200, "timeoutSeconds=1&resourceVersion=90", at("10"), "watch watch", 200, 0},
		{"a watch that has ended early is resumed in the same history", 200, "timeoutSeconds=300&resourceVersion=90", at("95"), "watch list watch", 200, 0},
		{"a watch of a rewound history is refused", 200, "timeoutSeconds=300&resourceVersion=90", at("10"), "watch list", 410, 1},
		{"a watch without a timeout is refused after a rewind", 200, "resourceVersion=90", at("10"), "watch list", 410, 1},
		{"a watch that could not be opened is refused after a rewind", 503, "timeoutSeconds=300&resourceVersion=90", at("10"), "watch list", 410, 1},
		{"a watch that begins with a list is refused after a rewind", 200, "timeoutSeconds=300&resourceVersion=90&sendInitialEvents=true", at("10"), "watch list", 410, 1},
		{"a watch that a starting API server has refused is checked, too", 403, "timeoutSeconds=300&resourceVersion=90&sendInitialEvents=true", at("10"), "watch list", 410, 1},
		{"an API server that does not know watches with a list is not asked", 422, "timeoutSeconds=300&resourceVersion=90", at("10"), "watch watch", 200, 0},
		{"a cache that starts lists what there is", 200, "timeoutSeconds=300&sendInitialEvents=true", at("10"), "watch watch", 200, 0},
		{"a watch from any version is not checked", 200, "timeoutSeconds=300&resourceVersion=0", at("10"), "watch watch", 200, 0},
		{"versions that are not numeric cannot be checked", 200, "timeoutSeconds=300&resourceVersion=x", at("10"), "watch list watch", 200, 0},
		{"an answer without a list cannot be checked", 200, "timeoutSeconds=300&resourceVersion=90", ok("nonsense"), "watch list watch", 200, 0},
		{"an API server that has just started does not know the rights yet", 200, "timeoutSeconds=300&resourceVersion=90", func() (int, string) { return 403, "" }, "watch list", 403, 0},
		{"an API server that has just started does not know custom kinds yet", 200, "timeoutSeconds=300&resourceVersion=90", func() (int, string) { return 404, "" }, "watch list", 404, 0},
		{"an API server that only starts is asked again later", 200, "timeoutSeconds=300&resourceVersion=90", func() (int, string) { return 503, "" }, "watch list", 503, 0},
	} {
		t.Run(test.reason, func(t *testing.T) {
			var requests []string
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Query().Get("watch") != "" {
					requests = append(requests, "watch")
					if len(requests) == 1 {
						w.WriteHeader(test.first)
					}
					return
				}
				requests = append(requests, "list")
				code, body := test.list()
				w.WriteHeader(code)
				_, _ = io.WriteString(w, body)
			}))
			defer server.Close()
			rewound, code := 0, 0
			client := http.Client{Transport: Transport(http.DefaultTransport, func() { rewound++ })}
			for range 2 {
				answer, err := client.Get(server.URL + "/api/v1/configmaps?watch=true&" + test.query)
				if err != nil {
					t.Fatal(err)
				}
				_, _ = io.Copy(io.Discard, answer.Body)
				_ = answer.Body.Close()
				code = answer.StatusCode
			}
			if got := strings.Join(requests, " "); got != test.requests || code != test.code || rewound != test.rewound {
				t.Errorf("%s, status %d, rewound %d times", got, code, rewound)
			}
		})
	}
}

// TestRefusedWatchesAreForgotten: a server that refuses all watches makes the transport remember
// none of them, however many objects are watched.
func TestRefusedWatchesAreForgotten(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) }))
	defer server.Close()
	refused := Transport(http.DefaultTransport, nil)
	for i := range 10 {
		answer, err := (&http.Client{Transport: refused}).Get(fmt.Sprintf("%s/api/v1/configmaps?watch=true&fieldSelector=metadata.name%%3D%d", server.URL, i))
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
	}
	if remembered := len(refused.(*transport).broken); remembered != 0 {
		t.Errorf("%d refused watches are remembered", remembered)
	}
}

// rewinding is an API server with one ConfigMap. Its watches are silent where it is behind.
type rewinding struct {
	mutex   sync.Mutex
	version int
	watches map[chan struct{}]bool
	opened  chan struct{}
	// refused is how many watches are refused, by an API server that does not know rights yet.
	refused int
}

// restore begins again at a version, and ends all watches.
func (s *rewinding) restore(version, refused int) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.version, s.refused = version, refused
	for end := range s.watches {
		close(end)
	}
	s.watches = map[chan struct{}]bool{}
}

func (s *rewinding) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	s.mutex.Lock()
	version := s.version
	end := make(chan struct{})
	refuse := r.URL.Query().Get("watch") != "" && s.refused > 0
	if refuse {
		s.refused--
	} else if r.URL.Query().Get("watch") != "" {
		s.watches[end] = true
	}
	s.mutex.Unlock()
	switch from := r.URL.Query().Get("resourceVersion"); {
	case refuse:
		w.WriteHeader(http.StatusForbidden)
	case r.URL.Query().Get("sendInitialEvents") == "true":
		w.WriteHeader(http.StatusUnprocessableEntity)
		_, _ = io.WriteString(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Invalid","code":422}`)
	case r.URL.Query().Get("watch") != "":
		w.(http.Flusher).Flush()
		s.opened <- struct{}{}
		select {
		case <-end:
		case <-r.Context().Done():
		}
	case from != "" && from != "0" && from > fmt.Sprint(version):
		w.WriteHeader(http.StatusGatewayTimeout)
		_, _ = io.WriteString(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Timeout","code":504,"details":{"causes":[{"reason":"ResourceVersionTooLarge"}]}}`)
	default:
		_, _ = fmt.Fprintf(w, `{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"%d"},"items":[{"metadata":{"name":"one","namespace":"n","uid":"u","resourceVersion":"%d"}}]}`, version, version)
	}
}

// TestCacheListsAnew: a cache of the client library shows what a restored store has, and not
// before it is known that the store was restored.
func TestCacheListsAnew(t *testing.T) {
	t.Run("the watch is resumed", func(t *testing.T) { listsAnew(t, 0) })
	t.Run("the watch is refused once, and the cache lists", func(t *testing.T) { listsAnew(t, 1) })
}

func listsAnew(t *testing.T, refused int) {
	world := &rewinding{version: 900, watches: map[chan struct{}]bool{}, opened: make(chan struct{}, 100)}
	server := httptest.NewServer(world)
	defer server.Close()
	var rewound atomic.Bool
	client, err := kubernetes.NewForConfig(Config(&rest.Config{Host: server.URL}, func() { rewound.Store(true) }))
	if err != nil {
		t.Fatal(err)
	}
	factory := informers.NewSharedInformerFactory(client, 0)
	seen := make(chan string, 100)
	tell := func(object any) {
		if shown, ok := object.(*corev1.ConfigMap); ok {
			seen <- shown.ResourceVersion
		}
	}
	_, err = factory.Core().V1().ConfigMaps().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: tell, UpdateFunc: func(_, object any) { tell(object) }})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	factory.Start(ctx.Done())
	await := func(version string) {
		t.Helper()
		for limit := time.After(time.Minute); ; {
			select {
			case got := <-seen:
				if got == version {
					return
				}
			case <-limit:
				t.Fatalf("version %s is never shown", version)
			}
		}
	}
	await("900")
	<-world.opened
	world.restore(500, refused)
	await("500")
	if !rewound.Load() {
		t.Error("the cache shows what the restored store has, but the rewind was not reported")
	}
	cancel()
	factory.Shutdown()
}
