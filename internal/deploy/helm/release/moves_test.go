package release

import (
	"context"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"go.landscaper.dev/api/deployer"
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/deploy/apply"
	"go.landscaper.dev/internal/deploy/helm/storage"
	"go.landscaper.dev/internal/deploy/target/fakecluster"
	"go.landscaper.dev/internal/model/ownership"
)

// neighbors are others whose answers are given.
type neighbors struct {
	Alone
	items            []*v1alpha1.DeployItem
	mayKeep, mayMove bool
	// fickle says that the items do not want anything any more when they are asked again.
	fickle bool
	asked  int
	// yielding are the owners, items and releases, that let their objects go.
	yielding []string
	// elsewhere says that what is released was released in another namespace.
	elsewhere bool
	kept      apply.Inventory
	moved     []string
	// bequeathed are the objects that other items are to record.
	bequeathed []string
}

func (n *neighbors) Others(context.Context) ([]*v1alpha1.DeployItem, error) {
	if n.asked++; n.fickle && n.asked > 1 {
		return nil, nil
	}
	return n.items, nil
}

func (n *neighbors) MayKeep(context.Context) (bool, error) { return n.mayKeep, nil }
func (n *neighbors) MayMove(context.Context) (bool, error) { return n.mayMove, nil }
func (n *neighbors) Keep(_ context.Context, kept apply.Inventory) error {
	n.kept = kept
	return nil
}

func (n *neighbors) Moved(_ context.Context, object string, to *v1alpha1.DeployItem) {
	n.moved = append(n.moved, object+" to "+to.Name)
}

func (n *neighbors) Bequeath(_ context.Context, heir *v1alpha1.DeployItem, entry deployer.ManagedResourceStatus) error {
	n.bequeathed = append(n.bequeathed, entry.Resource.Kind+" "+entry.Resource.Name+" to "+heir.Name)
	return nil
}

func (n *neighbors) Yields(_ context.Context, live *unstructured.Unstructured) (bool, string, error) {
	if live.GetAnnotations()[v1alpha1.ReleasedByAnnotation] != "" && !n.elsewhere {
		return true, "", nil
	}
	holders := ownership.Others(live, "item")
	if release := live.GetAnnotations()[releaseAnnotation]; release != "" && release != "shop" {
		holders = append(holders, "release "+release)
	}
	for _, holder := range holders {
		if !slices.Contains(n.yielding, holder) {
			return false, "DeployItem " + holder, nil
		}
	}
	return len(holders) > 0, "", nil
}

// movesJob is a job with neighbors.
type movesJob struct {
	*neighbors
	expired bool
}

func (movesJob) Checkpoint(context.Context, string) error { return nil }
func (j movesJob) Expired() bool                          { return j.expired }
func (movesJob) Requeue()                                 {}

// lister is a manifest item that lists ConfigMap b, and may have recorded it.
func lister(name string, recorded bool) *v1alpha1.DeployItem {
	item := &v1alpha1.DeployItem{}
	item.Name, item.Spec.Type = name, v1alpha1.ManifestDeployItemType
	item.Spec.Configuration = &runtime.RawExtension{Raw: []byte(`{"manifests":[{"policy":"manage","manifest":{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"b","namespace":"here"}}}]}`)}
	if recorded {
		item.Status.ProviderStatus = &runtime.RawExtension{Raw: []byte(`{"managedResources":[{"resource":{"apiVersion":"v1","kind":"ConfigMap","namespace":"here","name":"b"}}]}`)}
	}
	return item
}

// expecting is a manifest item that has ConfigMap b with policy ignore.
func expecting(name string) *v1alpha1.DeployItem {
	item := lister(name, false)
	item.Spec.Configuration.Raw = []byte(strings.ReplaceAll(string(item.Spec.Configuration.Raw), `"manage"`, `"ignore"`))
	return item
}

// wishOf is a release of an item with a name.
func wishOf(names ...string) DesiredState {
	desiredState := wishFor(names...)
	desiredState.Item = "item"
	return desiredState
}

func installed(t *testing.T, names ...string) *fakecluster.Cluster {
	t.Helper()
	cluster := fakecluster.New()
	waiting, err := reconcile(t, cluster, &testJob{}, wishOf(names...))
	must(t, waiting, err)
	return cluster
}

// change changes an object as another client would.
func change(cluster *fakecluster.Cluster, name string, with func(*unstructured.Unstructured)) types.UID {
	object := cluster.Find("ConfigMap", "here", name)
	with(object)
	return cluster.Put(object).GetUID()
}

func labelled(item string) func(*unstructured.Unstructured) {
	return func(object *unstructured.Unstructured) {
		labels := object.GetLabels()
		if labels == nil {
			labels = map[string]string{}
		}
		labels[ownership.ManifestLabel] = item
		object.SetLabels(labels)
	}
}

func ofRelease(name string) func(*unstructured.Unstructured) {
	return func(object *unstructured.Unstructured) {
		*object = *Marked(object, name, "here")
	}
}

// ownersOf says whose an object is, by all of its marks.
func ownersOf(object *unstructured.Unstructured) string {
	if object == nil {
		return "gone"
	}
	var owners []string
	for _, item := range ownership.Others(object, "") {
		owners = append(owners, "item "+item)
	}
	if release := object.GetAnnotations()[releaseAnnotation]; release != "" || object.GetLabels()[managedByLabel] == managedByHelm {
		owners = append(owners, "release "+release)
	}
	if by := object.GetAnnotations()[v1alpha1.ReleasedByAnnotation]; by != "" {
		owners = append(owners, "released by "+by)
	}
	return strings.Join(owners, ", ")
}

// TestDroppedObject: what becomes of an object that an upgrade drops. The object is deleted only if
// no item wants it, and keeps its identity otherwise.
func TestDroppedObject(t *testing.T) {
	tests := []struct {
		reason string
		others neighbors
		before func(*unstructured.Unstructured)
		// between is done after the object is read, before it is changed or deleted.
		between func(*unstructured.Unstructured)
		want    string
		kept    bool
	}{
		{reason: "no item wants it", want: "gone"},
		{reason: "no item may want it, and the item is asked again", others: neighbors{mayKeep: true}, want: "gone"},
		{reason: "an item has recorded it", others: neighbors{mayKeep: true, items: []*v1alpha1.DeployItem{lister("two", true)}}, want: "item two"},
		{reason: "an item lists it that is still to deploy it", others: neighbors{mayKeep: true, items: []*v1alpha1.DeployItem{lister("two", false)}}, want: "release shop, released by item", kept: true},
		{reason: "an item lists it, and is not asked again", others: neighbors{items: []*v1alpha1.DeployItem{lister("two", false)}}, want: "item two"},
		{reason: "an item expects it", others: neighbors{items: []*v1alpha1.DeployItem{expecting("two")}}, want: ""},
		{reason: "a chart may want it", others: neighbors{mayKeep: true, mayMove: true}, want: "release shop, released by item", kept: true},
		{reason: "an item has recorded it and drops it", others: neighbors{fickle: true, items: []*v1alpha1.DeployItem{lister("two", true)}}, want: "gone"},
		{reason: "an item has recorded it and drops it, and a chart may want it", others: neighbors{fickle: true, mayMove: true, items: []*v1alpha1.DeployItem{lister("two", true)}},
			want: "release shop, released by item", kept: true},
		{reason: "an item has taken it over by its label", others: neighbors{mayKeep: true, mayMove: true}, before: labelled("two"), want: "item two, release shop"},
		{reason: "another release has taken it over", before: ofRelease("other"), want: "release other"},
		{reason: "an item takes it over after it was read", between: labelled("two"), want: "item two, release shop"},
		{reason: "another release takes it over after it was read", others: neighbors{mayKeep: true, mayMove: true}, between: ofRelease("other"), want: "release other"},
		{reason: "another client changes it after it was read", between: func(object *unstructured.Unstructured) { object.SetFinalizers(nil) }, want: "gone"},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			cluster := installed(t, "a", "b")
			identity := cluster.Find("ConfigMap", "here", "b").GetUID()
			if test.before != nil {
				change(cluster, "b", test.before)
			}
			onceBetween(cluster, test.between)
			operation := upgradeTo(t, cluster, movesJob{neighbors: &test.others}, "a")
			if got := cluster.Find("ConfigMap", "here", "b"); ownersOf(got) != test.want || got != nil && got.GetUID() != identity {
				t.Errorf("it is of %q, want %q; %v", ownersOf(got), test.want, got)
			}
			if kept := operation.Kept(); (len(kept) == 1) != test.kept || test.kept && kept[0].Resource.UID != identity {
				t.Errorf("kept are %v", kept)
			}
			if announced := test.others.kept; test.kept && !test.others.fickle && (len(announced) != 1 || announced[0].Resource.Name != "b") {
				t.Errorf("recorded before are %v", announced)
			}
			if test.want == "item two" && !slices.Equal(test.others.moved, []string{"ConfigMap here/b to two"}) {
				t.Errorf("reported as moved are %v", test.others.moved)
			}
		})
	}
}

// onceBetween changes ConfigMap b just before the first request that would change it.
func onceBetween(cluster *fakecluster.Cluster, with func(*unstructured.Unstructured)) {
	if with == nil {
		return
	}
	done := false
	cluster.Fault = func(request fakecluster.Request) fakecluster.Fault {
		if done || request.Name != "b" || (request.Verb != "delete" && request.Verb != "patch") {
			return fakecluster.Fault{}
		}
		done = true
		return fakecluster.Fault{Meanwhile: with}
	}
}

// upgradeTo upgrades the release and returns the operation when it is over.
func upgradeTo(t *testing.T, cluster *fakecluster.Cluster, job Job, names ...string) *Operation {
	t.Helper()
	desiredState := wishOf(names...)
	return carriedOut(t, cluster, func(history []record) (*Operation, error) {
		return Plan(t.Context(), storeOn(cluster), job, desiredState, history, Upgrade)
	})
}

// TestKeptObject: a kept object is deleted when no item has taken it over, also if the release
// itself has nothing to do: without a revision and without hooks.
func TestKeptObject(t *testing.T) {
	tests := []struct {
		reason string
		others neighbors
		before func(*unstructured.Unstructured)
		want   string
		kept   bool
	}{
		{reason: "no item has taken it over", want: "gone"},
		{reason: "the job continues", others: neighbors{mayKeep: true, mayMove: true}, want: "release shop, released by item", kept: true},
		{reason: "an item has recorded it meanwhile", others: neighbors{items: []*v1alpha1.DeployItem{lister("two", true)}}, want: "item two"},
		{reason: "an item has taken it over", before: labelled("two"), want: "item two, release shop, released by item"},
		{reason: "another release has taken it over", before: ofRelease("other"), want: "release other, released by item"},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			cluster := installed(t, "a", "b")
			kept := upgradeTo(t, cluster, movesJob{neighbors: &neighbors{mayKeep: true, mayMove: true}}, "a").Kept()
			if test.before != nil {
				change(cluster, "b", test.before)
			}
			for _, hook := range []string{"hook-before", "hook-after"} {
				cluster.Remove("ConfigMap", "here", hook)
			}
			identity, revisions := cluster.Find("ConfigMap", "here", "b").GetUID(), len(statuses(t, cluster))
			operation := cleaned(t, cluster, movesJob{neighbors: &test.others}, kept)
			got := cluster.Find("ConfigMap", "here", "b")
			if ownersOf(got) != test.want || got != nil && got.GetUID() != identity || (len(operation.Kept()) == 1) != test.kept {
				t.Errorf("it is of %q, want %q; kept are %v", ownersOf(got), test.want, operation.Kept())
			}
			if left := strings.Join(objectsOf(cluster), " "); strings.Contains(left, "hook") || !strings.Contains(left, "here/a") || len(statuses(t, cluster)) != revisions {
				t.Errorf("a hook has run, or a revision was made: %s, %v", left, statuses(t, cluster))
			}
		})
	}
	t.Run("the release has it again", func(t *testing.T) {
		cluster := installed(t, "a", "b")
		kept := apply.Inventory{entryOf(apply.Object{Entry: apply.Entry{Object: cluster.Find("ConfigMap", "here", "b")}}, nil)}
		identity := change(cluster, "b", func(object *unstructured.Unstructured) {
			object.SetAnnotations(map[string]string{releaseAnnotation: "shop", namespaceAnnotation: "here", v1alpha1.ReleasedByAnnotation: "item"})
		})
		operation := cleaned(t, cluster, movesJob{neighbors: &neighbors{}}, kept)
		if got := cluster.Find("ConfigMap", "here", "b"); ownersOf(got) != "release shop" || got.GetUID() != identity || len(operation.Kept()) > 0 {
			t.Errorf("it is of %q", ownersOf(got))
		}
	})
	t.Run("the release has another name by now", func(t *testing.T) {
		for by, want := range map[string]string{"item": "gone", "two": "release shop, released by two"} {
			cluster := installed(t, "a", "b")
			kept := upgradeTo(t, cluster, movesJob{neighbors: &neighbors{mayKeep: true, mayMove: true}}, "a").Kept()
			change(cluster, "b", func(object *unstructured.Unstructured) {
				annotations := object.GetAnnotations()
				annotations[v1alpha1.ReleasedByAnnotation] = by
				object.SetAnnotations(annotations)
			})
			carriedOut(t, cluster, func([]record) (*Operation, error) {
				desiredState := DesiredState{Name: "store", Namespace: "here", Item: "item", Before: kept, Former: []ownership.HelmRelease{{Name: "shop", Namespace: "here"}}, Leaving: true}
				return PlanCleanup(t.Context(), storeOn(cluster), movesJob{neighbors: &neighbors{}}, desiredState, nil)
			})
			if got := ownersOf(cluster.Find("ConfigMap", "here", "b")); got != want {
				t.Errorf("released by %s, it is of %q, want %q", by, got, want)
			}
		}
	})
	t.Run("the chart has it in a folder crds from now on", func(t *testing.T) {
		cluster := installed(t, "a", "b")
		identity := cluster.Find("ConfigMap", "here", "b").GetUID()
		desiredState := wishOf("a")
		desiredState.Definitions = []string{"{apiVersion: v1, kind: ConfigMap, metadata: {name: b, namespace: here}}"}
		operation := carriedOut(t, cluster, func(history []record) (*Operation, error) {
			return Plan(t.Context(), storeOn(cluster), movesJob{neighbors: &neighbors{mayKeep: true, mayMove: true}}, desiredState, history, Upgrade)
		})
		if got := cluster.Find("ConfigMap", "here", "b"); ownersOf(got) != "" || got.GetUID() != identity || len(operation.Kept()) > 0 {
			t.Errorf("it is of %q; kept are %v", ownersOf(got), operation.Kept())
		}
	})
	t.Run("the chart has it again", func(t *testing.T) {
		cluster := installed(t, "a", "b")
		identity := cluster.Find("ConfigMap", "here", "b").GetUID()
		upgradeTo(t, cluster, movesJob{neighbors: &neighbors{mayKeep: true, mayMove: true}}, "a")
		operation := upgradeTo(t, cluster, movesJob{neighbors: &neighbors{}}, "a", "b")
		if got := cluster.Find("ConfigMap", "here", "b"); ownersOf(got) != "release shop" || got.GetUID() != identity || len(operation.Kept()) > 0 {
			t.Errorf("it is of %q", ownersOf(got))
		}
	})
	t.Run("the release belongs to another item by now", func(t *testing.T) {
		cluster := installed(t, "a", "b", "c")
		kept := upgradeTo(t, cluster, movesJob{neighbors: &neighbors{mayKeep: true, mayMove: true}}, "a").Kept()
		// The other item has b in its chart, and not c.
		change(cluster, "b", func(object *unstructured.Unstructured) {
			object.SetAnnotations(map[string]string{releaseAnnotation: "shop", namespaceAnnotation: "here"})
		})
		operation := carriedOut(t, cluster, func(history []record) (*Operation, error) {
			desiredState := DesiredState{Name: "shop", Namespace: "here", Item: "item", Before: kept, Leaving: true, ReleasedOnly: true}
			return PlanCleanup(t.Context(), storeOn(cluster), movesJob{neighbors: &neighbors{}}, desiredState, history)
		})
		if got := strings.Join(objectsOf(cluster), " "); !strings.Contains(got, "here/a") || !strings.Contains(got, "here/b") || strings.Contains(got, "here/c") || len(operation.Without()) > 0 {
			t.Errorf("left are %s, without a release %v", got, operation.Without())
		}
	})
	t.Run("the release is removed", func(t *testing.T) {
		cluster := installed(t, "a", "b")
		kept := upgradeTo(t, cluster, movesJob{neighbors: &neighbors{mayKeep: true, mayMove: true}}, "a").Kept()
		without := cluster.Put(object(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: without, namespace: here}}"))
		kept = append(kept, entryOf(apply.Object{Entry: apply.Entry{Object: without}}, without))
		operation := removedBy(t, cluster, movesJob{neighbors: &neighbors{}}, kept)
		if got := strings.Join(objectsOf(cluster), " "); strings.Contains(got, "here/a") || strings.Contains(got, "here/b") {
			t.Errorf("left are %s", got)
		}
		if left := operation.Without(); len(left) != 1 || left[0].Resource.Name != "without" || cluster.Find("ConfigMap", "here", "without") == nil {
			t.Errorf("without a release are %v", left)
		}
	})
}

// cleaned cleans up what was kept.
func cleaned(t *testing.T, cluster *fakecluster.Cluster, job Job, kept apply.Inventory) *Operation {
	t.Helper()
	desiredState := DesiredState{Name: "shop", Namespace: "here", Item: "item", Before: kept, Ours: func(*unstructured.Unstructured) bool { return false }}
	return carriedOut(t, cluster, func(history []record) (*Operation, error) {
		return PlanCleanup(t.Context(), storeOn(cluster), job, desiredState, history)
	})
}

// removedBy removes the release, and what was kept of it.
func removedBy(t *testing.T, cluster *fakecluster.Cluster, job Job, kept apply.Inventory) *Operation {
	t.Helper()
	return carriedOut(t, cluster, func(history []record) (*Operation, error) {
		return PlanRemoval(t.Context(), storeOn(cluster), job, DesiredState{Name: "shop", Namespace: "here", Item: "item", Before: kept}, history)
	})
}

// record is a revision.
type record = *storage.Record

// carriedOut plans an operation and lets it end.
func carriedOut(t *testing.T, cluster *fakecluster.Cluster, plan func(history []record) (*Operation, error)) *Operation {
	t.Helper()
	history, err := storeOn(cluster).History(t.Context(), "shop")
	if err != nil {
		t.Fatal(err)
	}
	operation, err := plan(history)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = operation.Close() })
	waiting, err := operation.Continue(t.Context())
	must(t, waiting, err)
	return operation
}

// TestNamespaceInUse: a Namespace of a release in which another item, or the release itself, has
// something stays, with an owner that removes it later.
func TestNamespaceInUse(t *testing.T) {
	const space = "{apiVersion: v1, kind: Namespace, metadata: {name: NAME}}"
	deployed := func(t *testing.T, name string) (*fakecluster.Cluster, DesiredState) {
		t.Helper()
		cluster, desiredState := fakecluster.New(), wishOf("a")
		desiredState.Manifest += "\n---\n# Source: chart/templates/space.yaml\n" + strings.ReplaceAll(space, "NAME", name)
		waiting, err := reconcile(t, cluster, &testJob{}, desiredState)
		must(t, waiting, err)
		return cluster, wishOf("a")
	}
	inside := lister("two", true)
	inside.Status.ProviderStatus.Raw = []byte(strings.ReplaceAll(string(inside.Status.ProviderStatus.Raw), `"here"`, `"there"`))
	stays := func(cluster *fakecluster.Cluster) {
		cluster.Put(object(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: b, namespace: there}}"))
	}
	t.Run("an upgrade drops it", func(t *testing.T) {
		cluster, _ := deployed(t, "there")
		stays(cluster)
		others := &neighbors{items: []*v1alpha1.DeployItem{inside}}
		operation := upgradeTo(t, cluster, movesJob{neighbors: others}, "a")
		kept := operation.Kept()
		if len(kept) != 1 || operation.Reason(kept[0].Resource) != "as long as deploy item two has ConfigMap there/b in it" || len(others.kept) != 1 {
			t.Errorf("kept are %v, recorded before %v", kept, others.kept)
		}
		if got := ownersOf(cluster.Find("Namespace", "", "there")); got != "release shop, released by item" {
			t.Errorf("it is of %q", got)
		}
	})
	t.Run("an upgrade drops that of the release itself", func(t *testing.T) {
		cluster, _ := deployed(t, "here")
		operation := upgradeTo(t, cluster, movesJob{neighbors: &neighbors{}}, "a")
		if kept := operation.Kept(); len(kept) != 1 || operation.Reason(kept[0].Resource) != "as long as the deploy item itself has release here/shop in it" {
			t.Errorf("kept are %v", kept)
		}
	})
	t.Run("the release is removed", func(t *testing.T) {
		cluster, _ := deployed(t, "there")
		stays(cluster)
		others := &neighbors{items: []*v1alpha1.DeployItem{inside}}
		removedBy(t, cluster, movesJob{neighbors: others}, nil)
		if got := ownersOf(cluster.Find("Namespace", "", "there")); got != "item two" || len(others.bequeathed) != 2 || !slices.Equal(others.moved, []string{"Namespace there to two"}) {
			t.Errorf("it is of %q; bequeathed: %v, moved: %v", got, others.bequeathed, others.moved)
		}
	})
	t.Run("nothing is in it", func(t *testing.T) {
		cluster, _ := deployed(t, "there")
		others := &neighbors{items: []*v1alpha1.DeployItem{inside}}
		if kept := upgradeTo(t, cluster, movesJob{neighbors: others}, "a").Kept(); len(kept) > 0 || cluster.Find("Namespace", "", "there") != nil {
			t.Errorf("kept are %v", kept)
		}
	})
}
