package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/test/chart"
	"go.landscaper.dev/test/lab"
	"go.landscaper.dev/test/landscape"
)

// TestHealthObject shows that a server with the chart's rules for it tells in an
// LsHealthCheck that all is well.
func TestHealthObject(t *testing.T) {
	const name = "healthy"
	rules, err := landscape.WriteRules(t.TempDir(), name, map[string]any{"healthCheck": name})
	if err != nil {
		t.Fatal(err)
	}
	user, err := env.Resource.AddUser(t.Context(), lab.UserOptions{Name: name, ManifestFile: rules})
	if err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(t.TempDir(), "config.yaml")
	text := fmt.Sprintf("lsDeployments: {deploymentsNamespace: %s, lsHealthCheckName: %s}\n", chart.Namespace, name)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), waitLimit)
	defer cancel()
	events, err := env.Admin.Watch(ctx, &v1alpha1.LsHealthCheckList{}, client.InNamespace(chart.Namespace), client.MatchingFields{"metadata.name": name})
	if err != nil {
		t.Fatal(err)
	}
	defer events.Stop()
	startServer(t, user.Kubeconfig, "--config", config)
	for event := range events.ResultChan() {
		check, ok := event.Object.(*v1alpha1.LsHealthCheck)
		if !ok {
			continue
		}
		if check.Status != v1alpha1.LsHealthCheckStatusOk || check.Description != "ok" || check.LastUpdateTime.IsZero() {
			t.Errorf("the server says %s at %s: %s", check.Status, check.LastUpdateTime, check.Description)
		}
		return
	}
	t.Error("the server has not written its health")
}
