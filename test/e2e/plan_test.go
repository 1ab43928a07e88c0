package e2e

import (
	"maps"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/test/landscape"
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

// repeated repeats a secret in all the ways that are looked for.
var repeated = landscape.OneItem(`apiVersion: v1
kind: Secret
metadata: {name: NAME, namespace: NAMESPACE}
data: {password: {{ .imports.secret | b64enc }}}
`, `apiVersion: v1
kind: ConfigMap
metadata: {name: NAME, namespace: NAMESPACE, annotations: {example.org/{{ .imports.secret }}: "here"}}
data:
  plain: {{ .imports.secret }}
  packed: {{ printf "user:%s@host" .imports.secret | b64enc }}
  part: {{ .imports.secret | trunc 9 }}
  loud: {{ .imports.secret | upper }}
  document: "host: here\npassword: {{ .imports.secret }}\n"
  fixed: {{ if hasSuffix "next" .imports.secret }}new{{ else }}old{{ end }}
`)

// TestPlanShowsNoSecret changes a secret and looks at the output of plan: what changes, and neither
// what it was nor what it becomes.
func TestPlanShowsNoSecret(t *testing.T) {
	startServer(t, env.ServerKubeconfig)
	space := namespace(t)
	canaryImports(t, space)
	inst := canaryCase{reason: "repeated", template: repeated}.installation(space)
	inst.Annotations = nil
	create(t, inst)
	look := func(want int, wants ...string) {
		t.Helper()
		for _, form := range []string{"text", "json", "yaml"} {
			out := planned(t, space, "repeated", want, "-o", form)
			lookForCanary(t, "the plan as "+form, out)
			if strings.Contains(out, canary[:8]) {
				t.Errorf("the plan as %s has a part of the canary:\n%s", form, out)
			}
			if form != "text" {
				continue
			}
			for _, want := range wants {
				if !strings.Contains(out, want) {
					t.Errorf("%q is missing in\n%s", want, out)
				}
			}
		}
	}
	secret := []string{"plain", "packed", "part", "loud", "document"}
	var created, changed []string
	for _, name := range secret {
		created = append(created, "      + data."+name+": (secret)\n")
		changed = append(changed, "      ~ data."+name+": (secret, changed)\n")
	}
	look(2, append(created, "      + data.fixed: old\n", "  + create Secret "+space+"/repeated\n      + data.password: (secret)\n")...)
	request(t, inst, v1alpha1.ReconcileOperation)
	waitSucceeded(t, inst)
	look(0)

	source := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: "values"}, Data: map[string][]byte{"value": []byte("another-one-next")}}
	if err := env.Admin.Update(t.Context(), source); err != nil {
		t.Fatal(err)
	}
	look(2, append(changed, "      ~ data.fixed: old -> new\n", "  ~ change Secret "+space+"/repeated\n      ~ data.password: (secret, changed)\n")...)
}

// planCanaries plans all cases again, those that fail as well.
func planCanaries(t *testing.T, space string, cases map[string]canaryCase) {
	forms := []string{"text", "json", "yaml"}
	for i, name := range slices.Sorted(maps.Keys(cases)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			code, out, complaints := cli(t, "inst", "plan", name, "-n", space, "-o", forms[i%len(forms)], "--ca-file", env.Lab.Registry.CAFile)
			if out+complaints == "" || code != 0 && code != 1 && code != 2 && code != 4 {
				t.Errorf("plan says nothing, code %d", code)
			}
			lookForCanary(t, "the plan", out+complaints)
		})
	}
}
