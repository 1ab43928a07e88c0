// Package component tests components against a real registry that has
// authentication and TLS.
package component

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"go.landscaper.dev/internal/cluster/egress"
	"go.landscaper.dev/internal/content/component"
	"go.landscaper.dev/internal/content/component/archive"
	"go.landscaper.dev/internal/content/component/cache"
	"go.landscaper.dev/internal/content/component/credential"
	"go.landscaper.dev/internal/content/component/ctf"
	"go.landscaper.dev/internal/content/component/descriptor"
	"go.landscaper.dev/internal/content/component/oci"
	"go.landscaper.dev/internal/content/component/publish"
	"go.landscaper.dev/internal/content/component/registry"
	"go.landscaper.dev/internal/content/component/repository"
	"go.landscaper.dev/test/lab"
)

var (
	started   *lab.Lab
	server    *lab.Registry
	authority string
)

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	var err error
	started, err = lab.Start(ctx, lab.Options{With: []string{"registry-auth", "registry-tls", "git-auth"}})
	if err != nil {
		fmt.Fprintln(os.Stderr, "start the lab:", err)
		return 1
	}
	defer func() {
		if err := started.Down(context.Background()); err != nil {
			fmt.Fprintln(os.Stderr, "end the lab:", err)
		}
	}()
	server = started.Registry
	text, err := os.ReadFile(server.CAFile)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	authority = string(text)
	return m.Run()
}

func credentials(t testing.TB, host, username, password string) *credential.Store {
	t.Helper()
	store := &credential.Store{}
	_, err := store.AddSecret("shop/pull", map[string][]byte{
		credential.DockerConfigKey: fmt.Appendf(nil, `{"auths":{%q:{"username":%q,"password":%q}}}`, host, username, password),
	})
	if err != nil {
		t.Fatal(err)
	}
	return store
}

func options(t testing.TB) registry.Options {
	return registry.Options{Credentials: credentials(t, server.Address, server.Username, server.Password), Authorities: authority}
}

func shared() *component.Shared {
	return &component.Shared{
		Cache: cache.New(cache.DefaultBytes, cache.DefaultValidity, time.Now), Pool: registry.NewPool(egress.Policy{AllowLoopback: true}, registry.DefaultTimeouts()),
	}
}

func repositoryContext(t testing.TB, fields map[string]any) descriptor.Typed {
	t.Helper()
	fields["type"] = "OCIRegistry"
	if fields["baseUrl"] == nil {
		fields["baseUrl"] = server.Address
	}
	context, err := descriptor.NewTyped(fields)
	if err != nil {
		t.Fatal(err)
	}
	return context
}

const constructor = `
components:
- name: example.org/shop/web
  version: 1.4.2+rc7
  provider: {name: shop-team}
  resources:
  - {name: schema, type: landscaper.gardener.cloud/jsonschema, input: {type: utf8, text: '{"type":"string"}', mediaType: application/vnd.gardener.landscaper.jsonschema.layer.v1.json}}
  - {name: image, type: ociImage, version: 1.0.0, access: {type: ociArtifact, imageReference: "HOST/images/web:1.0.0"}}
  - {name: relative, type: ociImage, version: 1.0.0, access: {type: relativeOciReference, reference: "images/web:1.0.0"}}
  - {name: layer, type: blob, version: 1.0.0, access: {type: ociBlob, ref: HOST/SUB/images/web, digest: DIGEST}}
  componentReferences:
  - {name: db, componentName: example.org/shop/db, version: 3.1.0}
- name: example.org/shop/db
  version: 3.1.0
  provider: {name: shop-team}
`

const layerText = "a layer"

// pushImage writes an image with one layer.
func pushImage(t testing.TB, target oci.Target, name string) ocispec.Descriptor {
	t.Helper()
	push := func(mediaType string, data []byte) ocispec.Descriptor {
		d := ocispec.Descriptor{MediaType: mediaType, Digest: digest.FromBytes(data), Size: int64(len(data))}
		if err := target.Push(t.Context(), name, d, bytes.NewReader(data)); err != nil {
			t.Fatal(err)
		}
		return d
	}
	config := push("application/vnd.oci.image.config.v1+json", []byte("{}"))
	layer := push("application/octet-stream", []byte(layerText))
	manifest := push(ocispec.MediaTypeImageManifest, fmt.Appendf(nil,
		`{"schemaVersion":2,"mediaType":%q,"config":{"mediaType":%q,"digest":%q,"size":%d},"layers":[{"mediaType":%q,"digest":%q,"size":%d}]}`,
		ocispec.MediaTypeImageManifest, config.MediaType, config.Digest, config.Size, layer.MediaType, layer.Digest, layer.Size))
	if err := target.Tag(t.Context(), name, manifest, "1.0.0"); err != nil {
		t.Fatal(err)
	}
	return manifest
}

// push publishes the components in a repository and returns its context.
func push(t testing.TB, fields map[string]any) descriptor.Typed {
	t.Helper()
	at := repositoryContext(t, fields)
	spec, err := repository.ParseSpec(at)
	if err != nil {
		t.Fatal(err)
	}
	target := registry.NewClient(registry.NewPool(egress.Policy{AllowLoopback: true}, registry.DefaultTimeouts()), options(t)).Registry(spec.Scheme, spec.Host)
	pushImage(t, target, "images/web")
	pushImage(t, target, spec.SubPath+"/images/web")
	text := strings.NewReplacer("HOST", server.Address, "SUB", spec.SubPath, "DIGEST", digest.FromString(layerText).String()).Replace(constructor)
	parsed, err := publish.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	session := component.NewSession(shared(), component.Options{Registry: options(t)})
	for _, unchanged := range []bool{false, true} {
		published, err := publish.Publish(t.Context(), parsed, publish.Options{
			Target: target, Spec: spec, Context: at,
			Digest: func(ctx context.Context, version *repository.Version, resource *descriptor.Resource) (*descriptor.Digest, error) {
				if resource.Name == "relative" {
					return nil, nil // the place is known only after publishing
				}
				return session.Reader().Digest(ctx, version, resource, "SHA-256", "")
			},
		})
		if err != nil || len(published) != 2 || published[0].Unchanged != unchanged {
			t.Fatalf("publish: %+v, %v", published, err)
		}
	}
	return at
}

func TestPublishAndRead(t *testing.T) {
	for _, test := range []struct {
		reason string
		fields map[string]any
		want   string
	}{
		{"names as paths", map[string]any{"subPath": "paths"}, "paths/component-descriptors/example.org/shop/web"},
		{"names as digests", map[string]any{"subPath": "digests", "componentNameMapping": "sha256-digest"}, "digests/"},
		{"the sub path in the base URL", map[string]any{"baseUrl": "https://" + server.Address + "/in/base"}, "in/base/component-descriptors/"},
	} {
		target := push(t, test.fields)
		spec, err := repository.ParseSpec(target)
		if err != nil || !strings.HasPrefix(spec.Repository("example.org/shop/web"), test.want) {
			t.Errorf("%s: repository %s (%v), want %s", test.reason, spec.Repository("example.org/shop/web"), err, test.want)
		}
		session := component.NewSession(shared(), component.Options{Registry: options(t), Default: target})
		version, err := session.Resolve(t.Context(), component.Reference{Name: "example.org/shop/web", Version: "1.4.2+rc7"})
		if err != nil {
			t.Errorf("%s: %v", test.reason, err)
			continue
		}
		for name, want := range map[string]string{"schema": `{"type":"string"}`, "layer": layerText, "image": "", "relative": ""} {
			resource, err := version.Resource(descriptor.Named(name))
			if err != nil {
				t.Fatal(err)
			}
			data, mediaType, err := session.Reader().Read(t.Context(), version, resource, 1<<20)
			switch {
			case err != nil:
				t.Errorf("%s: %v", test.reason, err)
			case want != "" && string(data) != want:
				t.Errorf("%s: %s holds %q", test.reason, name, data)
			case want == "":
				set, err := oci.ReadSet(bytes.NewReader(data), archive.DefaultLimits())
				if err != nil || mediaType != "application/vnd.oci.image.manifest.v1+tar+gzip" || set.Main.MediaType != ocispec.MediaTypeImageManifest {
					t.Errorf("%s: %s is delivered as %s: %v", test.reason, name, mediaType, err)
				}
			}
		}
		if all, err := session.Closure(t.Context(), version, nil); err != nil || len(all) != 2 {
			t.Errorf("%s: the closure has %d versions (%v)", test.reason, len(all), err)
		}
	}
}

func TestWrongCredentials(t *testing.T) {
	target := push(t, map[string]any{"subPath": "private"})
	reference := component.Reference{Name: "example.org/shop/web", Version: "1.4.2+rc7"}
	common := shared()
	if _, err := component.NewSession(common, component.Options{Tenant: "shop", Registry: options(t), Default: target}).Resolve(t.Context(), reference); err != nil {
		t.Fatal(err)
	}
	for reason, store := range map[string]*credential.Store{
		"a wrong password":             credentials(t, server.Address, server.Username, "wr0ng"),
		"no credentials":               nil,
		"credentials for another host": credentials(t, "other.example.org", server.Username, server.Password),
	} {
		session := component.NewSession(common, component.Options{Tenant: "stranger", Default: target, Registry: registry.Options{Credentials: store, Authorities: authority}})
		_, err := session.Resolve(t.Context(), reference)
		if !errors.Is(err, registry.ErrDenied) || errors.Is(err, oci.ErrNotFound) || strings.Contains(err.Error(), "wr0ng") || strings.Contains(err.Error(), server.Password) {
			t.Errorf("%s: got %v", reason, err)
		}
	}
	session := component.NewSession(common, component.Options{Default: target, Registry: registry.Options{Credentials: options(t).Credentials}})
	if _, err := session.Resolve(t.Context(), reference); err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("an unknown certificate must not be trusted: %v", err)
	}
	insecure := registry.Options{Credentials: options(t).Credentials, InsecureSkipVerify: true}
	if _, err := component.NewSession(common, component.Options{Default: target, Registry: insecure}).Resolve(t.Context(), reference); err != nil {
		t.Errorf("the administrator switched the check off: %v", err)
	}
}

// counted puts a server that counts in front of the registry.
func counted(t testing.TB) (*httptest.Server, *atomic.Int64) {
	t.Helper()
	behind, err := url.Parse("https://" + server.Address)
	if err != nil {
		t.Fatal(err)
	}
	transport, err := registry.TransportWith(authority)
	if err != nil {
		t.Fatal(err)
	}
	var count atomic.Int64
	proxy := &httputil.ReverseProxy{Transport: transport, Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(behind) }}
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		count.Add(1)
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(front.Close)
	return front, &count
}

func TestThousandResolvesCostOneCheck(t *testing.T) {
	push(t, map[string]any{"subPath": "counted"})
	front, count := counted(t)
	host := strings.TrimPrefix(front.URL, "http://")
	at := repositoryContext(t, map[string]any{"baseUrl": front.URL, "subPath": "counted"})
	common := shared()
	// No period of validity ends meanwhile, however long the test takes.
	begun := time.Now()
	common.Cache = cache.New(cache.DefaultBytes, cache.DefaultValidity, func() time.Time { return begun })
	resolve := func(namespace string) {
		// Each job has a session of its own.
		session := component.NewSession(common, component.Options{
			Tenant: namespace, Default: at, Registry: registry.Options{Credentials: credentials(t, host, server.Username, server.Password)},
		})
		if _, err := session.Resolve(t.Context(), component.Reference{Name: "example.org/shop/web", Version: "1.4.2+rc7"}); err != nil {
			t.Fatal(err)
		}
	}
	resolve("a")
	first := count.Swap(0)
	for range 999 {
		resolve("a")
	}
	if again := count.Swap(0); again != 0 {
		t.Errorf("resolving again cost %d requests", again)
	}
	for range 1000 {
		resolve("b")
	}
	if other := count.Load(); other != 1 {
		t.Errorf("another namespace cost %d requests, want its check alone", other)
	}
	t.Logf("first: %d requests; 999 more: 0; another namespace, 1000 times: %d", first, count.Load())
}

func TestTransportArchiveToRegistry(t *testing.T) {
	parsed, err := publish.Parse([]byte("{name: example.org/shop/solo, version: 1.0.0, provider: {name: x}, resources: [{name: text, type: t, input: {type: utf8, text: hello, compress: true}}]}"))
	if err != nil {
		t.Fatal(err)
	}
	directory := filepath.Join(t.TempDir(), "archive")
	archived, err := ctf.Create(directory)
	if err != nil {
		t.Fatal(err)
	}
	spec, err := repository.ParseSpec(repositoryContext(t, map[string]any{}))
	if err != nil {
		t.Fatal(err)
	}
	remote := registry.NewClient(registry.NewPool(egress.Policy{AllowLoopback: true}, registry.DefaultTimeouts()), options(t)).Registry("", server.Address)
	var digests []string
	for _, target := range []oci.Target{archived, remote} {
		published, err := publish.Publish(t.Context(), parsed, publish.Options{Target: target, Spec: spec})
		if err != nil {
			t.Fatal(err)
		}
		digests = append(digests, published[0].Digest)
	}
	if digests[0] != digests[1] {
		t.Errorf("the same component has the digest %s in an archive and %s in a registry", digests[0], digests[1])
	}
	changed := *parsed
	changed.Components[0].Resources[0].Input.Text = "changed"
	if _, err := publish.Publish(t.Context(), &changed, publish.Options{Target: remote, Spec: spec}); !errors.Is(err, publish.ErrExists) {
		t.Errorf("a version must not change silently: %v", err)
	}
}
