package deployer_test

import (
	"maps"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/test/lab"
)

const oneConfigMap = `
apiVersion: manifest.deployer.landscaper.gardener.cloud/v1alpha2
kind: ProviderConfiguration
updateStrategy: update
manifests:
- policy: manage
  manifest:
    apiVersion: v1
    kind: ConfigMap
    metadata: {name: smallest, namespace: NAMESPACE}
    data: {greeting: hello}
`

// TestSmallestItem deploys one ConfigMap, counts the requests, looks at what is
// stored, and deletes it again.
func TestSmallestItem(t *testing.T) {
	namespace := namespaces(t)
	// No client has contacted the cluster with this token, whatever other tests do.
	made, err := target.AddUser(t.Context(), lab.UserOptions{Name: user})
	if err != nil {
		t.Fatal(err)
	}
	unused, err := os.ReadFile(made.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	createTarget(t, namespace, "cluster", unused)
	// The first item contacts the cluster; the second one is counted.
	first := newItem(t, namespace, "first", `{apiVersion: manifest.deployer.landscaper.gardener.cloud/v1alpha2, kind: ProviderConfiguration, manifests: [{manifest: {apiVersion: v1, kind: ConfigMap, metadata: {name: first, namespace: NAMESPACE}}}]}`)
	before := mark(t, target)
	create(t, first)
	awaitEnd(t, first, v1alpha1.DeployItemPhases.Succeeded)
	want := map[string]int{"get /api": 1, "get /apis": 1, "create configmaps": 1}
	if diff := cmp.Diff(want, count(t, target, namespace, before)); diff != "" {
		t.Errorf("requests to a cluster that is contacted for the first time, -want +got\n%s", diff)
	}

	item := newItem(t, namespace, "smallest-one-pclng", oneConfigMap)
	if err := items.Create(t.Context(), item); err != nil {
		t.Fatal(err)
	}
	beforeResource, beforeTarget := mark(t, resource), mark(t, target)
	jobID := handOver(t, item)
	ended := awaitEnd(t, item, v1alpha1.DeployItemPhases.Succeeded)
	if diff := cmp.Diff(map[string]int{"create configmaps": 1}, count(t, target, namespace, beforeTarget)); diff != "" {
		t.Errorf("requests to the target cluster, -want +got\n%s", diff)
	}
	if diff := cmp.Diff(map[string]int{"update deployitems.landscaper.gardener.cloud/status": 2}, count(t, resource, namespace, beforeResource)); diff != "" {
		t.Errorf("requests to the resource cluster, -want +got\n%s", diff)
	}
	stored := configMap(namespace, "smallest")
	if err := deployed.Get(t.Context(), client.ObjectKeyFromObject(stored), stored); err != nil {
		t.Fatal(err)
	}
	if want := map[string]string{"manifest.deployer.landscaper.gardener.cloud/deployitem": "smallest-one-pclng"}; !maps.Equal(stored.Labels, want) || len(stored.Annotations) != 0 {
		t.Errorf("labels %v, annotations %v", stored.Labels, stored.Annotations)
	}
	checkShape(t, ended, jobID, string(stored.UID))
	deleteAndCount(t, ended)
}

// checkShape compares the status with the published one.
func checkShape(t *testing.T, item *v1alpha1.DeployItem, jobID, uid string) {
	t.Helper()
	status, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&item.Status)
	if err != nil {
		t.Fatal(err)
	}
	times := status["transitionTimes"].(map[string]any)
	for _, name := range []string{"triggerTime", "initTime", "finishedTime"} {
		if times[name] == nil {
			t.Errorf("transitionTimes has no %s: %v", name, times)
		}
	}
	if status["lastReconcileTime"] == nil || status["jobIDGenerationTime"] == nil {
		t.Errorf("lastReconcileTime or jobIDGenerationTime is missing: %v", status)
	}
	for _, field := range []string{"transitionTimes", "lastReconcileTime", "jobIDGenerationTime", "conditions"} {
		delete(status, field)
	}
	// Our own field beside those that upstream writes.
	cluster, _, _ := unstructured.NestedStringMap(status, "providerStatus", "cluster")
	unstructured.RemoveNestedField(status, "providerStatus", "cluster")
	address := cluster["address"]
	delete(cluster, "address")
	if diff := cmp.Diff(map[string]string{"id": systemID(t), "server": target.Server, "target": "cluster"}, cluster); diff != "" || len(address) != 32 {
		t.Errorf("address %q, the cluster, -want +got\n%s", address, diff)
	}
	want := map[string]any{
		"deployer":           map[string]any{"identity": "test-deployer", "name": "manifest.deployer.landscaper.gardener.cloud", "version": "test"},
		"jobID":              jobID,
		"jobIDFinished":      jobID,
		"observedGeneration": int64(1),
		"phase":              "Succeeded",
		"providerStatus": map[string]any{
			"apiVersion": "manifest.deployer.landscaper.gardener.cloud/v1alpha2",
			"kind":       "ProviderStatus",
			"managedResources": []any{map[string]any{
				"policy": "manage",
				"resource": map[string]any{
					"apiVersion": "v1", "kind": "ConfigMap", "name": "smallest", "namespace": item.Namespace, "uid": uid,
				},
			}},
		},
	}
	if diff := cmp.Diff(want, status); diff != "" {
		t.Errorf("status, -want +got\n%s", diff)
	}
	if ready, message := condition(item, v1alpha1.ReadyCondition); ready != v1alpha1.ConditionTrue {
		t.Errorf("Ready is %s: %s", ready, message)
	}
}

// systemID is how the target cluster is known.
func systemID(t *testing.T) string {
	t.Helper()
	system := &corev1.Namespace{}
	if err := deployed.Get(t.Context(), client.ObjectKey{Name: metav1.NamespaceSystem}, system); err != nil {
		t.Fatal(err)
	}
	return string(system.UID)
}

// deleteAndCount deletes an item with one ConfigMap.
func deleteAndCount(t *testing.T, item *v1alpha1.DeployItem) {
	t.Helper()
	if err := items.Delete(t.Context(), item); err != nil {
		t.Fatal(err)
	}
	if err := items.Get(t.Context(), client.ObjectKeyFromObject(item), item); err != nil {
		t.Fatal(err)
	}
	beforeResource, beforeTarget := mark(t, resource), mark(t, target)
	handOver(t, item)
	awaitGone(t, items, &v1alpha1.DeployItemList{}, item)
	awaitGone(t, deployed, &corev1.ConfigMapList{}, configMap(item.Namespace, "smallest"))
	if diff := cmp.Diff(map[string]int{"get configmaps": 1, "delete configmaps": 1}, count(t, target, item.Namespace, beforeTarget)); diff != "" {
		t.Errorf("requests to the target cluster for the deletion, -want +got\n%s", diff)
	}
	if diff := cmp.Diff(map[string]int{"patch deployitems.landscaper.gardener.cloud": 1}, count(t, resource, item.Namespace, beforeResource)); diff != "" {
		t.Errorf("requests to the resource cluster for the deletion, -want +got\n%s", diff)
	}
}

// TestUnknownFieldsAreReported: the published deployers ignore fields that they do not know, so
// the job succeeds, and the status says what had no effect.
func TestUnknownFieldsAreReported(t *testing.T) {
	warned := func(item *v1alpha1.DeployItem, want string) {
		t.Helper()
		create(t, item)
		ended := awaitEnd(t, item, v1alpha1.DeployItemPhases.Succeeded)
		if status, message := condition(ended, v1alpha1.WarningsCondition); status != v1alpha1.ConditionTrue || message != want {
			t.Errorf("%s %q", status, message)
		}
	}
	namespace := namespaces(t)
	createTarget(t, namespace, "cluster", access)
	warned(newItem(t, namespace, "misspelt", oneConfigMap+"readinessCheks: {disableDefault: true}\n"), `spec.config.readinessCheks: unknown field, it is ignored, did you mean "readinessChecks"?`)
	warned(helmItem(t, notes, "createNamespce: true"), `spec.config.createNamespce: unknown field, it is ignored, did you mean "createNamespace"?`)
}
