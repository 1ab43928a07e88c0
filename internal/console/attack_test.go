package console

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestFlood: a visitor who opens stream after stream is refused, keeps no other visitor out, and has a place again
// for each page that is closed.
func TestFlood(t *testing.T) {
	flooding := sees("installations")
	flooding.name = "mallory"
	other := sees("installations")
	other.name = "jane"
	byName := byHeader{"mallory": flooding, "jane": other}
	handler, err := New(t.Context(), Options{Source: still{landscape()}, Entrance: byName})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(handler)
	defer server.Close()
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	open := func(name string) (status int, leave func()) {
		t.Helper()
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+"/live/overview", nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("X-Name", name)
		answer, err := client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		return answer.StatusCode, sync.OnceFunc(func() { _ = answer.Body.Close() })
	}
	var first func()
	for i := range maxStreamsOfOne {
		status, leave := open("mallory")
		defer leave()
		if status != http.StatusOK {
			t.Fatalf("stream %d: %d", i, status)
		}
		if first == nil {
			first = leave
		}
	}
	for range 100 {
		status, leave := open("mallory")
		leave()
		if status != http.StatusServiceUnavailable {
			t.Fatalf("a stream too many: %d", status)
		}
	}
	status, leave := open("jane")
	defer leave()
	if status != http.StatusOK {
		t.Errorf("another visitor: %d", status)
	}
	first()
	for {
		// The server notices a while after the client that the connection has ended.
		status, leave := open("mallory")
		leave()
		if status == http.StatusOK {
			return
		}
		<-time.After(10 * time.Millisecond)
	}
}

// byHeader is an entrance that believes what a request says.
type byHeader map[string]guest

func (byHeader) Host(string) bool    { return true }
func (byHeader) Posts() []string     { return nil }
func (byHeader) Open(*http.ServeMux) {}
func (b byHeader) Enter(_ http.ResponseWriter, r *http.Request) Visitor {
	return b[r.Header.Get("X-Name")]
}

// TestNoUpgrade: the console speaks no other protocol than HTTP, so that the rules for its requests are all.
func TestNoUpgrade(t *testing.T) {
	handler := newConsole(t)
	session, _, _ := strings.Cut(enter(t, handler).String(), ";")
	for _, protocol := range []string{"websocket", "h2c"} {
		for _, path := range []string{"/", "/live/overview"} {
			answer := ask(handler, http.MethodGet, path, "Cookie", session, "Connection", "Upgrade", "Upgrade", protocol, "Sec-WebSocket-Version", "13", "Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ==")
			if answer.Code != http.StatusOK || answer.Header().Get("Upgrade") != "" {
				t.Errorf("%s at %s: %d %s", protocol, path, answer.Code, answer.Header())
			}
		}
	}
}

// TestCachesAreNotPoisoned: no answer repeats what a request says about itself besides its address, and none is
// to be kept.
func TestCachesAreNotPoisoned(t *testing.T) {
	handler := newConsole(t)
	session, _, _ := strings.Cut(enter(t, handler).String(), ";")
	const evil = "evil.example"
	for _, path := range []string{"/", "/n/shop/root", "/app.js", "/live/overview", "/session", "/absent"} {
		plain := ask(handler, http.MethodGet, path, "Cookie", session)
		for _, header := range []string{"X-Forwarded-Host", "X-Forwarded-Proto", "X-Forwarded-Prefix", "X-Original-Url", "X-Rewrite-Url", "X-Http-Method-Override", "Forwarded", "Accept-Language", "User-Agent"} {
			answer := ask(handler, http.MethodGet, path, "Cookie", session, header, evil)
			if answer.Code != plain.Code || answer.Body.String() != plain.Body.String() || answer.Header().Get("Cache-Control") != "no-store" {
				t.Errorf("%s with %s: %d %s", path, header, answer.Code, answer.Header())
			}
		}
	}
}
