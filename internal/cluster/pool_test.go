package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/cluster/answerlimit"
	"go.landscaper.dev/internal/cluster/clustererror"
	"go.landscaper.dev/internal/cluster/egress"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/job/reasons"
)

// lab is the policy of tests: what they talk to is on this machine.
var lab = egress.Policy{AllowLoopback: true}

func targetOf(kubeconfig string) *v1alpha1.Target {
	return &v1alpha1.Target{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "edge"},
		Spec:       v1alpha1.TargetSpec{Configuration: v1alpha1.NewAnyJSONPointer([]byte(`{"kubeconfig":` + kubeconfig + `}`))},
	}
}

func TestPoolIsBounded(t *testing.T) {
	pool := NewPool(PoolOptions{Size: 3})
	connect := func(i int) *Connection {
		connection, err := pool.Connect(t.Context(), targetOf(kubeconfig(server, fmt.Sprintf(`"token":"%d"`, i))))
		if err != nil {
			t.Fatal(err)
		}
		return connection
	}
	first := connect(0)
	if connect(0) != first {
		t.Error("the same access has two connections")
	}
	mapping := &meta.RESTMapping{Resource: schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}, Scope: meta.RESTScopeNamespace}
	subscription := first.Subscribe(mapping, "a", "b", true, func() {})
	second := connect(1)
	for i := 2; i < 20; i++ {
		connect(i)
	}
	if got := pool.recent.Len(); got != 3 || len(pool.connections) != 3 {
		t.Errorf("%d connections, want 3", got)
	}
	if connect(0) != first {
		t.Error("a connection with a watch was dropped")
	}
	if connect(1) == second {
		t.Error("the connection that was not used for the longest time is still there")
	}
	_ = subscription.Close()
	_ = subscription.Close()
	for i := 2; i < 20; i++ {
		connect(i)
	}
	if connect(0) == first {
		t.Error("a connection without a watch was never dropped")
	}
}

// TestTargetsAreReadOnce: the copies of a Target that Installations have cost no more than
// their hash, while another namespace gets what is its own.
func TestTargetsAreReadOnce(t *testing.T) {
	const size = 3
	pool := NewPool(PoolOptions{Size: size})
	target := targetOf(kubeconfig(server, `"token":"x"`))
	connect := func(target *v1alpha1.Target) {
		t.Helper()
		if _, err := pool.Connect(t.Context(), target); err != nil {
			t.Fatal(err)
		}
	}
	connect(target)
	if allocations := testing.AllocsPerRun(100, func() { connect(target) }); allocations > 25 {
		t.Errorf("a Target that is known costs %.0f allocations", allocations)
	}
	token := &v1alpha1.Target{ObjectMeta: metav1.ObjectMeta{Namespace: "shop"}, Spec: v1alpha1.TargetSpec{Configuration: v1alpha1.NewAnyJSONPointer([]byte(
		`{"oidcConfig":{"server":"https://127.0.0.1:1","serviceAccount":{"name":"robot"},"audience":["edge"]}}`))}}
	connect(token)
	token.Namespace = "other"
	connect(token)
	if len(pool.connections) != 3 {
		t.Errorf("%d connections: ServiceAccounts of two namespaces share one", len(pool.connections))
	}
	for i := range 5 * size {
		connect(targetOf(kubeconfig(server, fmt.Sprintf(`"token":"%d"`, i))))
	}
	if len(pool.read) > 4*size {
		t.Errorf("%d Targets are remembered", len(pool.read))
	}
	clear(pool.read)
	connect(targetOf(kubeconfig(server, `"token":"`+strings.Repeat("x", maxRemembered)+`"`)))
	if len(pool.read) > 0 {
		t.Error("a content of any length is remembered")
	}
}

func BenchmarkConnect(b *testing.B) {
	pool := NewPool(PoolOptions{})
	target := targetOf(kubeconfig(server, `"token":"x"`))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := pool.Connect(b.Context(), target); err != nil {
			b.Fatal(err)
		}
	}
}

// TestWrapTransport: what takes the place of the network gets the requests to every cluster, with the
// credentials, and no address is called.
func TestWrapTransport(t *testing.T) {
	var asked []string
	pool := NewPool(PoolOptions{WrapTransport: func(http.RoundTripper) http.RoundTripper {
		return sending(func(request *http.Request) (*http.Response, error) {
			asked = append(asked, request.URL.Host+request.URL.Path+" "+request.Header.Get("Authorization"))
			answer := httptest.NewRecorder()
			answer.Header().Set("Content-Type", "application/json")
			_, err := answer.WriteString(`{"kind":"Shoot","apiVersion":"core.gardener.cloud/v1beta1","metadata":{"namespace":"garden","name":"eu"}}`)
			return answer.Result(), err
		})
	}})
	for _, host := range []string{"one.example.org", "two.example.org"} {
		connection, err := pool.Connect(t.Context(), targetOf(kubeconfig(`"server":"https://`+host+`"`, `"token":"word"`)))
		if err != nil {
			t.Fatal(err)
		}
		if shoot, err := connection.Shoot(t.Context(), "garden", "eu"); err != nil || shoot.GetName() != "eu" {
			t.Errorf("%v, %v", shoot, err)
		}
	}
	const path = "/apis/core.gardener.cloud/v1beta1/namespaces/garden/shoots/eu Bearer word"
	if want := []string{"one.example.org" + path, "two.example.org" + path}; !slices.Equal(asked, want) {
		t.Errorf("asked for %q, want %q", asked, want)
	}
}

// sending sends requests.
type sending func(*http.Request) (*http.Response, error)

func (s sending) RoundTrip(request *http.Request) (*http.Response, error) { return s(request) }

func TestHealth(t *testing.T) {
	now := time.Unix(1000, 0)
	h := &health{now: func() time.Time { return now }}
	silence := fmt.Errorf("get: %w", context.DeadlineExceeded)
	if h.refuse() != nil {
		t.Error("a cluster without a request was refused")
	}
	for range 30 {
		h.learn(silence)
	}
	if h.refuse() == nil {
		t.Error("a request right after a failure should be refused")
	}
	now = now.Add(firstPause)
	if err := h.refuse(); err != nil {
		t.Errorf("failures at the same time count once; the pause should be over: %v", err)
	}
	if h.refuse() == nil {
		t.Error("one attempt is enough")
	}
	h.learn(silence)
	now = now.Add(firstPause)
	if h.refuse() == nil {
		t.Error("the second pause is as short as the first one")
	}
	now = now.Add(firstPause)
	if h.refuse() != nil {
		t.Error("the second pause is over")
	}
	h.learn(apierrors.NewUnauthorized("no"))
	if h.refuse() != nil {
		t.Error("an answer of any kind is an answer")
	}
}

// TestKindsAreAskedForOnce shows that those who ask at the same time share one
// request, and that a later one asks again.
func TestKindsAreAskedForOnce(t *testing.T) {
	kind := schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}
	begun, goOn := make(chan struct{}), make(chan struct{})
	var asked atomic.Int32
	k := &kinds{fetch: func(context.Context) (meta.RESTMapper, error) {
		if asked.Add(1) == 1 {
			close(begun)
			<-goOn
		}
		mapper := meta.NewDefaultRESTMapper(nil)
		mapper.Add(kind, meta.RESTScopeNamespace)
		return mapper, nil
	}}
	var group sync.WaitGroup
	for range 20 {
		group.Go(func() {
			if mapping, err := k.find(t.Context(), kind, nil); err != nil || mapping.Resource.Resource != "configmaps" {
				t.Errorf("%v, %v", mapping, err)
			}
		})
	}
	<-begun
	impatient, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := k.find(impatient, kind, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("who must leave is held up: %v", err)
	}
	close(goOn)
	group.Wait()
	if asked.Load() != 1 {
		t.Errorf("asked %d times", asked.Load())
	}
	if _, err := k.find(t.Context(), schema.GroupVersionKind{Version: "v1", Kind: "Unknown"}, k.known()); !meta.IsNoMatchError(err) || asked.Load() != 2 {
		t.Errorf("a kind that is not known: %v after %d requests", err, asked.Load())
	}
}

func TestExplain(t *testing.T) {
	plain := httptest.NewServer(http.NotFoundHandler())
	secure := httptest.NewUnstartedServer(http.NotFoundHandler())
	// It would log the handshakes that the test wants to fail.
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.StartTLS()
	closed := httptest.NewServer(nil)
	closed.Close()
	defer plain.Close()
	defer secure.Close()
	tests := []struct {
		reason, server string
		want           reasons.Reason
		message        string
	}{
		{"a port without a listener", strings.Replace(closed.URL, "http:", "https:", 1), reasons.ConnectionRefused, "connection refused"},
		{"an unknown authority", secure.URL, reasons.CertificateNotTrusted, "unknown authority"},
		{"a server without TLS", strings.Replace(plain.URL, "http:", "https:", 1), reasons.CertificateNotTrusted, "does not speak TLS"},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			connection, err := newConnection("k", "a", &rest.Config{Host: test.server, BearerToken: secretWord}, lab, nil, answerlimit.New(0))
			if err != nil {
				t.Fatal(err)
			}
			_, err = connection.Mapping(t.Context(), schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"})
			var explained *job.Error
			if !errors.As(err, &explained) || explained.Reason != test.want || !strings.Contains(err.Error(), test.message) || strings.Contains(err.Error(), secretWord) {
				t.Errorf("%v", err)
			}
		})
	}
	lookup := clustererror.Explain(&url.Error{Op: "Get", URL: "https://a/?token=" + secretWord, Err: &net.DNSError{Name: "ghost.invalid", Err: "no such host"}}, "op", "https://a")
	if !clustererror.IsConnection(lookup) || !strings.Contains(lookup.Error(), "ghost.invalid cannot be resolved") || strings.Contains(lookup.Error(), secretWord) {
		t.Errorf("a name that does not exist: %v", lookup)
	}
	if query := clustererror.Explain(apierrors.NewUnauthorized("no"), "op", "https://a/b?token="+secretWord); !strings.Contains(query.Error(), "https://a/b;") || strings.Contains(query.Error(), secretWord) {
		t.Errorf("an address with a query: %v", query)
	}
	unauthorized := clustererror.Explain(apierrors.NewUnauthorized("no"), "op", "https://a")
	if job.OutcomeOf(unauthorized) != job.Terminal || job.Codes(unauthorized)[0] != v1alpha1.ErrorUnauthorized {
		t.Errorf("credentials that are not accepted end a job: %v", unauthorized)
	}
	if other := errors.New("about an object"); !errors.Is(clustererror.Explain(other, "op", "s"), other) || clustererror.IsConnection(other) {
		t.Error("an error about an object is not about the connection")
	}
}

// TestTokensAreNotTheCluster shows that what the resource cluster says about a token is
// never taken for what the target cluster says about an object: an object would count as
// gone because the ServiceAccount is.
func TestTokensAreNotTheCluster(t *testing.T) {
	accounts := schema.GroupResource{Resource: "serviceaccounts"}
	tests := []struct {
		reason  string
		refused error
		want    string
	}{
		{"a ServiceAccount that does not exist", apierrors.NewNotFound(accounts, "edge"), "create ServiceAccount shop/edge: request a token"},
		{"the right is missing", apierrors.NewForbidden(accounts, "edge", errors.New("no")), "the right to create serviceaccounts/token in namespace shop"},
		{"the resource cluster is away", apierrors.NewServiceUnavailable("away"), "away"},
	}
	mapping := &meta.RESTMapping{Resource: schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}, GroupVersionKind: schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}, Scope: meta.RESTScopeNamespace}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			pool := NewPool(PoolOptions{Egress: lab, Self: &rest.Config{}, Tokens: func(context.Context, string, string, *authenticationv1.TokenRequest) error { return test.refused }})
			connection, err := pool.Connect(t.Context(), garden(`{"oidcConfig":{"server":"https://127.0.0.1:1","audience":["a"],"serviceAccount":{"name":"edge"}}}`))
			if err != nil {
				t.Fatal(err)
			}
			left, deleted := connection.Delete(t.Context(), mapping, "ns", "a", metav1.DeleteOptions{})
			_, read := connection.Get(t.Context(), mapping, "ns", "a")
			for verb, err := range map[string]error{"delete": deleted, "get": read, "discover": connection.Contact(t.Context(), func() {})} {
				switch {
				case err == nil:
					t.Errorf("%s: no error, left %v", verb, left)
				case apierrors.IsNotFound(err), apierrors.IsForbidden(err), meta.IsNoMatchError(err):
					t.Errorf("%s: it looks like an answer of the target cluster: %v", verb, err)
				case !strings.Contains(err.Error(), test.want):
					t.Errorf("%s: %v, want %q", verb, err, test.want)
				}
			}
		})
	}
}
