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
	"go.landscaper.dev/internal/cluster/answerlimit"
)

const secretWord = "top-secret-word"

const server = `"server":"https://api.example.org"`

// kubeconfig returns a kubeconfig whose cluster and user have the given fields.
func kubeconfig(cluster, user string) string {
	return `{"apiVersion":"v1","kind":"Config","current-context":"x","contexts":[{"name":"x","context":{"cluster":"c","user":"u"}}],` +
		`"clusters":[{"name":"c","cluster":{` + cluster + `}}],"users":[{"name":"u","user":{` + user + `}}]}`
}

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
	content, expires, err := importing(target).ShootAdminKubeconfig(t.Context(), target, "blue", "garden-shop", time.Hour)
	if err != nil || string(content) != "of the shoot" || !expires.Equal(time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)) {
		t.Errorf("got %q, %s, %v", content, expires, err)
	}
	if got.Method != http.MethodPost || got.Path != "/apis/core.gardener.cloud/v1beta1/namespaces/garden-shop/shoots/blue/adminkubeconfig" || got.Authorization != "Bearer "+secretWord {
		t.Errorf("request %s %s", got.Method, got.Path)
	}
	want := map[string]any{
		"apiVersion": "authentication.gardener.cloud/v1alpha1", "kind": "AdminKubeconfigRequest",
		"metadata": map[string]any{"name": "blue", "namespace": "garden-shop"}, "spec": map[string]any{"expirationSeconds": 3600.0},
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
		{"what the API says is told in our words", "blue", http.StatusNotFound, `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"shoots.core.gardener.cloud \"blue\" not found","reason":"NotFound","code":404}`, "from the cluster of Target shop/garden: the API server answers NotFound (404) to POST of shoots/adminkubeconfig: it does not exist"},
		{"a cluster that forbids the request", "blue", http.StatusForbidden, `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"no ` + secretWord + `: User x cannot create resource y","reason":"Forbidden","code":403}`, "Forbidden (403) to POST of shoots/adminkubeconfig: the credentials lack this permission"},
		{"a garden without the authority of the shoot", "blue", http.StatusInternalServerError, `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"Internal error occurred: internalsecret \"blue.ca-client\" not found","reason":"InternalError","code":500}`, "InternalError (500) to POST of shoots/adminkubeconfig: the garden does not have the authority that signs for clients of this shoot"},
		{"a garden that does not know where the shoot is", "blue", http.StatusUnprocessableEntity, `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"no kube-apiserver advertised addresses in Shoot .status.advertisedAddresses ` + secretWord + `","reason":"Invalid","code":422}`, "Invalid (422) to POST of shoots/adminkubeconfig: the shoot has no address of an API server in status.advertisedAddresses"},
		{"credentials that are not accepted", "blue", http.StatusUnauthorized, `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"Unauthorized","reason":"Unauthorized","code":401}`, "put valid credentials into the Target"},
		{"an answer without kubeconfig", "blue", http.StatusCreated, `{"apiVersion":"authentication.gardener.cloud/v1alpha1","kind":"AdminKubeconfigRequest","status":{}}`, "the answer has no kubeconfig"},
		{"an answer of another form", "blue", http.StatusCreated, `{"apiVersion":"authentication.gardener.cloud/v1alpha1","kind":"AdminKubeconfigRequest","status":{"kubeconfig":{"a":"` + secretWord + `"}}}`, "the answer has not the expected form"},
		{"a name that leads elsewhere", "../../../../../api/v1/namespaces/x/secrets/y", http.StatusTeapot, "", "may not contain '/'"},
		{"a name that leads up", "..", http.StatusTeapot, "", "may not be '..'"},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			target := speaking(t, func(out http.ResponseWriter, request *http.Request) {
				if request.URL.Path != path {
					t.Errorf("request for %s", request.URL.Path)
				}
				write(out, test.status, test.body)
			})
			_, _, err := importing(target).ShootAdminKubeconfig(t.Context(), target, test.shoot, "garden-shop", time.Hour)
			if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), secretWord) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
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
	if _, _, err := importing(target).ShootAdminKubeconfig(ctx, target, "blue", "garden-shop", time.Hour); err == nil || ctx.Err() == nil {
		t.Errorf("got %v", err)
	}
}

// TestKubeconfigRequestsHaveALimit looks at the deadline that a request is made
// with.
func TestKubeconfigRequestsHaveALimit(t *testing.T) {
	connection := &Connection{health: &health{now: time.Now}, memory: answerlimit.New(0)}
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
	target := garden(`{"kubeconfig":` + string(quoted) + `}`)
	made, err := importing(target).OIDCKubeconfig(t.Context(), target, "https://login.example.org", "landscape")
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

// importing makes kubeconfigs for an Installation that imports Targets.
func importing(targets ...*v1alpha1.Target) *Kubeconfigs {
	return NewKubeconfigs(NewPool(PoolOptions{Egress: lab}), "shop", targets)
}

// TestKubeconfigSources refuses Targets that cannot be used.
func TestKubeconfigSources(t *testing.T) {
	both := garden(`{"kubeconfig":` + kubeconfig(server, "") + `}`)
	both.Spec.SecretRef = &v1alpha1.LocalSecretReference{Name: "other"}
	tests := []struct {
		reason string
		target *v1alpha1.Target
		want   string
	}{
		{"a program", garden(`{"kubeconfig":` + kubeconfig(server, `"exec":{"apiVersion":"client.authentication.k8s.io/v1","command":"`+secretWord+`"}`) + `}`), "users[0].user.exec, which is not allowed"},
		{"no kubeconfig", garden(`{"selfConfig":{"serviceAccount":{"name":"a"}}}`), "it holds no kubeconfig"},
		{"nothing", garden(``), "neither spec.config nor spec.secretRef"},
		{"two answers to one question", both, "config and secretRef are given together"},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			_, err := importing(test.target).OIDCKubeconfig(t.Context(), test.target, "i", "c")
			if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), secretWord) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

// TestOnlyImportedTargets: a template says which of the imported Targets it means;
// what it writes besides is not looked at.
func TestOnlyImportedTargets(t *testing.T) {
	imported := garden(`{"kubeconfig":` + kubeconfig(server, "") + `}`)
	imported.UID = "1"
	changed := func(change func(*v1alpha1.Target)) *v1alpha1.Target {
		target := imported.DeepCopy()
		change(target)
		return target
	}
	secret := &v1alpha1.LocalSecretReference{Name: "of-another-owner", Key: "kubeconfig"}
	tests := []struct {
		reason  string
		target  *v1alpha1.Target
		refused bool
	}{
		{"the object from the imports", imported, false},
		{"without a namespace it is one of the own", changed(func(target *v1alpha1.Target) { target.Namespace = "" }), false},
		{"a copy with the Secret of another owner: the imported Target is used", changed(func(target *v1alpha1.Target) {
			target.Spec = v1alpha1.TargetSpec{Type: target.Spec.Type, SecretRef: secret}
		}), false},
		{"made up, with a Secret of the namespace", &v1alpha1.Target{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: secretWord}, Spec: v1alpha1.TargetSpec{SecretRef: secret}}, true},
		{"another Target with the same name", changed(func(target *v1alpha1.Target) { target.UID = "2" }), true},
		{"without identity", changed(func(target *v1alpha1.Target) { target.UID = "" }), true},
		{"another namespace, whose Secrets the author may not read", changed(func(target *v1alpha1.Target) { target.Namespace = "kube-system" }), true},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			got, err := importing(imported).OIDCKubeconfig(t.Context(), test.target, "i", "c")
			if refused := err != nil; refused != test.refused || !refused && !strings.Contains(string(got), "api.example.org") || refused && strings.Contains(err.Error(), secretWord) {
				t.Errorf("%s, %v", got, err)
			}
		})
	}
	foreign := changed(func(target *v1alpha1.Target) { target.Namespace = "kube-system" })
	if _, err := importing(foreign).OIDCKubeconfig(t.Context(), foreign, "i", "c"); err == nil {
		t.Error("an imported Target of another namespace was used")
	}
}
