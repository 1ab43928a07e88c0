package listen

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// ask sends a request on a connection, and returns the status.
func ask(t *testing.T, c net.Conn, path string) int {
	t.Helper()
	_ = c.SetDeadline(time.Now().Add(10 * time.Second))
	if _, err := io.WriteString(c, "GET "+path+" HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		return 0
	}
	response, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		return 0
	}
	_, _ = io.Copy(io.Discard, response.Body)
	_ = response.Body.Close() // it was read
	return response.StatusCode
}

// serve starts an endpoint that trusts clients which ask for /trusted, and
// reports each connection that has ended.
func serve(t *testing.T, limits Limits) (*Listener, <-chan struct{}, func(from string) net.Conn) {
	t.Helper()
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	listener := Limit(inner, limits)
	server := Server(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/trusted" {
			Trust(r)
		}
	}))
	closed := make(chan struct{}, 1000)
	server.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateClosed {
			closed <- struct{}{}
		}
	}
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() { _ = server.Close() })
	return listener, closed, func(from string) net.Conn {
		dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
		c, err := dialer.DialContext(t.Context(), "tcp", inner.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		return c
	}
}

func (l *Listener) count() int {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return l.all.Len()
}

// TestStrangersTakeNoPlaces: connections that send nothing take neither the places of a collector
// that was accepted, nor those of a new one.
func TestStrangersTakeNoPlaces(t *testing.T) {
	limits := Limits{Total: 6, PerClient: 3}
	for _, test := range []struct {
		reason    string
		strangers []string
	}{
		{"from one address", []string{"127.0.0.2"}},
		{"from the address of the collector", []string{"127.0.0.1"}},
		{"from many addresses", []string{"127.0.0.2", "127.0.0.3", "127.0.0.4", "127.0.0.5"}},
	} {
		t.Run(test.reason, func(t *testing.T) {
			listener, _, dial := serve(t, limits)
			known := dial("127.0.0.1")
			if got := ask(t, known, "/trusted"); got != http.StatusOK {
				t.Fatalf("before: %d", got)
			}
			for range 20 {
				for _, from := range test.strangers {
					dial(from)
				}
			}
			if got := ask(t, known, "/"); got != http.StatusOK {
				t.Errorf("the collector on its connection: %d", got)
			}
			if got := ask(t, dial("127.0.0.1"), "/trusted"); got != http.StatusOK {
				t.Errorf("a new collector: %d", got)
			}
			if got := listener.count(); got > limits.Total {
				t.Errorf("%d connections, want at most %d", got, limits.Total)
			}
		})
	}
}

// TestTrustedAreBounded: clients that were accepted have limits, too, and what ends leaves its place.
func TestTrustedAreBounded(t *testing.T) {
	_, closed, dial := serve(t, Limits{Total: 2, PerClient: 2})
	first, second := dial("127.0.0.1"), dial("127.0.0.1")
	for _, c := range []net.Conn{first, second} {
		if got := ask(t, c, "/trusted"); got != http.StatusOK {
			t.Fatalf("within the limits: %d", got)
		}
	}
	if got := ask(t, dial("127.0.0.1"), "/trusted"); got != 0 {
		t.Errorf("above the limits: %d", got)
	}
	_ = first.Close()
	<-closed
	if got := ask(t, dial("127.0.0.1"), "/trusted"); got != http.StatusOK {
		t.Errorf("after one has ended: %d", got)
	}
}

// TestClient: what one client has is one client.
func TestClient(t *testing.T) {
	for _, test := range []struct{ reason, one, other string }{
		{"two ports", "192.0.2.1:1", "192.0.2.1:2"},
		{"an address that is mapped", "192.0.2.1:1", "[::ffff:192.0.2.1]:1"},
		{"two addresses of a network of IPv6", "[2001:db8::1]:1", "[2001:db8::2]:1"},
		{"a zone", "[fe80::1%a]:1", "[fe80::1%b]:1"},
		{"no addresses", "@", ""},
	} {
		t.Run(test.reason, func(t *testing.T) {
			one, other := httptest.NewRequest(http.MethodGet, "/", nil), httptest.NewRequest(http.MethodGet, "/", nil)
			one.RemoteAddr, other.RemoteAddr = test.one, test.other
			if Client(one) != Client(other) {
				t.Errorf("%s and %s", Client(one), Client(other))
			}
		})
	}
}
