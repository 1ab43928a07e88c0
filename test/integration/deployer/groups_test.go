package deployer_test

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
)

// left returns the names of the ConfigMaps of a namespace, sorted, without the one that
// the controller manager makes.
func left(t *testing.T, cluster client.Client, namespace string) string {
	t.Helper()
	list := &corev1.ConfigMapList{}
	if err := cluster.List(t.Context(), list, client.InNamespace(namespace)); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, object := range list.Items {
		if object.Name != "kube-root-ca.crt" && object.DeletionTimestamp == nil {
			names = append(names, object.Name)
		}
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}

const grouped = `
apiVersion: manifest.deployer.landscaper.gardener.cloud/v1alpha2
kind: ProviderConfiguration
manifests:
- manifest: {apiVersion: v1, kind: ConfigMap, metadata: {name: first, namespace: NAMESPACE, finalizers: [acme.example/hold]}}
- manifest: {apiVersion: v1, kind: ConfigMap, metadata: {name: second, namespace: NAMESPACE}}
- manifest: {apiVersion: v1, kind: ServiceAccount, metadata: {name: stays, namespace: NAMESPACE}}
- manifest: {apiVersion: v1, kind: ConfigMap, metadata: {name: kept, namespace: NAMESPACE}}
  policy: keep
`

// TestDeletionGroups deletes in the order of groups, spelled as the published
// documentation does, waits for each group, deletes everything on another cluster, and
// leaves what is in no group.
func TestDeletionGroups(t *testing.T) {
	namespace := namespaces(t)
	createTarget(t, namespace, "cluster", access)
	createTarget(t, namespace, "edge", edgeAccess)
	item := newItem(t, namespace, "groups", grouped+`
deletionGroups:
- customResourceGroup: {targetName: edge, deleteAllResources: true, resources: [{apiVersion: v1, kind: configmaps, namespaces: [NAMESPACE], names: [foreign, other]}]}
- customResourceGroup: {resources: [{apiVersion: v1, kind: cm, names: [first]}]}
- customResourceGroup: {resources: [{apiVersion: v1, kind: ConfigMap}]}
`)
	for _, name := range []string{"foreign", "other", "unnamed"} {
		if err := items.Create(t.Context(), configMap(namespace, name)); err != nil {
			t.Fatal(err)
		}
	}
	create(t, item)
	ended := awaitEnd(t, item, v1alpha1.DeployItemPhases.Succeeded)
	remove(t, ended)
	awaitItem(t, ended, "the wait for the second group", func(item *v1alpha1.DeployItem) bool {
		_, message := condition(item, v1alpha1.ReadyCondition)
		return strings.Contains(message, "the end of ConfigMap "+namespace+"/first (finalizer acme.example/hold)")
	})
	if got := left(t, items, namespace); got != "unnamed" {
		t.Errorf("on the second cluster there are %q", got)
	}
	if got := left(t, deployed, namespace); got != "kept second" {
		t.Errorf("while the second group waits there are %q", got)
	}
	first := configMap(namespace, "first")
	if err := deployed.Get(t.Context(), client.ObjectKeyFromObject(first), first); err != nil {
		t.Fatal(err)
	}
	first.Finalizers = nil
	if err := deployed.Update(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	awaitGone(t, items, &v1alpha1.DeployItemList{}, ended)
	if got := left(t, deployed, namespace); got != "kept" {
		t.Errorf("after the deletion there are %q", got)
	}
	stays := &corev1.ServiceAccount{}
	if err := deployed.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "stays"}, stays); err != nil {
		t.Errorf("what no group takes stays: %v", err)
	}
}

// TestForceDelete takes finalizers away; an item without objects deletes all of a kind
// all the same.
func TestForceDelete(t *testing.T) {
	namespace := namespaces(t)
	createTarget(t, namespace, "cluster", access)
	forced := newItem(t, namespace, "forced", grouped+"deletionGroups: [{predefinedResourceGroup: {type: namespaced-resources, forceDelete: true}}]\n")
	create(t, forced)
	ended := awaitEnd(t, forced, v1alpha1.DeployItemPhases.Succeeded)
	remove(t, ended)
	awaitGone(t, items, &v1alpha1.DeployItemList{}, ended)
	if got := left(t, deployed, namespace); got != "kept" {
		t.Errorf("there are %q", got)
	}
	all := newItem(t, namespace, "all", `{apiVersion: manifest.deployer.landscaper.gardener.cloud/v1alpha2, kind: ProviderConfiguration, deletionGroups: [{customResourceGroup: {deleteAllResources: true, resources: [{apiVersion: v1, kind: ConfigMap, namespaces: [NAMESPACE], names: [kept]}]}}]}`)
	create(t, all)
	ended = awaitEnd(t, all, v1alpha1.DeployItemPhases.Succeeded)
	remove(t, ended)
	awaitGone(t, items, &v1alpha1.DeployItemList{}, ended)
	if got := left(t, deployed, namespace); got != "" {
		t.Errorf("there are %q", got)
	}
}

// TestOrphansInGroups removes orphans in their own groups.
func TestOrphansInGroups(t *testing.T) {
	namespace := namespaces(t)
	createTarget(t, namespace, "cluster", access)
	item := newItem(t, namespace, "orphans", twoConfigMaps)
	create(t, item)
	ended := awaitEnd(t, item, v1alpha1.DeployItemPhases.Succeeded)
	again(t, ended, "{apiVersion: manifest.deployer.landscaper.gardener.cloud/v1alpha2, kind: ProviderConfiguration, deletionGroupsDuringUpdate: [{customResourceGroup: {resources: [{apiVersion: v1, kind: ConfigMap, names: [goes]}]}}]}")
	ended = awaitEnd(t, ended, v1alpha1.DeployItemPhases.Succeeded)
	if got := left(t, deployed, namespace); got != "stays" {
		t.Errorf("there are %q", got)
	}
	if got := managed(t, ended); len(got) != 0 {
		t.Errorf("what no group takes is forgotten: %v", got)
	}
}

const dressed = `
apiVersion: manifest.deployer.landscaper.gardener.cloud/v1alpha2
kind: ProviderConfiguration
manifests:
- manifest: {apiVersion: v1, kind: ConfigMap, metadata: {name: dressed, namespace: NAMESPACE}, data: {suspend: "false"}}
  annotateBeforeCreate: {acme.example/created: "yes"}
  annotateBeforeDelete: {acme.example/confirm: "yes"}
  patchAfterDeployment: {data: {suspend: "true"}}
  patchBeforeDelete: {data: {suspend: "false"}, metadata: {finalizers: [acme.example/hold]}}
`

// TestAnnotationsAndPatches sets annotations at the creation, freezes the object when
// it is ready, and thaws and confirms before the deletion.
func TestAnnotationsAndPatches(t *testing.T) {
	namespace := namespaces(t)
	createTarget(t, namespace, "cluster", access)
	item := newItem(t, namespace, "dressed", dressed)
	create(t, item)
	ended := awaitEnd(t, item, v1alpha1.DeployItemPhases.Succeeded)
	object := configMap(namespace, "dressed")
	look := func() {
		t.Helper()
		if err := deployed.Get(t.Context(), client.ObjectKeyFromObject(object), object); err != nil {
			t.Fatal(err)
		}
	}
	if look(); object.Annotations["acme.example/created"] != "yes" || object.Data["suspend"] != "true" {
		t.Errorf("after the deployment: %v, %v", object.Annotations, object.Data)
	}
	if raw := string(ended.Status.ProviderStatus.Raw); !strings.Contains(raw, "annotateBeforeDelete") || !strings.Contains(raw, "patchBeforeDelete") {
		t.Errorf("the status does not remember what comes before the deletion: %s", raw)
	}
	remove(t, ended)
	awaitItem(t, ended, "the wait", func(item *v1alpha1.DeployItem) bool {
		_, message := condition(item, v1alpha1.ReadyCondition)
		return strings.Contains(message, "acme.example/hold")
	})
	if look(); object.Annotations["acme.example/confirm"] != "yes" || object.Data["suspend"] != "false" || object.DeletionTimestamp == nil {
		t.Errorf("before the deletion: %v, %v, %v", object.Annotations, object.Data, object.DeletionTimestamp)
	}
	object.Finalizers = nil
	if err := deployed.Update(t.Context(), object); err != nil {
		t.Fatal(err)
	}
	awaitGone(t, items, &v1alpha1.DeployItemList{}, ended)
}
