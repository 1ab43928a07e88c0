package published

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/test/lab"
	"go.landscaper.dev/test/landscape"
)

// earlier is the version of the release that is made of the sources of an earlier commit, which
// "make test-upgrade" lays out.
const earlier = "v0.0.1-earlier"

// atRest is how many Installations an upgrade finds at rest, and atWork how many it finds at work.
var atRest = flag.Int("rest", 50, "how many Installations an upgrade finds at rest")

const atWork = 50

// publishEarlier publishes the release of the earlier commit once, and returns the folder with its
// files.
var publishEarlier = sync.OnceValues(func() (string, error) {
	root, err := lab.Root()
	if err != nil {
		return "", err
	}
	source, out := filepath.Join(root, "bin", "earlier"), filepath.Join(started.Directory, "earlier")
	if _, err := os.Stat(source); err != nil {
		return "", fmt.Errorf("%w: run make test-upgrade", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 15*time.Minute)
	defer cancel()
	return out, makeRelease(ctx, source, out, earlier, os.Stdout)
})

// deployer is the user of the Target: what it does on the cluster edge is what the server does there.
const deployer = "deployer"

// upgrading is what the tests of upgrades work with.
type upgrading struct {
	helm  helm
	edge  *lab.Cluster
	there client.WithWatch
	// folder has the files of the earlier release.
	folder string
	target *v1alpha1.Target
}

// installEarlier installs the earlier release, with a Target that leads to another cluster.
func installEarlier(t *testing.T) *upgrading {
	t.Helper()
	folder, err := publishEarlier()
	if err != nil {
		t.Fatalf("publish the earlier release: %v", err)
	}
	u := &upgrading{helm: newHelm(t), edge: started.Clusters["edge"], folder: folder}
	u.helm.version = strings.TrimPrefix(earlier, "v")
	u.helm.install(t, map[string]any{"egress": loopback})
	user, err := u.edge.AddUser(t.Context(), lab.UserOptions{Name: deployer, ClusterRoles: []string{"cluster-admin"}})
	if err != nil {
		t.Fatal(err)
	}
	access, err := os.ReadFile(user.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	if u.target, err = landscape.Target("default", "host", string(access)); err != nil {
		t.Fatal(err)
	}
	if u.there, err = landscape.Connect(u.edge.Kubeconfig); err != nil {
		t.Fatal(err)
	}
	gate := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "gate"}}
	for _, create := range []error{admin.Create(t.Context(), u.target), u.there.Create(t.Context(), gate)} {
		if create != nil {
			t.Fatal(create)
		}
	}
	return u
}

// gated is the template of an item that is ready when the gate of that name is open.
func gated(gate string) string {
	return landscape.OneConfigMap + `    readinessChecks:
      custom:
      - name: gate
        timeout: 10m
        resourceSelector: [{apiVersion: v1, kind: ConfigMap, name: gate, namespace: default}]
        requirements: [{jsonPath: .data.` + gate + `, operator: ==, values: [{value: open}]}]
`
}

// begin creates Installations that are at work when it returns: half of them have deployed what they
// deploy and wait for a gate, and the other half has been created since the mark.
func (u *upgrading) begin(t *testing.T, name string) ([]*v1alpha1.Installation, lab.Mark) {
	t.Helper()
	var all []*v1alpha1.Installation
	for i := range atWork / 2 {
		installation := landscape.NewInstallation("default", fmt.Sprintf("%s-gated-%d", name, i), gated(name))
		if err := admin.Create(t.Context(), installation); err != nil {
			t.Fatal(err)
		}
		all = append(all, installation)
	}
	err := wait.PollUntilContextTimeout(t.Context(), 100*time.Millisecond, waitLimit, true, func(ctx context.Context) (bool, error) {
		var made corev1.ConfigMapList
		err := u.there.List(ctx, &made, client.InNamespace("default"))
		count := 0
		for i := range made.Items {
			if strings.HasPrefix(made.Items[i].Name, name+"-gated-") {
				count++
			}
		}
		return count == atWork/2, err
	})
	if err != nil {
		t.Fatalf("wait until the Installations have deployed: %v\n%s", err, pods(t))
	}
	mark, err := u.edge.Mark(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return append(all, begin(t, name, atWork/2)...), mark
}

// open opens a gate, and waits until the Installations have succeeded.
func (u *upgrading) open(t *testing.T, gate string, all []*v1alpha1.Installation) {
	t.Helper()
	patch := client.RawPatch("application/merge-patch+json", fmt.Appendf(nil, `{"data":{%q:"open"}}`, gate))
	if err := u.there.Patch(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "gate"}}, patch); err != nil {
		t.Fatal(err)
	}
	succeed(t, all)
}

// writes counts what the server has written to each object since then.
func (u *upgrading) writes(t *testing.T, since lab.Mark) map[string]int {
	t.Helper()
	requests, err := u.edge.Requests(t.Context(), since, deployer)
	if err != nil {
		t.Fatal(err)
	}
	counted := map[string]int{}
	for _, request := range requests {
		if !request.DryRun && slices.Contains([]string{"create", "update", "patch", "delete", "deletecollection"}, request.Verb) && !strings.HasPrefix(request.Resource, "selfsubject") {
			counted[request.Name]++
		}
	}
	return counted
}

// wantWrites: what was at rest or had deployed is not written, and what was just created once.
func (u *upgrading) wantWrites(t *testing.T, since lab.Mark, created string) {
	t.Helper()
	want := map[string]int{}
	for i := range atWork / 2 {
		want[fmt.Sprintf("%s-%d", created, i)] = 1
	}
	if counted := u.writes(t, since); !maps.Equal(counted, want) {
		t.Errorf("the server has written %v", counted)
	}
}

// stored are all objects of our kinds, with what says whether they were made anew or written.
func stored(t *testing.T) map[string][2]string {
	t.Helper()
	found := map[string][2]string{}
	for _, list := range []client.ObjectList{
		&v1alpha1.InstallationList{}, &v1alpha1.ExecutionList{}, &v1alpha1.DeployItemList{}, &v1alpha1.TargetList{}, &v1alpha1.DataObjectList{}, &v1alpha1.ContextList{},
	} {
		if err := admin.List(t.Context(), list); err != nil {
			t.Fatal(err)
		}
		err := meta.EachListItem(list, func(item runtime.Object) error {
			object := item.(client.Object)
			found[fmt.Sprintf("%T %s/%s", item, object.GetNamespace(), object.GetName())] = [2]string{string(object.GetUID()), object.GetResourceVersion()}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return found
}

// wantStored: all objects of before are there, and not written.
func wantStored(t *testing.T, before map[string][2]string) {
	t.Helper()
	now := stored(t)
	for name, object := range before {
		switch {
		case now[name][0] != object[0]:
			t.Errorf("%s was lost", name)
		case now[name][1] != object[1]:
			t.Errorf("%s was written", name)
		}
	}
}

// revision is that of the definitions in the cluster.
func revision(t *testing.T) string {
	t.Helper()
	definition := &apiextensionsv1.CustomResourceDefinition{}
	if err := admin.Get(t.Context(), client.ObjectKey{Name: "installations." + v1alpha1.GroupName}, definition); err != nil {
		t.Fatal(err)
	}
	return definition.Annotations[v1alpha1.GroupName+"/api-revision"]
}

// TestEarlier upgrades a release of an earlier commit and goes back, while Installations are at rest
// and at work.
func TestEarlier(t *testing.T) {
	before := objects(t)
	u := installEarlier(t)
	all := begin(t, "rest", *atRest)
	succeed(t, all)
	old := revision(t)
	wantCommandLine(t, unpacked(t, "landscaper-cli"))

	settled := stored(t)
	working, since := u.begin(t, "upgrade")
	u.helm.version = bare
	u.timed(t, "upgrade", func() { u.helm.upgrade(t, map[string]any{"egress": loopback}) })
	wantImage(t, "landscaper", 1)
	u.open(t, "upgrade", working)
	u.wantWrites(t, since, "upgrade")
	wantStored(t, settled)
	current := revision(t)
	if current == old {
		t.Errorf("the definitions have the revision %s as before: take an earlier commit", old)
	}
	wantCommandLine(t, unpackedOf(t, filepath.Join(u.folder, "landscaper-cli_"+earlier+"_linux_amd64.tar.gz"), "landscaper-cli"))
	all = append(all, working...)

	settled = stored(t)
	working, since = u.begin(t, "rollback")
	u.timed(t, "rollback", func() { u.helm.rollback(t) })
	u.open(t, "rollback", working)
	u.wantWrites(t, since, "rollback")
	wantStored(t, settled)
	all = append(all, working...)
	u.wantNoDowngrade(t, current)

	u.timed(t, "upgrade of what is at rest", func() { u.helm.upgrade(t, map[string]any{"egress": loopback}) })
	u.remove(t, all)
	u.helm.uninstall(t)
	wantLeft(t, before, afterUninstall)
	removeAll(t, before)
}

// timed says how long something takes, and what the server asks for in this time.
func (u *upgrading) timed(t *testing.T, what string, do func()) {
	t.Helper()
	mark, err := cluster.Mark(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	do()
	took := time.Since(began)
	requests, err := cluster.Requests(t.Context(), mark, "system:serviceaccount:"+space+":landscaper")
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s: %.1f s, %d requests of the server", what, took.Seconds(), len(requests))
}

// wantCommandLine looks at an Installation, and runs a job of it, with a command line of another
// release than that of the server.
func wantCommandLine(t *testing.T, cli string) {
	t.Helper()
	if tree := execute(t, cli, "inspect", "rest-0", "-n", "default"); !strings.Contains(tree, "Succeeded] Installation rest-0") {
		t.Errorf("it shows\n%s", tree)
	}
	execute(t, cli, "reconcile", "rest-0", "-n", "default")
	execute(t, cli, "wait", "rest-0", "-n", "default", "--timeout", waitLimit.String())
	execute(t, cli, "logs", "rest-0", "-n", "default")
}

// wantNoDowngrade runs what the job of the chart of the earlier release runs: it refuses to replace
// definitions of a newer release, and says so.
func (u *upgrading) wantNoDowngrade(t *testing.T, current string) {
	t.Helper()
	if now := revision(t); now != current {
		t.Errorf("the way back has brought the definitions to revision %s", now)
	}
	program := unpackedOf(t, filepath.Join(u.folder, "landscaper_"+earlier+"_linux_amd64.tar.gz"), "landscaper")
	output, err := exec.CommandContext(t.Context(), program, "install", "--kubeconfig", cluster.Kubeconfig).CombinedOutput()
	if err == nil || !bytes.Contains(output, []byte("newer release")) {
		t.Errorf("%v: %s", err, output)
	}
	if now := revision(t); now != current {
		t.Errorf("an earlier release has brought the definitions to revision %s", now)
	}
}

// remove deletes Installations: all that they have deployed goes.
func (u *upgrading) remove(t *testing.T, all []*v1alpha1.Installation) {
	t.Helper()
	for _, installation := range all {
		if err := admin.Delete(t.Context(), installation); err != nil {
			t.Fatal(err)
		}
	}
	for _, installation := range all {
		await(t, installation, "deleted", func(now *v1alpha1.Installation) bool { return now == nil })
	}
	var left corev1.ConfigMapList
	if err := u.there.List(t.Context(), &left, client.InNamespace("default")); err != nil {
		t.Fatal(err)
	}
	for i := range left.Items {
		if name := left.Items[i].Name; name != "gate" && name != "kube-root-ca.crt" {
			t.Errorf("the ConfigMap %s is left", name)
		}
	}
	gate := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "gate"}}
	for _, deleted := range []error{admin.Delete(t.Context(), u.target), u.there.Delete(t.Context(), gate)} {
		if deleted != nil {
			t.Error(deleted)
		}
	}
}
