package deployer_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
)

const twoConfigMaps = `
apiVersion: manifest.deployer.landscaper.gardener.cloud/v1alpha2
kind: ProviderConfiguration
manifests:
- manifest: {apiVersion: v1, kind: ConfigMap, metadata: {name: stays, namespace: NAMESPACE}, data: {a: "1", b: "1"}}
- manifest: {apiVersion: v1, kind: ConfigMap, metadata: {name: goes, namespace: NAMESPACE}}
`

// again changes the configuration of an item and gives it another job.
func again(t *testing.T, item *v1alpha1.DeployItem, config string) {
	t.Helper()
	if err := items.Get(t.Context(), client.ObjectKeyFromObject(item), item); err != nil {
		t.Fatal(err)
	}
	change(t, item, func() error {
		setConfig(t, item, config)
		return items.Update(t.Context(), item)
	})
	handOver(t, item)
}

// TestUpdate changes an object, keeps what others put on it, and removes one that
// is no longer listed.
func TestUpdate(t *testing.T) {
	namespace := namespaces(t)
	createTarget(t, namespace, "cluster", access)
	item := newItem(t, namespace, "update", twoConfigMaps)
	create(t, item)
	awaitEnd(t, item, v1alpha1.DeployItemPhases.Succeeded)

	stays := configMap(namespace, "stays")
	if err := deployed.Get(t.Context(), client.ObjectKeyFromObject(stays), stays); err != nil {
		t.Fatal(err)
	}
	stays.Finalizers = []string{"acme.example/other"}
	owner := configMap(namespace, "owner")
	if err := deployed.Create(t.Context(), owner); err != nil {
		t.Fatal(err)
	}
	stays.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: owner.Name, UID: owner.UID}}
	stays.Labels["acme.example/foreign"] = "yes"
	if err := deployed.Update(t.Context(), stays); err != nil {
		t.Fatal(err)
	}
	before := mark(t, target)
	again(t, item, `{apiVersion: manifest.deployer.landscaper.gardener.cloud/v1alpha2, kind: ProviderConfiguration, manifests: [{manifest: {apiVersion: v1, kind: ConfigMap, metadata: {name: stays, namespace: NAMESPACE}, data: {a: "2"}}}]}`)
	ended := awaitEnd(t, item, v1alpha1.DeployItemPhases.Succeeded)
	awaitGone(t, deployed, &corev1.ConfigMapList{}, configMap(namespace, "goes"))
	if diff := cmp.Diff(map[string]int{"get configmaps": 2, "update configmaps": 1, "delete configmaps": 1}, count(t, target, namespace, before)); diff != "" {
		t.Errorf("requests, -want +got\n%s", diff)
	}
	if err := deployed.Get(t.Context(), client.ObjectKeyFromObject(stays), stays); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"a": "2"}, stays.Data); diff != "" {
		t.Errorf("data, -want +got\n%s", diff)
	}
	if !slices.Contains(stays.Finalizers, "acme.example/other") || len(stays.OwnerReferences) != 1 {
		t.Errorf("what others put on the object is lost: %v, %v", stays.Finalizers, stays.OwnerReferences)
	}
	if stays.Labels["acme.example/foreign"] != "yes" {
		t.Errorf("a label of another client is lost: %v", stays.Labels)
	}
	if got := managed(t, ended); !slices.Equal(got, []string{"stays"}) {
		t.Errorf("recorded objects: %v", got)
	}
	stays.Finalizers = nil
	if err := deployed.Update(t.Context(), stays); err != nil {
		t.Fatal(err)
	}

	before = mark(t, target)
	again(t, item, string(ended.Spec.Configuration.Raw))
	awaitEnd(t, item, v1alpha1.DeployItemPhases.Succeeded)
	if got := count(t, target, namespace, before); got["get configmaps"] != 1 || got["create configmaps"] != 0 || got["delete configmaps"] != 0 {
		t.Errorf("requests of a job without a change: %v", got)
	}
}

// TestPolicies deploys objects that exist already under each policy, and releases the object that
// is to be ignored.
func TestPolicies(t *testing.T) {
	namespace := namespaces(t)
	createTarget(t, namespace, "cluster", access)
	for _, name := range []string{"manage", "keep", "immutable", "fallback", "ignore"} {
		present := configMap(namespace, name)
		present.Data = map[string]string{"from": "others"}
		if err := deployed.Create(t.Context(), present); err != nil {
			t.Fatal(err)
		}
	}
	config := "{apiVersion: manifest.deployer.landscaper.gardener.cloud/v1alpha2, kind: ProviderConfiguration, updateStrategy: patch, manifests: ["
	for _, name := range []string{"manage", "keep", "immutable", "fallback", "ignore"} {
		config += "{policy: " + name + ", manifest: {apiVersion: v1, kind: ConfigMap, metadata: {name: " + name + ", namespace: NAMESPACE}, data: {from: us}}},"
	}
	item := newItem(t, namespace, "policies", config+"]}")
	create(t, item)
	ended := awaitEnd(t, item, v1alpha1.DeployItemPhases.Succeeded)
	if got, want := managed(t, ended), []string{"immutable", "keep", "manage"}; !slices.Equal(got, want) {
		t.Errorf("recorded objects %v, want %v", got, want)
	}
	for name, want := range map[string]string{"manage": "us", "keep": "us", "immutable": "others", "fallback": "others", "ignore": "others"} {
		present := configMap(namespace, name)
		if err := deployed.Get(t.Context(), client.ObjectKeyFromObject(present), present); err != nil {
			t.Fatal(err)
		}
		if present.Data["from"] != want {
			t.Errorf("policy %s: the object is from %s, want %s", name, present.Data["from"], want)
		}
	}
	again(t, ended, strings.Replace(config, "policy: keep", "policy: ignore", 1)+"{policy: manage, manifest: {apiVersion: v1, kind: ConfigMap, metadata: {name: released, namespace: NAMESPACE}}}]}")
	ended = awaitEnd(t, ended, v1alpha1.DeployItemPhases.Succeeded)
	again(t, ended, config+"{policy: ignore, manifest: {apiVersion: v1, kind: ConfigMap, metadata: {name: released, namespace: NAMESPACE}}}]}")
	ended = awaitEnd(t, ended, v1alpha1.DeployItemPhases.Succeeded)
	if got, want := managed(t, ended), []string{"immutable", "keep", "manage"}; !slices.Equal(got, want) {
		t.Errorf("recorded after one is to be ignored: %v, want %v", got, want)
	}
	remove(t, ended)
	awaitGone(t, items, &v1alpha1.DeployItemList{}, ended)
	left := &corev1.ConfigMapList{}
	if err := deployed.List(t.Context(), left, client.InNamespace(namespace)); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, object := range left.Items {
		names = append(names, object.Name)
	}
	// kube-root-ca.crt comes from the controller manager.
	names = slices.DeleteFunc(names, func(name string) bool { return name == "kube-root-ca.crt" })
	if want := []string{"fallback", "ignore", "keep", "released"}; !slices.Equal(names, want) {
		t.Errorf("after the deletion there are %v, want %v", names, want)
	}
}

// TestKindAndObjectInOneItem defines a kind and an object of it.
func TestKindAndObjectInOneItem(t *testing.T) {
	namespace := namespaces(t)
	createTarget(t, namespace, "cluster", access)
	item := newItem(t, namespace, "kind", `
apiVersion: manifest.deployer.landscaper.gardener.cloud/v1alpha2
kind: ProviderConfiguration
manifests:
- manifest:
    apiVersion: v1
    kind: List
    items:
    - {apiVersion: NAMESPACE.example/v1, kind: Tenant, metadata: {name: blue, namespace: NAMESPACE}}
    - apiVersion: apiextensions.k8s.io/v1
      kind: CustomResourceDefinition
      metadata: {name: tenants.NAMESPACE.example}
      spec:
        group: NAMESPACE.example
        names: {kind: Tenant, plural: tenants}
        scope: Namespaced
        versions:
        - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}
`)
	create(t, item)
	ended := awaitEnd(t, item, v1alpha1.DeployItemPhases.Succeeded)
	if got, want := managed(t, ended), []string{"tenants." + namespace + ".example", "blue"}; !slices.Equal(got, want) {
		t.Errorf("recorded objects %v, want %v", got, want)
	}
	if len(ended.Status.LastErrors) != 0 {
		t.Errorf("the order made an error: %v", ended.Status.LastErrors[0].Message)
	}
	remove(t, ended)
	awaitGone(t, items, &v1alpha1.DeployItemList{}, ended)
}

// TestNewVersionOfAnObject deploys with the older version of the configuration.
func TestOlderConfiguration(t *testing.T) {
	namespace := namespaces(t)
	createTarget(t, namespace, "cluster", access)
	item := newItem(t, namespace, "older", `
apiVersion: manifest.deployer.landscaper.gardener.cloud/v1alpha1
kind: ProviderConfiguration
updateStrategy: patch
manifests:
- {apiVersion: v1, kind: ConfigMap, metadata: {name: older, namespace: NAMESPACE}}
`)
	create(t, item)
	if got := managed(t, awaitEnd(t, item, v1alpha1.DeployItemPhases.Succeeded)); !slices.Equal(got, []string{"older"}) {
		t.Errorf("recorded objects: %v", got)
	}
}
