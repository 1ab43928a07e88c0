package connection

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"go.landscaper.dev/internal/landscape/inspect/reading"
)

// restored is an API server with one Installation, whose store goes back to an earlier version.
type restored struct {
	mutex   sync.Mutex
	version int
	phase   string
	// watching receives the end of each watch that is opened.
	watching chan chan struct{}
}

func (s *restored) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	s.mutex.Lock()
	version, phase := s.version, s.phase
	s.mutex.Unlock()
	switch query := r.URL.Query(); {
	case query.Get("sendInitialEvents") == "true":
		w.WriteHeader(http.StatusUnprocessableEntity)
		_, _ = io.WriteString(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Invalid","code":422}`)
	case query.Get("watch") != "":
		// The client library lists anew by itself after a watch without any event.
		if query.Get("resourceVersion") <= fmt.Sprint(version) && strings.HasSuffix(r.URL.Path, "/installations") {
			_, _ = fmt.Fprintf(w, `{"type":"MODIFIED","object":{"kind":"Installation","apiVersion":"landscaper.gardener.cloud/v1alpha1","metadata":{"name":"shop","namespace":"default","uid":"u","resourceVersion":"%d"},"status":{"phase":%q}}}`, version, phase)
		}
		w.(http.Flusher).Flush()
		end := make(chan struct{})
		if strings.HasSuffix(r.URL.Path, "/installations") {
			s.watching <- end
		}
		select {
		case <-end:
		case <-r.Context().Done():
		}
	case strings.HasSuffix(r.URL.Path, "/installations"):
		_, _ = fmt.Fprintf(w, `{"kind":"InstallationList","apiVersion":"landscaper.gardener.cloud/v1alpha1","metadata":{"resourceVersion":"%d"},"items":[{"metadata":{"name":"shop","namespace":"default","uid":"u","resourceVersion":"%d"},"status":{"phase":%q}}]}`, version, version, phase)
	default:
		_, _ = fmt.Fprintf(w, `{"kind":"List","apiVersion":"v1","metadata":{"resourceVersion":"%d"},"items":[]}`, version)
	}
}

// TestFollowAfterARestore: who follows a landscape sees what a restored store has. A watch that
// is ahead of the API server is silent, so that "inspect --watch" would show a job for ever that
// the cluster does not know any more.
func TestFollowAfterARestore(t *testing.T) {
	world := &restored{version: 900, phase: "Progressing", watching: make(chan chan struct{}, 100)}
	server := httptest.NewServer(world)
	defer server.Close()
	on, err := flagsFor(t, "--server="+server.URL).Connect()
	if err != nil {
		t.Fatal(err)
	}
	live, err := reading.Follow(t.Context(), on.Watches, "default")
	if err != nil {
		t.Fatal(err)
	}
	defer live.Close()
	phase := func() string {
		found := live.Snapshot().Installations
		if len(found) != 1 {
			return fmt.Sprintf("%d Installations", len(found))
		}
		return string(found[0].Status.InstallationPhase)
	}
	if got := phase(); got != "Progressing" {
		t.Fatalf("at first it shows %s", got)
	}
	broken := <-world.watching
	world.mutex.Lock()
	world.version, world.phase = 500, "Succeeded"
	world.mutex.Unlock()
	close(broken)
	for limit := time.After(time.Minute); phase() != "Succeeded"; {
		select {
		case <-live.Changed():
		case <-limit:
			t.Fatalf("the restored state is never shown, but %s", phase())
		}
	}
}
