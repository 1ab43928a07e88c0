package e2e

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"go.landscaper.dev/api/v1alpha1"
)

// helmExample creates the Installation of an example.
func helmExample(t *testing.T, space, path string) *v1alpha1.Installation {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("../../examples/helm", path))
	if err != nil {
		t.Fatal(err)
	}
	inst := &v1alpha1.Installation{}
	if err := yaml.UnmarshalStrict(content, inst); err != nil {
		t.Fatal(err)
	}
	inst.Namespace = space
	return inst
}

// itemError is the error of the only item of an Installation.
func itemError(t *testing.T, inst *v1alpha1.Installation) string {
	t.Helper()
	items := &v1alpha1.DeployItemList{}
	if err := env.Admin.List(t.Context(), items, client.InNamespace(inst.Namespace)); err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(items.Items, func(item v1alpha1.DeployItem) bool { return strings.HasPrefix(item.Name, inst.Name+"-") })
	if at < 0 || items.Items[at].Status.LastError == nil {
		t.Fatalf("no error of %s", inst.Name)
	}
	return items.Items[at].Status.LastError.Message
}

// documentedErrors are what users see, as the page about charts shows it.
func documentedErrors(t *testing.T) string {
	t.Helper()
	content, err := os.ReadFile("../../docs/reference/helm.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// podOf is a pod in a message: each has another name.
var podOf = regexp.MustCompile(`pod too-late-[a-z0-9]+-[a-z0-9]+:`)

// TestHelmExamples deploys the examples, and compares the errors with the page that
// shows them.
func TestHelmExamples(t *testing.T) {
	startServer(t, env.ServerKubeconfig)
	space := namespace(t)
	createTarget(t, space, "my-cluster", env.TargetKubeconfig)
	immediate, late := create(t, helmExample(t, space, "error-handling/immediate.yaml")), create(t, helmExample(t, space, "error-handling/timeout.yaml"))
	good := []*v1alpha1.Installation{
		create(t, helmExample(t, space, "hello-world/installation.yaml")), create(t, helmExample(t, space, "multiple-items/installation.yaml")),
		create(t, helmExample(t, space, "upgrade/installation.yaml")), create(t, helmExample(t, space, "error-handling/delete.yaml")),
	}
	for _, inst := range good {
		waitSucceeded(t, inst)
	}
	upgraded := &v1alpha1.Installation{}
	if err := env.Admin.Get(t.Context(), client.ObjectKeyFromObject(good[2]), upgraded); err != nil {
		t.Fatal(err)
	}
	last := upgraded.Status.JobID
	again := helmExample(t, space, "upgrade/upgraded.yaml")
	upgraded.Spec, upgraded.Annotations = again.Spec, again.Annotations
	if err := env.Admin.Update(t.Context(), upgraded); err != nil {
		t.Fatal(err)
	}
	if ended := waitFinished(t, upgraded, last); ended.Status.InstallationPhase != v1alpha1.InstallationPhases.Succeeded {
		t.Errorf("the upgrade ended in %s: %+v", ended.Status.InstallationPhase, ended.Status.LastError)
	}
	greeting := &corev1.ConfigMap{}
	if err := env.Workload.Get(t.Context(), client.ObjectKey{Namespace: "hello-upgrade", Name: "hello-greeting"}, greeting); err != nil || greeting.Data["greeting"] != "hello again" || greeting.Data["revision"] != "2" {
		t.Errorf("%v %v", err, greeting.Data)
	}
	page := documentedErrors(t)
	for _, inst := range []*v1alpha1.Installation{immediate, late} {
		waitFinished(t, inst, "")
		message := podOf.ReplaceAllString(itemError(t, inst), "pod too-late-77b886d646-czdqh:")
		if !strings.Contains(page, message) {
			t.Errorf("%s: the page does not show %q", inst.Name, message)
		}
	}
	checkGuarded(t, good[3], page)
	// The releases are in namespaces that the next run of this test has as well.
	rest := []*v1alpha1.Installation{good[0], good[1], good[2], immediate, late}
	for _, inst := range rest {
		if err := env.Admin.Delete(t.Context(), inst); err != nil {
			t.Fatal(err)
		}
	}
	for _, inst := range rest {
		waitGone(t, env.Admin, inst, &v1alpha1.InstallationList{})
	}
}

// checkGuarded deletes what does not go, and lets it go then.
func checkGuarded(t *testing.T, inst *v1alpha1.Installation, page string) {
	t.Helper()
	before := waitFinished(t, inst, "").Status.JobID
	if err := env.Admin.Delete(t.Context(), inst); err != nil {
		t.Fatal(err)
	}
	waitFinished(t, inst, before)
	if message := itemError(t, inst); !strings.Contains(page, message) {
		t.Errorf("%s: the page does not show %q", inst.Name, message)
	}
	guarded := &corev1.ConfigMap{}
	guarded.Namespace, guarded.Name = "hello-errors", "guarded-guarded"
	if err := env.Workload.Patch(t.Context(), guarded, client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`))); err != nil {
		t.Fatal(err)
	}
	request(t, inst, v1alpha1.ReconcileOperation)
	waitGone(t, env.Admin, inst, &v1alpha1.InstallationList{})
}
