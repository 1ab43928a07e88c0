package registry

import (
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"time"

	"go.landscaper.dev/internal/cluster/egress"
)

// TestDrip: a registry that sends a byte now and then never stands still.
func TestDrip(t *testing.T) {
	drip := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "1000000")
		for r.Context().Err() == nil {
			if _, err := w.Write([]byte("x")); err != nil {
				return
			}
			w.(http.Flusher).Flush()
			select {
			case <-r.Context().Done():
			case <-time.After(5 * time.Millisecond):
			}
		}
	}
	for _, test := range []struct {
		reason   string
		timeouts Timeouts
		path     string
		want     string
	}{
		{"a content", Timeouts{Connect: time.Minute, Answer: time.Minute, Stall: time.Second, Rate: 16 << 10}, "/v2/repo/blobs/x", "less than 16384 bytes in a second"},
		{"what is no content ends after a time, however steadily it comes", Timeouts{Connect: time.Minute, Answer: time.Minute, Stall: time.Second}, "/token", "not complete after 3s"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			home := serve(t, drip)
			g := &guard{next: egress.Policy{AllowLoopback: true}.Transport(egress.Timeouts{}), scheme: "http", host: home.name(), watch: Watch{Timeouts: test.timeouts}}
			request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, home.URL+test.path, nil)
			if err != nil {
				t.Fatal(err)
			}
			response, err := g.RoundTrip(request)
			if err != nil {
				t.Fatal(err)
			}
			defer response.Body.Close() //nolint:errcheck // nothing is written
			begin := time.Now()
			_, err = io.Copy(io.Discard, response.Body)
			if !errors.Is(err, ErrStalled) || !strings.Contains(err.Error(), test.want) || time.Since(begin) > time.Minute {
				t.Errorf("after %s: %v", time.Since(begin), err)
			}
		})
	}
}

// TestSlowReaders: the time that a reader takes is not that of the server.
func TestSlowReaders(t *testing.T) {
	a := &answer{body: io.NopCloser(iotest.OneByteReader(strings.NewReader(strings.Repeat("x", 100)))), timeouts: Timeouts{Stall: time.Minute, Rate: 1 << 30}}
	if n, err := io.Copy(io.Discard, a); n != 100 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
}

// late is an answer of which something comes in the moment in which it is given up.
type late struct {
	closed chan struct{}
	once   sync.Once
}

func (l *late) Read(p []byte) (int, error) {
	<-l.closed
	return copy(p, "x"), nil
}

func (l *late) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

// TestLateAnswers: what was given up cannot be read on, and that is why it ends.
func TestLateAnswers(t *testing.T) {
	var noted error
	a := &answer{body: &late{closed: make(chan struct{})}, timeouts: Timeouts{Stall: time.Millisecond}, failed: func(err error) { noted = err }}
	if _, err := a.Read(make([]byte, 1)); !errors.Is(err, ErrStalled) || !errors.Is(noted, ErrStalled) {
		t.Errorf("%v, noted %v", err, noted)
	}
}

// TestOutages: a host that does not answer delays one request of each caller of this host, and no
// other request.
func TestOutages(t *testing.T) {
	var requests atomic.Int32
	hang := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		<-r.Context().Done()
	})
	well := serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("content")) })
	pool := NewPool(egress.Policy{AllowLoopback: true}, Timeouts{Connect: time.Minute, Answer: time.Second, Stall: time.Minute, Outage: time.Minute})
	now := time.Now()
	pool.outages.now = func() time.Time { return now }
	ask := func(tenant string, host *host) error {
		return read(t.Context(), NewClient(pool, Options{Tenant: tenant}).Registry("http", host.name()), blob("content"))
	}
	var outage *OutageError
	var network net.Error
	if err := ask("a", hang); errors.As(err, &outage) || !errors.As(err, &network) || !network.Timeout() {
		t.Fatalf("the first: %v", err)
	}
	for range 10 {
		if err := ask("a", hang); !errors.As(err, &outage) || !errors.As(err, &network) || !network.Timeout() || !strings.Contains(err.Error(), "is not asked again for 1m0s") {
			t.Fatalf("the next: %v", err)
		}
	}
	if got := requests.Load(); got != 1 {
		t.Errorf("%d requests", got)
	}
	if err := ask("a", well); err != nil {
		t.Errorf("another host: %v", err)
	}
	if err := ask("b", hang); errors.As(err, &outage) || requests.Load() != 2 {
		t.Errorf("another tenant finds out for itself: %v", err)
	}
	now = now.Add(time.Minute)
	if err := ask("a", hang); errors.As(err, &outage) || requests.Load() != 3 {
		t.Errorf("after the time it is asked again: %v", err)
	}
	now = now.Add(119 * time.Second)
	if err := ask("a", hang); !errors.As(err, &outage) {
		t.Errorf("the second time is longer: %v", err)
	}
}

// TestOutagesEnd is about the memory alone.
func TestOutagesEnd(t *testing.T) {
	now := time.Now()
	o := NewOutages(time.Second, func() time.Time { return now })
	at := exchange{"a", "r.example.org"}
	for range 100 {
		o.failed(at, ErrStalled)
	}
	if left := o.known[at].until.Sub(now); left != maxOutage*time.Second {
		t.Errorf("it is left alone for %s", left)
	}
	o.answered(at)
	if err := o.check(at); err != nil {
		t.Errorf("it has answered: %v", err)
	}
	for i := range 2 * maxOutages {
		o.failed(exchange{"a", strings.Repeat("x", i%300) + string(rune('a'+i%26)) + time.Duration(i).String()}, ErrStalled)
	}
	if len(o.known) > maxOutages {
		t.Errorf("%d hosts are remembered", len(o.known))
	}
	never := NewOutages(0, time.Now)
	never.failed(at, ErrStalled)
	if err := never.check(at); err != nil || len(never.known) != 0 {
		t.Errorf("a command line asks again at once: %v", err)
	}
}
