package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/server/install"
)

// TestQuickstart installs everything into an empty cluster, and removes it. No kubelet runs
// programs there.
func TestQuickstart(t *testing.T) {
	config, err := clientcmd.BuildConfigFromFlags("", empty.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	there, err := client.NewWithWatch(config, client.Options{Scheme: install.Scheme()})
	if err != nil {
		t.Fatal(err)
	}
	// The namespace of an earlier round may still be terminating.
	namespace := fmt.Sprintf("tries-%d", time.Now().UnixNano())
	deployment, key := &appsv1.Deployment{}, client.ObjectKey{Namespace: namespace, Name: "landscaper"}
	if got := cli(t, empty.Kubeconfig, "quickstart", "install", "--namespace", namespace, "--dry-run"); got.code != 0 || !strings.Contains(got.out, "kind: Deployment") {
		t.Errorf("%+v", got)
	}
	if err := there.Get(t.Context(), key, deployment); !apierrors.IsNotFound(err) {
		t.Errorf("a dry run has installed something: %v", err)
	}
	for range 2 {
		got := cli(t, empty.Kubeconfig, "quickstart", "install", "--namespace", namespace, "--landscaper-values", anImage(t), "--install-oci-registry")
		if got.code != 0 || !strings.Contains(got.out, "Deployment landscaper: applied\n") || !strings.Contains(got.out, "Deployment oci-registry: applied\n") {
			t.Fatalf("%+v", got)
		}
	}
	if err := there.Get(t.Context(), key, deployment); err != nil {
		t.Error(err)
	}
	waitForQuickstart(t, there, namespace)
	if got := cli(t, empty.Kubeconfig, "inst", "inspect", "-n", namespace); got.code != 0 {
		t.Errorf("the API is not there: %+v", got)
	}
	if got := cli(t, empty.Kubeconfig, "quickstart", "install", "--install-registry-ingress"); got.code == 0 {
		t.Errorf("%+v", got)
	}
	useQuickstart(t, there, namespace)
	got := cli(t, empty.Kubeconfig, "qs", "u", "--namespace", namespace, "--delete-crd", "--delete-namespace", "--yes", "--wait")
	if got.code != 0 || !strings.Contains(got.out, "CustomResourceDefinition installations.landscaper.gardener.cloud: deleted\n") || !strings.Contains(got.out, "Namespace "+namespace+": deleted\n") {
		t.Errorf("%+v", got)
	}
	for _, object := range []client.Object{deployment, &corev1.Namespace{}} {
		at := key
		if _, ok := object.(*corev1.Namespace); ok {
			at = client.ObjectKey{Name: namespace}
		}
		if err := there.Get(t.Context(), at, object); !apierrors.IsNotFound(err) {
			t.Errorf("it is still there: %v", err)
		}
	}
	if got := cli(t, empty.Kubeconfig, "inst", "inspect", "--strict-exit-codes"); got.code != 3 {
		t.Errorf("the API is still there: %+v", got)
	}
	if got := cli(t, empty.Kubeconfig, "quickstart", "uninstall", "--namespace", namespace, "--delete-crd", "--wait"); got.code != 0 || got.err != "" {
		t.Errorf("twice: %+v", got)
	}
}

// anImage is a file of values that name an image: the program of the test is of no release.
func anImage(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "values.yaml")
	if err := os.WriteFile(file, []byte("image: {repository: registry.example.org/landscaper, tag: v0.1.0}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// useQuickstart creates an Installation that no controller deletes, and tries to remove the
// Landscaper under it.
func useQuickstart(t *testing.T, there client.Client, namespace string) {
	t.Helper()
	used := &unstructured.Unstructured{}
	used.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind("Installation"))
	used.SetNamespace(namespace)
	used.SetName("shop")
	used.SetFinalizers([]string{v1alpha1.Finalizer})
	used.Object["spec"] = map[string]any{"blueprint": map[string]any{"ref": map[string]any{"resourceName": "blueprint"}}}
	if err := there.Create(t.Context(), used); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ flag, want string }{
		{"--delete-namespace", "Error: the namespace " + namespace + " has Installations, which no controller would be left to delete"},
		{"--delete-crd", "There are root Installations: 1, in the namespaces " + namespace + " (1). They are deleted with the CRDs; what they have deployed stays"},
	} {
		got := cli(t, empty.Kubeconfig, "quickstart", "uninstall", "--namespace", namespace, test.flag)
		if got.code != 1 || got.out != "" || !strings.HasPrefix(got.err, test.want) {
			t.Errorf("%s: %+v", test.flag, got)
		}
	}
	if err := there.Get(t.Context(), client.ObjectKeyFromObject(used), used); err != nil || used.GetDeletionTimestamp() != nil {
		t.Errorf("a refusal removes nothing: %v", err)
	}
}

// waitForQuickstart plays the machine that runs the programs.
func waitForQuickstart(t *testing.T, there client.WithWatch, namespace string) {
	t.Helper()
	install := []string{"quickstart", "install", "--namespace", namespace, "--landscaper-values", anImage(t), "--wait"}
	message := "\nError: wait for Deployment landscaper in namespace " + namespace + ": "
	got, _ := withLimit(t, empty.Kubeconfig, message, append(install, "--timeout", "LIMIT", "--strict-exit-codes")...)
	if got.code != 5 || !strings.Contains(got.err, message) || !strings.Contains(got.err, ": timeout: look at its Pods") {
		t.Errorf("%+v", got)
	}
	p := begin(t, empty.Kubeconfig, install...)
	p.err.await(t, "waiting for Deployment landscaper: ")
	pods, err := there.Watch(t.Context(), &corev1.PodList{}, client.InNamespace(namespace))
	if err != nil {
		t.Fatal(err)
	}
	defer pods.Stop()
	for event := range pods.ResultChan() {
		pod, ok := event.Object.(*corev1.Pod)
		if !ok || !strings.HasPrefix(pod.Name, "landscaper-") {
			continue
		}
		ready := client.RawPatch(types.MergePatchType, []byte(`{"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}}`))
		if err := there.Status().Patch(t.Context(), pod, ready); err != nil {
			t.Fatal(err)
		}
		break
	}
	if got := p.end(t); got.code != 0 {
		t.Errorf("%+v", got)
	}
}
