package egress

import (
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"golang.org/x/time/rate"
)

// TestPacedWrites: what writes too often waits, until the connection ends.
func TestPacedWrites(t *testing.T) {
	near, far := net.Pipe()
	go func() { _, _ = io.Copy(io.Discard, far) }()
	const pause = 20 * time.Millisecond
	limiter := rate.NewLimiter(rate.Every(pause), 3)
	connection := pace(near, limiter)
	began := time.Now()
	for range 3 + 5 {
		if n, err := connection.Write([]byte("ab")); n != 2 || err != nil {
			t.Fatalf("%d bytes, %v", n, err)
		}
	}
	if took := time.Since(began); took < 4*pause {
		t.Errorf("eight writes, of which three may come at once, took %s", took)
	}
	// The next one would wait for an hour.
	limiter.SetLimit(rate.Every(time.Hour))
	waits := make(chan error)
	go func() {
		_, err := connection.Write([]byte("ab"))
		waits <- err
	}()
	if err := connection.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-waits; !errors.Is(err, net.ErrClosed) {
		t.Errorf("the last: %v", err)
	}
}

// TestPacedTransports: what a transport dials is paced.
func TestPacedTransports(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close() //nolint:errcheck // the test is over
	connection, err := (Policy{AllowLoopback: true}).Transport(Timeouts{}).DialContext(t.Context(), "tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close() //nolint:errcheck // the test is over
	if p, ok := connection.(*paced); !ok || p.limiter.Limit() != writesPerSecond || p.limiter.Burst() != writesAtOnce {
		t.Errorf("%T", connection)
	}
}
