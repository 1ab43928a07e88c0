package e2e

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/server/selfcheck"
)

// TestSelfcheck: what "helm test" runs succeeds with a server and leaves nothing, and reports a
// server that is missing.
func TestSelfcheck(t *testing.T) {
	space := namespace(t)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	err := selfcheck.Run(ctx, env.Admin, space, &bytes.Buffer{})
	if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), `operation "reconcile" has not been picked up yet`) {
		t.Errorf("without a server: %v", err)
	}
	startServer(t, env.ServerKubeconfig)
	var out bytes.Buffer
	ctx, cancel = context.WithTimeout(t.Context(), waitLimit)
	defer cancel()
	if err := selfcheck.Run(ctx, env.Admin, space, &out); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	if !strings.HasSuffix(out.String(), ": deleted\n") {
		t.Errorf("it says %q", out.String())
	}
	var left v1alpha1.InstallationList
	if err := env.Admin.List(t.Context(), &left, client.InNamespace(space)); err != nil {
		t.Fatal(err)
	}
	for _, inst := range left.Items {
		if strings.Contains(out.String(), inst.Name) {
			t.Errorf("%s is left", inst.Name)
		}
	}
}
