package flux

import (
	"bytes"
	"os/exec"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/test/landscape"
	"go.landscaper.dev/test/scenario"
)

// fluxSecret puts a kubeconfig where the Kustomization of a case finds it.
func fluxSecret(t *testing.T, cluster client.Client, space, kubeconfig string) {
	t.Helper()
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: "access"}, StringData: map[string]string{"value": kubeconfig}}
	if err := cluster.Create(t.Context(), secret); err != nil {
		t.Fatal(err)
	}
}

// dismiss suspends what Flux has failed with. Otherwise it would try again every second,
// for as long as the other tests run.
func dismiss(t *testing.T, cluster client.Client, inst *v1alpha1.Installation) {
	t.Helper()
	suspend := client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"suspend":true}}`))
	for _, object := range []*unstructured.Unstructured{gitRepository(inst.Name), kustomization("", inst.Name)} {
		object.SetNamespace(inst.Namespace)
		// Without a source there is no Kustomization.
		if err := client.IgnoreNotFound(cluster.Patch(t.Context(), object, suspend)); err != nil {
			t.Error(err)
		}
	}
}

// TestFluxFailures: the reason for which Flux fails is what a user sees.
func TestFluxFailures(t *testing.T) {
	scenario.StartServer(t, env.ServerKubeconfig)
	program, err := landscape.Program("landscaper-cli")
	if err != nil {
		t.Fatal(err)
	}
	free, err := landscape.FreeAddress()
	if err != nil {
		t.Fatal(err)
	}
	unreachable := strings.Replace(env.TargetKubeconfig, env.Target.Server, "https://"+free, 1)
	remote := []string{"wait: true", "wait: true\n          kubeConfig: {secretRef: {name: access}}"}
	tests := []struct {
		reason string
		// manifest is what the repository has, change what is other in the template.
		manifest, kubeconfig string
		change               []string
		wants                []string
	}{
		{"a path that does not exist", round(0), "", []string{"kustomize/race", "kustomize/nowhere"}, []string{"kustomization path not found"}},
		{"a manifest that is not YAML", "apiVersion: v1\nkind: ConfigMap\nmetadata: [}\n", "", nil, []string{"will not become ready by itself: BuildFailed"}},
		{"a manifest that the API server refuses", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: Not-A-Name}\n", "", nil, []string{"ReconciliationFailed", "Not-A-Name"}},
		{"a cluster that cannot be reached", round(0), unreachable, remote, []string{"connection refused"}},
		{"a Secret without a kubeconfig", round(0), "nonsense", remote, []string{"ReconciliationFailed", "access"}},
		{"a branch that does not exist", round(0), "", []string{"{branch: main}", "{branch: other}"}, []string{"GitOperationFailed", "find remote ref"}},
	}
	insts, clusters := make([]*v1alpha1.Installation, len(tests)), make([]client.WithWatch, len(tests))
	for i, test := range tests {
		space, cluster := fluxSpace(t)
		clusters[i] = cluster
		repository := newRepository(t)
		if err := repository.Write(t.Context(), "race/configmap.yaml", test.manifest); err != nil {
			t.Fatal(err)
		}
		if test.kubeconfig != "" {
			fluxSecret(t, cluster, space, test.kubeconfig)
		}
		insts[i] = env.Create(t, requesting(space, "raced", repository.URL, "20s", test.change...))
	}
	for i, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			defer dismiss(t, clusters[i], insts[i])
			failed := env.WaitFinished(t, insts[i], "")
			var shown bytes.Buffer
			inspect := exec.CommandContext(t.Context(), program, "installations", "inspect", "raced", "-n", failed.Namespace, "--kubeconfig", env.Resource.Kubeconfig)
			inspect.Stdout, inspect.Stderr = &shown, &shown
			if err := inspect.Run(); err != nil {
				t.Fatalf("inspect: %v\n%s", err, shown.String())
			}
			text := strings.Join(strings.Fields(shown.String()), " ")
			for _, want := range append(test.wants, "❌ Failed") {
				if !strings.Contains(text, want) {
					t.Errorf("%q is not shown:\n%s", want, shown.String())
				}
			}
		})
	}
}
