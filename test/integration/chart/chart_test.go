// Package chart tests where charts come from: a real registry that has
// authentication and TLS, a chart repository, and a real API server that has the
// Contexts and Secrets.
package chart

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	helmv1alpha1 "go.landscaper.dev/api/helm/v1alpha1"
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/deployer"
	"go.landscaper.dev/internal/cluster/egress"
	"go.landscaper.dev/internal/content/component"
	"go.landscaper.dev/internal/content/component/credential"
	"go.landscaper.dev/internal/content/component/publish"
	"go.landscaper.dev/internal/content/component/registry"
	"go.landscaper.dev/internal/content/component/repository"
	"go.landscaper.dev/internal/deploy/helm/chart"
	"go.landscaper.dev/internal/landscape/repocontext"
	"go.landscaper.dev/internal/server/install"
	"go.landscaper.dev/test/lab"
)

// started is the lab that the tests share, and api a client for its cluster.
var (
	started   *lab.Lab
	api       client.WithWatch
	authority string
)

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	var err error
	started, err = lab.Start(ctx, lab.Options{Clusters: []string{"resource"}, With: []string{"registry-auth", "registry-tls"}})
	if err != nil {
		fmt.Fprintln(os.Stderr, "start the lab:", err)
		return 1
	}
	defer func() {
		if err := started.Down(context.Background()); err != nil {
			fmt.Fprintln(os.Stderr, "end the lab:", err)
		}
	}()
	if err := prepare(ctx); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

func prepare(ctx context.Context) error {
	text, err := os.ReadFile(started.Registry.CAFile)
	if err != nil {
		return err
	}
	authority = string(text)
	config, err := clientcmd.BuildConfigFromFlags("", started.Clusters["resource"].Kubeconfig)
	if err != nil {
		return err
	}
	scheme := install.Scheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), v1alpha1.AddToScheme(scheme)); err != nil {
		return err
	}
	if api, err = client.NewWithWatch(config, client.Options{Scheme: scheme}); err != nil {
		return err
	}
	var out bytes.Buffer
	if err := install.Run(ctx, api, install.Options{SkipPolicies: true}, &out); err != nil {
		return fmt.Errorf("%w\n%s", err, out.String())
	}
	return nil
}

// packed is the archive of a chart.
func packed(t *testing.T, version string) []byte {
	t.Helper()
	var out bytes.Buffer
	zip := gzip.NewWriter(&out)
	writer := tar.NewWriter(zip)
	text := "apiVersion: v2\nname: web\nversion: " + version + "\n"
	if err := writer.WriteHeader(&tar.Header{Name: "web/Chart.yaml", Typeflag: tar.TypeReg, Size: int64(len(text)), Mode: 0o644}); err != nil {
		t.Fatal(err)
	}
	_, err := writer.Write([]byte(text))
	if err = errors.Join(err, writer.Close(), zip.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func administrator(t *testing.T) *registry.Registry {
	t.Helper()
	store := &credential.Store{}
	store.AddConsumer(map[string]string{"hostname": strings.Split(started.Registry.Address, ":")[0]}, credential.Properties{credential.Username: started.Registry.Username, credential.Password: started.Registry.Password})
	options := registry.Options{Credentials: store, Authorities: authority}
	return registry.NewClient(registry.NewPool(egress.Policy{AllowLoopback: true}, registry.DefaultTimeouts()), options).Registry("https", started.Registry.Address)
}

// push writes a chart as Helm does, and returns the digest of its manifest.
func push(t *testing.T, tag string, content []byte) digest.Digest {
	t.Helper()
	to := administrator(t)
	put := func(mediaType string, data []byte) ocispec.Descriptor {
		d := ocispec.Descriptor{MediaType: mediaType, Digest: digest.FromBytes(data), Size: int64(len(data))}
		if err := to.Push(t.Context(), "charts/web", d, bytes.NewReader(data)); err != nil {
			t.Fatal(err)
		}
		return d
	}
	config := put("application/vnd.cncf.helm.config.v1+json", []byte("{}"))
	layer := put("application/vnd.cncf.helm.chart.content.v1.tar+gzip", content)
	manifest := put(ocispec.MediaTypeImageManifest, fmt.Appendf(nil,
		`{"schemaVersion":2,"mediaType":%q,"config":{"mediaType":%q,"digest":%q,"size":%d},"layers":[{"mediaType":%q,"digest":%q,"size":%d}]}`,
		ocispec.MediaTypeImageManifest, config.MediaType, config.Digest, config.Size, layer.MediaType, layer.Digest, layer.Size))
	if err := to.Tag(t.Context(), "charts/web", manifest, tag); err != nil {
		t.Fatal(err)
	}
	return manifest.Digest
}

// publishComponent publishes a component with a chart, and returns its key.
func publishComponent(t *testing.T, content []byte) string {
	t.Helper()
	directory := t.TempDir()
	if err := os.WriteFile(filepath.Join(directory, "web.tgz"), content, 0o600); err != nil {
		t.Fatal(err)
	}
	parsed, err := publish.Parse([]byte("components:\n- {name: example.org/shop, version: 1.0.0, provider: p, resources: [{name: chart, type: helmChart, version: 1.0.0, input: {type: helm, path: web.tgz}}]}\n"))
	if err != nil {
		t.Fatal(err)
	}
	at := component.Context(object(started.Registry.Address))
	spec, err := repository.ParseSpec(at)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := publish.Publish(t.Context(), parsed, publish.Options{Target: administrator(t), Spec: spec, Context: at, Directory: directory}); err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString([]byte("component:\n  name: example.org/shop\n  version: 1.0.0\nresource:\n  name: chart\n"))
}

func object(address string) *v1alpha1.UnstructuredTypedObject {
	typed := &v1alpha1.UnstructuredTypedObject{}
	typed.Raw = fmt.Appendf(nil, `{"type":"OCIRegistry","baseUrl":%q}`, address)
	return typed
}

// chartRepository serves a chart over TLS to the user reader, and notes what it was
// asked for.
func chartRepository(t *testing.T, content []byte) (server *httptest.Server, asked *[]string) {
	t.Helper()
	asked = &[]string{}
	server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		*asked = append(*asked, user+" "+r.URL.Path)
		switch {
		case user != "reader" || password != "repository-password":
			w.WriteHeader(http.StatusUnauthorized)
		case r.URL.Path == "/charts/index.yaml":
			fmt.Fprintf(w, "entries: {web: [{version: 1.0.0, urls: [web-1.0.0.tgz], digest: %s}]}", digest.FromBytes(content).Encoded())
		case r.URL.Path == "/charts/web-1.0.0.tgz":
			_, _ = w.Write(content)
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	t.Cleanup(server.Close)
	return server, asked
}

// landscape makes a namespace with a Context.
func landscape(t *testing.T, namespace, password string, repository *httptest.Server) {
	t.Helper()
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: repository.Certificate().Raw})
	meta := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: namespace, Name: name} }
	context := &v1alpha1.Context{ObjectMeta: meta("vendor")}
	context.RepositoryContext = object(started.Registry.Address)
	context.RegistryPullSecrets = []v1alpha1.LocalPullSecret{{Name: "pull"}}
	context.Configurations = map[string]v1alpha1.AnyJSON{"helmChartRepoCredentials": {RawMessage: fmt.Appendf(nil,
		`{"auths":[{"url":"%s/charts","customCAData":%q,"secretRef":{"name":"charts"}},{"url":"https://charts.example.org","authHeader":"Basic eDp5"}]}`,
		repository.URL, base64.StdEncoding.EncodeToString(ca))}}
	header := "Basic " + base64.StdEncoding.EncodeToString([]byte("reader:"+strings.Replace(password, started.Registry.Password, "repository-password", 1)))
	for _, object := range []client.Object{
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}},
		&corev1.Secret{ObjectMeta: meta("pull"), Data: map[string][]byte{".dockerconfigjson": fmt.Appendf(nil, `{"auths":{%q:{"username":%q,"password":%q}}}`, started.Registry.Address, started.Registry.Username, password)}},
		&corev1.Secret{ObjectMeta: meta("charts"), Data: map[string][]byte{"authHeader": []byte(header + "\n")}},
		context,
	} {
		if err := api.Create(t.Context(), object); err != nil {
			t.Fatal(err)
		}
	}
}

func fresh() *chart.Loader {
	return chart.New(chart.Options{
		Contexts:   api,
		Sources:    &repocontext.Reader{Client: api, Base: component.Options{Registry: registry.Options{Authorities: authority}}},
		Components: component.NewSharedWith(egress.Policy{AllowLoopback: true}),
	})
}

func item(namespace string) *v1alpha1.DeployItem {
	return &v1alpha1.DeployItem{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "web"}, Spec: v1alpha1.DeployItemSpec{Context: "vendor"}}
}

// TestCharts loads charts with the credentials of one namespace, and not with the
// wrong ones of another.
func TestCharts(t *testing.T) {
	first, second := packed(t, "1.0.0"), packed(t, "1.0.1")
	pinned := push(t, "1.0.0", first)
	server, asked := chartRepository(t, first)
	landscape(t, "team-a", started.Registry.Password, server)
	landscape(t, "stranger", "wr0ng", server)
	key := publishComponent(t, first)
	at := started.Registry.Address + "/charts/web:1.0.0"
	loader := fresh()
	charts := map[string]helmv1alpha1.Chart{
		"a tag":              {Ref: at},
		"a digest":           {Ref: at + "@" + pinned.String()},
		"a chart repository": {HelmChartRepo: &helmv1alpha1.HelmChartRepo{HelmChartRepoURL: server.URL + "/charts", HelmChartName: "web", HelmChartVersion: "1.0.0"}},
		"a component":        {ResourceRef: key},
	}
	for reason, source := range charts {
		got, err := loader.Load(t.Context(), item("team-a"), &source)
		if err != nil || got.Chart.Metadata.Version != "1.0.0" || got.Digest != digest.FromBytes(first).String() || len(got.Warnings) > 0 {
			t.Errorf("%s: got %+v, %v", reason, got, err)
		}
		_, err = loader.Load(t.Context(), item("stranger"), &source)
		if err == nil || !strings.Contains(err.Error(), "credentials") || strings.Contains(err.Error(), "wr0ng") || deployer.OutcomeOf(err) != deployer.OutcomeFinal {
			t.Errorf("%s: a stranger got %v", reason, err)
		}
	}
	if got, want := strings.Join(*asked, ", "), "reader /charts/index.yaml, reader /charts/web-1.0.0.tgz, reader /charts/index.yaml"; got != want {
		t.Errorf("the chart repository was asked for %s", got)
	}
	// The tag is moved: the pinned image stays the same.
	push(t, "1.0.0", second)
	for reference, want := range map[string]string{at: "1.0.1", at + "@" + pinned.String(): "1.0.0"} {
		// Another process knows nothing yet.
		got, err := fresh().Load(t.Context(), item("team-a"), &helmv1alpha1.Chart{Ref: reference})
		if err != nil || got.Chart.Metadata.Version != want {
			t.Errorf("%s: got %+v, %v", reference, got, err)
		}
	}
}
