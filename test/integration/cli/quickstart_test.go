package cli

import (
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/internal/install"
)

// TestQuickstart installs everything into a cluster without anything, and removes it.
// Nobody runs programs there.
func TestQuickstart(t *testing.T) {
	config, err := clientcmd.BuildConfigFromFlags("", empty.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	there, err := client.New(config, client.Options{Scheme: install.Scheme()})
	if err != nil {
		t.Fatal(err)
	}
	deployment, key := &appsv1.Deployment{}, client.ObjectKey{Namespace: "tries", Name: "landscaper"}
	if got := cli(t, empty.Kubeconfig, "quickstart", "install", "--namespace", "tries", "--dry-run"); got.code != 0 || !strings.Contains(got.out, "kind: Deployment") {
		t.Errorf("%+v", got)
	}
	if err := there.Get(t.Context(), key, deployment); !apierrors.IsNotFound(err) {
		t.Errorf("a dry run has installed something: %v", err)
	}
	for range 2 {
		got := cli(t, empty.Kubeconfig, "quickstart", "install", "--namespace", "tries", "--install-oci-registry")
		if got.code != 0 || !strings.Contains(got.out, "Deployment landscaper: applied\n") || !strings.Contains(got.out, "Deployment oci-registry: applied\n") {
			t.Fatalf("%+v", got)
		}
	}
	if err := there.Get(t.Context(), key, deployment); err != nil {
		t.Error(err)
	}
	if got := cli(t, empty.Kubeconfig, "inst", "inspect", "-n", "tries"); got.code != 0 {
		t.Errorf("the API is not there: %+v", got)
	}
	if got := cli(t, empty.Kubeconfig, "quickstart", "install", "--install-registry-ingress"); got.code == 0 {
		t.Errorf("%+v", got)
	}
	got := cli(t, empty.Kubeconfig, "qs", "u", "--namespace", "tries", "--delete-crd", "--delete-namespace")
	if got.code != 0 || !strings.Contains(got.out, "CustomResourceDefinition installations.landscaper.gardener.cloud: deleted\n") || !strings.Contains(got.out, "Namespace tries: deleted\n") {
		t.Errorf("%+v", got)
	}
	if err := there.Get(t.Context(), key, deployment); !apierrors.IsNotFound(err) {
		t.Errorf("it is still there: %v", err)
	}
	if got := cli(t, empty.Kubeconfig, "quickstart", "uninstall", "--namespace", "tries", "--delete-crd"); got.code != 0 {
		t.Errorf("twice: %+v", got)
	}
}
