package chart

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/yaml"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/cluster/egress"
	"go.landscaper.dev/internal/content/component"
	"go.landscaper.dev/internal/content/component/access"
	"go.landscaper.dev/internal/content/component/cache"
	"go.landscaper.dev/internal/content/component/registry"
	"go.landscaper.dev/internal/landscape/repocontext"
)

const password = "s3cr3t-p4ss"

// shop is a server with charts: a registry below /v2/, and pages. It serves clients with the
// password, and records the requests.
type shop struct {
	*httptest.Server
	mu    sync.Mutex
	blobs map[digest.Digest][]byte
	// tags are repository:tag; types are the media types of manifests.
	tags  map[string]digest.Digest
	types map[digest.Digest]string
	pages map[string]http.HandlerFunc
	// open needs no password.
	open     bool
	requests []string
	// leaks are requests with headers that the server must not get.
	leaks []string
}

func newShop(t testing.TB) *shop {
	t.Helper()
	s := &shop{blobs: map[digest.Digest][]byte{}, tags: map[string]digest.Digest{}, types: map[digest.Digest]string{}, pages: map[string]http.HandlerFunc{}}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

// ServeHTTP implements http.Handler.
func (s *shop) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, given, _ := r.BasicAuth()
	s.mu.Lock()
	if s.open || given == password {
		// The others only ask how to log in.
		s.requests = append(s.requests, r.Method+" "+r.URL.RequestURI())
	}
	if r.Header.Get("Authorization")+r.Header.Get("Cookie")+r.Header.Get("Referer") != "" {
		s.leaks = append(s.leaks, r.URL.Path)
	}
	page := s.pages[r.URL.Path]
	s.mu.Unlock()
	switch {
	case !s.open && given != password:
		w.Header().Set("WWW-Authenticate", `Basic realm="shop"`)
		w.WriteHeader(http.StatusUnauthorized)
	case page != nil:
		page(w, r)
	case strings.HasPrefix(r.URL.Path, "/v2/"):
		s.registry(w, r)
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}

func (s *shop) registry(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	name, reference, isManifest := strings.Cut(strings.TrimPrefix(r.URL.Path, "/v2/"), "/manifests/")
	if !isManifest {
		_, reference, _ = strings.Cut(r.URL.Path, "/blobs/")
	}
	d, tagged := s.tags[name+":"+reference]
	if !tagged {
		d = digest.Digest(reference)
	}
	data, exists := s.blobs[d]
	if !exists {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", s.types[d])
	w.Header().Set("Docker-Content-Digest", d.String())
	w.Header().Set("Content-Length", fmt.Sprint(len(data)))
	if r.Method == http.MethodGet {
		_, _ = w.Write(data)
	}
}

func (s *shop) host() string { return strings.TrimPrefix(s.URL, "http://") }

// other is the shop under another name, so that it counts as another host.
func (s *shop) other() string { return strings.Replace(s.URL, "127.0.0.1", "localhost", 1) }

// asked returns and forgets what the shop was asked for.
func (s *shop) asked() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	asked := s.requests
	s.requests = nil
	return asked
}

func (s *shop) put(mediaType string, data []byte) ocispec.Descriptor {
	d := digest.FromBytes(data)
	s.blobs[d], s.types[d] = data, mediaType
	return ocispec.Descriptor{MediaType: mediaType, Digest: d, Size: int64(len(data))}
}

// artifact puts an artifact into the registry, with a layer of a type, and one with its signature.
func (s *shop) artifact(tag, config, layer string, layers ...[]byte) digest.Digest {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []string
	for i, data := range layers {
		if i > 0 {
			layer = provenanceType
		}
		d := s.put(layer, data)
		list = append(list, fmt.Sprintf(`{"mediaType":%q,"digest":%q,"size":%d}`, d.MediaType, d.Digest, d.Size))
	}
	about := s.put(config, []byte("{}"))
	manifest := s.put(ocispec.MediaTypeImageManifest, fmt.Appendf(nil, `{"schemaVersion":2,"mediaType":%q,"config":{"mediaType":%q,"digest":%q,"size":2},"layers":[%s]}`,
		ocispec.MediaTypeImageManifest, about.MediaType, about.Digest, strings.Join(list, ",")))
	s.tags[tag] = manifest.Digest
	return manifest.Digest
}

func (s *shop) chart(tag string, packed []byte) digest.Digest {
	return s.artifact(tag, configType, layerType, packed)
}

// page delivers a text, with a name for its state.
func (s *shop) page(path string, data []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	name := `"` + digest.FromBytes(data).Encoded() + `"`
	s.pages[path] = func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", name)
		if r.Header.Get("If-None-Match") == name {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		_, _ = w.Write(data)
	}
}

func (s *shop) handle(path string, handle http.HandlerFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pages[path] = handle
}

// world is a resource cluster with namespaces team-a and team-b, and a loader.
type world struct {
	*Loader
	now time.Time
}

const header = "Basic cmVhZGVyOnMzY3IzdC1wNHNz" // reader:s3cr3t-p4ss

// landscape is a Context with credentials for a shop; CHARTS are the credentials for
// its chart repositories.
const landscape = `
apiVersion: landscaper.gardener.cloud/v1alpha1
kind: Context
metadata: {name: vendor, namespace: team-a}
repositoryContext: {type: local, filePath: team-a}
registryPullSecrets: [{name: pull}]
configurations:
  helmChartRepoCredentials:
    auths:
    - {url: "URL/charts", secretRef: {name: charts}}
---
apiVersion: v1
kind: Secret
metadata: {name: pull, namespace: team-a}
stringData:
  .dockerconfigjson: '{"auths": {"HOST": {"username": "reader", "password": "` + password + `"}}}'
---
apiVersion: v1
kind: Secret
metadata: {name: charts, namespace: team-a}
stringData:
  authHeader: "` + header + `"
`

// objects reads a text of objects for namespaces.
func objects(t testing.TB, s *shop, text string, namespaces ...string) []client.Object {
	t.Helper()
	var all []client.Object
	for _, namespace := range namespaces {
		for _, part := range strings.Split(strings.NewReplacer("HOST", s.host(), "URL", s.URL, "team-a", namespace).Replace(text), "\n---\n") {
			var object client.Object = &v1alpha1.Context{}
			if strings.Contains(part, "kind: Secret") {
				object = &corev1.Secret{}
			}
			if err := yaml.UnmarshalStrict([]byte(part), object); err != nil {
				t.Fatalf("%v:\n%s", err, part)
			}
			if secret, ok := object.(*corev1.Secret); ok {
				secret.Data = map[string][]byte{}
				for key, value := range secret.StringData {
					secret.Data[key] = []byte(value)
				}
			}
			all = append(all, object)
		}
	}
	return all
}

// timeouts are long but for a server that stands still: the others answer, sooner or later.
func timeouts() registry.Timeouts {
	return registry.Timeouts{Connect: time.Minute, Answer: time.Minute, Stall: 2 * time.Second, Rate: 16 << 10}
}

func newWorld(t testing.TB, policy egress.Policy, funcs interceptor.Funcs, local fstest.MapFS, all ...client.Object) *world {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	w := &world{now: time.Unix(1_000_000, 0)}
	reader := fake.NewClientBuilder().WithScheme(scheme).WithObjects(all...).WithInterceptorFuncs(funcs).Build()
	http, err := access.NewHTTPClient(access.HTTPOptions{Egress: policy, Timeouts: timeouts()})
	if err != nil {
		t.Fatal(err)
	}
	w.Loader = New(Options{
		Contexts: reader,
		Sources:  &repocontext.Reader{Client: reader, Base: component.Options{Local: local}},
		Components: &component.Shared{
			Cache: cache.New(cache.DefaultBytes, cache.DefaultValidity, func() time.Time { return w.now }), Pool: registry.NewPool(policy, timeouts()),
			Indexes: access.NewIndexes(), HTTP: http, MaxContent: component.DefaultMaxContent,
		},
	})
	return w
}

// usual is the world of most tests: a shop, and credentials for it.
func usual(t testing.TB, s *shop, local fstest.MapFS) *world {
	t.Helper()
	return newWorld(t, egress.Policy{AllowLoopback: true}, interceptor.Funcs{}, local, objects(t, s, landscape, "team-a", "team-b")...)
}

func item(namespace, landscape string) *v1alpha1.DeployItem {
	return &v1alpha1.DeployItem{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "web"}, Spec: v1alpha1.DeployItemSpec{Context: landscape}}
}

func encoded(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }
