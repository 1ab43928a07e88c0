package registry

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/registry/remote/auth"

	"go.landscaper.dev/internal/cluster/egress"
	"go.landscaper.dev/internal/content/component/cache"
	"go.landscaper.dev/internal/content/component/credential"
	"go.landscaper.dev/internal/content/component/oci"
)

const secret = "s3cr3t"

// host is a server that notes what was asked of it.
type host struct {
	*httptest.Server
	mu       sync.Mutex
	requests []string
	leaked   []string
}

func serve(t *testing.T, handler http.HandlerFunc) *host {
	t.Helper()
	h := &host{}
	h.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.mu.Lock()
		h.requests = append(h.requests, r.Method+" "+r.URL.Path)
		if r.Header.Get("Authorization") != "" {
			h.leaked = append(h.leaked, r.URL.Path)
		}
		h.mu.Unlock()
		handler(w, r)
	}))
	t.Cleanup(h.Close)
	return h
}

func (h *host) name() string { return strings.TrimPrefix(h.URL, "http://") }

// alias is another name for the same machine, so that it counts as another host.
func (h *host) alias() string { return strings.Replace(h.URL, "127.0.0.1", "localhost", 1) }

func (h *host) counts() (requests, withCredentials int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.requests), len(h.leaked)
}

func client(h *host, options Options, timeouts Timeouts) *Registry {
	options.Credentials = &credential.Store{}
	options.Credentials.AddConsumer(map[string]string{"hostname": h.name()}, credential.Properties{"username": "user", "password": secret})
	return NewClient(NewPool(egress.Policy{AllowLoopback: true}, timeouts), options).Registry("http", h.name())
}

func basic(r *http.Request) bool {
	user, password, ok := r.BasicAuth()
	return ok && user == "user" && password == secret
}

// challenge asks for a login.
func challenge(w http.ResponseWriter, value string) {
	w.Header().Set("WWW-Authenticate", value)
	w.WriteHeader(http.StatusUnauthorized)
}

func blob(data string) ocispec.Descriptor {
	return ocispec.Descriptor{MediaType: "application/octet-stream", Digest: digest.FromString(data), Size: int64(len(data))}
}

func read(ctx context.Context, r *Registry, d ocispec.Descriptor) error {
	_, err := oci.Read(ctx, r, "repo", d, 1<<20)
	return err
}

func TestRedirects(t *testing.T) {
	for _, test := range []struct {
		reason  string
		policy  Redirects
		blocked string
	}{
		{"blobs may come from another host", Redirects{}, ""},
		{"an allowed host", Redirects{Hosts: []string{"localhost"}}, ""},
		{"hosts below a domain, but the target is outside", Redirects{Hosts: []string{".example.org"}}, "not one of those allowed"},
		{"redirects can be switched off", Redirects{Refuse: true}, "switched off"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			storage := serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("content")) })
			home := serve(t, func(w http.ResponseWriter, r *http.Request) {
				if !basic(r) {
					challenge(w, `Basic realm="x"`)
					return
				}
				http.Redirect(w, r, storage.alias()+"/blob", http.StatusTemporaryRedirect)
			})
			err := read(t.Context(), client(home, Options{Redirects: test.policy}, DefaultTimeouts()), blob("content"))
			requests, leaked := storage.counts()
			if leaked > 0 {
				t.Error("the credentials went along")
			}
			if test.blocked == "" {
				if err != nil || requests != 1 {
					t.Errorf("%v after %d requests", err, requests)
				}
			} else if !errors.Is(err, ErrRedirect) || !strings.Contains(err.Error(), test.blocked) || requests != 0 {
				t.Errorf("got %v after %d requests", err, requests)
			}
		})
	}
}

func TestRedirectToAnotherPortTakesNoCredentials(t *testing.T) {
	other := serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("content")) })
	home := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if !basic(r) {
			challenge(w, `Basic realm="x"`)
			return
		}
		http.Redirect(w, r, other.URL+"/blob", http.StatusFound)
	})
	if err := read(t.Context(), client(home, Options{}, DefaultTimeouts()), blob("content")); err != nil {
		t.Fatal(err)
	}
	if requests, leaked := other.counts(); requests != 1 || leaked != 0 {
		t.Errorf("%d requests, %d with credentials", requests, leaked)
	}
}

func TestEndlessRedirects(t *testing.T) {
	home := serve(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/v2/repo/again"+r.URL.Path, http.StatusFound)
	})
	if err := read(t.Context(), client(home, Options{}, DefaultTimeouts()), blob("x")); !errors.Is(err, ErrRedirect) {
		t.Errorf("got %v", err)
	}
	if requests, _ := home.counts(); requests > maxRedirects+2 {
		t.Errorf("%d requests", requests)
	}
}

func TestTokenServers(t *testing.T) {
	for _, test := range []struct {
		reason string
		listed bool
		same   bool
	}{
		{"a token server on another host gets no credentials", false, false},
		{"a host that the administrator has named: the library still refuses an internal address", true, false},
		{"a token server on the same machine gets them", false, true},
	} {
		t.Run(test.reason, func(t *testing.T) {
			tokens := serve(t, func(w http.ResponseWriter, r *http.Request) {
				if !basic(r) {
					w.WriteHeader(http.StatusUnauthorized)
					return
				}
				_, _ = w.Write([]byte(`{"token":"abc"}`))
			})
			realm := tokens.alias()
			if test.same {
				realm = tokens.URL
			}
			home := serve(t, func(w http.ResponseWriter, r *http.Request) {
				if r.Header.Get("Authorization") != "Bearer abc" {
					challenge(w, fmt.Sprintf(`Bearer realm="%s/token",service="x"`, realm))
					return
				}
				_, _ = w.Write([]byte("content"))
			})
			options := Options{}
			if test.listed {
				options.TokenHosts = map[string][]string{home.name(): {strings.TrimPrefix(tokens.alias(), "http://")}}
			}
			err := read(t.Context(), client(home, options, DefaultTimeouts()), blob("content"))
			_, leaked := tokens.counts()
			if test.same {
				if err != nil || leaked != 1 {
					t.Errorf("%v, %d requests with credentials", err, leaked)
				}
				return
			}
			if err == nil || leaked != 0 {
				t.Errorf("%v, %d requests with credentials", err, leaked)
			}
			if err != nil && strings.Contains(err.Error(), secret) {
				t.Errorf("the message gives the password away: %v", err)
			}
		})
	}
}

func TestGuardDecides(t *testing.T) {
	for _, test := range []struct {
		reason, home, address, method, authorization string
		redirected                                   bool
		want                                         string
	}{
		{"home", "https://r.example.org", "https://r.example.org/v2/", "GET", "x", false, ""},
		{"home with its port", "https://r.example.org", "https://R.example.org:443/v2/", "GET", "x", false, ""},
		{"credentials to a host that the registry named", "https://r.example.org", "https://evil.example.org/token", "GET", "x", false, "token hosts"},
		{"credentials to a host below", "https://r.example.org", "https://x.r.example.org/token", "GET", "x", false, "token hosts"},
		{"credentials without encryption", "https://r.example.org", "http://r.example.org/token", "GET", "x", false, "token hosts"},
		{"a question without credentials", "https://r.example.org", "https://auth.example.org/token", "GET", "", false, ""},
		{"the token server of the default registry", "https://registry-1.docker.io", "https://auth.docker.io/token", "GET", "x", false, ""},
		{"a redirect that drops encryption", "https://r.example.org", "http://s.example.org/b", "GET", "", true, "encrypted"},
		{"a redirect of a write", "https://r.example.org", "https://s.example.org/b", "PUT", "", true, "only reading"},
		{"a redirect to the metadata of the cloud", "https://r.example.org", "https://169.254.169.254/b", "GET", "", true, "internal address"},
		{"a redirect to this machine", "https://r.example.org", "https://localhost/b", "GET", "", true, "internal address"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			scheme, name, _ := strings.Cut(test.home, "://")
			reached := false
			g := &guard{scheme: scheme, host: name, tokenHosts: wellKnownTokenHosts(name), next: roundTripper(func(r *http.Request) (*http.Response, error) {
				reached = true
				return &http.Response{Body: http.NoBody, Request: r}, nil
			})}
			g.outside = g.next
			request := httptest.NewRequest(test.method, test.address, nil)
			request.Body = http.NoBody
			request.Header.Set("Authorization", test.authorization)
			if test.redirected {
				request.Response = &http.Response{}
			}
			response, err := g.RoundTrip(request)
			if response != nil {
				_ = response.Body.Close()
			}
			if test.want == "" {
				if err != nil || !reached {
					t.Errorf("%v", err)
				}
			} else if !errors.Is(err, ErrRedirect) || !strings.Contains(err.Error(), test.want) || reached {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestHostileAnswers(t *testing.T) {
	right := "content"
	for _, test := range []struct {
		reason string
		answer http.HandlerFunc
		want   func(error) bool
	}{
		{"another content of the same size", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("CONTENT")) }, isDigest},
		{"a longer content of unknown length", func(w http.ResponseWriter, _ *http.Request) {
			w.(http.Flusher).Flush()
			_, _ = w.Write([]byte(right + right))
		}, isDigest},
		{"a shorter content of unknown length", func(w http.ResponseWriter, _ *http.Request) {
			w.(http.Flusher).Flush()
			_, _ = w.Write([]byte(right[:3]))
		}, isDigest},
		{"a cut connection", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "7")
			_, _ = w.Write([]byte(right[:3]))
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		}, func(err error) bool {
			return errors.Is(err, io.ErrUnexpectedEOF) && strings.Contains(err.Error(), "the connection was cut") && strings.Contains(err.Error(), blob(right).Digest.String())
		}},
		{"a connection that is cut before the answer", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, func(err error) bool {
			return err != nil && strings.Contains(err.Error(), "in registry 127.0.0.1")
		}},
		{"no permission is not the same as nothing there", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) }, func(err error) bool {
			return errors.Is(err, ErrDenied) && !errors.Is(err, oci.ErrNotFound)
		}},
		{"nothing there", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) }, func(err error) bool {
			return errors.Is(err, oci.ErrNotFound) && !errors.Is(err, ErrDenied)
		}},
	} {
		t.Run(test.reason, func(t *testing.T) {
			home := serve(t, test.answer)
			if err := read(t.Context(), client(home, Options{}, DefaultTimeouts()), blob(right)); !test.want(err) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func isDigest(err error) bool { return errors.Is(err, oci.ErrDigest) }

func TestHangingRegistries(t *testing.T) {
	for _, test := range []struct {
		reason string
		answer http.HandlerFunc
		stall  bool
	}{
		{"never answers", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, false},
		{"answers and stands still", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", "7")
			_, _ = w.Write([]byte("con"))
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		}, true},
	} {
		t.Run(test.reason, func(t *testing.T) {
			home := serve(t, test.answer)
			limits := Timeouts{Connect: time.Minute, Answer: 50 * time.Millisecond, Stall: time.Minute}
			if test.stall {
				limits.Answer, limits.Stall = limits.Stall, limits.Answer
			}
			err := read(t.Context(), client(home, Options{}, limits), blob("content"))
			if err == nil || errors.Is(err, ErrStalled) != test.stall {
				t.Errorf("got %v", err)
			}
		})
	}
	home := serve(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := read(ctx, client(home, Options{}, DefaultTimeouts()), blob("content")); !errors.Is(err, context.Canceled) {
		t.Errorf("the caller may give up: %v", err)
	}
}

func TestHugeManifest(t *testing.T) {
	home := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", ocispec.MediaTypeImageManifest)
		w.Header().Set("Content-Length", fmt.Sprint(int64(oci.MaxManifest)+1))
		w.Header().Set("Docker-Content-Digest", digest.FromString("x").String())
	})
	r := client(home, Options{}, DefaultTimeouts())
	at, err := r.Resolve(t.Context(), "repo", "1")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := oci.ReadManifest(t.Context(), r, "repo", at); err == nil || !strings.Contains(err.Error(), "limit") {
		t.Errorf("got %v", err)
	}
	if requests, _ := home.counts(); requests != 1 {
		t.Errorf("a huge manifest was fetched: %d requests", requests)
	}
}

// TestOneCheckForEachTenantAndPeriod counts the requests at the registry.
func TestOneCheckForEachTenantAndPeriod(t *testing.T) {
	const content = "content"
	d := blob(content)
	accepted := map[string]bool{"a": true, "b": true}
	home := serve(t, func(w http.ResponseWriter, r *http.Request) {
		user, _, _ := r.BasicAuth()
		if !accepted[user] {
			challenge(w, `Basic realm="x"`)
			return
		}
		w.Header().Set("Content-Type", ocispec.MediaTypeImageManifest)
		w.Header().Set("Docker-Content-Digest", d.Digest.String())
		w.Header().Set("Content-Length", fmt.Sprint(len(content)))
		if r.Method == http.MethodGet {
			_, _ = w.Write([]byte(content))
		}
	})
	now := time.Unix(1000, 0)
	shared := cache.New(1<<20, time.Minute, func() time.Time { return now })
	pool := NewPool(egress.Policy{AllowLoopback: true}, DefaultTimeouts())
	store := func(user string) oci.Store {
		credentials := &credential.Store{}
		auth := base64.StdEncoding.EncodeToString([]byte(user + ":p"))
		if err := credentials.AddDockerConfig(fmt.Appendf(nil, `{"auths":{%q:{"auth":%q}}}`, home.name(), auth)); err != nil {
			t.Fatal(err)
		}
		r := NewClient(pool, Options{Credentials: credentials}).Registry("http", home.name())
		return shared.Store(r, r.Name(), cache.Asker{Tenant: user})
	}
	thousand := func(user string) (int, error) {
		before, _ := home.counts()
		for range 1000 {
			// A session for each job, as in the server.
			s := store(user)
			at, err := s.Resolve(t.Context(), "repo", "1")
			if err == nil {
				_, err = oci.Read(t.Context(), s, "repo", at, 100)
			}
			if err != nil {
				after, _ := home.counts()
				return after - before, err
			}
		}
		after, _ := home.counts()
		return after - before, nil
	}
	for _, test := range []struct {
		reason, user string
		later        time.Duration
		want         int
		denied       bool
	}{
		{"the first ever: refusal that tells how to log in, check, content", "a", 0, 3, false},
		{"a second request of the same namespace in the same period", "a", 0, 0, false},
		{"another namespace: only its check", "b", 0, 1, false},
		{"the next period: only the check", "a", 2 * time.Minute, 1, false},
		{"a namespace whose credentials are wrong gets nothing", "c", 0, 2, true},
	} {
		t.Run(test.reason, func(t *testing.T) {
			now = now.Add(test.later)
			got, err := thousand(test.user)
			if errors.Is(err, ErrDenied) != test.denied || (err != nil) != test.denied || got > test.want {
				t.Errorf("%d requests, want %d (%v)", got, test.want, err)
			}
		})
	}
}

func TestPlainHTTPIsFoundOnlyIfAllowed(t *testing.T) {
	home := serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("content")) })
	reach := func(allow bool) error {
		return read(t.Context(), NewClient(NewPool(egress.Policy{AllowLoopback: true}, DefaultTimeouts()), Options{AllowPlainHTTP: allow}).Registry("", home.name()), blob("content"))
	}
	if err := reach(false); err == nil {
		t.Error("a host without scheme was reached without encryption")
	}
	if err := reach(true); err != nil {
		t.Errorf("plain HTTP is allowed: %v", err)
	}
}

// TestHostsAreForgotten: a tenant may name any number of hosts.
func TestHostsAreForgotten(t *testing.T) {
	pool := NewPool(egress.Policy{}, DefaultTimeouts())
	for i := range maxHosts + 10 {
		known := &tokens{Cache: auth.NewCache(), pool: pool}
		token := func(context.Context) (string, error) { return "token", nil }
		if _, err := known.Set(t.Context(), fmt.Sprintf("%d.example.org", i), auth.SchemeBearer, "", token); err != nil {
			t.Fatal(err)
		}
	}
	if len(pool.schemes) > maxHosts || len(pool.schemes) == 0 {
		t.Errorf("%d hosts are remembered", len(pool.schemes))
	}
}
