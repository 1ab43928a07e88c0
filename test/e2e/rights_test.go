package e2e

import (
	"crypto/tls"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/test/chart"
	"go.landscaper.dev/test/lab"
	"go.landscaper.dev/test/landscape"
)

// TestConfined shows that a server with the chart's rules for one namespace works
// there, and reads nothing in another.
func TestConfined(t *testing.T) {
	ours, theirs := namespace(t), namespace(t)
	const name = "landscaper-confined"
	rules, err := landscape.WriteRules(t.TempDir(), name, map[string]any{"namespaces": []any{ours}})
	if err != nil {
		t.Fatal(err)
	}
	user, err := env.Resource.AddUser(t.Context(), lab.UserOptions{Name: name, ManifestFile: rules})
	if err != nil {
		t.Fatal(err)
	}
	count, err := landscape.StartCount(t.Context(), landscape.Caller{Cluster: env.Resource, User: name})
	if err != nil {
		t.Fatal(err)
	}
	startServer(t, user.Kubeconfig, "--namespaces", ours)
	other := create(t, newInstallation(theirs, "theirs", oneConfigMap))
	waitForContext(t, ours)
	waitSucceeded(t, create(t, newInstallation(ours, "ours", oneConfigMap)))
	if err := env.Admin.Get(t.Context(), client.ObjectKeyFromObject(other), other); err != nil || other.Status.JobID != "" {
		t.Errorf("the Installation of another namespace has job %q (%v)", other.Status.JobID, err)
	}
	requests, err := count.Requests(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, request := range requests {
		if request.Resource != "" && request.Namespace != ours || request.Status == http.StatusForbidden {
			t.Errorf("the server sends requests beyond its task: %+v", request)
		}
	}
	confined, err := landscape.Connect(user.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	cannotRead(t, confined, theirs)
	cannotHaveTokens(t, confined, ours)
	if err := confined.List(t.Context(), &v1alpha1.InstallationList{}, client.InNamespace(ours)); err != nil {
		t.Errorf("its own namespace: %v", err)
	}
}

func cannotRead(t *testing.T, as client.Client, namespace string) {
	t.Helper()
	for what, list := range map[string]client.ObjectList{
		"Installations": &v1alpha1.InstallationList{}, "Targets": &v1alpha1.TargetList{},
		"DataObjects": &v1alpha1.DataObjectList{}, "Secrets": &corev1.SecretList{},
	} {
		for _, options := range [][]client.ListOption{{client.InNamespace(namespace)}, nil} {
			if err := as.List(t.Context(), list, options...); !apierrors.IsForbidden(err) {
				t.Errorf("list of %s (%v): %v, want that it is forbidden", what, options, err)
			}
		}
	}
}

// cannotHaveTokens shows that tokens that were not configured are refused.
func cannotHaveTokens(t *testing.T, as client.Client, namespace string) {
	t.Helper()
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "default"}}
	err := as.SubResource("token").Create(t.Context(), account, &authenticationv1.TokenRequest{})
	if !apierrors.IsForbidden(err) {
		t.Errorf("a token of a ServiceAccount: %v, want that it is forbidden", err)
	}
}

// TestMetricsAreForThoseWhoMay asks for metrics as several users.
func TestMetricsAreForThoseWhoMay(t *testing.T) {
	address, err := landscape.FreeAddress()
	if err != nil {
		t.Fatal(err)
	}
	startServer(t, env.ServerKubeconfig, "--metrics-address", address)
	user := func(name string, roles ...string) string {
		t.Helper()
		made, err := env.Resource.AddUser(t.Context(), lab.UserOptions{Name: name, ClusterRoles: roles})
		if err != nil {
			t.Fatal(err)
		}
		return made.Token
	}
	// The certificate is made by the server for itself.
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	defer client.CloseIdleConnections()
	for _, test := range []struct {
		reason, token string
		want          int
	}{
		{"a client without a token", "", http.StatusUnauthorized},
		{"a token that the cluster does not know", "made-up", http.StatusUnauthorized},
		{"a user who may read objects", user("metrics-viewer", "view"), http.StatusForbidden},
		{"a user who may get /metrics", user("metrics-reader", serverUser+"-"+chart.Release+"-metrics-reader"), http.StatusOK},
	} {
		t.Run(test.reason, func(t *testing.T) {
			request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://"+address+"/metrics", nil)
			if err != nil {
				t.Fatal(err)
			}
			if test.token != "" {
				request.Header.Set("Authorization", "Bearer "+test.token)
			}
			response := persist(t, client, request)
			defer response.Body.Close() //nolint:errcheck // ReadAll reports what matters
			body, err := io.ReadAll(response.Body)
			if err != nil || response.StatusCode != test.want || (test.want == http.StatusOK) != strings.Contains(string(body), "controller_runtime") {
				t.Errorf("got %d, want %d (%v): %.200s", response.StatusCode, test.want, err, body)
			}
		})
	}
}

// persist asks until the server answers: nothing shows when the server, which first makes itself a
// certificate, begins to listen for metrics.
func persist(t *testing.T, client *http.Client, request *http.Request) *http.Response {
	t.Helper()
	tick, limit := time.NewTicker(50*time.Millisecond), time.After(waitLimit)
	defer tick.Stop()
	for {
		response, err := client.Do(request)
		if err == nil {
			return response
		}
		select {
		case <-limit:
			t.Fatal(err)
		case <-tick.C:
		}
	}
}
