package access

import (
	"context"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/opencontainers/go-digest"

	"go.landscaper.dev/internal/cluster/egress"
	"go.landscaper.dev/internal/content/component/cache"
	"go.landscaper.dev/internal/content/component/credential"
	"go.landscaper.dev/internal/content/component/oci"
	"go.landscaper.dev/internal/content/component/registry"
)

// seen is a server that notes who asked for what.
type seen struct {
	*httptest.Server
	mu sync.Mutex
	// requests are paths, with the user where there is one; leaks are headers that must not be sent.
	requests, leaks []string
}

func watch(t *testing.T, handle http.HandlerFunc) *seen {
	t.Helper()
	s := &seen{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, _, _ := r.BasicAuth()
		s.mu.Lock()
		s.requests = append(s.requests, strings.TrimPrefix(user+"@"+r.URL.RequestURI(), "@"))
		for _, name := range []string{"Authorization", "Cookie", "Referer"} {
			if r.Header.Get(name) != "" {
				s.leaks = append(s.leaks, name)
			}
		}
		s.mu.Unlock()
		handle(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

// other is another name for the same machine.
func (s *seen) other() string { return strings.Replace(s.URL, "127.0.0.1", "localhost", 1) }

func (s *seen) all() (requests, leaks []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string{}, s.requests...), append([]string{}, s.leaks...)
}

// charts reads from a repository whose index is the given text.
func charts(t *testing.T, index string, chart http.HandlerFunc) (*seen, *Reader) {
	t.Helper()
	home := watch(t, func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/index.yaml") {
			fmt.Fprint(w, strings.ReplaceAll(index, "HOME", "http://"+r.Host))
			return
		}
		chart(w, r)
	})
	credentials := &credential.Store{}
	credentials.AddConsumer(map[string]string{"hostname": strings.TrimPrefix(home.URL, "http://"), "scheme": "http", "pathprefix": "charts"},
		credential.Properties{"username": "reader", "password": "s3cr3t"})
	return home, &Reader{HTTP: newClient(true), Credentials: credentials}
}

func TestChartVersions(t *testing.T) {
	const index = `entries:
  app:
  - {version: 2.0.0-rc.1, urls: [app-rc.tgz]}
  - {version: 1.10.0, urls: [app-1.10.0.tgz]}
  - {version: v1.9.0, urls: [app-1.9.0.tgz]}
  - {version: 1.9.0+build.1, urls: [app-build.tgz]}
  - {version: 3.0.0}
  - {version: unreadable, urls: [app-odd.tgz]}
`
	for _, test := range []struct{ reason, chart, version, want string }{
		{"the text itself", "app", "1.10.0", "app-1.10.0.tgz"},
		{"the text itself, though it is not a valid version", "app", "unreadable", "app-odd.tgz"},
		{"the text itself before what fits", "app", "1.9.0+build.1", "app-build.tgz"},
		{"a version in another spelling", "app", "1.9.0", "app-1.9.0.tgz"},
		{"the highest that fits", "app", "1.x", "app-1.10.0.tgz"},
		{"no version before its release unless it is asked for", "app", ">1.0", "app-1.10.0.tgz"},
		{"a version before its release that is asked for", "app", ">=2.0.0-0", "app-rc.tgz"},
		{"none fits", "app", "4.0.0", "it has no chart app in version 4.0.0, but in 2.0.0-rc.1, 1.10.0, v1.9.0, 1.9.0+build.1, unreadable: not found"},
		{"a version without an address", "app", "3.0.0", "no chart app in version 3.0.0"},
		{"no version is asked for", "app", "", "no chart app in version "},
		{"no such chart", "apq", "1.x", "it has no chart apq, did you mean app: not found"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			found, err := findChart([]byte(index), test.chart, test.version)
			got := strings.Join(found.URLs, " ")
			if err != nil {
				got = err.Error()
			}
			if !strings.Contains(got, test.want) || (err != nil) != errors.Is(err, oci.ErrNotFound) {
				t.Errorf("got %s", got)
			}
		})
	}
}

// TestChartsKeepCredentialsAtHome: which hosts get the credentials.
func TestChartsKeepCredentialsAtHome(t *testing.T) {
	elsewhere := watch(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "chart") })
	good := digest.FromString("chart").Encoded()
	entry := func(rest string) string { return "entries: {app: [{version: 1.0.0, " + rest + "}]}" }
	for _, test := range []struct {
		reason, repository, index string
		chart                     http.HandlerFunc
		// want is the error; elsewhere is what the other host was asked for.
		want, home, elsewhere string
	}{
		{"a relative address", "/charts", entry("urls: [app.tgz]"), nil, "", "reader@/charts/index.yaml reader@/charts/app.tgz", ""},
		{"a slash at the end", "/charts/", entry("urls: [app.tgz]"), nil, "", "reader@/charts/index.yaml reader@/charts/app.tgz", ""},
		{"an address of the host beside the repository", "/charts", entry("urls: [HOME/open/app.tgz]"), nil, "", "reader@/charts/index.yaml /open/app.tgz", ""},
		{"a path that only begins alike", "/charts-of-others", entry("urls: [app.tgz]"), nil, "", "/charts-of-others/index.yaml /charts-of-others/app.tgz", ""},
		{"a query goes along to what is relative", "/charts?sig=1", entry("urls: [app.tgz]"), nil, "", "reader@/charts/index.yaml?sig=1 reader@/charts/app.tgz?sig=1", ""},
		{"an index that leads to another host", "/charts?sig=1", entry("urls: [ELSEWHERE/app.tgz]"), nil, "", "reader@/charts/index.yaml?sig=1", "/app.tgz"},
		{"a redirect to another host", "/charts?sig=1", entry("urls: [app.tgz]"),
			func(w http.ResponseWriter, r *http.Request) {
				http.Redirect(w, r, elsewhere.other()+"/moved.tgz", http.StatusFound)
			},
			"", "reader@/charts/index.yaml?sig=1 reader@/charts/app.tgz?sig=1", "/moved.tgz"},
		{"the digest of the index fits", "/charts", entry("urls: [ELSEWHERE/app.tgz], digest: " + good), nil, "", "reader@/charts/index.yaml", "/app.tgz"},
		{"the digest in another spelling", "/charts", entry("urls: [ELSEWHERE/app.tgz], digest: 'sha256:" + good + "'"), nil, "", "reader@/charts/index.yaml", "/app.tgz"},
		{"another host delivers something else", "/charts", entry("urls: [ELSEWHERE/app.tgz], digest: 00" + good[2:]), nil, "not the chart that the index describes", "reader@/charts/index.yaml reader@/charts/index.yaml", "/app.tgz"},
		{"an invalid address in the index", "/charts", entry("urls: ['http://%zz?sig=s3cr3t']"), nil, "an invalid address", "reader@/charts/index.yaml", ""},
		{"a file", "/charts", entry("urls: ['file:///etc/passwd']"), nil, "not an address with http or https", "reader@/charts/index.yaml", ""},
		{"the repository is away", "/charts", entry("urls: [app.tgz]"), func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(503) }, "answers 503", "reader@/charts/index.yaml reader@/charts/app.tgz", ""},
		{"the chart is refused", "/charts", entry("urls: [app.tgz]"), func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(401) }, "401 Unauthorized: check the credentials", "reader@/charts/index.yaml reader@/charts/app.tgz", ""},
	} {
		t.Run(test.reason, func(t *testing.T) {
			chart := test.chart
			if chart == nil {
				chart = func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "chart") }
			}
			home, reader := charts(t, strings.ReplaceAll(test.index, "ELSEWHERE", elsewhere.other()), chart)
			before, _ := elsewhere.all()
			data, _, err := reader.Read(t.Context(), inline(t, nil), resource(`{"type":"helm","helmRepository":"`+home.URL+test.repository+`","helmChart":"app:1.0.0"}`), 100)
			requests, _ := home.all()
			after, leaks := elsewhere.all()
			if (test.want == "") != (err == nil && string(data) == "chart") || (test.want != "" && !strings.Contains(fmt.Sprint(err), test.want)) || strings.Contains(fmt.Sprint(err), "s3cr3t") {
				t.Errorf("got %q, %v", data, err)
			}
			if got := strings.Join(requests, " "); got != test.home {
				t.Errorf("the repository was asked for %s", got)
			}
			if got := strings.Join(after[len(before):], " "); got != test.elsewhere || len(leaks) > 0 {
				t.Errorf("the other host was asked for %s and saw %s", got, leaks)
			}
		})
	}
}

// TestEncryptionIsKept: neither an index nor a redirect leads from a connection that is encrypted
// to one that is not.
func TestEncryptionIsKept(t *testing.T) {
	plain := watch(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "chart") })
	for _, test := range []struct{ reason, url string }{{"an index", plain.URL + "/app.tgz"}, {"a redirect", "moved.tgz"}} {
		t.Run(test.reason, func(t *testing.T) {
			home := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/index.yaml" {
					fmt.Fprintf(w, "entries: {app: [{version: 1.0.0, urls: [%q]}]}", test.url)
					return
				}
				http.Redirect(w, r, plain.URL, http.StatusFound)
			}))
			client, err := NewHTTPClient(HTTPOptions{Egress: egress.Policy{AllowLoopback: true}, InsecureSkipVerify: true})
			if err != nil {
				t.Fatal(err)
			}
			_, _, err = (&Reader{HTTP: client}).Read(t.Context(), inline(t, nil), resource(`{"type":"helm","helmRepository":"`+home.URL+`","helmChart":"app:1.0.0"}`), 100)
			home.Close()
			if requests, _ := plain.all(); err == nil || !strings.Contains(err.Error(), "not encrypted") || len(requests) > 0 {
				t.Errorf("%v after %q", err, requests)
			}
		})
	}
}

// TestDocumentsAreAskedAgain: what goes over the wire when a chart is read again.
func TestDocumentsAreAskedAgain(t *testing.T) {
	var conditional, whole int
	home, reader := charts(t, "entries: {app: [{version: 1.0.0, urls: [app.tgz]}]}", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("If-None-Match") == `"1"` {
			conditional++
			w.WriteHeader(http.StatusNotModified)
			return
		}
		whole++
		w.Header().Set("ETag", `"1"`)
		fmt.Fprint(w, "chart")
	})
	now := time.Unix(1000, 0)
	kept := cache.New(1<<20, time.Minute, func() time.Time { return now })
	reader.Indexes = NewIndexes()
	reader.Documents = func(ctx context.Context, wanted cache.Wanted, ask cache.Ask) ([]byte, error) {
		return kept.Document(ctx, cache.Asker{Tenant: "tenant"}, wanted, ask)
	}
	for i, want := range []struct{ requests, conditional, whole int }{{2, 0, 1}, {2, 0, 1}, {4, 1, 1}} {
		if i == 2 {
			now = now.Add(time.Minute)
		}
		data, _, err := reader.Read(t.Context(), inline(t, nil), resource(`{"type":"helm","helmRepository":"`+home.URL+`/charts","helmChart":"app:1.0.0"}`), 100)
		if requests, _ := home.all(); err != nil || string(data) != "chart" || len(requests) != want.requests || conditional != want.conditional || whole != want.whole {
			t.Errorf("attempt %d: %q, %v; %q, %d conditional, %d whole", i, data, err, requests, conditional, whole)
		}
	}
}

// TestArchivesComeAsTheyAre: no compression of the connection is taken off an archive, whose digest
// counts.
func TestArchivesComeAsTheyAre(t *testing.T) {
	home := watch(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = w.Write([]byte("\x1f\x8b as it is"))
	})
	data, err := (&Reader{HTTP: newClient(true)}).Download(t.Context(), home.URL, 100)
	if err != nil || string(data) != "\x1f\x8b as it is" {
		t.Errorf("got %q, %v", data, err)
	}
	if _, err := (&Reader{HTTP: newClient(true)}).Download(t.Context(), home.URL, 5); err == nil || !strings.Contains(err.Error(), "limit of 5") {
		t.Errorf("got %v", err)
	}
}

func TestStatusErrors(t *testing.T) {
	for _, test := range []struct {
		code                       int
		denied, missing, temporary bool
	}{{401, true, false, false}, {403, true, false, false}, {404, false, true, false}, {410, false, true, false}, {429, false, false, true}, {408, false, false, true}, {500, false, false, true}, {400, false, false, false}} {
		err := &StatusError{Code: test.code}
		if errors.Is(err, registry.ErrDenied) != test.denied || errors.Is(err, oci.ErrNotFound) != test.missing || err.Temporary() != test.temporary {
			t.Errorf("%d: %v", test.code, err)
		}
	}
}

// TestAuthoritiesOfAccesses: an authority that an access brings along counts for the repository
// that it names, not for others.
func TestAuthoritiesOfAccesses(t *testing.T) {
	serve := func(handle http.HandlerFunc) *httptest.Server {
		server := httptest.NewUnstartedServer(handle)
		server.Config.ErrorLog = log.New(io.Discard, "", 0)
		server.StartTLS()
		t.Cleanup(server.Close)
		return server
	}
	other := serve(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "chart") })
	home := serve(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/index.yaml":
			fmt.Fprintf(w, "entries: {app: [{version: 1.0.0, urls: [app.tgz]}, {version: 2.0.0, urls: [%q]}]}", other.URL)
		default:
			fmt.Fprint(w, "chart")
		}
	})
	// All servers of tests have this certificate.
	certificate := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: home.Certificate().Raw}))
	for version, allowed := range map[string]bool{"1.0.0": true, "2.0.0": false} {
		t.Run(version, func(t *testing.T) {
			access := fmt.Sprintf(`{"type":"helm","helmRepository":%q,"helmChart":"app","version":%q,"caCert":%q}`, home.URL, version, certificate)
			_, _, err := (&Reader{HTTP: newClient(true)}).Read(t.Context(), inline(t, nil), resource(access), 100)
			if (err == nil) != allowed || (err != nil && !strings.Contains(err.Error(), "certificate")) {
				t.Errorf("version %s: %v", version, err)
			}
		})
	}
}

// TestIndexesAreRemembered: an index is read once for a question, and that what is remembered is
// small, whatever the index says.
func TestIndexesAreRemembered(t *testing.T) {
	indexes := NewIndexes()
	text := []byte("entries: {app: [{version: 1.0.0, urls: [app.tgz, " + strings.Repeat("x", 100_000) + "]}, {version: 2.0.0, urls: [" + strings.Repeat("y", maxAddress+1) + "]}]}")
	for range 3 {
		found, err := indexes.find(t.Context(), text, "app", "1.0.0")
		if err != nil || len(found.URLs) != 1 || found.URLs[0] != "app.tgz" {
			t.Errorf("got %+v, %v", found, err)
		}
	}
	if _, err := indexes.find(t.Context(), text, "app", "2.0.0"); err == nil || !strings.Contains(err.Error(), "too long") {
		t.Errorf("got %v", err)
	}
	if _, err := indexes.find(t.Context(), text, strings.Repeat("z", maxNames), "2.0.0"); err == nil {
		t.Error("there is no such chart")
	}
	if len(indexes.known) != 2 {
		t.Errorf("%d answers are remembered", len(indexes.known))
	}
	for i := range 2 * maxLookups {
		if _, err := indexes.find(t.Context(), []byte(fmt.Sprintf("entries: {app: [{version: 1.0.0, urls: [%d]}]}", i)), "app", "1.0.0"); err == nil {
			t.Fatal("a number is not an address")
		}
	}
	if len(indexes.known) > maxLookups {
		t.Errorf("%d answers are remembered", len(indexes.known))
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	indexes.reading <- struct{}{}
	indexes.reading <- struct{}{}
	if _, err := indexes.find(ctx, []byte("entries: {}"), "app", "1.0.0"); !errors.Is(err, context.Canceled) {
		t.Errorf("who gives up waits no longer: %v", err)
	}
}

// TestWrongNamesAreCheap: a wrong name is not compared with each of very many.
func TestWrongNamesAreCheap(t *testing.T) {
	for names, want := range map[int]string{maxSuggested - 1: "did you mean zapp", maxSuggested: "it has no chart zapq: not found"} {
		text := strings.Builder{}
		text.WriteString("entries:\n  zapp: []\n")
		for i := range names {
			fmt.Fprintf(&text, "  a%06d: []\n", i)
		}
		if _, err := findChart([]byte(text.String()), "zapq", "1.0.0"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%d names: %v", names, err)
		}
	}
}
