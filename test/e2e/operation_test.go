package e2e

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/test/chart"
	"go.landscaper.dev/test/landscape"
)

// TestControllersInSeveralProcesses shows that a deployer can run alone.
func TestControllersInSeveralProcesses(t *testing.T) {
	startServer(t, env.ServerKubeconfig, "--controllers", "installation,execution,context")
	space := namespace(t)
	inst := create(t, newInstallation(space, "split", oneConfigMap))
	waitFor(t, client.ObjectKeyFromObject(inst), "progressing", func(inst *v1alpha1.Installation) bool {
		return inst.Status.InstallationPhase == v1alpha1.InstallationPhases.Progressing
	})
	startServer(t, env.ServerKubeconfig, "--controllers", "manifest")
	waitSucceeded(t, inst)
}

// TestLeaderElection shows that a second replica waits, and takes over when the
// first one ends.
func TestLeaderElection(t *testing.T) {
	elect := []string{"--leader-elect", "--leader-election-namespace", chart.Namespace}
	first := startServer(t, env.ServerKubeconfig, elect...)
	space := namespace(t)
	waitSucceeded(t, create(t, newInstallation(space, "before", oneConfigMap)))

	second := launchServer(t, env.ServerKubeconfig, elect...)
	inst := create(t, newInstallation(space, "between", oneConfigMap))
	waitSucceeded(t, inst)
	if log := second.Output(); strings.Contains(log, "step=admit") {
		t.Errorf("the second replica works beside the first:\n%s", second.Tail(20))
	}
	first.EndBy(syscall.SIGTERM)
	waitSucceeded(t, create(t, newInstallation(space, "after", oneConfigMap)))
	if log := second.Output(); !strings.Contains(log, "step=admit") {
		t.Errorf("the second replica did not take over:\n%s", second.Tail(20))
	}
}

// TestEndpoints asks for health, readiness and metrics.
func TestEndpoints(t *testing.T) {
	metrics, err := landscape.FreeAddress()
	if err != nil {
		t.Fatal(err)
	}
	server := startServer(t, env.ServerKubeconfig, "--metrics-address", metrics, "--metrics-open")
	space := namespace(t)
	waitSucceeded(t, create(t, newInstallation(space, "counted", oneConfigMap)))
	for url, want := range map[string]string{
		"http://" + server.Health() + "/healthz": "ok",
		"http://" + server.Health() + "/readyz":  "ok",
		"http://" + metrics + "/metrics":         `controller_runtime_reconcile_total{controller="installation",result="success"}`,
	} {
		if body := get(t, url); !strings.Contains(body, want) {
			t.Errorf("%s does not say %q", url, want)
		}
	}
}

func get(t *testing.T, url string) string {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close() //nolint:errcheck // ReadAll reports what matters
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// TestMissingCRDs shows what the server says where nothing is installed.
func TestMissingCRDs(t *testing.T) {
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(path, []byte(env.TargetKubeconfig), 0o600); err != nil {
		t.Fatal(err)
	}
	server := launchServer(t, path)
	<-server.Ended()
	if code, log := server.ExitCode(), server.Output(); code == 0 || !strings.Contains(log, "landscaper install") {
		t.Errorf("exit code %d, and no word of how to install:\n%s", code, server.Tail(10))
	}
}
