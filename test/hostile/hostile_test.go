package hostile

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// world starts a world that ends with the test.
func world(t *testing.T) (*World, *http.Client) {
	t.Helper()
	w, err := NewWorld()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(w.CA)
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, DisableCompression: true, ForceAttemptHTTP2: true}
	t.Cleanup(transport.CloseIdleConnections)
	return w, &http.Client{Transport: transport}
}

// TestNames shows that each way has a name of its own.
func TestNames(t *testing.T) {
	for of, ways := range map[string][]Way{"targets": Targets(), "registries": Registries()} {
		t.Run(of, func(t *testing.T) {
			seen := map[string]bool{}
			for _, way := range ways {
				if seen[way.Name] || way.Reason == "" || len(way.Name) > 40 || strings.ToLower(way.Name) != way.Name {
					t.Errorf("%q: %q", way.Name, way.Reason)
				}
				seen[way.Name] = true
				if (way.Serve == nil) == (way.Connection == nil) {
					t.Errorf("%q has none or two behaviours", way.Name)
				}
			}
		})
	}
}

// TestWays calls every server as a careful client does: with limits. Nothing may hold
// it longer than it wants, and each is called once.
func TestWays(t *testing.T) {
	w, client := world(t)
	const limit = 1 << 20
	for of, ways := range map[string][]Way{"target": Targets(), "registry": Registries()} {
		for _, way := range ways {
			t.Run(of+"/"+way.Name, func(t *testing.T) {
				server, err := w.Start(way)
				if err != nil {
					t.Fatal(err)
				}
				var read int64
				// A busy machine needs more than one attempt to get there.
				for server.Requests() == 0 && t.Context().Err() == nil {
					ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
					read = call(ctx, client, server.URL()+"/v2/a/manifests/b?watch=true", limit)
					cancel()
				}
				if err := w.AwaitReached(t.Context(), 1); err != nil {
					t.Errorf("the server was not called (%v)", err)
				}
				if read > limit {
					t.Errorf("%d bytes came through the limit", read)
				}
			})
		}
	}
}

func call(ctx context.Context, client *http.Client, url string, limit int64) int64 {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0
	}
	request.Header.Set("Authorization", "Bearer "+Canary)
	response, err := client.Do(request)
	if err != nil {
		return 0 // as it should be
	}
	defer response.Body.Close() //nolint:errcheck // nothing that is hostile matters
	read, _ := io.Copy(io.Discard, io.LimitReader(response.Body, limit))
	return read
}

// TestWitness shows that the witness sees who follows a redirect, and whether it has
// credentials with it.
func TestWitness(t *testing.T) {
	w, client := world(t)
	for _, way := range anyRequest() {
		if way.Name != "redirect" {
			continue
		}
		server, err := w.Start(way)
		if err != nil {
			t.Fatal(err)
		}
		call(t.Context(), client, server.URL(), 1<<10)
	}
	if requests, betrayed := w.Witnessed(); requests != 1 || betrayed != 0 {
		t.Errorf("a client of Go's: %d requests, %d with credentials; want 1 and 0", requests, betrayed)
	}
	call(t.Context(), client, "http://"+w.witnessAt, 1<<10)
	if _, betrayed := w.Witnessed(); betrayed != 1 {
		t.Errorf("%d requests with credentials, want 1", betrayed)
	}
}

// TestBound shows that an answer without end has one: a test must not harm its machine.
func TestBound(t *testing.T) {
	w, _ := world(t)
	server, err := w.Start(Way{Name: "a", Reason: "b", Serve: endlessBody})
	if err != nil {
		t.Fatal(err)
	}
	server.pour(io.Discard, bytes.Repeat([]byte("x"), 1<<20))
	if sent := server.Sent(); sent != MaxBytes {
		t.Errorf("%d bytes, want %d", sent, MaxBytes)
	}
	server.pour(failing{}, []byte("x"))
	if sent := server.Sent(); sent != MaxBytes {
		t.Errorf("%d bytes after a client that hangs up, want %d", sent, MaxBytes)
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errors.New("gone") }
