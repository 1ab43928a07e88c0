package release

import (
	"slices"
	"strings"
	"testing"

	"helm.sh/helm/v4/pkg/release/common"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/deploy/target/fakecluster"
	"go.landscaper.dev/internal/landscape/diff"
	"go.landscaper.dev/internal/model/ownership"
)

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
		{reason: "the item does not list the object", marks: []func(*unstructured.Unstructured){labelled("two")}, others: neighbors{yielding: []string{"two"}}},
		{reason: "the item has released the object", marks: []func(*unstructured.Unstructured){labelled("two"), released}},
		{reason: "another release has released the object", marks: []func(*unstructured.Unstructured){ofRelease("other"), released}},
		{reason: "an item of another namespace has released the object, which does not count here", marks: []func(*unstructured.Unstructured){labelled("two"), released}, others: neighbors{elsewhere: true},
			refused: "ConfigMap here/b of DeployItem two exists and does not belong to the release"},
		{reason: "the item of another release is being deleted", marks: []func(*unstructured.Unstructured){ofRelease("other")}, others: neighbors{yielding: []string{"release other"}}},
		{reason: "the item wants the object", marks: []func(*unstructured.Unstructured){labelled("two")}, refused: "ConfigMap here/b of DeployItem two exists and does not belong to the release"},
		{reason: "another release wants the object", marks: []func(*unstructured.Unstructured){ofRelease("other")}, refused: "ConfigMap here/b of DeployItem release other exists and does not belong to the release"},
		{reason: "no other item is known", refused: "ConfigMap here/b exists and does not belong to the release"},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			cluster := fakecluster.New()
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

// TestRemovalOfRelease: what others have taken over, or list, stays when a release is removed.
func TestRemovalOfRelease(t *testing.T) {
	tests := []struct {
		reason string
		others neighbors
		before func(*unstructured.Unstructured)
		want   string
	}{
		{reason: "no item wants it", others: neighbors{mayKeep: true, mayMove: true}, want: "gone"},
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
			cluster := fakecluster.New()
			if before != nil {
				cluster = installed(t, before...)
			}
			cluster.Put(object(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: b, namespace: here}, data: {of: others}}"))
			identity := change(cluster, "b", labelled("two"))
			cluster.Fault = func(request fakecluster.Request) fakecluster.Fault {
				if request.Name == "wrong" && request.Verb == "create" {
					return fakecluster.Fault{Before: refused("wrong")}
				}
				return fakecluster.Fault{}
			}
			desiredState, others := wishOf("a", "b", "new", "wrong"), &neighbors{yielding: []string{"two"}}
			desiredState.Atomic = true
			if _, err := reconcile(t, cluster, movesJob{neighbors: others}, desiredState); err == nil {
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
	// The other item does the same, and continues.
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
		t.Error("the object that the other item has taken is deleted")
	}
	if all := statuses(t, cluster); len(all) != 2 || all[1] != common.StatusDeployed {
		t.Errorf("revisions %v", all)
	}
}

// TestRefusalRemovesNothing: an object that no item can want is not removed before the release can
// be deployed.
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

// TestReclaimed: a change that was to move an object out of a release was given up, so that
// the release has nothing to deploy. What others have taken over meanwhile and do not want any
// more is the release's again.
func TestReclaimed(t *testing.T) {
	// By an item that removes the marks of the release, as deployers do.
	takenBy := func(item string) func(*unstructured.Unstructured) {
		return func(object *unstructured.Unstructured) {
			object.SetLabels(map[string]string{ownership.ManifestLabel: item})
			object.SetAnnotations(nil)
		}
	}
	released := func(object *unstructured.Unstructured) {
		takenBy("two")(object)
		object.SetAnnotations(map[string]string{v1alpha1.ReleasedByAnnotation: "two"})
	}
	for _, test := range []struct {
		reason string
		marks  func(*unstructured.Unstructured)
		others neighbors
		want   string
		writes int
	}{
		{"no item has taken it over", func(*unstructured.Unstructured) {}, neighbors{}, "release shop", 0},
		{"an item has taken it over and does not want it any more", takenBy("two"), neighbors{yielding: []string{"two"}}, "release shop", 1},
		{"an item has released it", released, neighbors{}, "release shop", 1},
		{"an item has taken it over and wants it", takenBy("two"), neighbors{}, "item two", 0},
		{"the item of another release is being deleted", ofRelease("other"), neighbors{yielding: []string{"release other"}}, "release shop", 1},
		{"another release wants it", ofRelease("other"), neighbors{}, "release other", 0},
	} {
		t.Run(test.reason, func(t *testing.T) {
			cluster := installed(t, "a", "b")
			identity := change(cluster, "b", test.marks)
			cluster.Counts()
			carriedOut(t, cluster, func(history []record) (*Operation, error) {
				desiredState := DesiredState{Name: "shop", Namespace: "here", Item: "item", Contested: []corev1.ObjectReference{{APIVersion: "v1", Kind: "ConfigMap", Namespace: "here", Name: "b"}}}
				return PlanCleanup(t.Context(), storeOn(cluster), movesJob{neighbors: &test.others}, desiredState, history)
			})
			if counts := cluster.Counts(); counts["patch"] != test.writes || counts["get"] != 1 || counts["delete"]+counts["update"]+counts["create"] > 0 {
				t.Errorf("requests %v", counts)
			}
			if got := cluster.Find("ConfigMap", "here", "b"); ownersOf(got) != test.want || got.GetUID() != identity {
				t.Errorf("it is of %q, want %q", ownersOf(got), test.want)
			}
		})
	}
}
