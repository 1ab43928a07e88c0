package flux

import (
	"os"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/test/landscape"
	"go.landscaper.dev/test/scenario"
)

// onSecond lets the Kustomization of the template deploy to another cluster, on which the item
// waits for the deployed object, exports its value, and removes what is left at the end.
var onSecond = []string{
	"wait: true", "wait: true\n          kubeConfig: {secretRef: {name: access}}",
	"      - name: KustomizationReady", `      - name: deployed
        targetName: second
        resourceSelector: [{apiVersion: v1, kind: ConfigMap, name: raced, namespace: NAMESPACE}]
        requirements: [{jsonPath: .data.round, operator: exists}]
      - name: KustomizationReady`,
	"    readinessChecks:\n", `    exports:
      exports:
      - {key: round, targetName: second, jsonPath: .data.round, fromResource: {apiVersion: v1, kind: ConfigMap, name: raced, namespace: NAMESPACE}}
    deletionGroups:
    - predefinedResourceGroup: {type: namespaced-resources}
    - customResourceGroup:
        targetName: second
        deleteAllResources: true
        resources: [{apiVersion: v1, kind: ConfigMap, names: [left], namespaces: [NAMESPACE]}]
    readinessChecks:
`,
}

// TestFluxSecondCluster: an item with a Kustomization looks at a second cluster, also when
// there is something new to deploy, and in its deletion.
func TestFluxSecondCluster(t *testing.T) {
	scenario.StartServer(t, env.ServerKubeconfig)
	space, flux := fluxSpace(t)
	content, err := os.ReadFile(env.Lab.Clusters["workload"].Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	env.CreateTarget(t, space, "second", string(content))
	fluxSecret(t, flux, space, string(content))
	second, err := landscape.Connect(env.Lab.Clusters["workload"].Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	for _, object := range []client.Object{&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: space}}, scenario.ConfigMap(space, "left"), scenario.ConfigMap(space, "foreign")} {
		if err := second.Create(t.Context(), object); err != nil {
			t.Fatal(err)
		}
	}
	repository := newRepository(t)
	racer := &racer{requesting(space, "raced", repository.URL, "5m", onSecond...), repository, second}
	racer.inst.Spec.Imports.Targets = append(racer.inst.Spec.Imports.Targets, v1alpha1.TargetImport{Name: "second", Target: "second"})
	for number, want := range []string{`{"round":"0"}`, `{"round":"1"}`} {
		racer.next(t, number)
		// check deletes what the first job has deployed, so that the second job has to wait for it.
		racer.check(t, number)
		exported := &corev1.Secret{}
		reference := env.ItemsByName(t, space)["kustomization"].Status.ExportReference
		if err := env.Admin.Get(t.Context(), reference.NamespacedName(), exported); err != nil || string(exported.Data["config"]) != want {
			t.Errorf("%s is exported, want %s (%v)", exported.Data["config"], want, err)
		}
	}
	if err := env.Admin.Delete(t.Context(), racer.inst); err != nil {
		t.Fatal(err)
	}
	scenario.WaitGone(t, env.Admin, racer.inst.DeepCopy(), &v1alpha1.InstallationList{})
	for name, stays := range map[string]bool{"raced": false, "left": false, "foreign": true} {
		err := second.Get(t.Context(), client.ObjectKey{Namespace: space, Name: name}, &corev1.ConfigMap{})
		if client.IgnoreNotFound(err) != nil || (err == nil) != stays {
			t.Errorf("ConfigMap %s: %v", name, err)
		}
	}
}

// TestChangesMeanwhile: what is committed while a job runs does no harm to it, and what is
// committed after it is ignored, also if Flux fetches it.
func TestChangesMeanwhile(t *testing.T) {
	scenario.StartServer(t, env.ServerKubeconfig)
	space, flux := fluxSpace(t)
	repository := newRepository(t)
	racer := &racer{requesting(space, "raced", repository.URL, "5m"), repository, flux}
	racer.next(t, 0)
	racer.check(t, 0)
	source := &unstructured.Unstructured{}
	source.SetAPIVersion("source.toolkit.fluxcd.io/v1")
	source.SetKind("GitRepository")
	source.SetNamespace(space)
	source.SetName("raced")

	racer.next(t, 1)
	if err := repository.Write(t.Context(), "race/configmap.yaml", round(2)); err != nil {
		t.Fatal(err)
	}
	// Flux fetches it by itself, as if its interval were over.
	nudgeFlux(t, flux, source, "meanwhile")
	racer.inst = env.WaitFinished(t, racer.inst, racer.inst.Status.JobID)
	if racer.inst.Status.InstallationPhase != v1alpha1.InstallationPhases.Succeeded {
		t.Fatalf("%+v", racer.inst.Status.LastError)
	}
	deployed := scenario.ConfigMap(space, "raced")
	if err := flux.Get(t.Context(), client.ObjectKeyFromObject(deployed), deployed); err != nil || !strings.Contains("1 2", deployed.Data["round"]) {
		t.Fatalf("round %q is deployed (%v)", deployed.Data["round"], err)
	}
	during := deployed.Data["round"]

	if err := repository.Write(t.Context(), "race/configmap.yaml", round(3)); err != nil {
		t.Fatal(err)
	}
	askFlux(t, flux, source, "afterwards")
	askFlux(t, flux, kustomization(space, "raced"), "afterwards")
	if err := flux.Get(t.Context(), client.ObjectKeyFromObject(deployed), deployed); err != nil || deployed.Data["round"] != during {
		t.Errorf("round %q was deployed without a job (%v)", deployed.Data["round"], err)
	}
	if now := env.Installation(t, racer.inst); now.Status.JobID != racer.inst.Status.JobID {
		t.Errorf("job %s was started without a request", now.Status.JobID)
	}
}
