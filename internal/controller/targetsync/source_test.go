package targetsync

import (
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/cluster"
	"go.landscaper.dev/internal/cluster/egress"
)

// garden is a source on loopback: its shoots, and what it answers to requests for
// credentials.
type garden struct {
	*httptest.Server
	mutex sync.Mutex
	// shoots are the objects of its list, by name.
	shoots map[string]map[string]any
	// answers take the place of what it would say, by the end of a path.
	answers map[string]func() (int, any)
	// asked are the requests, in order.
	asked []string
	// token is what it grants for the ServiceAccount.
	token string
}

func newGarden(t *testing.T, names ...string) *garden {
	t.Helper()
	g := &garden{shoots: map[string]map[string]any{}, answers: map[string]func() (int, any){}, token: tokenOf(now, now.Add(24*time.Hour))}
	for _, name := range names {
		g.shoots[name] = shoot(name)
	}
	g.Server = httptest.NewUnstartedServer(g)
	g.Config.ErrorLog = log.New(io.Discard, "", 0) // who connects while it closes is no news
	g.StartTLS()
	t.Cleanup(g.Close)
	return g
}

// shoot is one that has an address.
func shoot(name string) map[string]any {
	return map[string]any{
		"apiVersion": "core.gardener.cloud/v1beta1", "kind": "Shoot",
		"metadata": map[string]any{"name": name, "namespace": "garden-blue", "uid": "uid-" + name, "resourceVersion": "1"},
		"status":   map[string]any{"advertisedAddresses": []any{map[string]any{"name": "external", "url": "https://api.example.org"}}},
	}
}

func (g *garden) ServeHTTP(answer http.ResponseWriter, request *http.Request) {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	g.asked = append(g.asked, request.Method+" "+request.URL.Path)
	code, said := g.say(request)
	answer.Header().Set("Content-Type", "application/json")
	answer.WriteHeader(code)
	_ = json.NewEncoder(answer).Encode(said)
}

func (g *garden) say(request *http.Request) (int, any) {
	path := request.URL.Path
	for end, say := range g.answers {
		if strings.HasSuffix(path, end) {
			return say()
		}
	}
	parts := strings.Split(path, "/")
	last := parts[len(parts)-1]
	switch {
	case last == "shoots":
		var items []any
		for _, object := range g.shoots {
			items = append(items, object)
		}
		return http.StatusOK, map[string]any{"apiVersion": "core.gardener.cloud/v1beta1", "kind": "ShootList", "metadata": map[string]any{"resourceVersion": "10"}, "items": items}
	case last == "adminkubeconfig":
		return http.StatusCreated, map[string]any{"status": map[string]any{
			"kubeconfig": base64.StdEncoding.EncodeToString([]byte(kubeconfigOf("https://api.example.org", "", word))), "expirationTimestamp": now.Add(time.Hour).Format(time.RFC3339),
		}}
	case last == "token":
		return http.StatusCreated, map[string]any{"status": map[string]any{"token": g.token, "expirationTimestamp": now.Add(24 * time.Hour).Format(time.RFC3339)}}
	case g.shoots[last] != nil:
		return http.StatusOK, g.shoots[last]
	}
	return refusedWith(http.StatusNotFound, "NotFound")()
}

// refusedWith is what an API server says that quotes what it was sent.
func refusedWith(code int, reason string) func() (int, any) {
	return func() (int, any) {
		return code, map[string]any{"apiVersion": "v1", "kind": "Status", "status": "Failure", "reason": reason, "code": code, "message": "it was " + word, "details": map[string]any{"name": word}}
	}
}

// requests are how often it was asked for something, by the end of a path.
func (g *garden) requests(end string) int {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	count := 0
	for _, asked := range g.asked {
		if strings.HasSuffix(asked, end) {
			count++
		}
	}
	return count
}

// tokenOf is a token with a lifetime. Its signature is not checked here.
func tokenOf(issued, expires time.Time) string {
	claims := fmt.Appendf(nil, `{"iat":%d,"exp":%d}`, issued.Unix(), expires.Unix())
	return "e30." + base64.RawURLEncoding.EncodeToString(claims) + ".c2ln"
}

// kubeconfigOf is one with a token.
func kubeconfigOf(server, authority, token string) string {
	return fmt.Sprintf(`{"apiVersion":"v1","kind":"Config","current-context":"c","contexts":[{"name":"c","context":{"cluster":"c","user":"sync-bot"}}],`+
		`"clusters":[{"name":"c","cluster":{"server":%q,"certificate-authority-data":%q}}],"users":[{"name":"sync-bot","user":{"token":%q}}]}`, server, authority, token)
}

// access is the Secret with the access to the garden.
func (g *garden) access(token string) *corev1.Secret {
	authority := base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: g.Certificate().Raw}))
	secret := &corev1.Secret{Type: corev1.SecretTypeOpaque, Data: map[string][]byte{"kubeconfig": []byte(kubeconfigOf(g.URL, authority, token))}}
	secret.Namespace, secret.Name = "blue", "access"
	return secret
}

// runWith is a run that reaches the garden, on a resource cluster with some objects.
func (g *garden) runWith(t *testing.T, fails interceptor.Funcs, objects ...client.Object) *run {
	t.Helper()
	if !slices.ContainsFunc(objects, func(object client.Object) bool { return object.GetName() == "access" }) {
		objects = append(objects, g.access(tokenOf(now, now.Add(time.Hour))))
	}
	r := runOn(t, fails, objects...)
	r.Pool = cluster.NewPool(cluster.PoolOptions{Egress: egress.Policy{AllowLoopback: true}})
	r.sync.Spec.TokenRotation = &v1alpha1.TokenRotation{}
	return r
}
