package deployer_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
)

// exported returns the export Secret of an item and its values.
func exported(t *testing.T, item *v1alpha1.DeployItem) (*corev1.Secret, map[string]any) {
	t.Helper()
	ref := item.Status.ExportReference
	if ref == nil {
		t.Fatalf("%s has no exportRef", item.Name)
	}
	secret := &corev1.Secret{}
	if err := items.Get(t.Context(), client.ObjectKey{Namespace: ref.Namespace, Name: ref.Name}, secret); err != nil {
		t.Fatal(err)
	}
	values := map[string]any{}
	if err := json.Unmarshal(secret.Data["config"], &values); err != nil {
		t.Fatal(err)
	}
	return secret, values
}

const exports = `
apiVersion: manifest.deployer.landscaper.gardener.cloud/v1alpha2
kind: ProviderConfiguration
manifests:
- manifest: {apiVersion: v1, kind: ConfigMap, metadata: {name: here, namespace: NAMESPACE, annotations: {acme.example/size: "7"}}, data: {text: hello}}
exports:
  exports:
  - {key: here.text, jsonPath: .data.text, fromResource: {apiVersion: v1, kind: ConfigMap, name: here, namespace: NAMESPACE}}
  - {key: here.size, jsonPath: .metadata.annotations.acme\.example/size, fromResource: {apiVersion: v1, kind: ConfigMap, name: here, namespace: NAMESPACE}}
  - {key: there.text, jsonPath: data.late, targetName: edge, fromResource: {apiVersion: v1, kind: ConfigMap, name: there, namespace: NAMESPACE}}
  - {key: there.account, jsonPath: ".imagePullSecrets[?(@.name=='pull')]", targetName: edge, fromResource: {apiVersion: v1, kind: ServiceAccount, name: robot, namespace: NAMESPACE}, fromObjectRef: {apiVersion: v1, kind: Secret, jsonPath: .data.password}}
`

// TestExports reads values of two clusters that come late, one of them behind a
// second hop. While it waits it makes no request, and no value is ever shown.
func TestExports(t *testing.T) {
	t.Parallel()
	namespace := namespaces(t)
	createTarget(t, namespace, "cluster", access)
	createTarget(t, namespace, "edge", edgeAccess)
	item := newItem(t, namespace, "exports", exports)
	before := mark(t, target)
	create(t, item)
	awaitMessage := func(want string) {
		t.Helper()
		awaitItem(t, item, "the wait for "+want, func(item *v1alpha1.DeployItem) bool {
			_, message := condition(item, v1alpha1.ReadyCondition)
			return strings.Contains(message, want)
		})
	}
	awaitMessage("ConfigMap " + namespace + "/there on Target edge, to export there.text")
	there := configMap(namespace, "there")
	if err := items.Create(t.Context(), there); err != nil {
		t.Fatal(err)
	}
	awaitMessage("a value at .data.late of ConfigMap " + namespace + "/there on Target edge")
	there.Data = map[string]string{"late": secretWord}
	if err := items.Update(t.Context(), there); err != nil {
		t.Fatal(err)
	}
	awaitMessage("ServiceAccount " + namespace + "/robot on Target edge, to export there.account")
	robot := &corev1.ServiceAccount{ObjectMeta: configMap(namespace, "robot").ObjectMeta, ImagePullSecrets: []corev1.LocalObjectReference{{Name: "pull"}}}
	if err := items.Create(t.Context(), robot); err != nil {
		t.Fatal(err)
	}
	awaitMessage("Secret " + namespace + "/pull on Target edge")
	pull := &corev1.Secret{ObjectMeta: configMap(namespace, "pull").ObjectMeta, Data: map[string][]byte{"password": []byte(secretWord)}}
	if err := items.Create(t.Context(), pull); err != nil {
		t.Fatal(err)
	}
	ended := awaitEnd(t, item, v1alpha1.DeployItemPhases.Succeeded)
	secret, values := exported(t, ended)
	want := map[string]any{
		"here":  map[string]any{"text": "hello", "size": "7"},
		"there": map[string]any{"text": secretWord, "account": "dG9wLXNlY3JldC13b3Jk"},
	}
	if diff := cmp.Diff(want, values); diff != "" {
		t.Errorf("exports, -want +got\n%s", diff)
	}
	if keys := slices.Collect(maps.Keys(secret.Data)); secret.Name != "exports-export" || !slices.Equal(keys, []string{"config"}) {
		t.Errorf("Secret %s with keys %v", secret.Name, keys)
	}
	if owners := secret.OwnerReferences; len(owners) != 1 || owners[0].UID != ended.UID || owners[0].Controller != nil {
		t.Errorf("owners %v", owners)
	}
	if shown, err := json.Marshal(ended.Status); err != nil || strings.Contains(string(shown), secretWord) || strings.Contains(string(shown), "dG9w") {
		t.Errorf("the status shows a value: %s, error %v", shown, err)
	}
	if got := count(t, target, namespace, before); got["get configmaps"] != 2 || got["create configmaps"] != 1 || got["watch configmaps"] != 0 {
		t.Errorf("requests to the first cluster: %v", got)
	}
	exportsChange(t, ended, secret)
}

// exportsChange runs further jobs: the same values are not written again, others
// are, and a configuration without exports takes them back.
func exportsChange(t *testing.T, item *v1alpha1.DeployItem, first *corev1.Secret) {
	t.Helper()
	again(t, item, string(item.Spec.Configuration.Raw))
	ended := awaitEnd(t, item, v1alpha1.DeployItemPhases.Succeeded)
	if same, _ := exported(t, ended); same.ResourceVersion != first.ResourceVersion {
		t.Error("the same values were written again")
	}
	again(t, ended, strings.ReplaceAll(string(ended.Spec.Configuration.Raw), `"hello"`, `"good bye"`))
	ended = awaitEnd(t, ended, v1alpha1.DeployItemPhases.Succeeded)
	if _, values := exported(t, ended); values["here"].(map[string]any)["text"] != "good bye" {
		t.Errorf("exports %v", values)
	}
	again(t, ended, oneConfigMap)
	if ended = awaitEnd(t, ended, v1alpha1.DeployItemPhases.Succeeded); ended.Status.ExportReference != nil {
		t.Errorf("exportRef %v", ended.Status.ExportReference)
	}
	if err := items.Get(t.Context(), client.ObjectKeyFromObject(first), first); err != nil || string(first.Data["config"]) != "{}" {
		t.Errorf("the old values are still there, error %v", err)
	}
}

// TestExportInTime ends when the time is over and names the key.
func TestExportInTime(t *testing.T) {
	t.Parallel()
	namespace := namespaces(t)
	createTarget(t, namespace, "cluster", access)
	createTarget(t, namespace, "edge", edgeAccess)
	item := newItem(t, namespace, "late", exports)
	const stage = `timeout at: "deployer: during export - key: there.text"`
	ended := awaitLimit(t, item, func(item *v1alpha1.DeployItem) bool { return strings.Contains(item.Status.LastError.Message, stage) })
	last := ended.Status.LastError
	if ended.Status.Phase != v1alpha1.DeployItemPhases.Failed || last.Operation != "ReconcileManifests" || last.Reason != "ReadExportValues" || !hasCode(last, v1alpha1.ErrorTimeout) || !strings.Contains(last.Message, stage) {
		t.Errorf("phase %s, last error %+v", ended.Status.Phase, last)
	}
	if ended.Status.ExportReference != nil {
		t.Errorf("exportRef %v", ended.Status.ExportReference)
	}
}

// TestEmptyExports exports an empty map: its importers must find an object.
func TestEmptyExports(t *testing.T) {
	namespace := namespaces(t)
	createTarget(t, namespace, "cluster", access)
	item := newItem(t, namespace, "empty", oneConfigMap+"exports: {}\n")
	create(t, item)
	if _, values := exported(t, awaitEnd(t, item, v1alpha1.DeployItemPhases.Succeeded)); len(values) != 0 {
		t.Errorf("exports %v", values)
	}
}

const customChecks = `
apiVersion: manifest.deployer.landscaper.gardener.cloud/v1alpha2
kind: ProviderConfiguration
manifests:
- manifest: {apiVersion: v1, kind: ConfigMap, metadata: {name: here, namespace: NAMESPACE, labels: {app: web}}, data: {state: starting}}
readinessChecks:
  custom:
  - name: by label
    labelSelector: {apiVersion: v1, kind: ConfigMap, namespace: NAMESPACE, matchLabels: {app: web}}
    requirements:
    - {jsonPath: .data.state, operator: in, values: [{value: done}, {value: running}]}
  - name: on another cluster
    targetName: edge
    resourceSelector: [{apiVersion: v1, kind: ConfigMap, name: there, namespace: NAMESPACE}]
    requirements:
    - {jsonPath: .data.state, operator: '!=', values: [{value: starting}]}
    - {jsonPath: .data.blocked, operator: '!'}
`

// TestCustomChecks waits for chosen objects on two clusters. The Target of the
// second one comes late.
func TestCustomChecks(t *testing.T) {
	namespace := namespaces(t)
	createTarget(t, namespace, "cluster", access)
	item := newItem(t, namespace, "checks", customChecks)
	create(t, item)
	await := func(want string) {
		t.Helper()
		awaitItem(t, item, "the wait for "+want, func(item *v1alpha1.DeployItem) bool {
			_, message := condition(item, v1alpha1.ReadyCondition)
			return strings.Contains(message, want)
		})
	}
	await("waiting for ConfigMap " + namespace + "/here to become ready")
	change := func(cluster client.Client, name string, data map[string]string) {
		t.Helper()
		object := configMap(namespace, name)
		if err := cluster.Get(t.Context(), client.ObjectKeyFromObject(object), object); err != nil {
			t.Fatal(err)
		}
		object.Data = data
		if err := cluster.Update(t.Context(), object); err != nil {
			t.Fatal(err)
		}
	}
	change(deployed, "here", map[string]string{"state": "running"})
	await("Target " + namespace + "/edge does not exist")
	createTarget(t, namespace, "edge", edgeAccess)
	await("waiting for ConfigMap " + namespace + "/there on Target edge to become ready")
	if err := items.Create(t.Context(), configMap(namespace, "there")); err != nil {
		t.Fatal(err)
	}
	change(items, "there", map[string]string{"state": "done", "blocked": "yes"})
	if err := items.Get(t.Context(), client.ObjectKeyFromObject(item), item); err != nil {
		t.Fatal(err)
	}
	change(items, "there", map[string]string{"state": "done"})
	awaitEnd(t, item, v1alpha1.DeployItemPhases.Succeeded)
}

// TestCustomCheckInTime names the object and what is missing, but no value.
func TestCustomCheckInTime(t *testing.T) {
	t.Parallel()
	namespace := namespaces(t)
	createTarget(t, namespace, "cluster", access)
	item := newItem(t, namespace, "checks", customChecks)
	message := "resource " + namespace + "/here of type ConfigMap\": check \"by label\": field .data.state has another value than required"
	ended := awaitLimit(t, item, func(item *v1alpha1.DeployItem) bool { return strings.Contains(item.Status.LastError.Message, message) })
	if last := ended.Status.LastError; ended.Status.Phase != v1alpha1.DeployItemPhases.Failed || last.Operation != "WaitForObjectsReady" ||
		last.Reason != "ProgressingTimeout" || !hasCode(last, v1alpha1.ErrorTimeout) || !strings.Contains(last.Message, message) {
		t.Errorf("phase %s, last error %+v", ended.Status.Phase, last)
	}
}
