package v1alpha2

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"go.landscaper.dev/api/deployer"
	"go.landscaper.dev/api/manifest/v1alpha1"
)

const oldConfiguration = `
apiVersion: manifest.deployer.landscaper.gardener.cloud/v1alpha1
kind: ProviderConfiguration
kubeconfig: b2xk
deleteTimeout: 2m
updateStrategy: patch
readinessChecks: {disableDefault: true, timeout: 1m}
manifests:
- {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}
exports:
  defaultTimeout: 3m
  exports: [{key: k, jsonPath: .data.k, fromResource: {apiVersion: v1, kind: ConfigMap, name: a, namespace: b}}]
deletionGroups: [{predefinedResourceGroup: {type: empty}}]
deletionGroupsDuringUpdate: [{predefinedResourceGroup: {type: crds}}]
`

// TestFromV1alpha1 shows that nothing of an old configuration is lost, and that
// fields that no longer exist do not hurt.
func TestFromV1alpha1(t *testing.T) {
	old := &v1alpha1.ProviderConfiguration{}
	if err := yaml.Unmarshal([]byte(oldConfiguration), old); err != nil {
		t.Fatal(err)
	}
	got := FromV1alpha1(old)
	if got.APIVersion != "manifest.deployer.landscaper.gardener.cloud/v1alpha2" || got.Kind != "ProviderConfiguration" || got.UpdateStrategy != deployer.UpdateStrategyPatch || !got.ReadinessChecks.DisableDefault {
		t.Errorf("got %+v", got)
	}
	if len(got.Manifests) != 1 || got.Manifests[0].Policy != deployer.ManagePolicy || string(got.Manifests[0].Manifest.Raw) != `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}}` {
		t.Errorf("manifests %+v", got.Manifests)
	}
	if got.Exports == nil || len(got.Exports.Exports) != 1 || got.Exports.Exports[0].Key != "k" {
		t.Errorf("exports %+v", got.Exports)
	}
	if len(got.DeletionGroups) != 1 || len(got.DeletionGroupsDuringUpdate) != 1 {
		t.Errorf("deletion groups %+v, %+v", got.DeletionGroups, got.DeletionGroupsDuringUpdate)
	}
}

func TestStatusFromV1alpha1(t *testing.T) {
	old := &v1alpha1.ProviderStatus{
		TypeMeta:         metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: "ProviderStatus"},
		ManagedResources: []deployer.TypedObjectReference{{APIVersion: "v1", Kind: "ConfigMap", Name: "a", Namespace: "b"}},
	}
	want := &ProviderStatus{
		TypeMeta: metav1.TypeMeta{APIVersion: GroupVersion.String(), Kind: "ProviderStatus"},
		ManagedResources: deployer.ManagedResourceStatusList{{
			Policy:   deployer.ManagePolicy,
			Resource: corev1.ObjectReference{APIVersion: "v1", Kind: "ConfigMap", Name: "a", Namespace: "b"},
		}},
	}
	if diff := cmp.Diff(want, StatusFromV1alpha1(old)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}
