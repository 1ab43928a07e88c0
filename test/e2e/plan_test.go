package e2e

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
)

// TestPlan: what a job would change in a tree with a flow of data, before and after an
// import changes, and that nothing was written for it.
func TestPlan(t *testing.T) {
	startServer(t, env.ServerKubeconfig)
	space := namespace(t)
	root := createTree(t, space, "planned", treeExports, recordedLeaves()...)
	done := waitSucceeded(t, root)
	plan := func(want int, args ...string) string {
		t.Helper()
		return planned(t, space, "planned", want, args...)
	}
	if got := plan(0); got != "Plan: 0 to create, 0 to change, 0 to delete, 3 unchanged\n" {
		t.Errorf("%s", got)
	}

	greeting := &v1alpha1.DataObject{}
	if err := env.Admin.Get(t.Context(), client.ObjectKey{Namespace: space, Name: "greeting"}, greeting); err != nil {
		t.Fatal(err)
	}
	greeting.Data = v1alpha1.NewAnyJSON([]byte(`"servus"`))
	if err := env.Admin.Update(t.Context(), greeting); err != nil {
		t.Fatal(err)
	}
	got := plan(2)
	for _, want := range []string{
		"planned/b/note on ", "  ~ change ConfigMap " + space + "/note-b\n      ~ data.text: a:hello -> a:servus\n",
		"  ~ change ConfigMap " + space + "/note-a\n      ~ data.text: hello -> servus\n",
		"\nPlan: 0 to create, 2 to change, 0 to delete, 1 unchanged\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in\n%s", want, got)
		}
	}
	if strings.Contains(got, "note-c") {
		t.Errorf("an unchanged object is shown:\n%s", got)
	}
	if got := plan(2, "-o", "json"); !strings.Contains(got, `"update": 2`) {
		t.Errorf("%s", got)
	}

	request(t, done, v1alpha1.ReconcileOperation)
	waitFinished(t, done, done.Status.JobID)
	if got := plan(0); !strings.HasPrefix(got, "Plan: 0 to create, 0 to change") {
		t.Errorf("after the job: %s", got)
	}

	current := getInstallation(t, root)
	leaves := recordedLeaves()
	leaves[0] = leaf{name: "d", wiring: leaves[0].wiring}
	current.Spec = treeSpecOf(t, space, "", leaves...)
	if err := env.Admin.Update(t.Context(), current); err != nil {
		t.Fatal(err)
	}
	got = plan(2)
	for _, want := range []string{"  + create ConfigMap " + space + "/note-d\n", "- planned/c/note on ", "Plan: 1 to create, 0 to change, 1 to delete, 2 unchanged\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in\n%s", want, got)
		}
	}
}

// threeKinds are items of all kinds that bring objects onto a cluster.
const threeKinds = `deployItems:
- name: release
  type: landscaper.gardener.cloud/helm
  target: {import: cluster}
  config:
    apiVersion: helm.deployer.landscaper.gardener.cloud/v1alpha1
    kind: ProviderConfiguration
    name: NAME
    namespace: NAMESPACE
    chart: &chart {archive: {raw: ARCHIVE}}
    values: {greeting: GREETING}
- name: templates
  type: landscaper.gardener.cloud/helm
  target: {import: cluster}
  config:
    apiVersion: helm.deployer.landscaper.gardener.cloud/v1alpha1
    kind: ProviderConfiguration
    name: plain
    namespace: NAMESPACE
    helmDeployment: false
    updateStrategy: update
    chart: {archive: {raw: ARCHIVE}}
    values: {greeting: GREETING}
- name: kustomization
  type: landscaper.gardener.cloud/kustomize
  target: {import: cluster}
  config:
    apiVersion: kustomize.deployer.landscaper.gardener.cloud/v1alpha1
    kind: ProviderConfiguration
    updateStrategy: update
    source:
      files:
        kustomization.yaml: "namespace: NAMESPACE\nconfigMapGenerator: [{name: built, literals: [greeting=GREETING], options: {disableNameSuffixHash: true}}]\n"
`

// TestPlanOfCharts: charts and kustomizations are rendered by the code of their deployers
// and compared object by object, and what plan says is what the job does.
func TestPlanOfCharts(t *testing.T) {
	startServer(t, env.ServerKubeconfig)
	space := namespace(t)
	template := func(greeting, more string) *v1alpha1.Installation {
		text := strings.NewReplacer("ARCHIVE", packed(t, "1.0.0", greeter), "GREETING", greeting).Replace(threeKinds)
		return newInstallation(space, "charts", text+more)
	}
	inst := template("hello", "- {name: own, type: example.org/own, target: {import: cluster}}\n")
	inst.Annotations = nil
	create(t, inst)
	check := func(got string, wants ...string) {
		t.Helper()
		for _, want := range wants {
			if !strings.Contains(got, want) {
				t.Errorf("%q is missing in\n%s", want, got)
			}
		}
	}
	check(planned(t, space, "charts", 2),
		"  + create ConfigMap "+space+"/charts-greeting\n", "  + create Deployment "+space+"/charts\n",
		"  ? ConfigMap "+space+"/charts-hook: a hook of the chart runs (pre-install)\n",
		"  + create Deployment "+space+"/plain\n", "  + create ConfigMap "+space+"/built\n      + data.greeting: hello\n",
		"? charts/own on host: items of type example.org/own cannot be compared\n", "Plan: 5 to create, 0 to change, 0 to delete, ")

	inst.Spec = template("hello", "").Spec
	if err := env.Admin.Update(t.Context(), inst); err != nil {
		t.Fatal(err)
	}
	request(t, inst, v1alpha1.ReconcileOperation)
	done := waitSucceeded(t, inst)
	// Only without a release is a chart that asks whether it is an upgrade rendered again.
	check(planned(t, space, "charts", 2), "  ~ change ConfigMap "+space+"/plain-greeting\n      ~ data.upgrade: false -> true\nPlan: 0 to create, 1 to change, 0 to delete, 4 unchanged\n")

	done.Spec = template("servus", "").Spec
	if err := env.Admin.Update(t.Context(), done); err != nil {
		t.Fatal(err)
	}
	gone := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: "built"}}
	if err := env.Workload.Delete(t.Context(), gone); err != nil {
		t.Fatal(err)
	}
	got := planned(t, space, "charts", 2)
	check(got, "  ~ change ConfigMap "+space+"/charts-greeting\n      ~ data.greeting: hello -> servus\n      ~ data.revision: 1 -> 2\n",
		"  ~ change ConfigMap "+space+"/plain-greeting\n      ~ data.greeting: hello -> servus\n", "  + create ConfigMap "+space+"/built\n      + data.greeting: servus\n",
		"Plan: 1 to create, 2 to change, 0 to delete, ")
	request(t, done, v1alpha1.ReconcileOperation)
	waitFinished(t, done, done.Status.JobID)
	check(planned(t, space, "charts", 0), "Plan: 0 to create, 0 to change, 0 to delete, 5 unchanged\n")
}
