package egress

import (
	"bufio"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"golang.org/x/time/rate"
)

// TestPacedWrites: what writes too often waits, until the connection ends.
func TestPacedWrites(t *testing.T) {
	near, far := net.Pipe()
	go func() { _, _ = io.Copy(io.Discard, far) }()
	connection := pace(near, rate.NewLimiter(rate.Every(time.Hour), 3))
	for range 3 {
		if n, err := connection.Write([]byte("ab")); n != 2 || err != nil {
			t.Fatalf("%d bytes, %v", n, err)
		}
	}
	waits := make(chan error)
	go func() {
		_, err := connection.Write([]byte("ab"))
		waits <- err
	}()
	if err := connection.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-waits; !errors.Is(err, net.ErrClosed) {
		t.Errorf("the fourth: %v", err)
	}
}

// TestPingsWithoutEnd: a server that asks for answers with every few bytes gets a
// bounded number of them.
func TestPingsWithoutEnd(t *testing.T) {
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.StartTLS()
	defer server.Close()
	listener, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: server.TLS.Certificates, NextProtos: []string{"h2"}})
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close() //nolint:errcheck // the test is over
	const settings, ping, pings = "\x00\x00\x00\x04\x00\x00\x00\x00\x00", "\x00\x00\x08\x06\x00\x00\x00\x00\x0012345678", 500_000
	answers := make(chan int, 1)
	go func() {
		connection, err := listener.Accept()
		if err != nil {
			return
		}
		defer connection.Close() //nolint:errcheck // the test is over
		counted := make(chan int)
		go func() {
			count := 0
			for reader := bufio.NewReader(connection); ; count++ {
				// An answer repeats the eight bytes.
				for matched := 0; matched < 8; {
					c, err := reader.ReadByte()
					if err != nil {
						counted <- count
						return
					}
					if matched++; c != "12345678"[matched-1] {
						matched = 0
					}
				}
			}
		}()
		_, _ = io.WriteString(connection, settings)
		block := []byte(strings.Repeat(ping, 1_000))
		for range pings / 1_000 {
			_ = connection.SetWriteDeadline(time.Now().Add(300 * time.Millisecond))
			if _, err := connection.Write(block); err != nil {
				break
			}
		}
		_ = connection.SetReadDeadline(time.Now())
		answers <- <-counted
	}()
	transport := (Policy{AllowLoopback: true}).Transport(Timeouts{})
	transport.TLSClientConfig.RootCAs = server.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
	transport.TLSClientConfig.ServerName = "example.com"
	defer transport.CloseIdleConnections()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://"+listener.Addr().String(), nil)
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		if response, err := transport.RoundTrip(request); err == nil {
			_ = response.Body.Close()
		}
	}()
	if count := <-answers; count < 1_000 || count > pings/2 {
		t.Errorf("%d answers to %d pings", count, pings)
	}
}
