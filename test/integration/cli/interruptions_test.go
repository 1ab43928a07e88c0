package cli

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/opencontainers/go-digest"

	"go.landscaper.dev/internal/content/component/registry"
)

// front stands before the registry and lets the test handle the requests of those
// who have logged in.
func front(t *testing.T, w *workplace, handle func(http.ResponseWriter, *http.Request, http.Handler)) string {
	t.Helper()
	behind, err := url.Parse(w.registry.URL)
	if err != nil {
		t.Fatal(err)
	}
	authority, err := os.ReadFile(w.registry.CAFile)
	if err != nil {
		t.Fatal(err)
	}
	transport, err := registry.TransportWith(string(authority))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(transport.CloseIdleConnections)
	proxy := &httputil.ReverseProxy{Transport: transport, Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(behind)
		// The answer has the address where an upload continues, which must be ours.
		r.Out.Host = r.In.Host
		r.Out.Header.Set("X-Forwarded-Proto", "http")
	}}
	server := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) { handle(out, r, proxy) }))
	t.Cleanup(server.Close)
	w.login(t, w.registry.Address, strings.TrimPrefix(server.URL, "http://"))
	return server.URL
}

// disturbed lets the test handle the answer with the large content. The second
// result counts those.
func disturbed(t *testing.T, w *workplace, handle func(http.ResponseWriter, *http.Request, io.Reader)) (string, *atomic.Int64) {
	t.Helper()
	wanted := digest.FromString(largeContent()).String()
	var count atomic.Int64
	return front(t, w, func(out http.ResponseWriter, r *http.Request, behind http.Handler) {
		if r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, wanted) && r.Header.Get("Authorization") != "" {
			count.Add(1)
			handle(out, r, strings.NewReader(largeContent()))
			return
		}
		behind.ServeHTTP(out, r)
	}), &count
}

// send begins an answer with the size of the large content, and sends a part.
func send(out http.ResponseWriter, content io.Reader, bytes int64) {
	out.Header().Set("Content-Length", fmt.Sprint(8<<20))
	out.WriteHeader(http.StatusOK)
	_, _ = io.CopyN(out, content, bytes)
	_ = http.NewResponseController(out).Flush()
}

func cutDownload(t *testing.T, w *workplace) {
	prepareTrip(t, w, w.registry.Address+"/cut", "-q")
	at, count := disturbed(t, w, func(out http.ResponseWriter, _ *http.Request, content io.Reader) {
		send(out, content, 4<<20)
		panic(http.ErrAbortHandler)
	})
	before := w.files(t)
	for _, more := range [][]string{nil, {"--extract"}, {"--force", "-O", "large.bin"}} {
		got := w.components(t, append([]string{"download", at + "/cut", "example.org/shop/trip", "1.0.0+build.7", "large"}, more...)...)
		if got.code != 1 || !strings.Contains(got.err, `download resource "large" of component version example.org/shop/trip:1.0.0+build.7: the connection was cut`) || got.out != "" {
			t.Errorf("%v: %+v", more, got)
		}
	}
	if after := w.files(t); after != before || w.read(t, "large.bin") != largeContent() || count.Load() == 0 {
		t.Errorf("there is %s, there was %s (%d requests)", after, before, count.Load())
	}
}

func changedContent(t *testing.T, w *workplace) {
	prepareTrip(t, w, w.registry.Address+"/changed", "-q")
	at, _ := disturbed(t, w, func(out http.ResponseWriter, _ *http.Request, content io.Reader) {
		send(out, io.MultiReader(strings.NewReader("x"), content), 8<<20)
	})
	before := w.files(t)
	got := w.components(t, "download", at+"/changed", "example.org/shop/trip", "1.0.0+build.7", "large")
	if got.code != 1 || !strings.Contains(got.err, "the content does not have its digest") || w.files(t) != before {
		t.Errorf("%+v, there is %s", got, w.files(t))
	}
}

// interruption stops a download in the middle, as Ctrl-C does, and lets another
// one run into its time limit.
func interruption(t *testing.T, w *workplace) {
	prepareTrip(t, w, w.registry.Address+"/slow", "-q")
	half := make(chan struct{}, 10)
	at, _ := disturbed(t, w, func(out http.ResponseWriter, r *http.Request, content io.Reader) {
		send(out, content, 4<<20)
		half <- struct{}{}
		<-r.Context().Done()
	})
	before := w.files(t)
	args := []string{"components", "download", at + "/slow", "example.org/shop/trip", "1.0.0+build.7", "large"}
	p := w.begin(t, args...)
	<-half
	if err := p.command.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if got := p.end(t); got.code != 130 || got.out != "" || got.err != "Error: interrupted\n" {
		t.Errorf("Ctrl-C: %+v", got)
	}
	got := w.begin(t, append(args, "--timeout", "1s")...).end(t)
	if got.code != 5 || !strings.Contains(got.err, "the time is over: allow more with --timeout") {
		t.Errorf("a time limit: %+v", got)
	}
	if after := w.files(t); after != before {
		t.Errorf("there is %s, there was %s", after, before)
	}
}

// interruptedPush stops a push while it reads its constructor; no archive is left.
func interruptedPush(t *testing.T, w *workplace) {
	asked := make(chan struct{}, 10)
	hanging := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		asked <- struct{}{}
		<-r.Context().Done()
	}))
	t.Cleanup(hanging.Close)
	w.write(t, "constructor.yaml", `{name: example.org/shop/web, version: 1.0.0, provider: p, resources: [{name: net, type: t, version: "1", access: {type: wget, url: "`+hanging.URL+`"}}]}`)
	for _, archive := range []string{"archive", "archive.tgz"} {
		p := w.begin(t, "components", "push", "constructor.yaml", archive, "--create")
		<-asked
		if err := p.command.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		if got := p.end(t); got.code != 130 || w.files(t) != "constructor.yaml" {
			t.Errorf("%s: %+v, there is %s", archive, got, w.files(t))
		}
	}
}
