package resilience

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"go.landscaper.dev/test/lab"
	"go.landscaper.dev/test/scenario"
)

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
	return scenario.Proxied(t, env.Resource, lab.UserOptions{Name: name, ManifestFile: rules}), set
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
