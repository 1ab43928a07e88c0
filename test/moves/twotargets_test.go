package moves

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/api/v1alpha1"
)

// rotated has other credentials for the cluster of env.TargetKubeconfig.
func rotated() string { return env.TargetKubeconfig + "\n# rotated\n" }

// onTwo is a root with two imports of Targets.
func onTwo(t *testing.T, space, cluster, other string, parts ...part) v1alpha1.InstallationSpec {
	t.Helper()
	var items strings.Builder
	for _, p := range parts {
		items.WriteString(p.item(t))
	}
	declared := `imports: [{name: cluster, type: target, targetType: landscaper.gardener.cloud/kubernetes-cluster}, {name: other, type: target, targetType: landscaper.gardener.cloud/kubernetes-cluster}]` + "\n"
	return rootOf(t, space, `imports: {targets: [{name: cluster, target: `+cluster+`}, {name: other, target: `+other+`}]}`, blueprintOf(t, declared, items.String()))
}

func (p part) onOther() part {
	return p.with(map[string]any{"target": map[string]any{"import": "other"}})
}

// acrossTargets is a move between items whose Targets lead to the same cluster.
type acrossTargets struct {
	reason        string
	before, after []part
	// plan is how the plan counts it, "" if that is not looked at.
	plan string
	// byTunnel gives the second Target another address of the cluster.
	byTunnel bool
}

func movesBetweenTargets() []acrossTargets {
	one, two := manifestsOf("one", otherMap), manifestsOf("two", oneMap, thirdMap)
	oneAfter, twoAfter := manifestsOf("one", otherMap, oneMap), manifestsOf("two", thirdMap)
	everything := manifestsOf("one", everyKind...)
	return []acrossTargets{
		{reason: "to the item that the giving one comes after: the object stays", before: []part{one, two.onOther().after("one")}, after: []part{oneAfter, twoAfter.onOther().after("one")}, plan: "1 moves, 0 to delete"},
		{reason: "between items without an order: the object stays", before: []part{one, two.onOther()}, after: []part{oneAfter, twoAfter.onOther()}, plan: "1 moves, 0 to delete"},
		{reason: "to an item with policy fallback: the object stays", before: []part{one.under("fallback"), two.onOther()}, after: []part{oneAfter.under("fallback"), twoAfter.onOther()}, plan: "1 moves, 0 to delete"},
		{reason: "only after changes: the object stays", before: []part{one.onChange(), two.onOther().onChange()}, after: []part{oneAfter.onChange(), twoAfter.onOther().onChange()}, plan: "1 moves, 0 to delete"},
		{reason: "from manifests to a chart: the object stays", before: []part{releaseOf("one", "web", otherMap), two.onOther()}, after: []part{releaseOf("one", "web", otherMap, oneMap), twoAfter.onOther()}, plan: "1 moves, 0 to delete"},
		{reason: "from a chart to manifests: the object stays", before: []part{releaseOf("one", "web", otherMap, oneMap), twoAfter.onOther()}, after: []part{releaseOf("one", "web", otherMap), two.onOther()}, plan: "1 moves, 0 to delete"},
		{reason: "a renamed item: everything stays", before: []part{everything}, after: []part{manifestsOf("renamed", everyKind...).onOther()}, plan: "3 move, 0 to delete"},
		{reason: "a renamed item by another address: everything stays", before: []part{everything}, after: []part{manifestsOf("renamed", everyKind...).onOther()}, plan: "3 move, 0 to delete", byTunnel: true},
		{reason: "a renamed item with policy fallback by another address: everything stays", before: []part{everything.under("fallback")}, after: []part{manifestsOf("renamed", everyKind...).onOther().under("fallback")}, plan: "3 move, 0 to delete", byTunnel: true},
		{reason: "a renamed item with policy immutable by another address: everything stays", before: []part{everything.under("immutable")}, after: []part{manifestsOf("renamed", everyKind...).onOther().under("immutable")}, plan: "3 move, 0 to delete", byTunnel: true},
		{reason: "a renamed item of a release by another address: everything stays", before: []part{releaseOf("one", "web", everyKind...)}, after: []part{releaseOf("renamed", "web", everyKind...).onOther()}, plan: "3 move, 0 to delete", byTunnel: true},
		{reason: "between items by another address: the object stays", before: []part{one.under("fallback"), two.onOther()}, after: []part{oneAfter.under("fallback"), twoAfter.onOther()}, plan: "1 moves, 0 to delete", byTunnel: true},
		{reason: "a renamed item with policy fallback: everything stays", before: []part{everything.under("fallback")}, after: []part{manifestsOf("renamed", everyKind...).onOther().under("fallback")}, plan: "3 move, 0 to delete"},
		{reason: "a renamed item of a release: everything stays", before: []part{releaseOf("one", "web", everyKind...)}, after: []part{releaseOf("renamed", "web", everyKind...).onOther()}, plan: "3 move, 0 to delete"},
		{reason: "a renamed item of a kustomization: everything stays", before: []part{everything.as(ofKustomization)}, after: []part{manifestsOf("renamed", everyKind...).as(ofKustomization).onOther()}, plan: "3 move, 0 to delete"},
		{reason: "manifests become a release: everything stays", before: []part{everything}, after: []part{releaseOf("renamed", "web", everyKind...).onOther()}, plan: "3 move, 0 to delete"},
		{reason: "a release becomes manifests: everything stays", before: []part{releaseOf("one", "web", everyKind...)}, after: []part{manifestsOf("renamed", everyKind...).onOther()}, plan: "3 move, 0 to delete"},
		{reason: "the same item gets the other Target: everything stays", before: []part{everything}, after: []part{everything.onOther()}},
	}
}

// TestMovesBetweenTargets: two Targets with different credentials lead to the same cluster. What
// moves from an item with the one to an item with the other stays, and the plan says that.
func TestMovesBetweenTargets(t *testing.T) {
	startServer(t, env.ServerKubeconfig)
	for _, test := range movesBetweenTargets() {
		t.Run(test.reason, func(t *testing.T) {
			t.Parallel()
			test.play(t)
		})
	}
}

func (test acrossTargets) play(t *testing.T) {
	t.Helper()
	space, twin := namespace(t), rotated()
	if test.byTunnel {
		twin, _ = tunnel(t)
	}
	createTarget(t, space, "twin", twin)
	inst := waitSucceeded(t, create(t, installationOf(space, "tree", onTwo(t, space, "host", "twin", test.before...))))
	before := deployedIn(t, space)
	after := onTwo(t, space, "host", "twin", test.after...)
	if test.plan != "" {
		changed := getInstallation(t, inst)
		changed.Spec = after
		if err := env.Admin.Update(t.Context(), changed); err != nil {
			t.Fatal(err)
		}
		if got := planned(t, space, "tree", 2); !strings.Contains(got, test.plan) {
			t.Errorf("the plan has no %q:\n%s", test.plan, got)
		}
	}
	inst = again(t, inst, after, v1alpha1.InstallationPhases.Succeeded)
	wantMoved(t, space, "after the move", root(test.after...), before)
	wantNothingPending(t, space)
	if err := env.Admin.Delete(t.Context(), inst); err != nil {
		t.Fatal(err)
	}
	waitGone(t, env.Admin, inst.DeepCopy(), &v1alpha1.InstallationList{})
	wantGone(t, space)
}

// TestMovesWithRenamedTarget: a Target has another name, the one of before is deleted, and
// something moves in the same job: what is wanted stays, and all else is removed by the other one.
func TestMovesWithRenamedTarget(t *testing.T) {
	startServer(t, env.ServerKubeconfig)
	one, two := manifestsOf("one", otherMap), manifestsOf("two", oneMap, thirdMap)
	everything, release := manifestsOf("one", everyKind...), releaseOf("one", "web", everyKind...)
	for _, m := range []move{
		{reason: "nothing else changes: everything stays", before: root(everything), after: root(everything)},
		{reason: "a renamed item: everything stays", before: root(everything), after: root(manifestsOf("renamed", everyKind...))},
		{reason: "a renamed item of a release: everything stays", before: root(release), after: root(releaseOf("renamed", "web", everyKind...))},
		{reason: "a renamed item of a kustomization: everything stays", before: root(everything.as(ofKustomization)), after: root(manifestsOf("renamed", everyKind...).as(ofKustomization))},
		{reason: "a move between items: the object stays", before: root(one, two.after("one")), after: root(manifestsOf("one", otherMap, oneMap), manifestsOf("two", thirdMap).after("one"))},
		{reason: "an item that is not wanted any more: its objects are removed", before: root(one, two), after: root(one)},
		{reason: "a release that is not wanted any more: it is uninstalled", before: root(one, releaseOf("chart", "web", oneMap)), after: root(one)},
		{reason: "a renamed subinstallation: everything stays", before: root().above(sub("one", manifestsOf("app", everyKind...))), after: root().above(sub("renamed", manifestsOf("app", everyKind...)))},
		{reason: "a renamed subinstallation with policy fallback: everything stays", before: root().above(sub("one", manifestsOf("app", everyKind...).under("fallback"))), after: root().above(sub("renamed", manifestsOf("app", everyKind...).under("fallback")))},
		{reason: "from a subinstallation to the root: everything stays", before: root().above(sub("one", manifestsOf("app", everyKind...))), after: root(manifestsOf("own", everyKind...))},
		{reason: "a subinstallation that is not wanted any more: its objects are removed", before: root(manifestsOf("own", thirdMap)).above(sub("one", manifestsOf("app", everyKind...))), after: root(manifestsOf("own", thirdMap))},
	} {
		t.Run(m.reason, func(t *testing.T) {
			t.Parallel()
			space := namespace(t)
			inst := waitSucceeded(t, create(t, installationOf(space, "tree", m.before.spec(t, space))))
			before := deployedIn(t, space)
			createTarget(t, space, "renamed", rotated())
			if err := env.Admin.Delete(t.Context(), &v1alpha1.Target{ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: "host"}}); err != nil {
				t.Fatal(err)
			}
			spec := m.after.spec(t, space)
			spec.Imports.Targets[0].Target = "renamed"
			changed := getInstallation(t, inst)
			changed.Spec = spec
			if err := env.Admin.Update(t.Context(), changed); err != nil {
				t.Fatal(err)
			}
			if _, seen, complaints := cli(t, "inst", "plan", "tree", "-n", space); strings.Contains(seen+complaints, "does not exist") {
				t.Errorf("the plan misses a Target:\n%s%s", seen, complaints)
			}
			again(t, inst, spec, v1alpha1.InstallationPhases.Succeeded)
			wantMoved(t, space, "after the move", m.after, before)
			wantNothingPending(t, space)
		})
	}
}
