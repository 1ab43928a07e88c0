package e2e

import (
	"os"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"go.landscaper.dev/api/v1alpha1"
)

// TestKustomizeWithoutFlux plays the example: a directory of a blueprint is deployed
// with a patch, and removed.
func TestKustomizeWithoutFlux(t *testing.T) {
	startServer(t, env.ServerKubeconfig)
	space := namespace(t)
	text, err := os.ReadFile("../../examples/kustomize-without-flux/installation.yaml")
	if err != nil {
		t.Fatal(err)
	}
	inst := &v1alpha1.Installation{}
	if err := yaml.UnmarshalStrict([]byte(strings.NewReplacer("first-cluster", "host", "amespace: default", "amespace: "+space).Replace(string(text))), inst); err != nil {
		t.Fatal(err)
	}
	inst.Namespace = space
	create(t, inst)
	waitSucceeded(t, inst)
	settings := &corev1.ConfigMap{}
	if err := env.Workload.Get(t.Context(), client.ObjectKey{Namespace: space, Name: "my-settings"}, settings); err != nil {
		t.Fatal(err)
	}
	if settings.Data["color"] != "green" || settings.Data["from"] != space {
		t.Errorf("the ConfigMap has %v", settings.Data)
	}
	all := &corev1.ConfigMapList{}
	if err := env.Workload.List(t.Context(), all, client.InNamespace(space), client.HasLabels{"kustomize.deployer.landscaper.gardener.cloud/deployitem"}); err != nil || len(all.Items) != 2 {
		t.Errorf("%d ConfigMaps: %v", len(all.Items), err)
	}
	if err := env.Admin.Delete(t.Context(), inst); err != nil {
		t.Fatal(err)
	}
	waitGone(t, env.Admin, inst, &v1alpha1.InstallationList{})
	waitGone(t, env.Workload, settings, &corev1.ConfigMapList{})
}
