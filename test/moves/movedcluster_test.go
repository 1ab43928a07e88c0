package moves

import (
	"io"
	"net"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/test/lab"
	"go.landscaper.dev/test/landscape"
	"go.landscaper.dev/test/scenario"
)

// otherKubeconfig leads to a second cluster, which is the resource cluster.
func otherKubeconfig(t *testing.T) string {
	t.Helper()
	return scenario.ReadFile(t, env.Resource.Kubeconfig)
}

// point lets a Target lead to another cluster.
func point(t *testing.T, space, name, kubeconfig string) {
	t.Helper()
	changed, err := landscape.Target(space, name, kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	current := &v1alpha1.Target{}
	if err := env.Admin.Get(t.Context(), client.ObjectKeyFromObject(changed), current); err != nil {
		t.Fatal(err)
	}
	current.Spec = changed.Spec
	if err := env.Admin.Update(t.Context(), current); err != nil {
		t.Fatal(err)
	}
}

// wantOn checks whether ConfigMaps are on a cluster.
func wantOn(t *testing.T, on client.Client, where, space string, there bool, names ...string) {
	t.Helper()
	for _, name := range names {
		err := on.Get(t.Context(), client.ObjectKey{Namespace: space, Name: name}, &corev1.ConfigMap{})
		if client.IgnoreNotFound(err) != nil {
			t.Fatal(err)
		}
		if found := err == nil; found != there {
			t.Errorf("ConfigMap %s on the %s cluster: %t, want %t", name, where, found, there)
		}
	}
}

// held is the item of a note whose ConfigMap has a finalizer.
func held(name string) string {
	return strings.Replace(note(name, onCluster, "a"), "metadata: {name: "+name, "metadata: {finalizers: [acme.example/hold], name: "+name, 1)
}

// TestOtherTarget: an Installation imports another Target. What it has deployed appears
// on the new cluster and leaves the old one; plan, status and inspect say so, and a crash
// in between changes nothing.
func TestOtherTarget(t *testing.T) {
	server := startServer(t, env.ServerKubeconfig)
	space := namespace(t)
	createTarget(t, space, "other", otherKubeconfig(t))
	kept := strings.Replace(note("kept", onCluster, "a"), "policy: manage", "policy: keep", 1)
	items := []string{note("one", onCluster, "a"), held("two"), kept}
	inst := waitSucceeded(t, create(t, installationOf(space, "moving", itemsOn(t, space, "host", items...))))
	wantOn(t, env.Workload, "old", space, true, "one", "two", "kept")
	if got, want := clustersOf(t, itemsByName(t, space)["one"]).Cluster, idOf(t, env.Workload); got == nil || got.ID != want {
		t.Errorf("the recorded cluster is %+v, want the ID %s", got, want)
	}

	changed := getInstallation(t, inst)
	changed.Spec = itemsOn(t, space, "other", items...)
	if err := env.Admin.Update(t.Context(), changed); err != nil {
		t.Fatal(err)
	}
	planText := planned(t, space, "moving", 2)
	for _, want := range []string{
		"+ create ConfigMap " + space + "/one", "- delete ConfigMap " + space + "/one from the earlier cluster " + env.Target.Server,
		"- delete ConfigMap " + space + "/two from the earlier cluster", "Plan: 3 to create, 0 to change, 2 to delete",
	} {
		if !strings.Contains(planText, want) {
			t.Errorf("the plan has no %q:\n%s", want, planText)
		}
	}

	before := changed.Status.JobID
	request(t, changed, v1alpha1.ReconcileOperation)
	waitItem(t, itemsByName(t, space)["two"], "waiting for what is left", func(item *v1alpha1.DeployItem) bool {
		return strings.Contains(messageOf(item), "the end of ConfigMap "+space+"/two (finalizer acme.example/hold) on the earlier cluster "+env.Target.Server)
	})
	wantOn(t, env.Admin, "new", space, true, "one", "two", "kept")
	if earlier := clustersOf(t, itemsByName(t, space)["two"]).EarlierClusters; len(earlier) != 1 || len(earlier[0].ManagedResources) != 1 || earlier[0].ID != idOf(t, env.Workload) {
		t.Errorf("the status says %+v of earlier clusters", earlier)
	}
	if _, out, _ := cli(t, "inst", "inspect", "moving", "-n", space); !strings.Contains(out, "on the earlier cluster") {
		t.Errorf("inspect does not show the blocker:\n%s", out)
	}
	server.EndBy(os.Kill)
	startServer(t, env.ServerKubeconfig)
	release := client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"finalizers":null}}`))
	if err := env.Workload.Patch(t.Context(), configMap(space, "two"), release); err != nil {
		t.Fatal(err)
	}
	inst = waitDone(t, changed, before)
	wantOn(t, env.Admin, "new", space, true, "one", "two", "kept")
	wantOn(t, env.Workload, "old", space, false, "one", "two")
	wantOn(t, env.Workload, "old", space, true, "kept")
	for name, item := range itemsByName(t, space) {
		if clusters := clustersOf(t, item); len(clusters.EarlierClusters) != 0 || clusters.Cluster == nil || clusters.Cluster.ID != idOf(t, env.Admin) {
			t.Errorf("item %s is recorded with %+v", name, clusters)
		}
	}
	if code, got, _ := cli(t, "inst", "plan", "moving", "-n", space); code != 0 || !strings.Contains(got, "Plan: 0 to create, 0 to change, 0 to delete, 3 unchanged") {
		t.Errorf("after the move, the plan is\n%s", got)
	}

	if err := env.Admin.Patch(t.Context(), configMap(space, "two"), release); err != nil {
		t.Fatal(err)
	}
	if err := env.Admin.Delete(t.Context(), inst); err != nil {
		t.Fatal(err)
	}
	waitGone(t, env.Admin, inst.DeepCopy(), &v1alpha1.InstallationList{})
	wantOn(t, env.Admin, "new", space, false, "one", "two")
}

// messageOf is what an item says of itself.
func messageOf(item *v1alpha1.DeployItem) string {
	var said strings.Builder
	for _, condition := range item.Status.Conditions {
		said.WriteString(condition.Message + "\n")
	}
	if item.Status.LastError != nil {
		said.WriteString(item.Status.LastError.Message)
	}
	return said.String()
}

// TestTargetPointsElsewhere: the same Target leads to another cluster, and none leads to the old
// one: the item names the objects that remain there and waits until there is such a Target or a
// user abandons them.
func TestTargetPointsElsewhere(t *testing.T) {
	startServer(t, env.ServerKubeconfig)
	space := namespace(t)
	inst := waitSucceeded(t, create(t, installationOf(space, "moving", itemsOn(t, space, "host", note("one", onCluster, "a")))))
	waiting := func(item *v1alpha1.DeployItem) bool {
		message := messageOf(item)
		return strings.Contains(message, "no Target of namespace "+space+" leads to the earlier cluster ") &&
			strings.Contains(message, "where ConfigMap "+space+"/one is left") && strings.Contains(message, v1alpha1.LeaveEarlierClusterAnnotation+"=")
	}
	point(t, space, "host", otherKubeconfig(t))
	before := inst.Status.JobID
	request(t, inst, v1alpha1.ReconcileOperation)
	item := itemsByName(t, space)["one"]
	waitItem(t, item, "waiting for a Target", waiting)
	wantOn(t, env.Admin, "new", space, true, "one")
	wantOn(t, env.Workload, "old", space, true, "one")
	createTarget(t, space, "back", env.TargetKubeconfig)
	inst = waitDone(t, inst, before)
	wantOn(t, env.Workload, "old", space, false, "one")

	t.Run("the objects on the earlier cluster stay if the user abandons them", func(t *testing.T) {
		if err := env.Admin.Delete(t.Context(), &v1alpha1.Target{ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: "back"}}); err != nil {
			t.Fatal(err)
		}
		// The resource cluster is the earlier one now.
		point(t, space, "host", env.TargetKubeconfig)
		before := inst.Status.JobID
		request(t, inst, v1alpha1.ReconcileOperation)
		waitItem(t, item, "waiting for a Target", waiting)
		env.Annotate(t, itemsByName(t, space)["one"], map[string]string{v1alpha1.LeaveEarlierClusterAnnotation: idOf(t, env.Admin)})
		inst = waitDone(t, inst, before)
		wantOn(t, env.Workload, "new", space, true, "one")
		wantOn(t, env.Admin, "old", space, true, "one")
		if earlier := clustersOf(t, itemsByName(t, space)["one"]).EarlierClusters; len(earlier) != 0 {
			t.Errorf("the status still says %+v", earlier)
		}
	})
	t.Run("a deletion right after a switch", func(t *testing.T) {
		createTarget(t, space, "back", env.TargetKubeconfig)
		point(t, space, "host", otherKubeconfig(t))
		if err := env.Admin.Delete(t.Context(), inst); err != nil {
			t.Fatal(err)
		}
		waitGone(t, env.Admin, inst.DeepCopy(), &v1alpha1.InstallationList{})
		wantOn(t, env.Workload, "old", space, false, "one")
	})
}

// tunnel is another address of the target cluster, until it is closed.
func tunnel(t *testing.T) (kubeconfig string, closeIt func()) {
	t.Helper()
	server, err := url.Parse(env.Target.Server)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var mutex sync.Mutex
	var open []net.Conn
	keep := func(connection net.Conn) {
		mutex.Lock()
		defer mutex.Unlock()
		open = append(open, connection)
	}
	go func() {
		for {
			from, err := listener.Accept()
			if err != nil {
				return
			}
			to, err := (&net.Dialer{}).Dial("tcp", server.Host)
			if err != nil {
				_ = from.Close()
				continue
			}
			keep(from)
			keep(to)
			go func() { _, _ = io.Copy(to, from); _ = to.Close() }()
			go func() { _, _ = io.Copy(from, to); _ = from.Close() }()
		}
	}()
	closeIt = func() {
		_ = listener.Close()
		mutex.Lock()
		defer mutex.Unlock()
		for _, connection := range open {
			_ = connection.Close()
		}
	}
	t.Cleanup(closeIt)
	return strings.ReplaceAll(env.TargetKubeconfig, env.Target.Server, "https://"+listener.Addr().String()), closeIt
}

// askedForID is how often the server has asked the target cluster for its identity.
func askedForID(t *testing.T, since lab.Mark) (asked int) {
	t.Helper()
	requests, err := env.Target.Requests(t.Context(), since, "")
	if err != nil {
		t.Fatal(err)
	}
	for _, request := range requests {
		if request.Resource == "namespaces" && request.Name == metav1.NamespaceSystem && strings.HasPrefix(request.UserAgent, "landscaper/") {
			asked++
		}
	}
	return asked
}

// TestSameCluster: another address and other credentials of the same cluster move
// nothing. A cluster that does not answer any more holds up what is on the new one as
// little as possible, and is said.
func TestSameCluster(t *testing.T) {
	startServer(t, env.ServerKubeconfig)
	space := namespace(t)
	through, closeIt := tunnel(t)
	inst := waitSucceeded(t, create(t, installationOf(space, "staying", itemsOn(t, space, "host", note("one", onCluster, "a")))))
	deployed := configMap(space, "one")
	if err := env.Workload.Get(t.Context(), client.ObjectKeyFromObject(deployed), deployed); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		reason, kubeconfig string
		// asked is how often the cluster is asked for its identity.
		asked int
	}{
		{"nothing has changed", env.TargetKubeconfig, 0},
		{"only the credentials have changed", env.TargetKubeconfig + "\n# rotated\n", 0},
		{"the address has changed", through, 1},
		{"nothing has changed since the new address", through, 0},
	} {
		mark, err := env.Target.Mark(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		point(t, space, "host", test.kubeconfig)
		inst = again(t, inst, inst.Spec, v1alpha1.InstallationPhases.Succeeded)
		if asked := askedForID(t, mark); asked != test.asked {
			t.Errorf("%s: the cluster is asked %d times for its identity", test.reason, asked)
		}
		current := configMap(space, "one")
		if err := env.Workload.Get(t.Context(), client.ObjectKeyFromObject(current), current); err != nil || current.UID != deployed.UID || current.ResourceVersion != deployed.ResourceVersion {
			t.Errorf("the ConfigMap was replaced: %v, error %v", current.ObjectMeta, err)
		}
		if clusters := clustersOf(t, itemsByName(t, space)["one"]); len(clusters.EarlierClusters) != 0 || clusters.Cluster == nil || clusters.Cluster.ID != idOf(t, env.Workload) {
			t.Errorf("recorded is %+v", clusters)
		}
	}
	// The Target leads elsewhere, another one still leads to the old cluster, which does
	// not answer.
	createTarget(t, space, "gone", through)
	closeIt()
	point(t, space, "host", otherKubeconfig(t))
	before := inst.Status.JobID
	request(t, inst, v1alpha1.ReconcileOperation)
	item := itemsByName(t, space)["one"]
	waitItem(t, item, "blocked by the cluster that no longer exists", func(item *v1alpha1.DeployItem) bool {
		message := messageOf(item)
		return strings.Contains(message, "remove ConfigMap "+space+"/one from the earlier cluster https://127.0.0.1:") && strings.Contains(message, "connection refused")
	})
	wantOn(t, env.Admin, "new", space, true, "one")
	env.Annotate(t, itemsByName(t, space)["one"], map[string]string{v1alpha1.LeaveEarlierClusterAnnotation: idOf(t, env.Workload)})
	waitDone(t, inst, before)
}
