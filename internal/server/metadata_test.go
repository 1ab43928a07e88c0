package server

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/cluster"
	"go.landscaper.dev/internal/cluster/egress"
)

// secretsAPI is an API server with one Secret that counts the requests for it.
type secretsAPI struct {
	mutex  sync.Mutex
	counts map[string]int
	data   []byte
	done   chan struct{}
}

const accessKubeconfig = `{"apiVersion":"v1","kind":"Config","clusters":[{"name":"c","cluster":{"server":"https://192.0.2.1"}}],"users":[{"name":"u","user":{"token":"t"}}],"contexts":[{"name":"c","context":{"cluster":"c","user":"u"}}],"current-context":"c"}`

func startSecretsAPI(t *testing.T) (*secretsAPI, *rest.Config) {
	t.Helper()
	api := &secretsAPI{counts: map[string]int{}, data: []byte(accessKubeconfig), done: make(chan struct{})}
	server := httptest.NewServer(api)
	t.Cleanup(server.Close)
	t.Cleanup(func() { close(api.done) })
	return api, &rest.Config{Host: server.URL}
}

func (a *secretsAPI) count(what string) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	a.counts[what]++
}

func (a *secretsAPI) counted() map[string]int {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	return maps.Clone(a.counts)
}

const secretMetadata = `"metadata":{"namespace":"a","name":"access","uid":"u","resourceVersion":"7"}`

// ServeHTTP implements http.Handler.
func (a *secretsAPI) ServeHTTP(out http.ResponseWriter, r *http.Request) {
	out.Header().Set("Content-Type", "application/json")
	kind := "content"
	if strings.Contains(r.Header.Get("Accept"), "PartialObjectMetadata") {
		kind = "metadata"
	}
	say := func(text string) { _, _ = fmt.Fprint(out, text) } // the client has gone
	switch query := r.URL.Query(); {
	case r.URL.Path == "/api":
		say(`{"kind":"APIVersions","versions":["v1"]}`)
	case r.URL.Path == "/apis":
		say(`{"kind":"APIGroupList","apiVersion":"v1","groups":[]}`)
	case r.URL.Path == "/api/v1":
		say(`{"kind":"APIResourceList","groupVersion":"v1","resources":[{"name":"secrets","namespaced":true,"kind":"Secret","verbs":["get","list","watch"]}]}`)
	case query.Get("sendInitialEvents") != "":
		http.Error(out, "{}", http.StatusBadRequest) // the client lists instead
	case query.Get("watch") != "":
		a.count("watch " + kind)
		out.(http.Flusher).Flush()
		select {
		case <-r.Context().Done():
		case <-a.done:
		}
	case strings.HasSuffix(r.URL.Path, "/secrets"):
		a.count("list " + kind)
		say(`{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"7"},"items":[{` + secretMetadata + `}]}`)
	case kind == "metadata":
		a.count("get " + kind)
		say(`{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1",` + secretMetadata + `}`)
	default:
		a.count("get " + kind)
		say(`{"kind":"Secret","apiVersion":"v1",` + secretMetadata + `,"data":{"kubeconfig":"` + base64.StdEncoding.EncodeToString(a.data) + `"}}`)
	}
}

// startManager runs a manager with the options of the server, and no controllers.
func startManager(t *testing.T, cluster *rest.Config) ctrl.Manager {
	t.Helper()
	config := Default()
	config.Cluster, config.MetricsAddress = cluster, "0"
	manager, err := ctrl.NewManager(cluster, ManagerOptions(config, logr.Discard()))
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- manager.Start(t.Context()) }()
	t.Cleanup(func() {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	if !manager.GetCache().WaitForCacheSync(t.Context()) {
		t.Fatal("the cache has not started")
	}
	return manager
}

// TestMetadataOfSecretsIsCached: the server does not cache Secrets, and still a version of
// one is read once.
func TestMetadataOfSecretsIsCached(t *testing.T) {
	t.Parallel()
	api, config := startSecretsAPI(t)
	manager := startManager(t, config)
	clusters := cluster.NewPoolFor(manager, "test", egress.Policy{})
	target := &v1alpha1.Target{
		ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "edge"},
		Spec:       v1alpha1.TargetSpec{Type: v1alpha1.KubernetesClusterTargetType, SecretRef: &v1alpha1.LocalSecretReference{Name: "access", Key: "kubeconfig"}},
	}
	for range 5 {
		if _, err := clusters.Connect(t.Context(), target); err != nil {
			t.Fatal(err)
		}
	}
	got := api.counted()
	delete(got, "watch metadata") // begins when it likes
	if want := map[string]int{"list metadata": 1, "get content": 1}; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("requests %v, want %v", got, want)
	}
}

// TestSecretsAreNotCached: the values of Secrets are nowhere but where they are needed.
func TestSecretsAreNotCached(t *testing.T) {
	t.Parallel()
	api, config := startSecretsAPI(t)
	manager := startManager(t, config)
	for range 2 {
		secret := &corev1.Secret{}
		if err := manager.GetClient().Get(t.Context(), client.ObjectKey{Namespace: "a", Name: "access"}, secret); err != nil {
			t.Fatal(err)
		}
		if text, err := json.Marshal(secret.Data); err != nil || string(secret.Data["kubeconfig"]) != accessKubeconfig {
			t.Errorf("data %s, %v", text, err)
		}
	}
	if got := api.counted(); fmt.Sprint(got) != "map[get content:2]" {
		t.Errorf("requests %v", got)
	}
}
