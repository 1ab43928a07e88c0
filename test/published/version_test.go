package published

import (
	"maps"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// runs is the image of the program in the cluster.
func runs(t *testing.T) string {
	t.Helper()
	deployment := &appsv1.Deployment{}
	if err := admin.Get(t.Context(), client.ObjectKey{Namespace: space, Name: "landscaper"}, deployment); err != nil {
		t.Fatal(err)
	}
	return deployment.Spec.Template.Spec.Containers[0].Image
}

// TestEarlierVersion goes back to the release of an earlier commit by its version, as docs/release.md
// says: its job refuses to replace newer definitions, and without that job it works with them.
func TestEarlierVersion(t *testing.T) {
	before := objects(t)
	u := installEarlier(t)
	old, values := runs(t), map[string]any{"egress": loopback}
	u.helm.version = bare
	u.helm.upgrade(t, values)
	current := revision(t)
	all := begin(t, "rest", 5)
	succeed(t, all)
	settled := stored(t)

	wantWork := func(name, image string) {
		t.Helper()
		if now := runs(t); now != image {
			t.Errorf("%s: %s runs, not %s", name, now, image)
		}
		if now := revision(t); now != current {
			t.Errorf("%s: the definitions have the revision %s, not %s", name, now, current)
		}
		made := begin(t, name, 1)
		succeed(t, made)
		wantStored(t, settled)
		all = append(all, made...)
	}
	u.helm.version = "0.0.1-earlier"
	if err := u.helm.tryUpgrade(t, values); err == nil {
		t.Error("an earlier release has replaced newer definitions")
	}
	wantWork("refused", imageOf(t))
	u.helm.rollbackTo(t, 2)
	wantWork("ended", imageOf(t))

	without := maps.Clone(values)
	without["install"] = map[string]any{"enabled": false}
	u.helm.upgrade(t, without)
	wantWork("version", old)
	u.helm.version = bare
	u.helm.upgrade(t, values)
	wantWork("again", imageOf(t))
	u.helm.rollbackTo(t, 1)
	wantWork("revision", old)

	u.remove(t, all)
	u.helm.uninstall(t)
	wantLeft(t, before, afterUninstall)
	removeAll(t, before)
}
