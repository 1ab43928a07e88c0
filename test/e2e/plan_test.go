package e2e

import (
	"bytes"
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/test/lab"
)

// cli runs the built command line against the resource cluster.
func cli(t *testing.T, args ...string) (code int, out, complaints string) {
	t.Helper()
	labProgram, err := lab.Program()
	if err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), filepath.Join(filepath.Dir(labProgram), "landscaper-cli"), args...)
	command.Env = []string{"KUBECONFIG=" + env.resource.Kubeconfig, "HOME=" + t.TempDir()}
	var stdout, stderr bytes.Buffer
	command.Stdout, command.Stderr = &stdout, &stderr
	var exit *exec.ExitError
	if err := command.Run(); errors.As(err, &exit) {
		code = exit.ExitCode()
	} else if err != nil {
		t.Fatal(err)
	}
	return code, stdout.String(), stderr.String()
}

// versions are the versions of all objects that a job would write.
func versions(t *testing.T, space string) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, cluster := range []client.Client{env.admin, env.workload} {
		for _, list := range []client.ObjectList{&corev1.ConfigMapList{}, &corev1.SecretList{}} {
			addVersions(t, cluster, space, list, found)
		}
	}
	for _, list := range []client.ObjectList{&v1alpha1.InstallationList{}, &v1alpha1.ExecutionList{}, &v1alpha1.DeployItemList{}, &v1alpha1.DataObjectList{}, &v1alpha1.TargetList{}} {
		addVersions(t, env.admin, space, list, found)
	}
	return found
}

func addVersions(t *testing.T, cluster client.Client, space string, list client.ObjectList, into map[string]string) {
	t.Helper()
	if err := cluster.List(t.Context(), list, client.InNamespace(space)); err != nil {
		t.Fatal(err)
	}
	eachItem(t, list, func(object client.Object) {
		into[object.GetNamespace()+"/"+object.GetName()+"/"+string(object.GetUID())] = object.GetResourceVersion()
	})
}

// TestPlan: what a job would change in a tree with a flow of data, before and after an
// import changes, and that nothing was written for it.
func TestPlan(t *testing.T) {
	startServer(t, env.serverKubeconfig)
	space := namespace(t)
	root := createTree(t, space, "planned", treeExports, recordedLeaves()...)
	done := waitSucceeded(t, root)
	plan := func(want int, args ...string) string {
		t.Helper()
		before := versions(t, space)
		code, out, complaints := cli(t, append([]string{"inst", "plan", "planned", "-n", space}, args...)...)
		if code != want {
			t.Fatalf("code %d, want %d: %s%s", code, want, out, complaints)
		}
		// The garbage collector may still be removing what belonged to the job.
		for object, version := range versions(t, space) {
			if before[object] != version {
				t.Errorf("%s was written", object)
			}
		}
		return out
	}
	if got := plan(0); got != "Plan: 0 to create, 0 to change, 0 to delete, 3 unchanged\n" {
		t.Errorf("%s", got)
	}

	greeting := &v1alpha1.DataObject{}
	if err := env.admin.Get(t.Context(), client.ObjectKey{Namespace: space, Name: "greeting"}, greeting); err != nil {
		t.Fatal(err)
	}
	greeting.Data = v1alpha1.NewAnyJSON([]byte(`"servus"`))
	if err := env.admin.Update(t.Context(), greeting); err != nil {
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
		t.Errorf("what stays as it is shows up:\n%s", got)
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
	if err := env.admin.Update(t.Context(), current); err != nil {
		t.Fatal(err)
	}
	got = plan(2)
	for _, want := range []string{"  + create ConfigMap " + space + "/note-d\n", "- planned/c/note on ", "Plan: 1 to create, 0 to change, 1 to delete, 2 unchanged\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in\n%s", want, got)
		}
	}
}

func eachItem(t *testing.T, list client.ObjectList, visit func(client.Object)) {
	t.Helper()
	err := meta.EachListItem(list, func(object runtime.Object) error {
		visit(object.(client.Object)) //nolint:errcheck,forcetypeassert // lists hold nothing else
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
