package rollout

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/deploy/target/fakecluster"
)

// TestStillToChange: whether an item that is not done may change a source.
func TestStillToChange(t *testing.T) {
	const (
		manifests = "manifests: [{manifest: {kind: ConfigMap}}, {manifest: {apiVersion: source.toolkit.fluxcd.io/v1beta2, kind: GitRepository, metadata: {name: files, namespace: flux, annotations: {reconcile.fluxcd.io/requestedAt: second}}}}]"
		recorded  = "managedResources: [{resource: {apiVersion: source.toolkit.fluxcd.io/v1, kind: GitRepository, name: files, namespace: flux}}]"
	)
	tests := []struct {
		reason, config, status, request string
		want                            bool
	}{
		{"the request of the manifest is not on the cluster yet", manifests, "", "first", true},
		{"the request of the manifest is on the cluster", manifests, "", "second", false},
		{"a manifest without a request, so that the change is not known", strings.Replace(manifests, "requestedAt", "other", 1), "", "second", true},
		{"a recorded object that is to be deleted", "manifests: []", recorded, "first", true},
		{"a rendered object that was recorded before", "chart: {ref: files}", recorded, "first", true},
		{"an object outside of the item", strings.Replace(manifests, "name: files", "name: others", 1), strings.Replace(recorded, "namespace: flux", "namespace: other", 1), "first", false},
		{"a version of the configuration that holds objects themselves", strings.NewReplacer("{manifest: {api", "{api", "}}}}]", "}}}]").Replace(manifests), "", "first", true},
		{"nothing was deployed yet", "", "", "first", false},
		{"a status of another deployer", "", "[]", "first", false},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			item, live := &v1alpha1.DeployItem{}, &unstructured.Unstructured{Object: map[string]any{}}
			live.SetAnnotations(map[string]string{"reconcile.fluxcd.io/requestedAt": test.request})
			item.Spec.Configuration, item.Status.ProviderStatus = extension(t, test.config), extension(t, test.status)
			source := corev1.ObjectReference{APIVersion: "source.toolkit.fluxcd.io/v1", Kind: "GitRepository", Namespace: "flux", Name: "files"}
			if got := stillToChange(item, source, live); got != test.want {
				t.Errorf("%t, want %t", got, test.want)
			}
		})
	}
}

func extension(t *testing.T, text string) *runtime.RawExtension {
	t.Helper()
	if text == "" {
		return nil
	}
	content, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return &runtime.RawExtension{Raw: content}
}

func TestSameTarget(t *testing.T) {
	at := func(name string) *v1alpha1.DeployItem {
		return &v1alpha1.DeployItem{Spec: v1alpha1.DeployItemSpec{Target: &v1alpha1.ObjectReference{Name: name}}}
	}
	if !sameTarget(at("a"), at("a")) || sameTarget(at("a"), at("b")) || sameTarget(at("a"), &v1alpha1.DeployItem{}) {
		t.Error("Targets are not distinguished by their names")
	}
}

// TestSourceOfSibling: an item whose Kustomization is done continues when no item is to change the
// source any more, in whichever attempt that is.
func TestSourceOfSibling(t *testing.T) {
	const (
		source        = `{apiVersion: source.toolkit.fluxcd.io/v1, kind: GitRepository, metadata: {name: files, namespace: ns}, status: {artifact: {revision: one}}}`
		kustomization = `{apiVersion: kustomize.toolkit.fluxcd.io/v1, kind: Kustomization, metadata: {name: shop, namespace: ns, annotations: {reconcile.fluxcd.io/requestedAt: now}}, spec: {sourceRef: {kind: GitRepository, name: files}}}`
		done          = `{lastHandledReconcileAt: now, lastAttemptedRevision: one, lastAppliedRevision: one, conditions: [{type: Ready, status: "True"}]}`
	)
	cluster, test := fakecluster.New(), &testJob{changing: "DeployItem source"}
	cluster.Know(schema.FromAPIVersionAndKind("kustomize.toolkit.fluxcd.io/v1", "Kustomization"), "kustomizations", meta.RESTScopeNamespace)
	cluster.Know(schema.FromAPIVersionAndKind("source.toolkit.fluxcd.io/v1", "GitRepository"), "gitrepositories", meta.RESTScopeNamespace)
	cluster.Put(objects(t, source)[0].Object)
	r := start(t, test, cluster, wishFor(objects(t, kustomization)), nil)
	mustWait(t, r, "has not answered the request yet")
	answered := objects(t, strings.TrimSuffix(kustomization, "}")+", status: "+done+"}")[0].Object
	cluster.Put(answered)
	mustWait(t, r, "its source GitRepository ns/files is to be changed by DeployItem source")
	r.SetJob(&testJob{})
	mustEnd(t, r)
}
