package e2e

import (
	"context"
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
	"go.landscaper.dev/test/scenario"
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

// behindFaults returns the kubeconfig of a server whose requests go through the fault proxy, and what sets
// the rules of the proxy. In the end it has none.
func behindFaults(t *testing.T, name string) (kubeconfig string, set func(...lab.Rule)) {
	t.Helper()
	rules, err := env.ChartRules(name)
	if err != nil {
		t.Fatal(err)
	}
	set = func(rules ...lab.Rule) {
		t.Helper()
		if err := env.Resource.SetFaults(t.Context(), lab.Faults{Seed: 1, Rules: rules}); err != nil {
			t.Fatal(err)
		}
	}
	set()
	t.Cleanup(func() {
		if err := env.Resource.SetFaults(context.Background(), lab.Faults{}); err != nil {
			t.Error(err)
		}
	})
	return proxied(t, env.Resource, lab.UserOptions{Name: name, ManifestFile: rules}), set
}

// TestStartBesideFailures: the first answers that a server gets are failures.
func TestStartBesideFailures(t *testing.T) {
	kubeconfig, set := behindFaults(t, serverUser+"-starting")
	set(lab.Rule{Name: "starting", Share: 1, Times: 4, Action: "status", Status: http.StatusServiceUnavailable})
	server := startServer(t, kubeconfig)
	if said := server.Output(); !strings.Contains(said, "is asked again") {
		t.Errorf("the server met no failure: %s", said)
	}
}

// TestUnready breaks the lists and watches of one kind. The server says which, and is
// ready again when they work.
func TestUnready(t *testing.T) {
	kubeconfig, set := behindFaults(t, serverUser+"-watching")
	server := startServer(t, kubeconfig, "--unready-after", "1s")
	set(lab.Rule{Name: "blind", Verbs: []string{"list", "watch"}, Resources: []string{"deployitems.landscaper.gardener.cloud"}, Share: 1, Action: "status", Status: http.StatusInternalServerError})
	if err := env.Resource.CutConnections(t.Context()); err != nil {
		t.Fatal(err)
	}
	// The watches of other kinds were cut, too, and begin again after a pause.
	awaitReadiness(t, server, http.StatusServiceUnavailable, func(text string) bool {
		return strings.Contains(text, "DeployItem: the watch fails") && strings.Count(text, "the watch fails") == 1
	})
	set()
	awaitReadiness(t, server, http.StatusOK, func(text string) bool { return strings.Contains(text, "ok") })
}

func awaitReadiness(t *testing.T, server *scenario.Server, status int, fits func(text string) bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), waitLimit)
	defer cancel()
	if err := server.AwaitReadiness(ctx, status, fits); err != nil {
		t.Fatal(err)
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
