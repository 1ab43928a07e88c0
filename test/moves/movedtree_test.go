package moves

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/test/landscape"
)

// TestMovedRelease: a release of Helm moves with its Target.
func TestMovedRelease(t *testing.T) {
	startServer(t, env.ServerKubeconfig)
	space := namespace(t)
	createTarget(t, space, "other", otherKubeconfig(t))
	small := map[string]string{"values.yaml": greeter["values.yaml"], "templates/greeting.yaml": greeter["templates/greeting.yaml"]}
	inst := newInstallation(space, "greeter", landscape.HelmItem(packed(t, "1.0.0", small), ""))
	waitSucceeded(t, create(t, inst))
	record := client.ObjectKey{Namespace: space, Name: "sh.helm.release.v1.greeter.v1"}
	if err := env.Workload.Get(t.Context(), record, &corev1.Secret{}); err != nil {
		t.Fatal(err)
	}
	changed := getInstallation(t, inst)
	changed.Spec.Imports.Targets[0].Target = "other"
	if err := env.Admin.Update(t.Context(), changed); err != nil {
		t.Fatal(err)
	}
	if got := planned(t, space, "greeter", 2); !strings.Contains(got, "- delete ConfigMap "+space+"/greeter-greeting from the earlier cluster "+env.Target.Server) ||
		!strings.Contains(got, "Plan: 1 to create, 0 to change, 1 to delete") {
		t.Errorf("the plan is\n%s", got)
	}
	inst = again(t, inst, changed.Spec, v1alpha1.InstallationPhases.Succeeded)
	if err := env.Admin.Get(t.Context(), record, &corev1.Secret{}); err != nil {
		t.Errorf("the release is not on the new cluster: %v", err)
	}
	if err := env.Workload.Get(t.Context(), record, &corev1.Secret{}); !apierrors.IsNotFound(err) {
		t.Errorf("the release is left on the old cluster (%v)", err)
	}
	wantOn(t, env.Admin, "new", space, true, "greeter-greeting")
	wantOn(t, env.Workload, "old", space, false, "greeter-greeting")
	if err := env.Admin.Delete(t.Context(), inst); err != nil {
		t.Fatal(err)
	}
	waitGone(t, env.Admin, inst.DeepCopy(), &v1alpha1.InstallationList{})
	wantOn(t, env.Admin, "new", space, false, "greeter-greeting")
}

// TestMovedTree: subinstallations work with copies of what a root imports, whose names stay;
// Targets of lists and maps may belong to another item now.
func TestMovedTree(t *testing.T) {
	startServer(t, env.ServerKubeconfig)
	space := namespace(t)
	createTarget(t, space, "other", otherKubeconfig(t))
	spec := func(targets, single string) v1alpha1.InstallationSpec {
		list := blueprintOf(t, listImport, note("first", "import: clusters, index: 0", "a")+note("second", "import: clusters, index: 1", "b"))
		root := blueprintOf(t, `imports:
- {name: clusters, type: targetList, targetType: landscaper.gardener.cloud/kubernetes-cluster}
- {name: cluster, type: target, targetType: landscaper.gardener.cloud/kubernetes-cluster}
`, note("own", onCluster, "c"))
		return rootOf(t, space, `imports: {targets: [{name: clusters, targets: `+targets+`}, {name: cluster, target: `+single+`}]}`, withSubs(root,
			subOf(t, "single", `imports: {targets: [{name: cluster, target: cluster}]}`, blueprintOf(t, singleImport, note("below", onCluster, "d"))),
			subOf(t, "list", `imports: {targets: [{name: clusters, targetListRef: clusters}]}`, list)))
	}
	inst := waitSucceeded(t, create(t, installationOf(space, "tree", spec("[host, other]", "host"))))
	first, second := client.Client(env.Workload), client.Client(env.Admin)
	if err := first.Get(t.Context(), client.ObjectKey{Namespace: space, Name: "first"}, &corev1.ConfigMap{}); err != nil {
		// Behind a reference, the order of a list is that of the names of its copies.
		first, second = second, first
	}
	check := func(first, second, single, empty client.Client) {
		t.Helper()
		wantOn(t, first, "first", space, true, "first")
		wantOn(t, second, "second", space, true, "second")
		wantOn(t, first, "first", space, false, "second")
		wantOn(t, second, "second", space, false, "first")
		wantOn(t, single, "new", space, true, "own", "below")
		wantOn(t, empty, "old", space, false, "own", "below")
	}
	check(first, second, env.Workload, env.Admin)
	changed := getInstallation(t, inst)
	changed.Spec = spec("[other, host]", "other")
	if err := env.Admin.Update(t.Context(), changed); err != nil {
		t.Fatal(err)
	}
	got := planned(t, space, "tree", 2)
	for _, name := range []string{"own", "below", "first", "second"} {
		if !strings.Contains(got, "- delete ConfigMap "+space+"/"+name+" from the earlier cluster ") || !strings.Contains(got, "+ create ConfigMap "+space+"/"+name+"\n") {
			t.Errorf("the plan does not move %s:\n%s", name, got)
		}
	}
	inst = again(t, inst, changed.Spec, v1alpha1.InstallationPhases.Succeeded)
	check(second, first, env.Admin, env.Workload)
	if err := env.Admin.Delete(t.Context(), inst); err != nil {
		t.Fatal(err)
	}
	waitGone(t, env.Admin, inst.DeepCopy(), &v1alpha1.InstallationList{})
	for _, cluster := range []client.Client{env.Admin, env.Workload} {
		wantOn(t, cluster, "emptied", space, false, "own", "below", "first", "second")
	}
}

// TestLeaveLandscape: the cluster no longer exists, and all Targets lead to a new one. The items
// name the objects that they cannot remove; one annotation of the root lets all of them continue.
func TestLeaveLandscape(t *testing.T) {
	startServer(t, env.ServerKubeconfig)
	space := namespace(t)
	through, closeIt := tunnel(t)
	point(t, space, "host", through)
	root := blueprintOf(t, singleImport, note("own", onCluster, "a"))
	spec := rootOf(t, space, `imports: {targets: [{name: cluster, target: host}]}`, withSubs(root,
		subOf(t, "single", `imports: {targets: [{name: cluster, target: cluster}]}`, blueprintOf(t, singleImport, note("below", onCluster, "b")))))
	inst := waitSucceeded(t, create(t, installationOf(space, "gone", spec)))
	closeIt()
	point(t, space, "host", otherKubeconfig(t))
	if code, got, _ := cli(t, "inst", "plan", "gone", "-n", space); code != 2 || !strings.Contains(got, "? ConfigMap "+space+"/own from the earlier cluster https://127.0.0.1:") ||
		!strings.Contains(got, "connection refused") {
		// The copy of the Target leads there until the job.
		t.Errorf("the plan (code %d) is\n%s", code, got)
	}
	before := inst.Status.JobID
	request(t, inst, v1alpha1.ReconcileOperation)
	for _, item := range itemsByName(t, space) {
		waitItem(t, item, "waiting", func(item *v1alpha1.DeployItem) bool {
			return strings.Contains(messageOf(item), "no Target of namespace "+space+" leads to the earlier cluster https://127.0.0.1:")
		})
	}
	request(t, inst, v1alpha1.InterruptOperation)
	failed := waitFinished(t, inst, before)
	if failed.Status.InstallationPhase != v1alpha1.InstallationPhases.Failed {
		t.Fatalf("the job is %s", failed.Status.InstallationPhase)
	}
	wantOn(t, env.Admin, "new", space, true, "own", "below")
	env.Annotate(t, failed, map[string]string{v1alpha1.LeaveEarlierClusterAnnotation: idOf(t, env.Workload), v1alpha1.OperationAnnotation: "reconcile"})
	inst = waitDone(t, failed, failed.Status.JobID)
	for name, item := range itemsByName(t, space) {
		if clusters := clustersOf(t, item); len(clusters.EarlierClusters) != 0 || clusters.Cluster == nil || clusters.Cluster.ID != idOf(t, env.Admin) {
			t.Errorf("item %s is recorded with %+v", name, clusters)
		}
	}
	wantOn(t, env.Workload, "old", space, true, "own", "below")
	if err := env.Admin.Delete(t.Context(), inst); err != nil {
		t.Fatal(err)
	}
	waitGone(t, env.Admin, inst.DeepCopy(), &v1alpha1.InstallationList{})
	wantOn(t, env.Admin, "new", space, false, "own", "below")
}
