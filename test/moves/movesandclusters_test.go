package moves

import (
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
)

// TestMovesToAnotherCluster: the Target leads to another cluster, and something moves in the same
// job. Everything is on the new cluster, and nothing on the old one, but only after a job that
// succeeds: one that fails has removed nothing.
func TestMovesToAnotherCluster(t *testing.T) {
	startServer(t, env.ServerKubeconfig)
	for _, m := range []move{
		{reason: "nothing else changes", before: root(manifestsOf("one", oneMap, otherMap)), after: root(manifestsOf("one", oneMap, otherMap))},
		{reason: "a renamed item", before: root(manifestsOf("one", oneMap, otherMap)), after: root(manifestsOf("renamed", oneMap, otherMap))},
		{reason: "a renamed item of a release", before: root(releaseOf("one", "web", oneMap, otherMap)), after: root(releaseOf("renamed", "web", oneMap, otherMap))},
		{reason: "a renamed release", before: root(releaseOf("one", "web", oneMap, otherMap)), after: root(releaseOf("one", "shop", oneMap, otherMap))},
		{reason: "a renamed subinstallation", before: root().above(sub("one", manifestsOf("app", oneMap, otherMap))), after: root().above(sub("renamed", manifestsOf("app", oneMap, otherMap)))},
		{reason: "a subinstallation that stays", before: root().above(sub("one", manifestsOf("app", oneMap, otherMap))), after: root().above(sub("one", manifestsOf("app", oneMap, otherMap)))},
		{reason: "a move between items", before: root(manifestsOf("one", otherMap), manifestsOf("two", oneMap, thirdMap)), after: root(manifestsOf("one", otherMap, oneMap), manifestsOf("two", thirdMap))},
		{reason: "an item that is not wanted any more", before: root(manifestsOf("one", otherMap), manifestsOf("two", oneMap, thirdMap)), after: root(manifestsOf("one", otherMap))},
		{reason: "a kustomization", before: root(manifestsOf("one", oneMap, otherMap).as(ofKustomization)), after: root(manifestsOf("one", oneMap, otherMap).as(ofKustomization))},
		{reason: "a release", before: root(releaseOf("one", "web", oneMap, otherMap)), after: root(releaseOf("one", "web", oneMap, otherMap))},
		{reason: "a release becomes templates", before: root(releaseOf("one", "web", oneMap, otherMap)), after: root(releaseOf("one", "web", oneMap, otherMap).as(ofTemplates))},
	} {
		t.Run(m.reason+"/another Target", func(t *testing.T) {
			t.Parallel()
			s := beginSwitch(t, m)
			s.to(t, m.after, "other", v1alpha1.InstallationPhases.Succeeded)
			s.end(t, env.Admin, env.Workload)
		})
		t.Run(m.reason+"/the Target leads elsewhere, another one to the old cluster", func(t *testing.T) {
			t.Parallel()
			s := beginSwitch(t, m)
			createTarget(t, s.space, "back", env.TargetKubeconfig)
			point(t, s.space, "host", otherKubeconfig(t))
			s.to(t, m.after, "host", v1alpha1.InstallationPhases.Succeeded)
			s.end(t, env.Admin, env.Workload)
		})
		t.Run(m.reason+"/another Target, after a job that fails", func(t *testing.T) {
			t.Parallel()
			s := beginSwitch(t, m)
			s.to(t, m.after.failing(), "other", v1alpha1.InstallationPhases.Failed)
			s.to(t, m.after, "other", v1alpha1.InstallationPhases.Succeeded)
			s.end(t, env.Admin, env.Workload)
		})
		t.Run(m.reason+"/back again after a job that fails: nothing was removed", func(t *testing.T) {
			t.Parallel()
			s := beginSwitch(t, m)
			before := deployedIn(t, s.space)
			s.to(t, m.after.failing(), "other", v1alpha1.InstallationPhases.Failed)
			s.to(t, m.after, "host", v1alpha1.InstallationPhases.Succeeded)
			wantMoved(t, s.space, "back", m.after, before)
			s.end(t, env.Workload, env.Admin)
		})
	}
}

// failing is a branch with a part that fails.
func (b branch) failing() branch {
	b.parts = append(append([]part{}, b.parts...), refused())
	return b
}

// clusterSwitch is a tree with a Target of a second cluster beside its own.
type clusterSwitch struct {
	move
	space string
	inst  *v1alpha1.Installation
}

func beginSwitch(t *testing.T, m move) *clusterSwitch {
	t.Helper()
	space := namespace(t)
	createTarget(t, space, "other", otherKubeconfig(t))
	return &clusterSwitch{move: m, space: space, inst: waitSucceeded(t, create(t, installationOf(space, "tree", m.before.spec(t, space))))}
}

// to deploys a branch with a Target.
func (s *clusterSwitch) to(t *testing.T, what branch, target string, phase v1alpha1.InstallationPhase) {
	t.Helper()
	spec := what.spec(t, s.space)
	spec.Imports.Targets[0].Target = target
	s.inst = again(t, s.inst, spec, phase)
}

// end checks that everything is on one cluster and nothing on the other one, and deletes the tree.
func (s *clusterSwitch) end(t *testing.T, full, empty client.Client) {
	t.Helper()
	var wanted []string
	for _, name := range s.after.objects() {
		wanted = append(wanted, strings.TrimPrefix(name, "ConfigMap/"))
	}
	wantOn(t, full, "wanted", s.space, true, wanted...)
	wantOn(t, empty, "unwanted", s.space, false, "one", "other", "third")
	wantNothingPending(t, s.space)
	if err := env.Admin.Delete(t.Context(), s.inst); err != nil {
		t.Fatal(err)
	}
	waitGone(t, env.Admin, s.inst.DeepCopy(), &v1alpha1.InstallationList{})
	wantOn(t, full, "wanted", s.space, false, "one", "other", "third")
}
