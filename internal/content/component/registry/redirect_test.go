package registry

import (
	"errors"
	"net/http"
	"net/url"
	"testing"

	"go.landscaper.dev/internal/cluster/egress"
)

// seen remembers the last request instead of sending it.
type seen struct{ request *http.Request }

func (s *seen) RoundTrip(request *http.Request) (*http.Response, error) {
	s.request = request
	return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody, Request: request}, nil
}

// TestRedirectsCarryNoCredentials: the HTTP client keeps headers for another port of the same host,
// and for hosts below it; another server may listen there.
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
			g := &guard{next: next, outside: next, scheme: "https", host: "r.example.org"}
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

// TestOutside shows that a name which a registry outside has named does not lead to
// this machine, while the registry of a lab may be on it.
func TestOutside(t *testing.T) {
	here := serve(t, func(http.ResponseWriter, *http.Request) {})
	reach, err := NewPool(egress.Policy{AllowLoopback: true}, DefaultTimeouts()).reach(trust{})
	if err != nil {
		t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, here.URL, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := reach.home.RoundTrip(request)
	if err != nil {
		t.Fatal(err)
	}
	if err := response.Body.Close(); err != nil {
		t.Error(err)
	}
	g := &guard{next: reach.home, outside: reach.outside, scheme: "http", host: "r.example.org"}
	request.Response = &http.Response{StatusCode: http.StatusTemporaryRedirect}
	// The name is as good as one that is resolved to this machine.
	request.URL.Host = here.name()
	if response, err := g.elsewhere(request); !errors.Is(err, ErrRedirect) {
		t.Errorf("connected to this machine on behalf of a registry outside: %v", err)
		_ = response.Body.Close()
	}
}

// TestRedirectsThroughAProxy: the proxy is the operator's, wherever it is, also for what a
// registry outside has named.
func TestRedirectsThroughAProxy(t *testing.T) {
	proxy := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Host == "storage.example.org" {
			_, _ = w.Write([]byte("content"))
			return
		}
		// What follows needs a connection of its own.
		w.Header().Set("Connection", "close")
		http.Redirect(w, r, "http://storage.example.org/blob", http.StatusTemporaryRedirect)
	})
	for reason, policy := range map[string]egress.Policy{
		"on this machine, which is not allowed":      {Proxy: proxy.URL},
		"while private networks are not allowed":     {Proxy: proxy.URL, DenyPrivate: true},
		"of a program that acts for its user":        func() egress.Policy { p := egress.Unrestricted(); p.Proxy = proxy.URL; return p }(),
		"on this machine, while that may be reached": {Proxy: proxy.URL, AllowLoopback: true},
	} {
		t.Run(reason, func(t *testing.T) {
			r := NewClient(NewPool(policy, DefaultTimeouts()), Options{}).Registry("http", "registry.example.org")
			if err := read(t.Context(), r, blob("content")); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestNamedAddresses: where a registry says that tokens are to be had, it may lead us no further than with a
// redirect. What answers there would become a token, which goes to the registry.
func TestNamedAddresses(t *testing.T) {
	for _, test := range []struct {
		reason, registry, to string
		refused, outside     bool
	}{
		{"a server for tokens", "https://r.example.org", "https://auth.example.org/token", false, true},
		{"an internal address", "https://r.example.org", "https://10.0.0.1/token", true, false},
		{"this machine", "https://r.example.org", "https://localhost/token", true, false},
		{"no longer encrypted", "https://r.example.org", "http://vault.internal.example.org/v1/token", true, false},
		{"a registry that is not encrypted either", "http://r.example.org", "http://auth.example.org/token", false, true},
		{"a registry of the same network", "https://10.0.0.2", "https://10.0.0.1/token", false, false},
	} {
		t.Run(test.reason, func(t *testing.T) {
			home, outside := &seen{}, &seen{}
			at, err := url.Parse(test.registry)
			if err != nil {
				t.Fatal(err)
			}
			// Redirects may be switched off: they are for contents.
			g := &guard{next: home, outside: outside, scheme: at.Scheme, host: at.Host, redirects: Redirects{Refuse: true}}
			request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, test.to, http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			response, err := g.RoundTrip(request)
			if err == nil {
				_ = response.Body.Close()
			}
			if errors.Is(err, ErrRedirect) != test.refused || (outside.request != nil) != test.outside || (home.request != nil) != (!test.refused && !test.outside) {
				t.Errorf("got %v, outside %t, home %t", err, outside.request != nil, home.request != nil)
			}
		})
	}
}
