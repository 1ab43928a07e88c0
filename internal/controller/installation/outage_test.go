package installation

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/cluster/egress"
	"go.landscaper.dev/internal/content/component"
	"go.landscaper.dev/internal/content/component/access"
	"go.landscaper.dev/internal/content/component/cache"
	"go.landscaper.dev/internal/content/component/registry"
)

// descriptorAt is a component descriptor in an Installation, with a blueprint at a registry.
const descriptorAt = `
componentDescriptor:
  inline:
    meta: {schemaVersion: v2}
    component:
      name: example.org/shop
      version: 1.0.0
      provider: p
      repositoryContexts: []
      sources: []
      componentReferences: []
      resources:
      - {name: blueprint, type: blueprint, version: 1.0.0, relation: external, access: ACCESS}
blueprint: {ref: {resourceName: blueprint}}
context: vendor
`

// referenceAt is a component version in the repository of the Context.
const referenceAt = `
componentDescriptor: {ref: {componentName: example.org/shop, version: 1.0.0}}
blueprint: {ref: {resourceName: blueprint}}
context: vendor
`

// faulty is a server that answers with an error. It counts requests.
func faulty(t *testing.T, handle http.HandlerFunc) (host string, asked *atomic.Int64) {
	t.Helper()
	asked = &atomic.Int64{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		handle(w, r)
	}))
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://"), asked
}

// TestOutageIsShown: when any part of a registry does not answer, the first attempt ends with an
// error in the status that says which server does not answer, since when, and until when it is
// retried; a further attempt keeps that error.
func TestOutageIsShown(t *testing.T) {
	busy := func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) }
	for _, test := range []struct {
		reason string
		handle http.HandlerFunc
		// spec is that of the Installation, repository the repository context; HOST is the server.
		spec, repository string
	}{
		{"a descriptor", busy, referenceAt, `{type: ociRegistry, baseUrl: "http://HOST/c"}`},
		{"a descriptor, by the legacy type", busy, referenceAt, `{type: OCIRegistry, baseUrl: "http://HOST/c", componentNameMapping: urlPath}`},
		{"a descriptor, by the type with a version", busy, referenceAt, `{type: OCIRegistry/v1, baseUrl: "http://HOST", subPath: c}`},
		{"a registry that may be one without encryption", busy, referenceAt, `{type: ociRegistry, baseUrl: "HOST/c"}`},
		{"a blueprint that is an artifact", busy, strings.Replace(descriptorAt, "ACCESS", `{type: ociArtifact, imageReference: "http://HOST/blueprint:1"}`, 1), `{type: ociRegistry, baseUrl: "http://HOST/c"}`},
		{"a blueprint that is a blob", busy, strings.Replace(descriptorAt, "ACCESS", `{type: ociBlob, ref: "http://HOST/blueprint", mediaType: application/x-tar, size: 3, digest: "sha256:`+strings.Repeat("a", 64)+`"}`, 1), `{type: ociRegistry, baseUrl: "http://HOST/c"}`},
		{"a blueprint at an address", busy, strings.Replace(descriptorAt, "ACCESS", `{type: wget, url: "http://HOST/blueprint.tgz"}`, 1), `{type: ociRegistry, baseUrl: "http://HOST/c"}`},
		{"a registry that limits requests", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "3600")
			w.WriteHeader(http.StatusTooManyRequests)
		}, referenceAt, `{type: ociRegistry, baseUrl: "http://HOST/c"}`},
		{"only the server of tokens", func(w http.ResponseWriter, r *http.Request) {
			if strings.HasPrefix(r.URL.Path, "/v2/") {
				w.Header().Set("WWW-Authenticate", fmt.Sprintf(`Bearer realm="http://%s/token",service="registry"`, r.Host))
				w.WriteHeader(http.StatusUnauthorized)
				return
			}
			w.WriteHeader(http.StatusServiceUnavailable)
		}, referenceAt, `{type: ociRegistry, baseUrl: "http://HOST/c"}`},
		{"a page of a proxy instead of an error of a registry", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			w.WriteHeader(http.StatusServiceUnavailable)
			fmt.Fprint(w, "<html><body>503 Service Temporarily Unavailable</body></html>")
		}, referenceAt, `{type: ociRegistry, baseUrl: "http://HOST/c"}`},
		{"a server that hangs before it says 503", func(w http.ResponseWriter, r *http.Request) {
			select {
			case <-time.After(30 * time.Second):
			case <-r.Context().Done():
			}
			w.WriteHeader(http.StatusServiceUnavailable)
		}, referenceAt, `{type: ociRegistry, baseUrl: "http://HOST/c"}`},
		{"a registry that ceases to answer after the manifest", func(w http.ResponseWriter, r *http.Request) {
			if !strings.Contains(r.URL.Path, "/manifests/") {
				w.WriteHeader(http.StatusServiceUnavailable)
				return
			}
			w.Header().Set("Content-Type", "application/vnd.oci.image.manifest.v1+json")
			fmt.Fprintf(w, `{"schemaVersion":2,"mediaType":"application/vnd.oci.image.manifest.v1+json","config":{"mediaType":"application/vnd.gardener.cloud.cnudie.component.config.v1+json","digest":"sha256:%[1]s","size":2},"layers":[{"mediaType":"application/vnd.gardener.cloud.cnudie.component-descriptor.v2+json","digest":"sha256:%[1]s","size":2}]}`, strings.Repeat("a", 64))
		}, referenceAt, `{type: ociRegistry, baseUrl: "http://HOST/c"}`},
		{"a server that ends the connection", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, referenceAt, `{type: ociRegistry, baseUrl: "http://HOST/c"}`},
	} {
		t.Run(test.reason, func(t *testing.T) {
			host, asked := faulty(t, test.handle)
			replace := strings.NewReplacer("HOST", host)
			b := outageBench(t, replace.Replace(test.spec), replace.Replace(test.repository))
			enqueued := planElsewhere(t, b.Reconciler)
			for attempt := range 3 {
				before := asked.Load()
				failed := b.attempt(t, enqueued)
				if !failed || asked.Load() == before && attempt == 0 {
					t.Fatalf("attempt %d: failed %t after %d requests", attempt, failed, asked.Load()-before)
				}
				inst := b.installation(t)
				if inst.Status.InstallationPhase != v1alpha1.InstallationPhases.Init || inst.Status.LastError == nil {
					t.Fatalf("attempt %d: phase %s, error %v", attempt, inst.Status.InstallationPhase, inst.Status.LastError)
				}
				for _, want := range []string{host, "no answer since 12:00:00 UTC, asked again until 12:05:00 UTC"} {
					if !strings.Contains(inst.Status.LastError.Message, want) {
						t.Errorf("attempt %d: %q is not in %s", attempt, want, inst.Status.LastError.Message)
					}
				}
				if strings.Contains(inst.Status.LastError.Message, "s3cr3t") {
					t.Errorf("the status shows the password: %s", inst.Status.LastError.Message)
				}
			}
		})
	}
}

// attempt reconciles until an attempt that asks the outside has ended, and reports whether it
// has failed. Between the beginning and the end of an attempt an error that was shown stays.
func (b *bench) attempt(t *testing.T, enqueued <-chan client.ObjectKey) (failed bool) {
	t.Helper()
	for range 30 {
		shown := b.shown(t)
		if _, err := b.Reconcile(t.Context(), ctrl.Request{NamespacedName: shop}); err != nil {
			return true
		}
		if shown != nil && b.shown(t) == nil {
			t.Error("an attempt that has begun hides the error of the one before")
		}
		inst := b.installation(t)
		if !b.planning(inst) {
			continue
		}
		select {
		case <-enqueued:
		case <-time.After(time.Minute):
			t.Fatal("the attempt does not end")
		}
	}
	return false
}

func (b *bench) shown(t *testing.T) *v1alpha1.Error { return b.installation(t).Status.LastError }

// outageBench is a bench with an Installation that requests a job, and its Context.
func outageBench(t *testing.T, spec, repository string) *bench {
	t.Helper()
	inst := &v1alpha1.Installation{ObjectMeta: metav1.ObjectMeta{
		Namespace: shop.Namespace, Name: shop.Name, UID: "uid-shop", Generation: 1,
		Annotations: map[string]string{v1alpha1.OperationAnnotation: string(v1alpha1.ReconcileOperation)},
	}}
	landscape := &v1alpha1.Context{ObjectMeta: metav1.ObjectMeta{Namespace: shop.Namespace, Name: "vendor"}}
	for text, into := range map[string]any{spec: &inst.Spec, "repositoryContext: " + repository + "\nregistryPullSecrets: [{name: pull}]": &landscape.ContextConfiguration} {
		if err := yaml.UnmarshalStrict([]byte(text), into); err != nil { //nolint:forbidigo // a text of a test
			t.Fatal(err)
		}
	}
	pull := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: shop.Namespace, Name: "pull"}, Type: corev1.SecretTypeDockerConfigJson, Data: map[string][]byte{
		corev1.DockerConfigJsonKey: []byte(`{"auths": {"127.0.0.1": {"username": "reader", "password": "s3cr3t"}}}`),
	}}
	b := newBench(t, inst, landscape, pull)
	policy, timeouts := egress.Policy{AllowLoopback: true}, registry.ServerTimeouts()
	timeouts.Answer = time.Second
	http, err := access.NewHTTPClient(access.HTTPOptions{Egress: policy, Timeouts: timeouts})
	if err != nil {
		t.Fatal(err)
	}
	b.Planner.Sources.Base.Registry.AllowPlainHTTP = true
	b.Planner.Components = &component.Shared{
		Cache: cache.New(cache.DefaultBytes, cache.DefaultValidity, time.Now), Pool: registry.NewPool(policy, timeouts),
		Indexes: access.NewIndexes(), HTTP: http, MaxContent: component.DefaultMaxContent,
	}
	return b
}
