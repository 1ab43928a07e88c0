package moves

import (
	"encoding/json"
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/landscape/diff"
	"go.landscaper.dev/internal/preview"
)

// movesPlanned plans a change of a tree.
func movesPlanned(t *testing.T, space string, inst *v1alpha1.Installation, after branch, want ...string) {
	t.Helper()
	changed := getInstallation(t, inst)
	changed.Spec = after.spec(t, space)
	if err := env.Admin.Update(t.Context(), changed); err != nil {
		t.Fatal(err)
	}
	got := planned(t, space, inst.Name, 2)
	for _, line := range want {
		if !strings.Contains(got, strings.ReplaceAll(line, "NAMESPACE", space)+"\n") {
			t.Errorf("the plan has no %q:\n%s", line, got)
		}
	}
}

// TestPlanOfMoves: an object that another part of the tree wants is one line of the plan, and
// neither deleted nor created.
func TestPlanOfMoves(t *testing.T) {
	startServer(t, env.ServerKubeconfig)
	one, two := manifestsOf("one", otherMap), manifestsOf("two", oneMap, thirdMap)
	for _, test := range []struct {
		reason        string
		before, after branch
		want          []string
	}{
		{"between items", root(one, two), root(manifestsOf("one", otherMap, oneMap), manifestsOf("two", "ConfigMap/new")), []string{
			"  → ConfigMap NAMESPACE/one moves from deploy item tree/two to deploy item tree/one",
			"Plan: 1 to create, 0 to change, 1 moves, 1 to delete, 1 unchanged",
		}},
		{"to an item that does not touch objects of others", root(one.under("fallback"), two), root(manifestsOf("one", otherMap, oneMap).under("fallback"), manifestsOf("two", thirdMap)), []string{
			"  → ConfigMap NAMESPACE/one moves from deploy item tree/two to deploy item tree/one",
			"Plan: 0 to create, 0 to change, 1 moves, 0 to delete, 2 unchanged",
		}},
		{"a renamed item", root(two), root(manifestsOf("renamed", oneMap)), []string{
			"- tree/two on host: the item goes", "  - delete ConfigMap NAMESPACE/third",
			"  → ConfigMap NAMESPACE/one moves from deploy item tree/two to deploy item tree/renamed",
			"Plan: 0 to create, 0 to change, 1 moves, 1 to delete, 0 unchanged",
		}},
		{"to a chart", root(two), root(manifestsOf("two", thirdMap), releaseOf("chart", "web", oneMap, otherMap)), []string{
			"  → ConfigMap NAMESPACE/one moves from deploy item tree/two to deploy item tree/chart",
			"  + create ConfigMap NAMESPACE/other",
			"Plan: 1 to create, 0 to change, 1 moves, 0 to delete, 1 unchanged",
		}},
		{"from a chart to a kustomization", root(releaseOf("chart", "web", oneMap)), root(manifestsOf("files", oneMap).as(ofKustomization)), []string{
			"  → ConfigMap NAMESPACE/one moves from deploy item tree/chart to deploy item tree/files",
			"Plan: 0 to create, 0 to change, 1 moves, 0 to delete, 0 unchanged",
		}},
		{"a renamed item of a release", root(releaseOf("chart", "web", oneMap)), root(releaseOf("renamed", "web", oneMap)), []string{
			"  → ConfigMap NAMESPACE/one moves from deploy item tree/chart to deploy item tree/renamed",
			"Plan: 0 to create, 0 to change, 1 moves, 0 to delete, 0 unchanged",
		}},
		{"a renamed sub-installation", root().above(sub("old", two)), root().above(sub("new", two)), []string{
			"  → ConfigMap NAMESPACE/one moves from deploy item tree/old/two to deploy item tree/new/two",
			"Plan: 0 to create, 0 to change, 2 move, 0 to delete, 0 unchanged",
		}},
	} {
		t.Run(test.reason, func(t *testing.T) {
			space := namespace(t)
			inst := waitSucceeded(t, create(t, installationOf(space, "tree", test.before.spec(t, space))))
			movesPlanned(t, space, inst, test.after, test.want...)
			// The job does what was planned.
			before := deployedIn(t, space)
			inst = again(t, inst, getInstallation(t, inst).Spec, v1alpha1.InstallationPhases.Succeeded)
			wantMoved(t, space, "after the job", test.after, before)
			planned(t, space, inst.Name, 0)
		})
	}
	t.Run("for programs", func(t *testing.T) { planForPrograms(t, one, two) })
	t.Run("a deletion", heirOfDeletion)
}

// planForPrograms: the JSON names both items, and what changes with the move.
func planForPrograms(t *testing.T, one, two part) {
	space := namespace(t)
	inst := waitSucceeded(t, create(t, installationOf(space, "tree", root(one, two).spec(t, space))))
	changed := getInstallation(t, inst)
	changed.Spec = root(manifestsOf("one", otherMap, oneMap), manifestsOf("two", thirdMap)).spec(t, space)
	text := strings.Replace(string(changed.Spec.Blueprint.Inline.Filesystem.RawMessage), `\\\"text\\\":\\\"one\\\"`, `\\\"text\\\":\\\"more\\\"`, 1)
	changed.Spec.Blueprint.Inline.Filesystem = v1alpha1.NewAnyJSON([]byte(text))
	if err := env.Admin.Update(t.Context(), changed); err != nil {
		t.Fatal(err)
	}
	result := &preview.Result{}
	if err := json.Unmarshal([]byte(planned(t, space, "tree", 2, "-o", "json")), result); err != nil {
		t.Fatal(err)
	}
	if want := (diff.Summary{Move: 1, Keep: 2}); result.Summary != want {
		t.Errorf("the summary is %+v", result.Summary)
	}
	for _, item := range result.Items {
		for _, change := range item.Changes {
			if change.Name == "one" && (change.Action != diff.Move || change.MovesFrom != "tree/two" || change.MovesTo != "tree/one" || item.Path != "tree/one" ||
				len(change.Fields) != 1 || change.Fields[0].Path != "data.text") {
				t.Errorf("the move is %+v of %s", change, item.Path)
			}
		}
	}
}

// heirOfDeletion: what an item of another Installation wants stays when one is deleted.
func heirOfDeletion(t *testing.T) {
	space := namespace(t)
	first := waitSucceeded(t, create(t, installationOf(space, "first", root(manifestsOf("app", oneMap, otherMap)).spec(t, space))))
	waitSucceeded(t, create(t, installationOf(space, "second", root(manifestsOf("app", oneMap).under("fallback")).spec(t, space))))
	before := deployedIn(t, space)
	code, got, complaints := cli(t, "inst", "delete", "first", "-n", space, "--dry-run")
	if want := "   - ConfigMap " + space + "/other\n   → ConfigMap " + space + "/one moves to deploy item second/app\n"; code != 0 || !strings.Contains(got, want) {
		t.Errorf("code %d, no %q: %s%s", code, want, got, complaints)
	}
	if err := env.Admin.Delete(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	waitGone(t, env.Admin, first.DeepCopy(), &v1alpha1.InstallationList{})
	wantMoved(t, space, "after the deletion", root(manifestsOf("app", oneMap)), before)
	second := &v1alpha1.Installation{}
	if err := env.Admin.Get(t.Context(), client.ObjectKey{Namespace: space, Name: "second"}, second); err != nil {
		t.Fatal(err)
	}
	if err := env.Admin.Delete(t.Context(), second); err != nil {
		t.Fatal(err)
	}
	waitGone(t, env.Admin, second, &v1alpha1.InstallationList{})
	wantGone(t, space)
}
