package e2e

import (
	"os"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
)

// twoClusters are items on two clusters, one after the other.
const twoClusters = `deployItems:
- &first
  name: first
  type: landscaper.gardener.cloud/kubernetes-manifest
  target: {import: cluster}
  config: &config
    apiVersion: manifest.deployer.landscaper.gardener.cloud/v1alpha2
    kind: ProviderConfiguration
    manifests:
    - policy: manage
      manifest: {apiVersion: v1, kind: ConfigMap, metadata: {name: NAME, namespace: NAMESPACE}}
- <<: *first
  name: second
  target: {import: near}
  dependsOn: [first]
`

// TestStoryAcrossClusters: logs show the job of two clusters in its order, and delete shows before
// what is deleted on which of them, in the order of the deletion.
func TestStoryAcrossClusters(t *testing.T) {
	startServer(t, env.ServerKubeconfig)
	space := namespace(t)
	kubeconfig, err := os.ReadFile(env.Resource.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	createTarget(t, space, "near", string(kubeconfig))
	inst := newInstallation(space, "both", twoClusters)
	importNear(t, inst)
	create(t, inst)
	waitSucceeded(t, inst)

	code, out, complaints := cli(t, "inst", "logs", "both", "-n", space)
	if code != 0 {
		t.Fatalf("code %d: %s", code, complaints)
	}
	first, second := strings.Index(out, "DeployItem both-first-"), strings.Index(out, "DeployItem both-second-")
	asked, ended := strings.Index(out, "Installation both: job "), strings.LastIndex(out, "Installation both: the job ended in phase Succeeded\n")
	if asked < 0 || first < asked || second < first || ended < second {
		t.Errorf("the story is not in order:\n%s", out)
	}

	code, out, complaints = cli(t, "inst", "delete", "both", "-n", space, "--yes", "--wait", "--timeout", "3m")
	object := "   - ConfigMap " + space + "/both\n"
	if want := "1. both/second on near\n" + object + "2. both/first on host\n" + object + "Installation both: deleted\n"; code != 0 || out != want {
		t.Errorf("code %d: %s%s", code, out, complaints)
	}
	for _, cluster := range []client.Client{env.Admin, env.Workload} {
		gone := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: "both"}}
		if err := cluster.Get(t.Context(), client.ObjectKeyFromObject(gone), gone); client.IgnoreNotFound(err) != nil || err == nil {
			t.Errorf("it is still there: %v", err)
		}
	}
}

// importNear adds a second Target to an Installation and its blueprint.
func importNear(t *testing.T, inst *v1alpha1.Installation) {
	t.Helper()
	inst.Spec.Imports.Targets = append(inst.Spec.Imports.Targets, v1alpha1.TargetImport{Name: "near", Target: "near"})
	raw := string(inst.Spec.Blueprint.Inline.Filesystem.RawMessage)
	added := strings.Replace(raw, `\nimports:\n`, `\nimports:\n- {name: near, type: target, targetType: landscaper.gardener.cloud/kubernetes-cluster}\n`, 1)
	if added == raw {
		t.Fatalf("no imports in %s", raw)
	}
	inst.Spec.Blueprint.Inline.Filesystem.RawMessage = []byte(added)
}
