package deployer_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
)

const applied = `
apiVersion: manifest.deployer.landscaper.gardener.cloud/v1alpha2
kind: ProviderConfiguration
updateStrategy: apply
manifests:
- manifest: {apiVersion: v1, kind: ConfigMap, metadata: {name: applied, namespace: NAMESPACE}, data: {ours: "1", old: "1"}}
`

// applyAs lets another field manager own fields of a ConfigMap.
func applyAs(t *testing.T, owner, namespace, name, data string) {
	t.Helper()
	patch := fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":%q,"namespace":%q},"data":%s}`, name, namespace, data)
	err := deployed.Patch(t.Context(), configMap(namespace, name), client.RawPatch(types.ApplyPatchType, []byte(patch)), client.FieldOwner(owner), client.ForceOwnership)
	if err != nil {
		t.Fatal(err)
	}
}

// TestServerSideApply shares an object with another field manager: each keeps its own fields, and
// fields that leave the manifest are removed.
func TestServerSideApply(t *testing.T) {
	namespace := namespaces(t)
	createTarget(t, namespace, "cluster", access)
	item := newItem(t, namespace, "applied", applied)
	before := mark(t, target)
	create(t, item)
	ended := awaitEnd(t, item, v1alpha1.DeployItemPhases.Succeeded)
	got := count(t, target, namespace, before)
	delete(got, "get /api")
	delete(got, "get /apis")
	if diff := cmp.Diff(map[string]int{"patch configmaps": 1}, got); diff != "" {
		t.Errorf("requests, -want +got\n%s", diff)
	}
	applyAs(t, "flux", namespace, "applied", `{"theirs":"1"}`)
	again(t, ended, strings.ReplaceAll(string(ended.Spec.Configuration.Raw), `"old":"1"`, `"new":"1"`))
	ended = awaitEnd(t, ended, v1alpha1.DeployItemPhases.Succeeded)
	object := configMap(namespace, "applied")
	if err := deployed.Get(t.Context(), client.ObjectKeyFromObject(object), object); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"ours": "1", "new": "1", "theirs": "1"}, object.Data); diff != "" {
		t.Errorf("data, -want +got\n%s", diff)
	}
	version := object.ResourceVersion
	again(t, ended, string(ended.Spec.Configuration.Raw))
	ended = awaitEnd(t, ended, v1alpha1.DeployItemPhases.Succeeded)
	if err := deployed.Get(t.Context(), client.ObjectKeyFromObject(object), object); err != nil || object.ResourceVersion != version {
		t.Errorf("nothing has changed, but the object was written, error %v", err)
	}

	applyAs(t, "flux", namespace, "applied", `{"theirs":"1","ours":"2"}`)
	again(t, ended, strings.ReplaceAll(string(ended.Spec.Configuration.Raw), `"manifests":[{`, `"manifests":[{"conflicts":"fail",`))
	last := awaitEnd(t, ended, v1alpha1.DeployItemPhases.Failed).Status.LastError
	if !strings.Contains(last.Message, "field data.* is owned by another field manager") || !strings.Contains(last.Message, `"flux"`) {
		t.Errorf("the message does not say which field and which owner: %s", last.Message)
	}
}

// TestFromUpdateToApply takes over an object that was replaced until now: what leaves the manifest
// is then deleted.
func TestFromUpdateToApply(t *testing.T) {
	namespace := namespaces(t)
	createTarget(t, namespace, "cluster", access)
	item := newItem(t, namespace, "moves", strings.ReplaceAll(applied, "updateStrategy: apply", "updateStrategy: update"))
	create(t, item)
	ended := awaitEnd(t, item, v1alpha1.DeployItemPhases.Succeeded)
	again(t, ended, strings.ReplaceAll(applied, `, old: "1"`, ""))
	awaitEnd(t, ended, v1alpha1.DeployItemPhases.Succeeded)
	object := configMap(namespace, "applied")
	if err := deployed.Get(t.Context(), client.ObjectKeyFromObject(object), object); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"ours": "1"}, object.Data); diff != "" {
		t.Errorf("data, -want +got\n%s", diff)
	}
}

// TestImmutableField says which field cannot be changed, never its value, and
// replaces the object where asked to.
func TestImmutableField(t *testing.T) {
	for _, strategy := range []string{"update", "patch", "apply"} {
		t.Run(strategy, func(t *testing.T) {
			namespace := namespaces(t)
			createTarget(t, namespace, "cluster", access)
			item := newItem(t, namespace, "immutable", `
apiVersion: manifest.deployer.landscaper.gardener.cloud/v1alpha2
kind: ProviderConfiguration
updateStrategy: `+strategy+`
manifests:
- manifest: {apiVersion: v1, kind: ConfigMap, immutable: true, metadata: {name: fixed, namespace: NAMESPACE}, data: {x: "1"}}
`)
			create(t, item)
			ended := awaitEnd(t, item, v1alpha1.DeployItemPhases.Succeeded)
			first := configMap(namespace, "fixed")
			if err := deployed.Get(t.Context(), client.ObjectKeyFromObject(first), first); err != nil {
				t.Fatal(err)
			}
			again(t, ended, strings.ReplaceAll(string(ended.Spec.Configuration.Raw), `"x":"1"`, `"x":"`+secretWord+`"`))
			failing := awaitItem(t, ended, "the error", func(item *v1alpha1.DeployItem) bool { return item.Status.LastError != nil })
			if last := failing.Status.LastError; !strings.Contains(last.Message, "data: it is forbidden here (it cannot be changed") || strings.Contains(last.Message, secretWord) {
				t.Errorf("last error %+v", last)
			}
			again(t, ended, strings.ReplaceAll(string(ended.Spec.Configuration.Raw), `"manifests":[{`, `"manifests":[{"onImmutableChange":"recreate",`))
			awaitEnd(t, ended, v1alpha1.DeployItemPhases.Succeeded)
			second := configMap(namespace, "fixed")
			if err := deployed.Get(t.Context(), client.ObjectKeyFromObject(second), second); err != nil || second.UID == first.UID || second.Data["x"] != secretWord {
				t.Errorf("the object was not replaced: %v, error %v", second.Data, err)
			}
		})
	}
}
