package release

import (
	"context"
	"slices"
	"strings"
	"testing"

	"helm.sh/helm/v4/pkg/release/common"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/deploy/apply"
	"go.landscaper.dev/internal/deploy/helm/records"
	"go.landscaper.dev/internal/deploy/ownership"
	"go.landscaper.dev/internal/deploy/target/memory"
	"go.landscaper.dev/internal/diff"
)

// neighbors are others whose answers are given.
type neighbors struct {
	Alone
	items            []*v1alpha1.DeployItem
	mayKeep, mayMove bool
	// yielding are the owners, items and releases, that let their objects go.
	yielding []string
	kept     apply.Inventory
	moved    []string
}

func (n *neighbors) Others(context.Context) ([]*v1alpha1.DeployItem, error) { return n.items, nil }
func (n *neighbors) MayKeep(context.Context) (bool, error)                  { return n.mayKeep, nil }
func (n *neighbors) MayMove(context.Context) (bool, error)                  { return n.mayMove, nil }
func (n *neighbors) Keep(_ context.Context, kept apply.Inventory) error {
	n.kept = kept
	return nil
}

func (n *neighbors) Moved(_ context.Context, object string, to *v1alpha1.DeployItem) {
	n.moved = append(n.moved, object+" to "+to.Name)
}

func (n *neighbors) Yields(_ context.Context, live *unstructured.Unstructured) (bool, string, error) {
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
func (movesJob) Wake()                                    {}

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

// wishOf is a release of an item with a name.
func wishOf(names ...string) Wish {
	wish := wishFor(names...)
	wish.Item = "item"
	return wish
}

func installed(t *testing.T, names ...string) *memory.Cluster {
	t.Helper()
	cluster := memory.New()
	waiting, err := reconcile(t, cluster, &testJob{}, wishOf(names...))
	must(t, waiting, err)
	return cluster
}

// change changes an object as somebody else would.
func change(cluster *memory.Cluster, name string, with func(*unstructured.Unstructured)) types.UID {
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
		*object = *marked(object, name, "here")
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

// TestDroppedObject: what becomes of an object that an upgrade does not have any more. It is
// deleted only if nobody wants it, and keeps its identity otherwise.
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
		{reason: "nobody wants it", want: "gone"},
		{reason: "nobody may want it, and the item is asked again", others: neighbors{mayKeep: true}, want: "gone"},
		{reason: "an item has recorded it", others: neighbors{mayKeep: true, items: []*v1alpha1.DeployItem{lister("two", true)}}, want: "item two"},
		{reason: "an item lists it that is still to deploy it", others: neighbors{mayKeep: true, items: []*v1alpha1.DeployItem{lister("two", false)}}, want: "release shop, released by item", kept: true},
		{reason: "an item lists it, and nobody asks again", others: neighbors{items: []*v1alpha1.DeployItem{lister("two", false)}}, want: "item two"},
		{reason: "a chart may want it", others: neighbors{mayKeep: true, mayMove: true}, want: "release shop, released by item", kept: true},
		{reason: "an item has taken it over by its label", others: neighbors{mayKeep: true, mayMove: true}, before: labelled("two"), want: "item two, release shop"},
		{reason: "another release has taken it over", before: ofRelease("other"), want: "release other"},
		{reason: "an item takes it over at this moment", between: labelled("two"), want: "item two, release shop"},
		{reason: "another release takes it over at this moment", others: neighbors{mayKeep: true, mayMove: true}, between: ofRelease("other"), want: "release other"},
		{reason: "somebody changes it at this moment", between: func(object *unstructured.Unstructured) { object.SetFinalizers(nil) }, want: "gone"},
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
			if kept := operation.Kept(); (len(kept) == 1) != test.kept || test.kept && (kept[0].Resource.UID != identity || len(test.others.kept) != 1 || test.others.kept[0].Resource.Name != "b") {
				t.Errorf("kept are %v, recorded before %v", kept, test.others.kept)
			}
			if test.want == "item two" && !slices.Equal(test.others.moved, []string{"ConfigMap here/b to two"}) {
				t.Errorf("told are %v", test.others.moved)
			}
		})
	}
}

// onceBetween changes ConfigMap b just before the first request that would change it.
func onceBetween(cluster *memory.Cluster, with func(*unstructured.Unstructured)) {
	if with == nil {
		return
	}
	done := false
	cluster.Fault = func(request memory.Request) memory.Fault {
		if done || request.Name != "b" || (request.Verb != "delete" && request.Verb != "patch") {
			return memory.Fault{}
		}
		done = true
		return memory.Fault{Meanwhile: with}
	}
}

// upgradeTo upgrades the release and returns the operation when it is over.
func upgradeTo(t *testing.T, cluster *memory.Cluster, job Job, names ...string) *Operation {
	t.Helper()
	wish := wishOf(names...)
	return carriedOut(t, cluster, func(history []record) (*Operation, error) {
		return Plan(t.Context(), storeOn(cluster), job, wish, history, Upgrade)
	})
}

// TestKeptObject: what was kept goes when nobody has taken it over, also if the release
// itself has nothing to do: without a revision and without hooks.
func TestKeptObject(t *testing.T) {
	tests := []struct {
		reason string
		others neighbors
		before func(*unstructured.Unstructured)
		want   string
		kept   bool
	}{
		{reason: "nobody has taken it over", want: "gone"},
		{reason: "the job goes on", others: neighbors{mayKeep: true, mayMove: true}, want: "release shop, released by item", kept: true},
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
	t.Run("the chart has it again", func(t *testing.T) {
		cluster := installed(t, "a", "b")
		identity := cluster.Find("ConfigMap", "here", "b").GetUID()
		upgradeTo(t, cluster, movesJob{neighbors: &neighbors{mayKeep: true, mayMove: true}}, "a")
		operation := upgradeTo(t, cluster, movesJob{neighbors: &neighbors{}}, "a", "b")
		if got := cluster.Find("ConfigMap", "here", "b"); ownersOf(got) != "release shop" || got.GetUID() != identity || len(operation.Kept()) > 0 {
			t.Errorf("it is of %q", ownersOf(got))
		}
	})
	t.Run("the release goes", func(t *testing.T) {
		cluster := installed(t, "a", "b")
		kept := upgradeTo(t, cluster, movesJob{neighbors: &neighbors{mayKeep: true, mayMove: true}}, "a").Kept()
		removedBy(t, cluster, movesJob{neighbors: &neighbors{}}, kept)
		if got := strings.Join(objectsOf(cluster), " "); strings.Contains(got, "here/a") || strings.Contains(got, "here/b") {
			t.Errorf("left are %s", got)
		}
	})
}

// TestTakenOver: an object of others becomes part of a release if they let it go, with the
// marks of the release alone; otherwise the error names the owner.
func TestTakenOver(t *testing.T) {
	released := func(object *unstructured.Unstructured) {
		object.SetAnnotations(map[string]string{v1alpha1.ReleasedByAnnotation: "two", releaseAnnotation: object.GetAnnotations()[releaseAnnotation]})
	}
	tests := []struct {
		reason  string
		marks   []func(*unstructured.Unstructured)
		others  neighbors
		refused string
	}{
		{reason: "the item does not list it", marks: []func(*unstructured.Unstructured){labelled("two")}, others: neighbors{yielding: []string{"two"}}},
		{reason: "the item has released it", marks: []func(*unstructured.Unstructured){labelled("two"), released}},
		{reason: "another release has released it", marks: []func(*unstructured.Unstructured){ofRelease("other"), released}},
		{reason: "the item of another release goes", marks: []func(*unstructured.Unstructured){ofRelease("other")}, others: neighbors{yielding: []string{"release other"}}},
		{reason: "the item wants it", marks: []func(*unstructured.Unstructured){labelled("two")}, refused: "ConfigMap here/b of DeployItem two exists and does not belong to the release"},
		{reason: "another release wants it", marks: []func(*unstructured.Unstructured){ofRelease("other")}, refused: "ConfigMap here/b of DeployItem release other exists and does not belong to the release"},
		{reason: "nobody is known", refused: "ConfigMap here/b exists and does not belong to the release"},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			cluster := memory.New()
			cluster.Put(object(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: b, namespace: here}, data: {of: others}}"))
			var identity types.UID
			for _, mark := range test.marks {
				identity = change(cluster, "b", mark)
			}
			before := ownersOf(cluster.Find("ConfigMap", "here", "b"))
			work := movesJob{neighbors: &test.others}
			foretold, previewErr := Preview(t.Context(), storeOn(cluster), wishOf("a", "b"), work, nil, Install)
			_, err := reconcile(t, cluster, work, wishOf("a", "b"))
			got := cluster.Find("ConfigMap", "here", "b")
			if test.refused != "" {
				if err == nil || !strings.Contains(err.Error(), test.refused) || previewErr == nil || !strings.Contains(previewErr.Error(), test.refused) {
					t.Errorf("%v, the preview says %v", err, previewErr)
				}
				if ownersOf(got) != before || statuses(t, cluster) != nil || cluster.Find("ConfigMap", "here", "a") != nil {
					t.Error("something was changed")
				}
				return
			}
			if err != nil || previewErr != nil || ownersOf(got) != "release shop" || got.GetUID() != identity {
				t.Errorf("%v, %v: it is of %q", err, previewErr, ownersOf(got))
			}
			if at := slices.IndexFunc(foretold, func(object diff.Object) bool { return object.Name == "b" }); diff.Of(foretold[at], nil).Action != diff.Update {
				t.Errorf("the preview says %v", foretold[at])
			}
		})
	}
}

// TestRemovalOfRelease: what others have taken over, or list, stays when a release goes.
func TestRemovalOfRelease(t *testing.T) {
	tests := []struct {
		reason string
		others neighbors
		before func(*unstructured.Unstructured)
		want   string
	}{
		{reason: "nobody wants it", others: neighbors{mayKeep: true, mayMove: true}, want: "gone"},
		{reason: "an item has recorded it", others: neighbors{items: []*v1alpha1.DeployItem{lister("two", true)}}, want: "item two"},
		{reason: "an item has taken it over by its label", before: labelled("two"), want: "item two, release shop"},
		{reason: "another release has taken it over", before: ofRelease("other"), want: "release other"},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			cluster := installed(t, "a", "b")
			identity := cluster.Find("ConfigMap", "here", "b").GetUID()
			if test.before != nil {
				change(cluster, "b", test.before)
			}
			removedBy(t, cluster, movesJob{neighbors: &test.others}, nil)
			if got := cluster.Find("ConfigMap", "here", "b"); ownersOf(got) != test.want || got != nil && got.GetUID() != identity {
				t.Errorf("it is of %q, want %q", ownersOf(got), test.want)
			}
			if cluster.Find("ConfigMap", "here", "a") != nil || statuses(t, cluster) != nil {
				t.Errorf("left are %v", cluster.Names())
			}
		})
	}
}

// TestUndoneTakeOver: what an operation has taken over from others stays when it is undone.
func TestUndoneTakeOver(t *testing.T) {
	for _, before := range [][]string{nil, {"a"}} {
		t.Run(strings.Join(append([]string{"revision before:"}, before...), " "), func(t *testing.T) {
			cluster := memory.New()
			if before != nil {
				cluster = installed(t, before...)
			}
			cluster.Put(object(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: b, namespace: here}, data: {of: others}}"))
			identity := change(cluster, "b", labelled("two"))
			cluster.Fault = func(request memory.Request) memory.Fault {
				if request.Name == "wrong" && request.Verb == "create" {
					return memory.Fault{Before: refused("wrong")}
				}
				return memory.Fault{}
			}
			wish, others := wishOf("a", "b", "new", "wrong"), &neighbors{mayKeep: true, mayMove: true, yielding: []string{"two"}}
			wish.Atomic = true
			if _, err := reconcile(t, cluster, movesJob{neighbors: others}, wish); err == nil {
				t.Fatal("it has not failed")
			}
			if got := cluster.Find("ConfigMap", "here", "b"); got.GetUID() != identity || ownersOf(got) != "release shop, released by item" {
				t.Errorf("it is of %q", ownersOf(got))
			}
			if cluster.Find("ConfigMap", "here", "new") != nil || (cluster.Find("ConfigMap", "here", "a") != nil) != (before != nil) {
				t.Errorf("left are %v", objectsOf(cluster))
			}
			if len(others.kept) != 1 || others.kept[0].Resource.Name != "b" {
				t.Errorf("recorded are %v", others.kept)
			}
		})
	}
}

// TestExchange: two releases that exchange objects do not wait for each other for ever.
func TestExchange(t *testing.T) {
	cluster := installed(t, "a", "b")
	cluster.Put(object(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: here}}"))
	theirs := change(cluster, "c", ofRelease("other"))
	mine := cluster.Find("ConfigMap", "here", "b").GetUID()
	others := &neighbors{mayKeep: true, mayMove: true}
	if _, err := reconcile(t, cluster, movesJob{neighbors: others}, wishOf("a", "c")); err == nil || !strings.Contains(err.Error(), "ConfigMap here/c of DeployItem release other") {
		t.Fatalf("%v", err)
	}
	if got := cluster.Find("ConfigMap", "here", "b"); ownersOf(got) != "release shop, released by item" || got.GetUID() != mine || len(others.kept) != 1 {
		t.Fatalf("it is of %q, recorded are %v", ownersOf(got), others.kept)
	}
	// The other one does the same, and goes on.
	change(cluster, "b", ofRelease("other"))
	change(cluster, "c", func(object *unstructured.Unstructured) {
		object.SetAnnotations(map[string]string{v1alpha1.ReleasedByAnnotation: "two", releaseAnnotation: "other", namespaceAnnotation: "here"})
	})
	waiting, err := reconcile(t, cluster, movesJob{neighbors: others}, wishOf("a", "c"))
	must(t, waiting, err)
	if got := cluster.Find("ConfigMap", "here", "c"); ownersOf(got) != "release shop" || got.GetUID() != theirs {
		t.Errorf("it is of %q", ownersOf(got))
	}
	if got := cluster.Find("ConfigMap", "here", "b"); got == nil || got.GetUID() != mine {
		t.Error("what the other one has taken is gone")
	}
	if all := statuses(t, cluster); len(all) != 2 || all[1] != common.StatusDeployed {
		t.Errorf("revisions %v", all)
	}
}

// TestRefusalRemovesNothing: an object that nobody can want is not removed before the release
// can be deployed.
func TestRefusalRemovesNothing(t *testing.T) {
	cluster := installed(t, "a", "b")
	cluster.Put(object(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: here}}"))
	change(cluster, "c", labelled("two"))
	if _, err := reconcile(t, cluster, movesJob{neighbors: &neighbors{}}, wishOf("a", "c")); err == nil {
		t.Fatal("it was not refused")
	}
	if ownersOf(cluster.Find("ConfigMap", "here", "b")) != "release shop" {
		t.Error("an object was released or removed")
	}
}

// cleaned cleans up what was kept.
func cleaned(t *testing.T, cluster *memory.Cluster, job Job, kept apply.Inventory) *Operation {
	t.Helper()
	wish := Wish{Name: "shop", Namespace: "here", Item: "item", Before: kept, Ours: func(*unstructured.Unstructured) bool { return false }}
	return carriedOut(t, cluster, func(history []record) (*Operation, error) {
		return PlanCleanup(t.Context(), storeOn(cluster), job, wish, history)
	})
}

// removedBy removes the release, and what was kept of it.
func removedBy(t *testing.T, cluster *memory.Cluster, job Job, kept apply.Inventory) {
	t.Helper()
	carriedOut(t, cluster, func(history []record) (*Operation, error) {
		return PlanRemoval(t.Context(), storeOn(cluster), job, Wish{Name: "shop", Namespace: "here", Item: "item", Before: kept}, history)
	})
}

// record is a revision.
type record = *records.Record

// carriedOut plans an operation and lets it end.
func carriedOut(t *testing.T, cluster *memory.Cluster, plan func(history []record) (*Operation, error)) *Operation {
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
