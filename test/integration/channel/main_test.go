// Package channel lets Channels ask a real registry that has authentication. Objects are in memory, and so
// is the clock: what a poll costs is counted in requests, not in time.
package channel

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	fleetv1alpha1 "go.landscaper.dev/api/fleet/v1alpha1"
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/cluster/egress"
	"go.landscaper.dev/internal/content/component"
	"go.landscaper.dev/internal/content/component/credential"
	"go.landscaper.dev/internal/content/component/registry"
	"go.landscaper.dev/internal/controller/channel"
	"go.landscaper.dev/internal/controller/channel/taglists"
	"go.landscaper.dev/internal/landscape/repocontext"
	"go.landscaper.dev/test/lab"
)

var server *lab.Registry

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	started, err := lab.Start(ctx, lab.Options{With: []string{"registry-auth", "registry-tls"}})
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
	return m.Run()
}

const shop = "example.org/shop"

// withoutLogin marks the first request of a process, by which it learns how a registry wants to be asked.
const withoutLogin = " without login"

// front is a host before the registry that counts requests.
type front struct {
	*httptest.Server
	proxy *httputil.ReverseProxy

	mutex    sync.Mutex
	requests []string
	// down lets every request fail; states lets lists have a state, as other registries do.
	down, states bool
	// spared is how many lists had no body because they were as before.
	spared int
}

func newFront(t *testing.T) *front {
	t.Helper()
	authority, err := os.ReadFile(server.CAFile)
	if err != nil {
		t.Fatal(err)
	}
	transport, err := registry.TransportWith(string(authority))
	if err != nil {
		t.Fatal(err)
	}
	behind, err := url.Parse("https://" + server.Address)
	if err != nil {
		t.Fatal(err)
	}
	f := &front{proxy: &httputil.ReverseProxy{Transport: transport, Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(behind) }}}
	f.Server = httptest.NewServer(http.HandlerFunc(f.serve))
	t.Cleanup(f.Close)
	return f
}

func (f *front) serve(w http.ResponseWriter, r *http.Request) {
	f.mutex.Lock()
	request := r.Method + " " + r.URL.Path
	if r.Header.Get("Authorization") == "" {
		request += withoutLogin
	}
	f.requests = append(f.requests, request)
	down, states := f.down, f.states
	f.mutex.Unlock()
	switch {
	case down:
		http.Error(w, "maintenance", http.StatusServiceUnavailable)
	case states && strings.HasSuffix(r.URL.Path, "/tags/list"):
		recorder := httptest.NewRecorder()
		f.proxy.ServeHTTP(recorder, r)
		maps.Copy(w.Header(), recorder.Header())
		sum := sha256.Sum256(recorder.Body.Bytes())
		if state := `"` + hex.EncodeToString(sum[:]) + `"`; recorder.Code == http.StatusOK {
			w.Header().Set("ETag", state)
			if r.Header.Get("If-None-Match") == state {
				w.Header().Del("Content-Length")
				w.WriteHeader(http.StatusNotModified)
				f.mutex.Lock()
				f.spared++
				f.mutex.Unlock()
				return
			}
		}
		w.WriteHeader(recorder.Code)
		_, _ = w.Write(recorder.Body.Bytes())
	default:
		f.proxy.ServeHTTP(w, r)
	}
}

// taken returns the requests since the last time.
func (f *front) taken() []string {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	taken := f.requests
	f.requests = nil
	return taken
}

func (f *front) set(down, states bool) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	f.down, f.states = down, states
}

// bench is a registry path, and a controller with a clock.
type bench struct {
	t     *testing.T
	front *front
	path  string
	key   string
	client.Client
	*channel.Reconciler
	enqueued chan types.NamespacedName
	events   *events.FakeRecorder
	now      time.Time
	writes   int
	mutex    sync.Mutex
}

func newBench(t *testing.T, path string) *bench {
	t.Helper()
	b := &bench{t: t, front: newFront(t), path: "/" + path, enqueued: make(chan types.NamespacedName, 100), events: events.NewFakeRecorder(1000), now: time.Date(2030, 1, 2, 12, 0, 0, 0, time.UTC)}
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, v1alpha1.AddToScheme, fleetv1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	b.Client = fake.NewClientBuilder().WithScheme(scheme).WithStatusSubresource(&fleetv1alpha1.Channel{}).WithInterceptorFuncs(interceptor.Funcs{
		SubResourceUpdate: func(ctx context.Context, c client.Client, name string, object client.Object, options ...client.SubResourceUpdateOption) error {
			b.writes++
			return c.SubResource(name).Update(ctx, object, options...)
		},
	}).Build()
	b.start()
	for _, space := range []string{"one", "two"} {
		b.access(space, server.Password)
	}
	return b
}

// start starts the controller, as after the end of the one before.
func (b *bench) start() {
	common := component.NewSharedWith(egress.Policy{AllowLoopback: true})
	b.Reconciler = &channel.Reconciler{
		Client: b.Client, Reader: b.Client, Events: b.events, Now: b.clock,
		Poller: &channel.Poller{
			Contexts: b.Client, Components: common, Lists: &taglists.Lists{Now: b.clock}, Now: b.clock,
			Sources: &repocontext.Reader{Client: b.Client, Base: component.Options{Registry: registry.Options{Credentials: &credential.Store{}}}},
		},
	}
	b.Background(b.t.Context(), func(key types.NamespacedName) { b.enqueued <- key })
}

func (b *bench) clock() time.Time {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return b.now
}

func (b *bench) pass(time time.Duration) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	b.now = b.now.Add(time)
}

// access makes the default Context of a namespace, with credentials.
func (b *bench) access(space, password string) {
	b.t.Helper()
	host := strings.TrimPrefix(b.front.URL, "http://")
	login := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: "pull"}, Data: map[string][]byte{
		corev1.DockerConfigJsonKey: fmt.Appendf(nil, `{"auths":{%q:{"username":%q,"password":%q}}}`, host, server.Username, password),
	}}
	at := &v1alpha1.Context{ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: "default"}, ContextConfiguration: v1alpha1.ContextConfiguration{
		RepositoryContext:   &v1alpha1.UnstructuredTypedObject{},
		RegistryPullSecrets: []v1alpha1.LocalPullSecret{{Name: "pull"}},
	}}
	if err := at.RepositoryContext.UnmarshalJSON(fmt.Appendf(nil, `{"type":"OCIRegistry","baseUrl":%q}`, b.front.URL+b.path)); err != nil {
		b.t.Fatal(err)
	}
	for _, object := range []client.Object{login, at} {
		if err := client.IgnoreNotFound(b.Delete(b.t.Context(), object.DeepCopyObject().(client.Object))); err != nil {
			b.t.Fatal(err)
		}
		if err := b.Create(b.t.Context(), object); err != nil {
			b.t.Fatal(err)
		}
	}
}

// channel makes a Channel.
func (b *bench) channel(space, name string, change func(*fleetv1alpha1.ChannelSpec)) {
	b.t.Helper()
	ch := &fleetv1alpha1.Channel{ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: name, Generation: 1}, Spec: fleetv1alpha1.ChannelSpec{Component: shop, Versions: "1.x", Interval: "10m"}}
	if change != nil {
		change(&ch.Spec)
	}
	if err := b.Create(b.t.Context(), ch); err != nil {
		b.t.Fatal(err)
	}
}

// settle drives a Channel until it rests, and returns it, and until when.
func (b *bench) settle(space, name string) (*fleetv1alpha1.Channel, time.Duration) {
	b.t.Helper()
	key := types.NamespacedName{Namespace: space, Name: name}
	for {
		result, err := b.Reconcile(b.t.Context(), ctrl.Request{NamespacedName: key})
		if err != nil {
			b.t.Fatal(err)
		}
		if result.RequeueAfter > 0 {
			found := &fleetv1alpha1.Channel{}
			if err := b.Get(b.t.Context(), key, found); err != nil {
				b.t.Fatal(err)
			}
			return found, result.RequeueAfter
		}
		select {
		case <-b.enqueued:
		case <-time.After(time.Minute):
			b.t.Fatal("the poll does not end")
		}
	}
}

// said returns the events since the last time.
func (b *bench) said() string {
	var said []string
	for {
		select {
		case event := <-b.events.Events:
			said = append(said, event)
		default:
			return strings.Join(said, "\n")
		}
	}
}

// command runs the command line with the registry.
func (b *bench) command(args ...string) {
	b.t.Helper()
	program, err := filepath.Abs("../../../bin/landscaper-cli")
	if err != nil {
		b.t.Fatal(err)
	}
	home := b.t.TempDir()
	login := fmt.Appendf(nil, `{"auths":{%q:{"username":%q,"password":%q}}}`, server.Address, server.Username, server.Password)
	if err := os.WriteFile(filepath.Join(home, "docker.json"), login, 0o600); err != nil {
		b.t.Fatal(err)
	}
	command := exec.CommandContext(b.t.Context(), program, append(args, "--registry-config", filepath.Join(home, "docker.json"), "--ca-file", server.CAFile)...)
	if output, err := command.CombinedOutput(); err != nil {
		b.t.Fatalf("%s: %v\n%s", args, err, output)
	}
}

// publish pushes versions of the shop with a text in them.
func (b *bench) publish(text string, versions ...string) {
	b.t.Helper()
	var constructor bytes.Buffer
	constructor.WriteString("components:\n")
	for _, version := range versions {
		fmt.Fprintf(&constructor, "- {name: %s, version: %s, provider: {name: vendor}, resources: [{name: note, type: blob, input: {type: utf8, text: %q}}]}\n", shop, version, text)
	}
	file := filepath.Join(b.t.TempDir(), "constructor.yaml")
	if err := os.WriteFile(file, constructor.Bytes(), 0o600); err != nil {
		b.t.Fatal(err)
	}
	b.command("components", "push", file, server.Address+b.path, "--overwrite")
}

// sign signs a version, and returns the key to check that with.
func (b *bench) sign(signature, version string) []byte {
	b.t.Helper()
	if b.key == "" {
		key, err := rsa.GenerateKey(rand.Reader, 2048)
		if err != nil {
			b.t.Fatal(err)
		}
		b.key = filepath.Join(b.t.TempDir(), "key.pem")
		if err := os.WriteFile(b.key, pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}), 0o600); err != nil {
			b.t.Fatal(err)
		}
	}
	b.command("components", "sign", server.Address+b.path, shop, version, "--signature", signature, "--private-key", b.key)
	text, err := os.ReadFile(b.key)
	if err != nil {
		b.t.Fatal(err)
	}
	block, _ := pem.Decode(text)
	key, err := x509.ParsePKCS1PrivateKey(block.Bytes)
	if err != nil {
		b.t.Fatal(err)
	}
	public, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	if err != nil {
		b.t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public})
}

// withdraw deletes a tag, as far as the registry lets it: by its API.
func (b *bench) withdraw(version string) {
	b.t.Helper()
	authority, err := os.ReadFile(server.CAFile)
	if err != nil {
		b.t.Fatal(err)
	}
	transport, err := registry.TransportWith(string(authority))
	if err != nil {
		b.t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(b.t.Context(), http.MethodDelete, "https://"+server.Address+"/v2"+b.path+"/component-descriptors/"+shop+"/manifests/"+version, nil)
	if err != nil {
		b.t.Fatal(err)
	}
	request.SetBasicAuth(server.Username, server.Password)
	response, err := (&http.Client{Transport: transport}).Do(request)
	if err != nil {
		b.t.Fatal(err)
	}
	defer response.Body.Close() //nolint:errcheck // it was read
	if text, err := io.ReadAll(response.Body); err != nil || response.StatusCode != http.StatusAccepted {
		b.t.Fatalf("%d %s, %v", response.StatusCode, text, err)
	}
}
