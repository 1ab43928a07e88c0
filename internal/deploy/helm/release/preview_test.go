package release

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/google/go-cmp/cmp"

	"go.landscaper.dev/internal/deploy/target/fakecluster"
	"go.landscaper.dev/internal/landscape/diff"
)

// previewed are the actions of a preview by kind and name.
func previewed(t *testing.T, cluster *fakecluster.Cluster, desiredState DesiredState, action Action) (map[string]diff.Action, error) {
	t.Helper()
	store := storeOn(cluster)
	history, err := store.History(t.Context(), desiredState.Name)
	if err != nil {
		t.Fatal(err)
	}
	before := len(cluster.Requests)
	objects, err := Preview(t.Context(), store, desiredState, Alone{}, history, action)
	for _, request := range cluster.Requests[before:] {
		if !slices.Contains([]string{"get", "list", "preview", "previewnew"}, request.Verb) {
			t.Errorf("a preview makes a request to %s", request.Verb)
		}
	}
	actions := map[string]diff.Action{}
	for _, object := range objects {
		actions[object.Kind+" "+object.Name] = diff.Of(object, nil).Action
	}
	return actions, err
}

// TestPreview compares what is foretold with what happens then.
func TestPreview(t *testing.T) {
	cluster := fakecluster.New()
	first := wishFor("stays", "goes", "lost", "changes")
	first.Manifest += "data: {text: before}\n"
	want := map[string]diff.Action{"ConfigMap hook-before": diff.Unknown, "ConfigMap hook-after": diff.Unknown}
	for _, name := range []string{"changes", "stays", "goes", "lost"} {
		want["ConfigMap "+name] = diff.Create
	}
	got, err := previewed(t, cluster, first, Install)
	if difference := cmp.Diff(want, got); err != nil || difference != "" {
		t.Errorf("an installation: %v\n%s", err, difference)
	}
	if names := cluster.Names(); len(names) > 0 {
		t.Errorf("the preview has created %v", names)
	}
	waiting, err := reconcile(t, cluster, &testJob{}, first)
	must(t, waiting, err)

	cluster.Remove("ConfigMap", "here", "lost")
	second := wishFor("stays", "new", "lost", "changes")
	second.Manifest += "data: {text: after}\n"
	want = map[string]diff.Action{
		"ConfigMap hook-before": diff.Unknown, "ConfigMap hook-after": diff.Unknown, "ConfigMap changes": diff.Update,
		"ConfigMap stays": diff.Keep, "ConfigMap goes": diff.Delete, "ConfigMap lost": diff.Create, "ConfigMap new": diff.Create,
	}
	got, err = previewed(t, cluster, second, Upgrade)
	if difference := cmp.Diff(want, got); err != nil || difference != "" {
		t.Errorf("an upgrade: %v\n%s", err, difference)
	}
	waiting, err = reconcile(t, cluster, &testJob{}, second)
	must(t, waiting, err)
	if got := strings.Join(objectsOf(cluster), " "); strings.Contains(got, "goes") || !strings.Contains(got, "lost") || !strings.Contains(got, "new") {
		t.Errorf("the upgrade did something else: %s", got)
	}
}

// TestPreviewOfWhatOthersHave: an installation that would be refused is, and in the same
// words.
func TestPreviewOfWhatOthersHave(t *testing.T) {
	cluster := fakecluster.New()
	entries, err := Entries(manifestOf("a"), "here")
	if err != nil {
		t.Fatal(err)
	}
	cluster.Put(entries[0].Object)
	_, err = previewed(t, cluster, wishFor("a", "b"), Install)
	var foreign *foreignObject
	if !errors.As(err, &foreign) || !strings.Contains(err.Error(), "ConfigMap here/a exists and does not belong to the release") {
		t.Errorf("error %v", err)
	}
	taking := wishFor("a", "b")
	taking.TakeOwnership = true
	if got, err := previewed(t, cluster, taking, Install); err != nil || got["ConfigMap a"] != diff.Update {
		t.Errorf("%v, error %v", got, err)
	}
}

// TestPreviewOfNamespace: it is made only if it is missing.
func TestPreviewOfNamespace(t *testing.T) {
	cluster := fakecluster.New()
	desiredState := wishFor("a")
	desiredState.CreateNamespace = true
	if got, err := previewed(t, cluster, desiredState, Install); err != nil || got["Namespace here"] != diff.Create {
		t.Errorf("%v, error %v", got, err)
	}
	cluster.Put(namespaceOf(desiredState))
	if got, err := previewed(t, cluster, desiredState, Install); err != nil || got["Namespace here"] != diff.Keep {
		t.Errorf("%v, error %v", got, err)
	}
}

// TestMissing: a release with an object that another client has deleted is deployed again.
func TestMissing(t *testing.T) {
	cluster := fakecluster.New()
	waiting, err := reconcile(t, cluster, &testJob{}, wishFor("a", "b"))
	must(t, waiting, err)
	history, err := storeOn(cluster).History(t.Context(), "shop")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []bool{false, true} {
		if got, err := Missing(t.Context(), storeOn(cluster), history[0], everything); err != nil || got != want {
			t.Errorf("missing: %t, error %v", got, err)
		}
		cluster.Remove("ConfigMap", "here", "b")
	}
	if kept, err := Unchanged(history[0]); err != nil || len(kept) != 2 || diff.Of(kept[0], nil).Action != diff.Keep {
		t.Errorf("%+v, error %v", kept, err)
	}
}

func everything(*unstructured.Unstructured) bool { return true }

// TestPreviewRemoval: what is deleted with a release, what stays, and the hooks that run then.
func TestPreviewRemoval(t *testing.T) {
	cluster := fakecluster.New()
	waiting, err := reconcile(t, cluster, &testJob{}, wishFor("goes", "stays", "lost"))
	must(t, waiting, err)
	kept := cluster.Find("ConfigMap", "here", "stays")
	kept.SetAnnotations(map[string]string{policyAnnotation: keepPolicy, releaseAnnotation: "shop", namespaceAnnotation: "here"})
	cluster.Put(kept)
	cluster.Remove("ConfigMap", "here", "lost")
	history, err := storeOn(cluster).History(t.Context(), "shop")
	if err != nil {
		t.Fatal(err)
	}
	before := cluster.Names()
	found, err := PreviewRemoval(t.Context(), storeOn(cluster), "shop", "item", history)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]diff.Action{}
	for _, object := range found {
		got[object.Name] = diff.Of(object, nil).Action
	}
	want := map[string]diff.Action{"goes": diff.Delete, "stays": diff.Keep, "lost": diff.Keep, "hook-end": diff.Unknown}
	if difference := cmp.Diff(want, got); difference != "" {
		t.Error(difference)
	}
	if difference := cmp.Diff(before, cluster.Names()); difference != "" {
		t.Errorf("the preview has changed something\n%s", difference)
	}
}
