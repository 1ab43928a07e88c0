package chart

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/opencontainers/go-digest"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	helmv1alpha1 "go.landscaper.dev/api/helm/v1alpha1"
	"go.landscaper.dev/deployer"
	"go.landscaper.dev/internal/cluster/egress"
	"go.landscaper.dev/internal/runtime/job"
)

// status is a page that answers with a status.
func status(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
}

// TestOutcomes checks what follows when a chart cannot be loaded.
func TestOutcomes(t *testing.T) {
	s, packed, _ := stocked(t)
	other := s.chart("oci/other:1.0.0", simple(t, "other"))
	s.artifact("oci/image:1.0.0", "application/vnd.oci.image.config.v1+json", "application/vnd.oci.image.layer.v1.tar", packed, packed)
	s.artifact("oci/page:1.0.0", configType, layerType, []byte("<html>"))
	s.handle("/away", status(http.StatusServiceUnavailable))
	s.handle("/busy", status(http.StatusTooManyRequests))
	s.handle("/gone", status(http.StatusGone))
	s.handle("/page", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<!DOCTYPE html><title>Log in</title>") })
	s.handle("/half", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", fmt.Sprint(len(packed)))
		_, _ = w.Write(packed[:10])
	})
	s.handle("/slow", func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusOK)
		_, _ = w.Write(packed[:10])
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	s.handle("/large", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, maxPacked+1)) })
	s.handle("/endless/index.yaml", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, 17<<20)) })
	s.page("/wide/index.yaml", []byte("entries: {web: ["+strings.Repeat("{},", 1_000_000)+"]}"))
	s.page("/login/index.yaml", []byte("<html>Log in"))
	s.page("/listing/index.yaml", index("{version: 1.0.0, urls: [none.tgz]}"))
	s.page("/lying/index.yaml", index("{version: 1.0.0, urls: [/charts/web-1.0.0.tgz], digest: '"+strings.Repeat("0", 64)+"'}"))
	// A registry that answers with another manifest than the one that it is asked for.
	swapped := strings.Repeat("a", 64)
	s.handle("/v2/oci/web/manifests/sha256:"+swapped, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", s.types[other])
		w.Header().Set("Docker-Content-Digest", other.String())
		_, _ = w.Write(s.blobs[other])
	})
	s.handle("/v2/oci/web/manifests/503", status(http.StatusServiceUnavailable))
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()
	w := usual(t, s, componentIn(s, packed))
	at := s.URL + "/oci/"
	open := newShop(t)
	open.open, open.pages = true, s.pages
	component := "component: {name: example.org/shop, version: 1.0.0}\n"
	const final, again = deployer.OutcomeFinal, deployer.OutcomeTransient
	for _, test := range []struct {
		reason string
		source *helmv1alpha1.Chart
		want   string
		then   deployer.Outcome
	}{
		{"two sources", &helmv1alpha1.Chart{Ref: "a", ResourceRef: "b"}, "chart: chart.ref and chart.resourceRef are set, but a chart has one source", final},
		{"no tag", ref(at + "web"), "chart.ref: no tag specified in reference " + at + "web", final},
		{"no reference", ref("r.example.org/A B:1"), "is not a reference", final},
		{"credentials in the reference", ref("oci://reader:" + password + "@r.example.org/web:1"), "the part after the @ is not a digest", final},
		{"no such tag", ref(at + "web:9.9.9"), "not found", final},
		{"a digest that does not exist", ref(at + "web:1.0.0@" + digest.FromString("x").String()), "not found", final},
		{"a registry that swaps what is pinned", ref(at + "web:1.0.0@sha256:" + swapped), "digest mismatch", final},
		{"an image", ref(at + "image:1.0.0"), "the artifact is not a chart: it has config type \"application/vnd.oci.image.config.v1+json\" and 2 layers", final},
		{"an artifact with the type of a chart, and other content", ref(at + "page:1.0.0"), "page of HTML", final},
		{"a registry that is down", ref(at + "web:503"), "503", again},
		{"a registry that does not listen", ref(closed.URL + "/oci/web:1.0.0"), "connection refused", again},
		{"an address at which no server listens", remote(closed.URL + "/web.tgz"), "connection refused", again},
		{"a server that is down", remote(open.URL + "/away"), "chart.archive.remote.url: fetch from " + open.host() + ": the server answers 503 Service Unavailable", again},
		{"a server that is busy", remote(open.URL + "/busy?sig=" + password), "429", again},
		{"a chart that was deleted", remote(open.URL + "/gone"), "410", final},
		{"nothing there", remote(open.URL + "/none"), "404", final},
		{"credentials are not for addresses", remote(s.URL + "/charts/web-1.0.0.tgz"), "401 Unauthorized: check the credentials for this address (none are sent there", final},
		{"a page that asks for a login", remote(open.URL + "/page"), "it is a page of HTML", final},
		{"half of a chart", remote(open.URL + "/half"), "fetch from " + open.host() + ": read the content: unexpected EOF", again},
		{"a server that stands still", remote(open.URL + "/slow"), "stopped sending", again},
		{"a chart that is too large", remote(open.URL + "/large"), "limit of 33554432", final},
		{"a file", remote("file:///etc/passwd"), "not an address with http or https", final},
		{"no address", remote("etc/passwd"), "not an address with http or https", final},
		{"no name", inRepository(s.URL+"/charts", "", "1.0.0"), "chart.helmChartRepo.helmChartName: must be set", final},
		{"no version", inRepository(s.URL+"/charts", "web", " "), "chart.helmChartRepo.helmChartVersion: must be set", final},
		{"no repository", inRepository("", "web", "1.0.0"), "chart.helmChartRepo.helmChartRepoUrl: must be set", final},
		{"no such chart", inRepository(s.URL+"/charts", "wep", "1.0.0"), "it has no chart wep, did you mean web", final},
		{"no such version", inRepository(s.URL+"/charts", "web", "2.0.0"), "it has no chart web in version 2.0.0, but in 1.0.0, 0.9.0", final},
		{"no index", inRepository(s.URL+"/charts/none", "web", "1.0.0"), "404", final},
		{"credentials are for a path", inRepository(s.URL+"/listing", "web", "1.0.0"), "401 Unauthorized: check the credentials for this address (they come from configurations.helmChartRepoCredentials of the Context)", final},
		{"credentials are for a host", ref(closed.URL[:len("http://")] + "localhost" + s.URL[strings.LastIndex(s.URL, ":"):] + "/oci/web:1.0.0"), "(they come from registryPullSecrets of the Context)", final},
		{"the index is a page", inRepository(open.URL+"/login", "web", "1.0.0"), "decode the index", final},
		{"an index without end", inRepository(open.URL+"/endless", "web", "1.0.0"), "limit of 16777216", final},
		{"an index of very many values", inRepository(open.URL+"/wide", "web", "1.0.0"), "the text has more than", final},
		{"the index names a chart that is not there", inRepository(open.URL+"/listing", "web", "1.0.0"), "404", final},
		{"the index names another digest", inRepository(open.URL+"/lying", "web", "1.0.0"), "not the chart that the index describes", final},
		{"no key", &helmv1alpha1.Chart{ResourceRef: "s3cr3t-p4ss!"}, "it is not a key of a resource: it is not base64", final},
		{"a key of something else", byKey("a: b"), "component.name, component.version and resource.name must be set", final},
		{"a key that is not YAML", byKey("a: [" + password), "it is not a key of a resource", final},
		{"no such component", byKey("component: {name: example.org/none, version: 1.0.0}\nresource: {name: blob}\n"), "example.org/none", final},
		{"no such resource", byKey(component + "resource: {name: none}\n"), "none", final},
		{"a resource whose content differs from its digest", byKey(component + "resource: {name: checked}\n"), "mismatches existing digest", final},
		{"a resource without a component and a name of one", &helmv1alpha1.Chart{FromResource: &helmv1alpha1.RemoteChartReference{ResourceName: "x"}}, "chart.fromResource: set either ref or inline", final},
		{"no resource", fromComponent("example.org/shop", "1.0.0", ""), "chart.fromResource.resourceName: must be set", final},
		{"no version of a component", fromComponent("example.org/shop", "", "blob"), "componentName and version must be set", final},
	} {
		t.Run(test.reason, func(t *testing.T) {
			_, err := w.Load(t.Context(), item("team-a", "vendor"), test.source)
			if err == nil || !strings.Contains(err.Error(), test.want) || deployer.OutcomeOf(err) != test.then {
				t.Errorf("got %v (%s), want %q (%s)", err, deployer.OutcomeOf(err), test.want, test.then)
			}
			if strings.Contains(fmt.Sprint(err), password) {
				t.Errorf("the message has a secret: %v", err)
			}
		})
	}
}

// TestContexts checks what follows from the content of a Context.
func TestContexts(t *testing.T) {
	s, packed, _ := stocked(t)
	fixed := func(old, new string) string { return strings.Replace(landscape, old, new, 1) }
	auths := func(list string) string { return fixed(`- {url: "URL/charts", secretRef: {name: charts}}`, list) }
	byRegistry, byRepository := ref(s.URL+"/oci/web:1.0.0"), inRepository(s.URL+"/charts", "web", "1.0.0")
	refuse := func(name string) interceptor.Funcs {
		return interceptor.Funcs{Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
			if _, isSecret := object.(*corev1.Secret); key.Name == name && (isSecret || name == "vendor") {
				return apierrors.NewForbidden(schema.GroupResource{Resource: "x"}, name, errors.New("no"))
			}
			return c.Get(ctx, key, object, options...)
		}}
	}
	const final, again, none = deployer.OutcomeFinal, deployer.OutcomeTransient, deployer.OutcomeNone
	for _, test := range []struct {
		reason    string
		landscape string
		context   string
		funcs     interceptor.Funcs
		source    *helmv1alpha1.Chart
		want      string
		then      deployer.Outcome
	}{
		{"all is well", landscape, "vendor", interceptor.Funcs{}, byRepository, "", none},
		{"no such Context", landscape, "vendro", interceptor.Funcs{}, byRegistry, "spec.context: there is no Context team-a/vendro: create it", final},
		{"the Context of every namespace is not there yet", landscape, "default", interceptor.Funcs{}, byRegistry, "there is no Context team-a/default yet", again},
		{"no Context is named, which is that one", landscape, "", interceptor.Funcs{}, byRegistry, "there is no Context team-a/default yet", again},
		{"an archive in the item needs no Context", landscape, "vendro", interceptor.Funcs{}, raw(packed), "", none},
		{"the server may not read Contexts", landscape, "vendor", refuse("vendor"), byRegistry, "administrator has to give this permission", again},
		{"the server may not read the Secret", landscape, "vendor", refuse("pull"), byRegistry, "administrator has to give this permission", again},
		{"the server may not read the Secret of a chart repository", landscape, "vendor", refuse("charts"), byRepository, "administrator has to give this permission", again},
		{"the Secret is missing", fixed("[{name: pull}]", "[{name: none}]"), "vendor", interceptor.Funcs{}, byRegistry, "registryPullSecrets: Secret none cannot be found", final},
		{"the Secret of a chart repository is missing", fixed("secretRef: {name: charts}", "secretRef: {name: none}"), "vendor", interceptor.Funcs{}, byRepository, "auths[0]: failed to get auth header: secretRef: Secret none cannot be found", final},
		{"what only chart repositories need does not matter elsewhere", fixed("secretRef: {name: charts}", "secretRef: {name: none}"), "vendor", interceptor.Funcs{}, byRegistry, "", none},
		{"the key is missing", fixed("secretRef: {name: charts}", "secretRef: {name: charts, key: other}"), "vendor", interceptor.Funcs{}, byRepository, `has no key "other"`, final},
		{"the header in the Context", auths(`- {url: "URL", authHeader: "` + header + `"}`), "vendor", interceptor.Funcs{}, byRepository, "", none},
		{"the scheme in lower case", auths(`- {url: "URL", authHeader: "` + strings.Replace(header, "Basic", "basic", 1) + `"}`), "vendor", interceptor.Funcs{}, byRepository, "", none},
		{"the longest path counts", auths(`- {url: "URL", authHeader: "Basic eDp5"}` + "\n    " + `- {url: "URL/charts/", authHeader: "` + header + `"}` + "\n    " + `- {url: "URL/chart", authHeader: "Basic eDp5"}`), "vendor", interceptor.Funcs{}, byRepository, "", none},
		{"the entry of another repository is not used", auths(`- {url: "URL/other", authHeader: "` + header + `"}`), "vendor", interceptor.Funcs{}, byRepository, "401", final},
		{"the entry is for encrypted connections", auths(`- {url: "https://HOST/charts", authHeader: "` + header + `"}`), "vendor", interceptor.Funcs{}, byRepository, "401", final},
		{"an entry without a scheme is for encrypted connections", auths(`- {url: "HOST/charts", authHeader: "` + header + `"}`), "vendor", interceptor.Funcs{}, byRepository, "401", final},
		{"the entry is for the usual port", auths(`- {url: "http://127.0.0.1/charts", authHeader: "` + header + `"}`), "vendor", interceptor.Funcs{}, byRepository, "401", final},
		{"pull secrets are for registries", fixed("{url: \"URL/charts\", secretRef: {name: charts}}", `{url: "https://x.example.org", authHeader: "Basic eDp5"}`), "vendor", interceptor.Funcs{}, byRepository, "401", final},
		{"a bearer token instead of basic auth", auths(`- {url: "URL", authHeader: "Bearer ` + password + `"}`), "vendor", interceptor.Funcs{}, byRepository, "auths[0]: only basic auth supported", final},
		{"a header that is not base64", auths(`- {url: "URL", authHeader: "Basic ` + password + `"}`), "vendor", interceptor.Funcs{}, byRepository, "auths[0]: the value of the auth header must be Basic", final},
		{"the Context has no repository, and items do not know that of their Installation", fixed("repositoryContext: {type: local, filePath: team-a}\n", ""), "vendor", interceptor.Funcs{}, byKey("component: {name: example.org/shop, version: 1.0.0}\nresource: {name: blob}\n"), "the Context vendor names no repository: set its repositoryContext", final},
		{"authHeader and secretRef", auths(`- {url: "URL", authHeader: "` + header + `", secretRef: {name: charts}}`), "vendor", interceptor.Funcs{}, byRepository, "authHeader and secretRef are both set", final},
		{"neither authHeader nor secretRef", auths(`- {url: "URL"}`), "vendor", interceptor.Funcs{}, byRepository, "failed to get auth header: set authHeader or secretRef", final},
		{"no address", auths(`- {authHeader: "` + header + `"}`), "vendor", interceptor.Funcs{}, byRepository, "auths[0]: url: ", final},
		{"no certificate", auths(`- {url: "URL", customCAData: "` + password + `"}`), "vendor", interceptor.Funcs{}, byRepository, "auths[0]: customCAData: it is neither", final},
		{"no list", fixed("auths:\n    - {url: \"URL/charts\", secretRef: {name: charts}}", "auths: "+password), "vendor", interceptor.Funcs{}, byRepository, "field auths must be a list", final},
	} {
		t.Run(test.reason, func(t *testing.T) {
			w := newWorld(t, egress.Policy{AllowLoopback: true}, test.funcs, nil, objects(t, s, test.landscape, "team-a")...)
			_, err := w.Load(t.Context(), item("team-a", test.context), test.source)
			if !strings.Contains(fmt.Sprint(err), test.want) || (test.then == none) != (err == nil) || deployer.OutcomeOf(err) != test.then || strings.Contains(fmt.Sprint(err), password) {
				t.Errorf("got %v (%s), want %q (%s)", err, deployer.OutcomeOf(err), test.want, test.then)
			}
		})
	}
}

// TestCodes checks the codes by which programs recognise the errors.
func TestCodes(t *testing.T) {
	s, _, _ := stocked(t)
	w := usual(t, s, nil)
	for _, test := range []struct {
		reason string
		source *helmv1alpha1.Chart
		want   string
	}{
		{"no source", &helmv1alpha1.Chart{}, "[ERR_CONFIGURATION_PROBLEM]"},
		{"a chart that may not be read", inRepository(s.URL+"/listing", "web", "1.0.0"), "[ERR_UNAUTHORIZED]"},
		{"a chart that does not exist", ref(s.URL + "/oci/web:9.9.9"), "[]"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			_, err := w.Load(t.Context(), item("team-a", "vendor"), test.source)
			if got := fmt.Sprint(job.Codes(err)); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
			var shown *job.Error
			if !errors.As(err, &shown) || shown.Operation == "" || shown.Reason == "" {
				t.Errorf("got %+v", err)
			}
		})
	}
}

// TestShutdownIsNoFailure checks that the end of the process does not end a job.
func TestShutdownIsNoFailure(t *testing.T) {
	s, packed, _ := stocked(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, source := range []*helmv1alpha1.Chart{raw(packed), ref(s.URL + "/oci/web:1.0.0"), inRepository(s.URL+"/charts", "web", "1.0.0")} {
		if _, err := usual(t, s, nil).Load(ctx, item("team-a", "vendor"), source); deployer.OutcomeOf(err) != deployer.OutcomeTransient || !errors.Is(err, context.Canceled) {
			t.Errorf("got %v (%s)", err, deployer.OutcomeOf(err))
		}
	}
}

// TestFewAreUnpackedAtOnce checks that charts wait for each other, and that a cancelled caller
// waits no longer.
func TestFewAreUnpackedAtOnce(t *testing.T) {
	loader := New(Options{})
	for range unpackedAtOnce {
		loader.unpacking <- struct{}{}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := loader.Load(ctx, item("team-a", "vendor"), raw(simple(t, "web")))
	if err == nil || !strings.Contains(err.Error(), "wait until other charts are unpacked") || deployer.OutcomeOf(err) != deployer.OutcomeTransient {
		t.Errorf("got %v", err)
	}
	<-loader.unpacking
	if _, err := loader.Load(t.Context(), item("team-a", "vendor"), raw(simple(t, "web"))); err != nil || len(loader.unpacking) != unpackedAtOnce-1 {
		t.Errorf("got %v, %d are being unpacked", err, len(loader.unpacking))
	}
}

// TestEgress checks that the policy of the process counts for every source.
func TestEgress(t *testing.T) {
	s, packed, _ := stocked(t)
	w := newWorld(t, egress.Policy{}, interceptor.Funcs{}, componentIn(s, packed), objects(t, s, landscape, "team-a")...)
	for _, source := range []*helmv1alpha1.Chart{
		ref(s.URL + "/oci/web:1.0.0"), remote(s.URL + "/x"), inRepository(s.URL+"/charts", "web", "1.0.0"),
		byKey("component: {name: example.org/shop, version: 1.0.0}\nresource: {name: repository}\n"),
		byKey("component: {name: example.org/shop, version: 1.0.0}\nresource: {name: artifact}\n"),
	} {
		_, err := w.Load(t.Context(), item("team-a", "vendor"), source)
		var refused *egress.Refused
		if !errors.As(err, &refused) || deployer.OutcomeOf(err) != deployer.OutcomeFinal {
			t.Errorf("got %v (%s)", err, deployer.OutcomeOf(err))
		}
	}
	if asked := s.asked(); len(asked) > 0 {
		t.Errorf("asked for %s", asked)
	}
}

// authority returns the certificate of a server in PEM form.
func authority(server *httptest.Server) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}))
}

// own returns a certificate for this machine that no client trusts.
func own(t *testing.T) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		IsCA: true, BasicConstraintsValid: true,
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{raw}, PrivateKey: key}
}

// TestOwnAuthorities checks that an authority of a Context counts for the repository that it is
// given for, and for no other.
func TestOwnAuthorities(t *testing.T) {
	s, packed, _ := stocked(t)
	secured := func() *httptest.Server {
		server := httptest.NewUnstartedServer(s)
		server.TLS = &tls.Config{Certificates: []tls.Certificate{own(t)}, MinVersion: tls.VersionTLS12}
		server.Config.ErrorLog = log.New(io.Discard, "", 0)
		server.StartTLS()
		t.Cleanup(server.Close)
		return server
	}
	home, other := secured(), secured()
	s.page("/charts/foreign/index.yaml", index("{version: 1.0.0, urls: ['"+other.URL+"/charts/web-1.0.0.tgz']}"))
	with := func(ca string) string {
		return strings.Replace(landscape, `- {url: "URL/charts", secretRef: {name: charts}}`, fmt.Sprintf("- {url: %q, authHeader: %q, customCAData: %q}", home.URL+"/charts", header, ca), 1)
	}
	for _, test := range []struct {
		reason, landscape, path, want string
	}{
		{"an authority in PEM form", with(authority(home)), "/charts", ""},
		{"an authority in base64 once more", with(encoded(authority(home))), "/charts", ""},
		{"no authority", with(""), "/charts", "certificate"},
		{"the authority of another server", with(authority(other)), "/charts", "certificate"},
		{"an authority does not count for another server to which the index leads", with(authority(home)), "/charts/foreign", "certificate"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			w := newWorld(t, egress.Policy{AllowLoopback: true}, interceptor.Funcs{}, nil, objects(t, s, test.landscape, "team-a")...)
			got, err := w.Load(t.Context(), item("team-a", "vendor"), inRepository(home.URL+test.path, "web", "1.0.0"))
			if test.want == "" {
				if err != nil || got.Digest != digestOf(packed) {
					t.Errorf("got %v", err)
				}
			} else if err == nil || !strings.Contains(err.Error(), test.want) || deployer.OutcomeOf(err) != deployer.OutcomeFinal {
				t.Errorf("got %v (%s)", err, deployer.OutcomeOf(err))
			}
		})
	}
}

// TestCredentialsOfRepositoriesAreForRepositories checks that a registry on the same host does not
// see them.
func TestCredentialsOfRepositoriesAreForRepositories(t *testing.T) {
	s, packed, _ := stocked(t)
	text := strings.Replace(strings.Replace(landscape, "registryPullSecrets: [{name: pull}]\n", "", 1), "URL/charts", "URL", 1)
	w := newWorld(t, egress.Policy{AllowLoopback: true}, interceptor.Funcs{}, componentIn(s, packed), objects(t, s, text, "team-a")...)
	for name, allowed := range map[string]bool{"repository": true, "artifact": false} {
		t.Run(name, func(t *testing.T) {
			_, err := w.Load(t.Context(), item("team-a", "vendor"), byKey("component: {name: example.org/shop, version: 1.0.0}\nresource: {name: "+name+"}\n"))
			if (err == nil) != allowed {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
}
