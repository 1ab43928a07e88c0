package e2e

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
)

// twoItems deploys two ConfigMaps, the second one after the first. The second one has a finalizer
// that no controller removes.
const twoItems = `deployItems:
- name: foundation
  type: landscaper.gardener.cloud/kubernetes-manifest
  target: {import: cluster}
  config:
    apiVersion: manifest.deployer.landscaper.gardener.cloud/v1alpha2
    kind: ProviderConfiguration
    manifests:
    - manifest: {apiVersion: v1, kind: ConfigMap, metadata: {name: foundation, namespace: NAMESPACE}}
- name: house
  dependsOn: [foundation]
  type: landscaper.gardener.cloud/kubernetes-manifest
  target: {import: cluster}
  config:
    apiVersion: manifest.deployer.landscaper.gardener.cloud/v1alpha2
    kind: ProviderConfiguration
    manifests:
    - manifest: {apiVersion: v1, kind: ConfigMap, metadata: {name: house, namespace: NAMESPACE, finalizers: [acme.example/hold]}}
`

// TestOrder shows that items are deployed in the order of their dependencies and
// deleted in the reverse one.
func TestOrder(t *testing.T) {
	startServer(t, env.ServerKubeconfig)
	space := namespace(t)
	inst := waitSucceeded(t, create(t, newInstallation(space, "ordered", twoItems)))
	foundation, house := &corev1.ConfigMap{}, &corev1.ConfigMap{}
	for name, object := range map[string]*corev1.ConfigMap{"foundation": foundation, "house": house} {
		if err := env.Workload.Get(t.Context(), client.ObjectKey{Namespace: space, Name: name}, object); err != nil {
			t.Fatal(err)
		}
	}
	items := itemsByName(t, space)
	if !items["foundation"].Status.TransitionTimes.FinishedTime.Time.Before(items["house"].Status.TransitionTimes.TriggerTime.Time.Add(1)) {
		t.Errorf("the house was begun before the foundation was finished: %+v, %+v", items["foundation"].Status.TransitionTimes, items["house"].Status.TransitionTimes)
	}

	if err := env.Admin.Delete(t.Context(), inst); err != nil {
		t.Fatal(err)
	}
	// The house is held by its finalizer; its item says so, and the foundation stays.
	waitItem(t, items["house"], "waiting", func(item *v1alpha1.DeployItem) bool {
		return item.Status.Phase == v1alpha1.DeployItemPhases.Deleting
	})
	if err := env.Workload.Get(t.Context(), client.ObjectKeyFromObject(foundation), foundation); err != nil || foundation.DeletionTimestamp != nil {
		t.Errorf("the foundation was deleted before the house: %v, %v", foundation.DeletionTimestamp, err)
	}
	if held := itemsByName(t, space)["foundation"]; held.Status.JobIDFinished != held.Status.JobID {
		t.Error("the foundation's item got its job before the house was deleted")
	}
	patch := client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"finalizers":null}}`))
	if err := env.Workload.Patch(t.Context(), house, patch); err != nil {
		t.Fatal(err)
	}
	waitGone(t, env.Admin, inst.DeepCopy(), &v1alpha1.InstallationList{})
	if err := env.Workload.Get(t.Context(), client.ObjectKeyFromObject(foundation), foundation); client.IgnoreNotFound(err) != nil || err == nil {
		t.Errorf("the foundation is still there (%v)", err)
	}
}
