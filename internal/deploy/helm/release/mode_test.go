package release

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"go.landscaper.dev/api/deployer"
	"go.landscaper.dev/internal/deploy/apply"
	"go.landscaper.dev/internal/deploy/helm/storage"
	"go.landscaper.dev/internal/deploy/target/fakecluster"
	"go.landscaper.dev/internal/model/ownership"
)

// TestDeployedWithoutRelease takes over objects that an item has deployed without a release, and
// removes those that it does not want any more; objects of another owner stay.
func TestDeployedWithoutRelease(t *testing.T) {
	cluster := fakecluster.New()
	put := func(kind, name, label, more string) types.UID {
		return cluster.Put(object(t, "{apiVersion: v1, kind: "+kind+", metadata: {name: "+name+", namespace: here, labels: {of: "+label+"}"+more+"}}")).GetUID()
	}
	recorded := func(kind, name string, uid types.UID, policy deployer.ManifestPolicy) deployer.ManagedResourceStatus {
		entry := deployer.ManagedResourceStatus{Policy: policy}
		entry.Resource.APIVersion, entry.Resource.Kind, entry.Resource.Namespace, entry.Resource.Name, entry.Resource.UID = "v1", kind, "here", name, uid
		return entry
	}
	desiredState := wishFor("a")
	desiredState.Hooks = nil
	desiredState.Ours = func(object *unstructured.Unstructured) bool { return object.GetLabels()["of"] == "me" }
	desiredState.Before = apply.Inventory{
		recorded("ConfigMap", "a", put("ConfigMap", "a", "me", ""), deployer.ManagePolicy),
		recorded("ConfigMap", "goes", put("ConfigMap", "goes", "me", ""), deployer.ManagePolicy),
		recorded("ConfigMap", "label-was-lost", put("ConfigMap", "label-was-lost", "unknown", ""), deployer.ManagePolicy),
		recorded("ConfigMap", "never-confirmed", "", deployer.ManagePolicy),
		recorded("ConfigMap", "never-confirmed-of-others", "", deployer.ManagePolicy),
		recorded("ConfigMap", "made-anew-by-others", "an older one", deployer.ManagePolicy),
		recorded("ConfigMap", "keep", put("ConfigMap", "keep", "me", ""), deployer.KeepPolicy),
		recorded("ConfigMap", "annotated", put("ConfigMap", "annotated", "me", ", annotations: {helm.sh/resource-policy: keep}"), deployer.ManagePolicy),
		recorded("CustomResourceDefinition", "kinds", "", deployer.ManagePolicy),
		recorded("ConfigMap", "gone", "gone", deployer.ManagePolicy),
	}
	put("ConfigMap", "never-confirmed", "me", "")
	put("ConfigMap", "never-confirmed-of-others", "others", "")
	put("ConfigMap", "made-anew-by-others", "me", "")
	first := cluster.Find("ConfigMap", "here", "a").GetUID()
	waiting, err := reconcile(t, cluster, &testJob{}, desiredState)
	must(t, waiting, err)
	want := []string{"ConfigMap here/a", "ConfigMap here/annotated", "ConfigMap here/keep", "ConfigMap here/made-anew-by-others", "ConfigMap here/never-confirmed-of-others"}
	if diff := cmp.Diff(want, objectsOf(cluster)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if a := cluster.Find("ConfigMap", "here", "a"); a.GetUID() != first || !owned(a, "shop", "here") {
		t.Errorf("it is not taken over: %v", a)
	}
}

// TestDissolved reports which objects of a release exist, and forgets the release.
func TestDissolved(t *testing.T) {
	cluster := fakecluster.New()
	store := storeOn(cluster)
	desiredState := wishFor("a", "gone", "taken")
	desiredState.Manifest += "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: precious, annotations: {helm.sh/resource-policy: keep}}\n"
	waiting, err := reconcile(t, cluster, &testJob{}, desiredState)
	must(t, waiting, err)
	second := wishFor("a", "gone", "taken")
	second.Marks.Digest = "of the second"
	waiting, err = reconcile(t, cluster, &testJob{}, second)
	must(t, waiting, err)
	cluster.Remove("ConfigMap", "here", "gone")
	taken := cluster.Find("ConfigMap", "here", "taken")
	taken.SetAnnotations(nil)
	cluster.Put(taken)
	history, err := store.History(t.Context(), "shop")
	if err != nil || len(history) != 2 {
		t.Fatalf("%d revisions: %v", len(history), err)
	}
	found, err := Inventory(t.Context(), store, "shop", "item", history)
	if err != nil || len(found) != 1 || found[0].Resource.Name != "a" || found[0].Resource.UID != cluster.Find("ConfigMap", "here", "a").GetUID() || found[0].Policy != deployer.ManagePolicy {
		t.Errorf("%+v, %v", found, err)
	}
	cluster.Requests = nil
	if err := store.Forget(t.Context(), "shop", history); err != nil || statuses(t, cluster) != nil {
		t.Errorf("%v, left %v", err, statuses(t, cluster))
	}
	if first := cluster.Requests[0].Name; first != storage.Name("shop", 1) {
		t.Errorf("the newest is deleted last, but the first is %s", first)
	}
	if cluster.Find("ConfigMap", "here", "a") == nil || cluster.Find("ConfigMap", "here", "precious") == nil {
		t.Error("an object is deleted")
	}
}

// TestUnmark makes the objects of a release those of an item without one, but for those that
// others have taken over.
func TestUnmark(t *testing.T) {
	cluster := installed(t, "a", "taken", "of-other")
	store := storeOn(cluster)
	history, err := store.History(t.Context(), "shop")
	if err != nil {
		t.Fatal(err)
	}
	found, err := Inventory(t.Context(), store, "shop", "item", history)
	if err != nil || len(found) != 3 {
		t.Fatalf("%v, %v", found, err)
	}
	change(cluster, "taken", labelled("two"))
	change(cluster, "of-other", ofRelease("other"))
	cluster.Fault = func(request fakecluster.Request) fakecluster.Fault {
		if request.Name == "a" && request.Verb == "patch" {
			cluster.Fault = nil
			return fakecluster.Fault{Meanwhile: func(object *unstructured.Unstructured) { object.SetFinalizers([]string{"acme.example/guard"}) }}
		}
		return fakecluster.Fault{}
	}
	if err := Unmark(t.Context(), store, found, "shop", ownership.HelmLabel, "item"); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"a": "item item", "taken": "item two, release shop", "of-other": "release other"} {
		if got := ownersOf(cluster.Find("ConfigMap", "here", name)); got != want {
			t.Errorf("%s is of %q, want %q", name, got, want)
		}
	}
}
