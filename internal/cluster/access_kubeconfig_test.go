package cluster

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"go.landscaper.dev/api/v1alpha1"
)

// garden returns a Target of the namespace shop with the given configuration.
func garden(config string) *v1alpha1.Target {
	return &v1alpha1.Target{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "garden"},
		Spec:       v1alpha1.TargetSpec{Type: v1alpha1.KubernetesClusterTargetType, Configuration: v1alpha1.NewAnyJSONPointer([]byte(config))},
	}
}

// speaking returns a Target whose cluster answers with a handler, over TLS.
func speaking(t *testing.T, handler http.HandlerFunc) *v1alpha1.Target {
	t.Helper()
	api := httptest.NewTLSServer(handler)
	t.Cleanup(api.Close)
	authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: api.Certificate().Raw})
	text := kubeconfig(fmt.Sprintf(`"server":%q,"certificate-authority-data":%q`, api.URL, base64.StdEncoding.EncodeToString(authority)), `"token":"`+secretWord+`"`)
	quoted, err := json.Marshal(text)
	if err != nil {
		t.Fatal(err)
	}
	return garden(`{"kubeconfig":` + string(quoted) + `}`)
}

// write answers with a body; a test server's connection does not fail.
func write(out http.ResponseWriter, status int, body string) {
	out.Header().Set("Content-Type", "application/json")
	out.WriteHeader(status)
	_, _ = io.WriteString(out, body)
}

// TestShootAdminKubeconfig speaks the wire format of a Gardener cluster.
func TestShootAdminKubeconfig(t *testing.T) {
	var got struct {
		Method, Path, Authorization string
		Body                        map[string]any
	}
	target := speaking(t, func(out http.ResponseWriter, request *http.Request) {
		got.Method, got.Path, got.Authorization = request.Method, request.URL.Path, request.Header.Get("Authorization")
		if err := json.NewDecoder(request.Body).Decode(&got.Body); err != nil {
			t.Error(err)
		}
		write(out, http.StatusCreated, `{"apiVersion":"authentication.gardener.cloud/v1alpha1","kind":"AdminKubeconfigRequest","metadata":{"name":"blue"},`+
			`"spec":{"expirationSeconds":3600},"status":{"kubeconfig":"`+base64.StdEncoding.EncodeToString([]byte("of the shoot"))+`","expirationTimestamp":"2030-01-02T03:04:05Z"}}`)
	})
	content, expires, err := NewKubeconfigs(NewPool(PoolOptions{}), "shop").ShootAdminKubeconfig(t.Context(), target, "blue", "garden-shop", time.Hour)
	if err != nil || string(content) != "of the shoot" || !expires.Equal(time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)) {
		t.Errorf("got %q, %s, %v", content, expires, err)
	}
	if got.Method != http.MethodPost || got.Path != "/apis/core.gardener.cloud/v1beta1/namespaces/garden-shop/shoots/blue/adminkubeconfig" || got.Authorization != "Bearer "+secretWord {
		t.Errorf("request %s %s", got.Method, got.Path)
	}
	want := map[string]any{
		"apiVersion": "authentication.gardener.cloud/v1alpha1", "kind": "AdminKubeconfigRequest",
		"metadata": map[string]any{"name": "blue"}, "spec": map[string]any{"expirationSeconds": 3600.0},
	}
	if diff := cmp.Diff(want, got.Body); diff != "" {
		t.Error(diff)
	}
}

func TestShootAdminKubeconfigErrors(t *testing.T) {
	const path = "/apis/core.gardener.cloud/v1beta1/namespaces/garden-shop/shoots/blue/adminkubeconfig"
	tests := []struct {
		reason, shoot string
		status        int
		body, want    string
	}{
		{"what the API says is passed on", "blue", http.StatusNotFound, `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"shoots.core.gardener.cloud \"blue\" not found","reason":"NotFound","code":404}`, `from the cluster of Target shop/garden: shoots.core.gardener.cloud "blue" not found`},
		{"also when it forbids", "blue", http.StatusForbidden, `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"create is forbidden","reason":"Forbidden","code":403}`, "create is forbidden"},
		{"credentials that are not accepted", "blue", http.StatusUnauthorized, `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"Unauthorized","reason":"Unauthorized","code":401}`, "put valid credentials into the Target"},
		{"an answer without kubeconfig", "blue", http.StatusCreated, `{"apiVersion":"authentication.gardener.cloud/v1alpha1","kind":"AdminKubeconfigRequest","status":{}}`, "the answer has no kubeconfig"},
		{"an answer of another form", "blue", http.StatusCreated, `{"apiVersion":"authentication.gardener.cloud/v1alpha1","kind":"AdminKubeconfigRequest","status":{"kubeconfig":{"a":"` + secretWord + `"}}}`, "the answer has not the expected form"},
		{"a name that leads elsewhere", "../../../../../api/v1/namespaces/x/secrets/y", http.StatusTeapot, "", "may not contain '/'"},
		{"a name that leads up", "..", http.StatusTeapot, "", "may not be '..'"},
	}
	for _, test := range tests {
		target := speaking(t, func(out http.ResponseWriter, request *http.Request) {
			if request.URL.Path != path {
				t.Errorf("%s: request for %s", test.reason, request.URL.Path)
			}
			write(out, test.status, test.body)
		})
		_, _, err := NewKubeconfigs(NewPool(PoolOptions{}), "shop").ShootAdminKubeconfig(t.Context(), target, test.shoot, "garden-shop", time.Hour)
		if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), secretWord) {
			t.Errorf("%s: got %v, want %q", test.reason, err, test.want)
		}
	}
}

// TestKubeconfigRequestsEnd cancels the context while a cluster does not answer.
func TestKubeconfigRequestsEnd(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	target := speaking(t, func(_ http.ResponseWriter, request *http.Request) {
		// The server notices the end of a connection only behind the body.
		_, _ = io.Copy(io.Discard, request.Body)
		cancel()
		<-request.Context().Done()
	})
	if _, _, err := NewKubeconfigs(NewPool(PoolOptions{}), "shop").ShootAdminKubeconfig(ctx, target, "blue", "garden-shop", time.Hour); err == nil || ctx.Err() == nil {
		t.Errorf("got %v", err)
	}
}

// TestKubeconfigRequestsHaveALimit looks at the deadline that a request is made
// with.
func TestKubeconfigRequestsHaveALimit(t *testing.T) {
	connection := &Connection{health: &health{now: time.Now}}
	err := connection.try(context.Background(), func(ctx context.Context) error {
		deadline, limited := ctx.Deadline()
		if !limited || time.Until(deadline) > 30*time.Second {
			t.Errorf("deadline %s, %t", deadline, limited)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func TestOIDCKubeconfig(t *testing.T) {
	text := strings.Replace(kubeconfig(server+`,"tls-server-name":"api"`, `"token":"`+secretWord+`"`), `"cluster":"c","user":"u"`, `"cluster":"c","user":"u","namespace":"web"`, 1)
	quoted, err := json.Marshal(text)
	if err != nil {
		t.Fatal(err)
	}
	// No request is made: the address does not exist.
	made, err := NewKubeconfigs(NewPool(PoolOptions{}), "shop").OIDCKubeconfig(t.Context(), garden(`{"kubeconfig":`+string(quoted)+`}`), "https://login.example.org", "landscape")
	if err != nil {
		t.Fatal(err)
	}
	const want = `
apiVersion: v1
kind: Config
current-context: x
contexts: [{name: x, context: {cluster: c, namespace: web, user: oidc-login}}]
clusters: [{name: c, cluster: {server: "https://api.example.org", tls-server-name: api}}]
users:
- name: oidc-login
  user:
    exec:
      apiVersion: client.authentication.k8s.io/v1beta1
      command: kubectl
      env: null
      provideClusterInfo: false
      args: [oidc-login, get-token, --oidc-issuer-url=https://login.example.org, --oidc-client-id=landscape, --oidc-extra-scope=email,
        --oidc-extra-scope=profile, --oidc-extra-scope=offline_access, --oidc-use-pkce, --grant-type=auto]
`
	var expected, got any
	if err := yaml.Unmarshal([]byte(want), &expected); err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(made, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(expected, got); diff != "" {
		t.Error(diff)
	}
}

// TestKubeconfigSources refuses Targets that a template must not or cannot use.
func TestKubeconfigSources(t *testing.T) {
	foreign := garden(`{"kubeconfig":` + kubeconfig(server, "") + `}`)
	foreign.Namespace = "kube-system"
	homeless := garden(`{"kubeconfig":` + kubeconfig(server, "") + `}`)
	homeless.Namespace = ""
	tests := []struct {
		reason string
		target *v1alpha1.Target
		want   string
	}{
		{"a Target without a namespace is one of the own", homeless, ""},
		{"another namespace, whose Secrets the author may not read", foreign, "Target kube-system/garden: templates can only use Targets of the namespace of their Installation (shop)"},
		{"a program", garden(`{"kubeconfig":` + kubeconfig(server, `"exec":{"apiVersion":"client.authentication.k8s.io/v1","command":"`+secretWord+`"}`) + `}`), "users[u].user.exec, which is not allowed"},
		{"no kubeconfig", garden(`{"selfConfig":{"serviceAccount":{"name":"a"}}}`), "it holds no kubeconfig"},
		{"nothing", garden(``), "neither spec.config nor spec.secretRef"},
	}
	for _, test := range tests {
		_, err := NewKubeconfigs(NewPool(PoolOptions{}), "shop").OIDCKubeconfig(t.Context(), test.target, "i", "c")
		switch {
		case test.want == "" && err != nil:
			t.Errorf("%s: %v", test.reason, err)
		case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), secretWord)):
			t.Errorf("%s: got %v, want %q", test.reason, err, test.want)
		}
	}
}
