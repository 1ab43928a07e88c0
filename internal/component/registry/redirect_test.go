package registry

import (
	"context"
	"errors"
	"net"
	"net/http"
	"testing"

	"go.landscaper.dev/internal/egress"
)

// seen remembers the last request instead of sending it.
type seen struct{ request *http.Request }

func (s *seen) RoundTrip(request *http.Request) (*http.Response, error) {
	s.request = request
	return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody, Request: request}, nil
}

// TestRedirectsCarryNoCredentials: the HTTP client keeps headers for another port of
// the same host, and for hosts below it; somebody else may listen there.
func TestRedirectsCarryNoCredentials(t *testing.T) {
	for _, test := range []struct {
		reason, to string
		kept       bool
	}{
		{"another path of the registry", "https://r.example.org/v2/other", true},
		{"another port of its host", "https://r.example.org:8443/b", false},
		{"a host below it", "https://cdn.r.example.org/b", false},
		{"another host", "https://s.example.org/b", false},
	} {
		t.Run(test.reason, func(t *testing.T) {
			next := &seen{}
			g := &guard{next: next, scheme: "https", host: "r.example.org"}
			request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, test.to, http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			request.Header.Set("Authorization", "Bearer "+secret)
			request.Header.Set("Cookie", secret)
			request.Response = &http.Response{StatusCode: http.StatusTemporaryRedirect}
			response, err := g.RoundTrip(request)
			if err != nil {
				t.Errorf("%v", err)
				return
			}
			if err := response.Body.Close(); err != nil {
				t.Error(err)
			}
			if kept := next.request.Header.Get("Authorization") != "" || next.request.Header.Get("Cookie") != ""; kept != test.kept {
				t.Errorf("the credentials went along: %t", kept)
			}
			if request.Header.Get("Authorization") == "" {
				t.Error("the request of the caller was changed")
			}
		})
	}
}

// TestDialer shows that a name which a registry outside has named does not lead to
// this machine, while the registry of a lab may be on it.
func TestDialer(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	pool := NewPool(egress.Policy{AllowLoopback: true}, DefaultTimeouts())
	dial := pool.dialer(pool.policy.DialContext)
	connection, err := dial(t.Context(), "tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	if err := connection.Close(); err != nil {
		t.Error(err)
	}
	if _, err := dial(context.WithValue(t.Context(), fromOutside{}, true), "tcp", listener.Addr().String()); !errors.Is(err, ErrRedirect) {
		t.Errorf("connected to this machine on behalf of a registry outside: %v", err)
	}
}
