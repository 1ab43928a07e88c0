package exactness

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/cli"
	"go.landscaper.dev/internal/cli/terminal"
	"go.landscaper.dev/test/landscape"
	"go.landscaper.dev/test/scenario"
)

// remove deletes the roots, those that import from others first, and compares what "delete
// --dry-run" names with what is deleted.
func (s *stage) remove(after func(root string)) {
	s.t.Helper()
	for _, root := range slices.Backward(s.Roots) {
		from, owners := s.look(), s.owned()
		text := s.foretell(root.Name)
		preview, err := ForetoldBy(text, clusters())
		if err != nil {
			s.t.Errorf("%s: %v\n%s", s.Space, err, text)
			return
		}
		if changed := Changes(from, s.look(), nothingMoves); len(changed) > 0 {
			s.t.Errorf("%s: the preview of the deletion of %s has changed %v", s.Space, root.Name, changed)
		}
		inst := &v1alpha1.Installation{ObjectMeta: metav1.ObjectMeta{Namespace: s.Space, Name: root.Name}}
		if err := env.Admin.Delete(s.t.Context(), inst); err != nil {
			s.t.Fatal(err)
		}
		after(root.Name)
		scenario.WaitGone(s.t, env.Admin, inst, &v1alpha1.InstallationList{})
		complaints := s.deletions.Compare(root.Name, preview, Changes(from, s.look(), nothingMoves), owners)
		if len(complaints) > 0 {
			s.t.Logf("%s: deletion of %s:\n    %s", s.Space, root.Name, strings.Join(complaints, "\n    "))
			if *explain {
				s.t.Logf("%s", text)
			}
		}
	}
}

// foretell returns what the command line says about a deletion.
func (s *stage) foretell(root string) string {
	s.t.Helper()
	var out, complaints bytes.Buffer
	streams := terminal.Streams{In: strings.NewReader(""), Out: &out, Err: &complaints, Getenv: func(string) string { return "" }, Columns: func() int { return 0 }, Rows: func() int { return 0 }}
	code := cli.Run(s.t.Context(), streams, "landscaper-cli", []string{"inst", "delete", root, "-n", s.Space, "--dry-run", "--kubeconfig", env.Resource.Kubeconfig})
	if code != 0 || complaints.Len() > 0 {
		s.t.Errorf("%s: the preview of the deletion of %s ends with %d: %s", s.Space, root, code, complaints.String())
	}
	return out.String()
}

// TestDeletionsAreExact deletes a landscape with releases, sub-installations, objects that are kept
// and objects that are left on the cluster of an earlier Target: "delete --dry-run" names what is
// deleted, and nothing else.
func TestDeletionsAreExact(t *testing.T) {
	scenario.StartServer(t, env.ServerKubeconfig)
	edge, err := landscape.Connect(env.Lab.Clusters["edge"].Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	kubeconfig, err := os.ReadFile(env.Lab.Clusters["edge"].Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	s := newStage(t, 1, edge)
	s.World = NewWorld(s.Space, rand.New(rand.NewPCG(3, 4)))
	keptByPolicy, keptByChart := s.item("core").Objects[0], s.item("chart").Objects[0]
	keptByPolicy.Policy, keptByChart.Stays = "keep", true
	s.store()
	s.job(s.root("base"), "first job", nil)

	// A foreign finalizer holds an object that must be deleted from the cluster of the earlier
	// Target, so that the job is interrupted before that.
	moved := s.item("core")
	held := moved.Objects[len(moved.Objects)-1]
	heldKey := Key{"host", held.Kind, held.namespace(s.Space), held.Name}
	s.hold(heldKey, `["acme.example/hold"]`)
	moved.Target = "edge"
	s.store()
	base := &v1alpha1.Installation{ObjectMeta: metav1.ObjectMeta{Namespace: s.Space, Name: "base"}}
	last := env.Installation(t, base).Status.JobID
	env.Request(t, base, v1alpha1.ReconcileOperation)
	env.WaitItem(t, env.ItemsByName(t, s.Space)["core"], "waits for what is left", func(item *v1alpha1.DeployItem) bool {
		return slices.ContainsFunc(item.Status.Conditions, func(c v1alpha1.Condition) bool {
			return strings.Contains(c.Message, "acme.example/hold") && strings.Contains(c.Message, "on the earlier cluster")
		})
	})
	env.Request(t, base, v1alpha1.InterruptOperation)
	env.WaitFinished(t, base, last)
	if failed := s.quiet(); !strings.Contains(failed, "base: ") {
		t.Fatalf("the job was not interrupted: %s", failed)
	}

	// Another Target leads to another cluster than at the last job.
	s.pointElsewhere(string(kubeconfig))
	s.remove(func(root string) {
		if root == "base" {
			s.hold(heldKey, "null")
		}
	})
	t.Log(s.deletions)
	if s.deletions.Wrong+s.deletions.Missed+s.deletions.Excused > 0 || s.deletions.Removed < 20 {
		t.Errorf("previews of deletions are not exact: %s", s.deletions)
	}
	left := s.look()
	for _, kept := range []Key{{"host", keptByPolicy.Kind, s.Space, keptByPolicy.Name}, {"host", keptByChart.Kind, s.Space, keptByChart.Name}} {
		if left[kept] == nil {
			t.Errorf("%s is not kept", kept)
		}
	}
}

// item returns an item of base by its name.
func (s *stage) item(name string) *Item {
	s.t.Helper()
	found := places(s.root("base"), func(at place) bool { return at.item.Name == name })
	if len(found) != 1 {
		s.t.Fatalf("there are %d items %s", len(found), name)
	}
	return found[0].item
}

// hold sets the finalizers of an object.
func (s *stage) hold(key Key, finalizers string) {
	s.t.Helper()
	object := s.look()[key]
	if object == nil {
		return
	}
	patch := client.RawPatch("application/merge-patch+json", fmt.Appendf(nil, `{"metadata":{"finalizers":%s}}`, finalizers))
	if err := client.IgnoreNotFound(s.targets[key.Target].Patch(s.t.Context(), object, patch)); err != nil {
		s.t.Fatal(err)
	}
}

// TestForetoldBy: what "delete --dry-run" prints, line by line.
func TestForetoldBy(t *testing.T) {
	preview, err := ForetoldBy(`1. base/net/core on host
   - ConfigMap ns/a
   - ClusterRole b
   - ConfigMap ns/c on the earlier cluster https://old.example
   → ConfigMap ns/d moves to deploy item base/other
2. base/late on edge (what it has deployed stays)
2. base/own
   ? items of type example.org/own cannot be compared
`, map[string]string{"https://old.example": "edge"})
	if err != nil {
		t.Fatal(err)
	}
	want := &Foretold{Removed: map[Key][]string{
		{"host", "ConfigMap", "ns", "a"}: {"base/net/core"}, {"host", "ClusterRole", "", "b"}: {"base/net/core"}, {"edge", "ConfigMap", "ns", "c"}: {"base/net/core"},
	}, Unknown: map[string]string{"base/own": "items of type example.org/own cannot be compared"}}
	if diff := cmp.Diff(want, preview); diff != "" {
		t.Error(diff)
	}
	if _, err := ForetoldBy("something else", nil); err == nil {
		t.Error("an unknown line is read")
	}
	var d Deletions
	complaints := d.Compare("base", preview, map[Key]string{
		{"host", "ConfigMap", "ns", "a"}: "delete", {"edge", "ConfigMap", "ns", "c"}: "delete",
		{"host", "ConfigMap", "ns", "e"}: "delete", {"host", "ConfigMap", "ns", "f"}: "update", {"host", "Secret", "ns", "g"}: "delete",
	}, map[Key][]string{{"host", "Secret", "ns", "g"}: {"base/own"}})
	if len(complaints) != 3 || d != (Deletions{Roots: 1, Foretold: 3, Removed: 4, Excused: 1, Wrong: 1, Missed: 2}) {
		t.Errorf("%+v: %q", d, complaints)
	}
}

// pointElsewhere lets the Target edge lead to the cluster of host, and another Target to where
// it led before.
func (s *stage) pointElsewhere(kubeconfig string) {
	s.t.Helper()
	env.CreateTarget(s.t, s.Space, "back", kubeconfig)
	changed, err := landscape.Target(s.Space, "edge", env.TargetKubeconfig)
	if err != nil {
		s.t.Fatal(err)
	}
	current := &v1alpha1.Target{}
	if err := env.Admin.Get(s.t.Context(), client.ObjectKeyFromObject(changed), current); err != nil {
		s.t.Fatal(err)
	}
	current.Spec = changed.Spec
	if err := env.Admin.Update(s.t.Context(), current); err != nil {
		s.t.Fatal(err)
	}
}
