package chart

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	helmv1alpha1 "go.landscaper.dev/api/helm/v1alpha1"
	"go.landscaper.dev/deployer"
	"go.landscaper.dev/internal/cluster/egress"
)

// TestRequests counts what a server is asked when 30 items of a namespace use a
// chart, then those of another one, and then again when it is no longer sure that
// the credentials are good.
func TestRequests(t *testing.T) {
	s, packed, pinned := stocked(t)
	at := s.URL + "/oci/web"
	for _, test := range []struct {
		reason string
		source *helmv1alpha1.Chart
		// first, second and later are the requests of the first namespace, of another
		// one, and of the first one after a minute.
		first, second, later string
	}{
		{"a tag: for another namespace the registry only says what it is", ref(at + ":1.0.0"),
			"GET /v2/oci/web/manifests/1.0.0, GET /v2/oci/web/blobs/LAYER", "HEAD /v2/oci/web/manifests/1.0.0", "HEAD /v2/oci/web/manifests/1.0.0"},
		{"a digest: the same, to see whether the credentials are good", ref(at + ":1.0.0@" + pinned.String()),
			"GET /v2/oci/web/manifests/PINNED, GET /v2/oci/web/blobs/LAYER", "HEAD /v2/oci/web/manifests/PINNED", "HEAD /v2/oci/web/manifests/PINNED"},
		{"a chart repository: each namespace downloads it, and later asks for changes", inRepository(s.URL+"/charts", "web", "1.0.0"),
			"GET /charts/index.yaml, GET /charts/web-1.0.0.tgz", "GET /charts/index.yaml, GET /charts/web-1.0.0.tgz", "GET /charts/index.yaml, GET /charts/web-1.0.0.tgz"},
		{"a resource of a component", byKey("component: {name: example.org/shop, version: 1.0.0}\nresource: {name: artifact}\n"),
			"GET /v2/oci/web/manifests/1.0.0, GET /v2/oci/web/blobs/LAYER, GET /v2/oci/web/blobs/CONFIG", "HEAD /v2/oci/web/manifests/1.0.0", "HEAD /v2/oci/web/manifests/1.0.0"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			w := usual(t, s, componentIn(s, packed))
			names := strings.NewReplacer(string(pinned), "PINNED", digestOf(packed), "LAYER", digestOf([]byte("{}")), "CONFIG")
			check := func(which, namespace, want string) {
				t.Helper()
				w.load(t, namespace, test.source)
				got := s.asked()
				slices.Sort(got)
				wanted := strings.Split(want, ", ")
				slices.Sort(wanted)
				if found := names.Replace(strings.Join(got, ", ")); found != strings.Join(wanted, ", ") {
					t.Errorf("%s, %s: got %s, want %s", test.reason, which, found, want)
				}
			}
			check("first", "team-a", test.first)
			check("second", "team-b", test.second)
			w.now = w.now.Add(time.Minute)
			check("later", "team-a", test.later)
		})
	}
}

// load loads a chart for 30 items at the same time.
func (w *world) load(t *testing.T, namespace string, source *helmv1alpha1.Chart) {
	t.Helper()
	var all sync.WaitGroup
	for range 30 {
		all.Go(func() {
			if _, err := w.Load(t.Context(), item(namespace, "vendor"), source); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}

// TestUnchangedDownloadsAreNotSent checks that a chart is downloaded once, though it is requested
// again.
func TestUnchangedDownloadsAreNotSent(t *testing.T) {
	s, _, _ := stocked(t)
	w, source := usual(t, s, nil), inRepository(s.URL+"/charts", "web", "1.0.0")
	w.load(t, "team-a", source)
	for _, path := range []string{"/charts/index.yaml", "/charts/web-1.0.0.tgz"} {
		before := s.pages[path]
		s.handle(path, func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("If-None-Match") == "" {
				t.Errorf("%s was asked for as a whole", r.URL.Path)
			}
			before(w, r)
		})
	}
	w.now = w.now.Add(time.Minute)
	w.load(t, "team-a", source)
}

// TestPermissionIsNotShared checks that an item gets a chart only if its own credentials give
// access, whichever other item has it.
func TestPermissionIsNotShared(t *testing.T) {
	s, packed, pinned := stocked(t)
	stranger := strings.NewReplacer("team-a", "stranger", password, "wrong", header, "Basic cmVhZGVyOndyb25n").Replace(landscape)
	all := append(objects(t, s, landscape, "team-a"), objects(t, s, stranger, "stranger")...)
	// An item in the same namespace names a Context without credentials.
	bare := strings.NewReplacer("name: vendor", "name: bare", "registryPullSecrets: [{name: pull}]\n", "", "configurations:", "", "  helmChartRepoCredentials:", "", "    auths:", "",
		`    - {url: "URL/charts", secretRef: {name: charts}}`, "").Replace(strings.Split(landscape, "\n---\n")[0])
	all = append(all, objects(t, s, bare, "team-a")...)
	local := componentIn(s, packed)
	for name, file := range local {
		local[strings.Replace(name, "team-b", "stranger", 1)] = file
	}
	w := newWorld(t, egress.Policy{AllowLoopback: true}, interceptor.Funcs{}, local, all...)
	for i, source := range []*helmv1alpha1.Chart{
		ref(s.URL + "/oci/web:1.0.0"), ref(s.URL + "/oci/web@" + pinned.String()), inRepository(s.URL+"/charts", "web", "1.0.0"),
		byKey("component: {name: example.org/shop, version: 1.0.0}\nresource: {name: artifact}\n"),
		byKey("component: {name: example.org/shop, version: 1.0.0}\nresource: {name: repository}\n"),
	} {
		if _, err := w.Load(t.Context(), item("team-a", "vendor"), source); err != nil {
			t.Fatal(err)
		}
		for _, other := range []string{"stranger/vendor", "team-a/bare"} {
			namespace, landscape, _ := strings.Cut(other, "/")
			if got, err := w.Load(t.Context(), item(namespace, landscape), source); err == nil || !strings.Contains(err.Error(), "denies access") && !strings.Contains(err.Error(), "401") || deployer.OutcomeOf(err) != deployer.OutcomeFinal {
				t.Errorf("source %d: %s got %+v, %v", i, other, got, err)
			}
		}
	}
}

// TestRevokedPermission checks that an item that may no longer read a chart gets it no longer.
func TestRevokedPermission(t *testing.T) {
	s, _, _ := stocked(t)
	w := usual(t, s, nil)
	sources := []*helmv1alpha1.Chart{ref(s.URL + "/oci/web:1.0.0"), inRepository(s.URL+"/charts", "web", "1.0.0")}
	for _, source := range sources {
		w.load(t, "team-a", source)
	}
	for _, path := range []string{"/charts/index.yaml", "/v2/oci/web/manifests/1.0.0"} {
		s.handle(path, status(http.StatusForbidden))
	}
	for _, source := range sources {
		if _, err := w.Load(t.Context(), item("team-a", "vendor"), source); err != nil {
			t.Errorf("within a minute: %v", err)
		}
	}
	w.now = w.now.Add(time.Minute)
	for _, source := range sources {
		if got, err := w.Load(t.Context(), item("team-a", "vendor"), source); err == nil {
			t.Errorf("got %+v", got)
		}
	}
}

// TestOtherHostsSeeNothing checks who gets credentials: only the host and the path that they are
// for.
func TestOtherHostsSeeNothing(t *testing.T) {
	s, packed, _ := stocked(t)
	elsewhere := newShop(t)
	elsewhere.open = true
	elsewhere.page("/web.tgz", packed)
	elsewhere.page("/v2/oci/web/blobs/x", packed)
	w := usual(t, s, componentIn(s, packed))
	moved := func(to string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, to, http.StatusFound) }
	}
	s.page("/charts/foreign/index.yaml", index("{version: 1.0.0, urls: ['"+elsewhere.other()+"/web.tgz']}"))
	s.page("/charts/moved/index.yaml", index("{version: 1.0.0, urls: [web.tgz]}"))
	s.handle("/charts/moved/web.tgz", moved(elsewhere.other()+"/web.tgz"))
	s.handle("/v2/oci/web/blobs/"+digestOf(packed), moved(elsewhere.other()+"/web.tgz"))
	for _, source := range []*helmv1alpha1.Chart{
		inRepository(s.URL+"/charts/foreign", "web", "1.0.0"), inRepository(s.URL+"/charts/moved", "web", "1.0.0"), ref(s.URL + "/oci/web:1.0.0"),
	} {
		got, err := w.Load(t.Context(), item("team-a", "vendor"), source)
		if asked := elsewhere.asked(); err != nil || got.Chart.Name() != "web" || len(asked) != 1 {
			t.Errorf("%v, the other host was asked for %q", err, asked)
		}
	}
	if len(elsewhere.leaks) > 0 {
		t.Errorf("the other host saw credentials at %q", elsewhere.leaks)
	}
}

// BenchmarkLoad loads a chart of usual size that is in the cache.
func BenchmarkLoad(b *testing.B) {
	s := newShop(b)
	var files []file
	for i := range 50 {
		files = append(files, file{name: fmt.Sprintf("web/templates/%d.yaml", i), text: strings.Repeat("kind: ConfigMap\n", 200)})
	}
	s.chart("oci/web:1.0.0", simple(b, "web", append(files, file{name: "web/values.yaml", text: strings.Repeat("a: {b: c}\n", 500)})...))
	w := usual(b, s, nil)
	for b.Loop() {
		if _, err := w.Load(b.Context(), item("team-a", "vendor"), ref(s.URL+"/oci/web:1.0.0")); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(len(s.asked()))/float64(b.N), "requests/op")
}

func digestOf(data []byte) string { return newPacked(data, "").digest.String() }
