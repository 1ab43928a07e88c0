package registry

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"go.landscaper.dev/internal/cluster/egress"
	"go.landscaper.dev/internal/content/component/archive"
	"go.landscaper.dev/internal/content/component/oci"
)

// TestHangingConnections: a host that takes connections and says nothing, so that
// not even TLS begins.
func TestHangingConnections(t *testing.T) {
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close() //nolint:errcheck // the end of the test
	r := NewClient(NewPool(egress.Policy{AllowLoopback: true}, Timeouts{Connect: 50 * time.Millisecond, Answer: time.Minute, Stall: time.Minute}), Options{}).Registry("", listener.Addr().String())
	_, err = r.Resolve(t.Context(), "repo", "1")
	var timeout net.Error
	if !errors.As(err, &timeout) || !timeout.Timeout() || !strings.Contains(err.Error(), "find repo:1 in registry 127.0.0.1") {
		t.Errorf("got %v", err)
	}
}

// TestHostileTokenServers: what answers in the place of a token server.
func TestHostileTokenServers(t *testing.T) {
	// What answers must not be late, and what is to be late must not answer.
	mute := Timeouts{Connect: time.Minute, Answer: 50 * time.Millisecond, Stall: time.Minute}
	slow := Timeouts{Connect: time.Minute, Answer: time.Minute, Stall: 50 * time.Millisecond}
	for _, test := range []struct {
		reason string
		// realm gets the addresses of the token server and of a third host.
		realm  func(tokens, third string) string
		answer func(w http.ResponseWriter, r *http.Request, third string)
		want   string
	}{
		{"the token service never answers", here, func(_ http.ResponseWriter, r *http.Request, _ string) { <-r.Context().Done() }, "timeout"},
		{"the answer of the token service stops", here, func(w http.ResponseWriter, r *http.Request, _ string) {
			_, _ = w.Write([]byte(`{"token":`))
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		}, "stopped sending"},
		{"the answer of the token service has no end", here, func(w http.ResponseWriter, r *http.Request, _ string) {
			_, _ = w.Write([]byte(`{"token":"`))
			for r.Context().Err() == nil {
				if _, err := w.Write(make([]byte, 1<<16)); err != nil {
					return
				}
			}
		}, "failed to"},
		{"the answer of the token service is not a token", here, func(w http.ResponseWriter, _ *http.Request, _ string) { _, _ = w.Write([]byte("<html>")) }, "failed to"},
		{"the token service redirects to a third host", here, func(w http.ResponseWriter, r *http.Request, third string) {
			http.Redirect(w, r, third+"/token", http.StatusTemporaryRedirect)
		}, ""},
		{"the registry names a file", func(string, string) string { return "file:///etc/passwd" }, nil, "file:///etc/passwd"},
		{"the registry names nothing", func(string, string) string { return "" }, nil, "refused by the redirect policy"},
		{"the registry names a third host", func(_, third string) string { return third + "/token" }, nil, "realm host"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			third := serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`{"token":"stolen"}`)) })
			tokens := serve(t, func(w http.ResponseWriter, r *http.Request) { test.answer(w, r, third.alias()) })
			home := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				challenge(w, fmt.Sprintf(`Bearer realm=%q,service="x"`, test.realm(tokens.URL, third.alias())))
			})
			limits := slow
			if test.want == "timeout" {
				limits = mute
			}
			err := read(t.Context(), client(home, Options{}, limits), blob("content"))
			if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), secret) {
				t.Errorf("got %v, want %q", err, test.want)
			}
			if _, leaked := third.counts(); leaked != 0 {
				t.Error("the third host saw the credentials")
			}
		})
	}
}

func here(tokens, _ string) string { return tokens + "/token" }

// TestLyingManifests: a manifest that is not what the registry has announced.
func TestLyingManifests(t *testing.T) {
	const right = `{"schemaVersion":2}`
	announce := func(w http.ResponseWriter, size int) {
		w.Header().Set("Content-Type", ocispec.MediaTypeImageManifest)
		w.Header().Set("Docker-Content-Digest", digest.FromString(right).String())
		if size >= 0 {
			w.Header().Set("Content-Length", fmt.Sprint(size))
		}
	}
	var large *archive.TooLargeError
	for _, test := range []struct {
		reason string
		answer func(w http.ResponseWriter, r *http.Request)
		want   func(error) bool
	}{
		{"as announced", func(w http.ResponseWriter, r *http.Request) {
			announce(w, len(right))
			if r.Method == http.MethodGet {
				_, _ = w.Write([]byte(right))
			}
		}, func(err error) bool { return err == nil }},
		{"another content of the same size", func(w http.ResponseWriter, r *http.Request) {
			announce(w, len(right))
			if r.Method == http.MethodGet {
				_, _ = w.Write([]byte(strings.Replace(right, "2", "1", 1)))
			}
		}, isDigest},
		{"another content with its own digest", func(w http.ResponseWriter, r *http.Request) {
			announce(w, len(right))
			if r.Method == http.MethodGet {
				other := strings.Replace(right, "2", "1", 1)
				w.Header().Set("Docker-Content-Digest", digest.FromString(other).String())
				_, _ = w.Write([]byte(other))
			}
		}, func(err error) bool { return err != nil }},
		{"a content without end and without a size", func(w http.ResponseWriter, r *http.Request) {
			announce(w, len(right))
			if r.Method == http.MethodGet {
				w.Header().Del("Content-Length")
				for r.Context().Err() == nil {
					if _, err := w.Write(make([]byte, 1<<16)); err != nil {
						return
					}
				}
			}
		}, func(err error) bool { return isDigest(err) || errors.As(err, &large) }},
		{"a digest that is a path", func(w http.ResponseWriter, _ *http.Request) {
			announce(w, len(right))
			w.Header().Set("Docker-Content-Digest", "sha256:../../etc/passwd")
		}, func(err error) bool { return err != nil }},
		{"an invalid media type", func(w http.ResponseWriter, _ *http.Request) {
			announce(w, len(right))
			w.Header().Set("Content-Type", "a/b/c;;;")
		}, func(err error) bool { return err != nil }},
	} {
		t.Run(test.reason, func(t *testing.T) {
			home := serve(t, test.answer)
			r := client(home, Options{}, DefaultTimeouts())
			at, err := r.Resolve(t.Context(), "repo", "1")
			if err == nil {
				_, err = oci.ReadManifest(t.Context(), r, "repo", at)
			}
			if !test.want(err) {
				t.Errorf("got %v", err)
			}
		})
	}
}

// TestCancelledInTheMiddle: the caller may also give up while an answer comes.
func TestCancelledInTheMiddle(t *testing.T) {
	home := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "7")
		_, _ = w.Write([]byte("con"))
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	ctx, cancel := context.WithCancel(t.Context())
	reader, err := client(home, Options{}, DefaultTimeouts()).Open(ctx, "repo", blob("content"))
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close() //nolint:errcheck // nothing is written
	part := make([]byte, 3)
	if _, err := reader.Read(part); err != nil {
		t.Fatal(err)
	}
	cancel()
	if _, err := reader.Read(part); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
