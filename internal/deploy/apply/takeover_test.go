package apply

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"go.landscaper.dev/api/deployer"
	"go.landscaper.dev/internal/deploy/target/fakecluster"
	"go.landscaper.dev/internal/model/ownership"
)

// holders are other items whose answers are given.
type holders struct {
	yields, exist bool
	err           error
}

func (h holders) Yields(context.Context, string, corev1.ObjectReference) (bool, error) {
	return h.yields, h.err
}
func (h holders) IsNeighbor(context.Context, string) (bool, error) { return h.exist, nil }

// one is an item of manifests.
func one(cluster *fakecluster.Cluster, strategy deployer.UpdateStrategy, neighbors Neighbors) *Applier {
	return &Applier{Target: cluster, Strategy: strategy, Labels: map[string]string{ownership.ManifestLabel: "one"}, OwnerLabel: ownership.ManifestLabel, FieldManager: "test", Neighbors: neighbors}
}

const plain = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"ns"},"data":{"x":"1"}}`

// marked is an object of others, with labels and annotations besides what users have set.
func marked(t *testing.T, labels, annotations map[string]string) *unstructured.Unstructured {
	t.Helper()
	return withAnnotations(withLabels(withAnnotations(withLabels(parse(t, plain), map[string]string{"acme.example/user": "x"}), map[string]string{"acme.example/user": "x"}), labels), annotations)
}

// TestMarksOfOthersGo: the item that applies an object is its only owner then, with every strategy. A
// mark that remained would make the former owner, or a program like Helm, take it for its own.
func TestMarksOfOthersGo(t *testing.T) {
	strategies := []deployer.UpdateStrategy{"", deployer.UpdateStrategyUpdate, deployer.UpdateStrategyPatch, deployer.UpdateStrategyMerge, deployer.UpdateStrategyMergeOverwrite, deployer.UpdateStrategyApply}
	owners := map[string]struct{ labels, annotations map[string]string }{
		"another item":          {map[string]string{ownership.ManifestLabel: "two"}, nil},
		"a kustomization":       {map[string]string{ownership.KustomizeLabel: "two"}, nil},
		"the templates":         {map[string]string{ownership.HelmLabel: "two", ownership.ManifestLabel: "two"}, nil},
		"a release":             {map[string]string{ownership.HelmManagedByLabel: ownership.HelmManagedBy}, map[string]string{ownership.HelmReleaseAnnotation: "r", ownership.HelmReleaseNamespaceAnnotation: "ns"}},
		"one that releases it":  {map[string]string{ownership.KustomizeLabel: "two"}, map[string]string{"landscaper.gardener.cloud/released-by": "two"}},
		"the item, released it": {map[string]string{ownership.ManifestLabel: "one"}, map[string]string{"landscaper.gardener.cloud/released-by": "one"}},
	}
	for _, strategy := range strategies {
		for name, owner := range owners {
			t.Run(string(strategy)+"/"+name, func(t *testing.T) {
				cluster := fakecluster.New()
				before := cluster.Put(marked(t, owner.labels, owner.annotations))
				applier := one(cluster, strategy, nil)
				for range 2 {
					object := prepared(t, cluster, deployer.ManagePolicy, nil, plain)
					object.Known = true
					if _, err := applier.Apply(t.Context(), object); err != nil {
						t.Fatal(err)
					}
				}
				got := cluster.Find("ConfigMap", "ns", "a")
				labels, annotations := got.GetLabels(), got.GetAnnotations()
				// Without the record of fields that an API server keeps, an update removes what others have
				// set.
				delete(labels, "acme.example/user")
				delete(annotations, "acme.example/user")
				if diff := cmp.Diff(map[string]string{ownership.ManifestLabel: "one"}, labels); diff != "" || len(annotations) > 0 || got.GetUID() != before.GetUID() {
					t.Errorf("labels, -want +got\n%s, annotations %v", diff, annotations)
				}
				cluster.Counts()
				object := prepared(t, cluster, deployer.ManagePolicy, nil, plain)
				object.Known = true
				if _, err := applier.Apply(t.Context(), object); err != nil {
					t.Fatal(err)
				}
				if writes := cluster.Counts(); writes["update"]+writes["patch"] > 0 {
					t.Errorf("it is written again: %v", writes)
				}
			})
		}
	}
}

// TestManifestOfAnotherOwner: a manifest may be the copy of an object that another item has; its
// labels mean nothing. What it says about Helm is what the user wants.
func TestManifestOfAnotherOwner(t *testing.T) {
	cluster := fakecluster.New()
	object := prepared(t, cluster, deployer.ManagePolicy, nil, plain)
	object.Object = marked(t, map[string]string{ownership.KustomizeLabel: "two", ownership.HelmManagedByLabel: ownership.HelmManagedBy}, map[string]string{ownership.HelmReleaseAnnotation: "r"})
	for range 2 {
		if _, err := one(cluster, "", nil).Apply(t.Context(), object); err != nil {
			t.Fatal(err)
		}
		object.Known = true
	}
	want := map[string]string{ownership.ManifestLabel: "one", ownership.HelmManagedByLabel: ownership.HelmManagedBy, "acme.example/user": "x"}
	if diff := cmp.Diff(want, cluster.Find("ConfigMap", "ns", "a").GetLabels()); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// TestFallbackTakesReleased: policy fallback takes what its owner gives up; what it leaves to
// another item may become its own later. Policy immutable changes nothing but its own release.
func TestFallbackTakesReleased(t *testing.T) {
	const released = "landscaper.gardener.cloud/released-by"
	of := func(label, item string) map[string]string { return map[string]string{label: item} }
	tests := []struct {
		reason              string
		policy              deployer.ManifestPolicy
		labels, annotations map[string]string
		neighbors           Neighbors
		owner               string
		foreign, shared     bool
		requests            map[string]int
	}{
		{"an item that gives it up", "fallback", of(ownership.ManifestLabel, "two"), nil, holders{yields: true, exist: true}, "[one]", false, false, map[string]int{"get": 1, "update": 1}},
		{"an item that wants it", "fallback", of(ownership.ManifestLabel, "two"), nil, holders{exist: true}, "[two]", true, true, map[string]int{"get": 1}},
		{"an item that is not known", "fallback", of(ownership.ManifestLabel, "two"), nil, holders{}, "[two]", true, false, map[string]int{"get": 1}},
		{"no item can be asked", "fallback", of(ownership.ManifestLabel, "two"), nil, nil, "[two]", true, false, map[string]int{"get": 1}},
		{"a chart that has released it", "fallback", of(ownership.HelmLabel, "two"), of(released, "two"), holders{exist: true}, "[one]", false, false, map[string]int{"get": 1, "update": 1}},
		{"a chart of another namespace that has released it for its own tree", "fallback", of(ownership.HelmLabel, "two"), of(released, "two"), holders{}, "[two]", true, false, map[string]int{"get": 1}},
		{"an object without an owner", "fallback", nil, nil, holders{yields: true}, "[]", true, false, map[string]int{"get": 1}},
		{"its own object, in the middle of a move that the other item does not want", "fallback", map[string]string{ownership.ManifestLabel: "one", ownership.HelmLabel: "two"}, nil, holders{yields: true}, "[one]", false, false, map[string]int{"get": 1, "update": 1}},
		{"an immutable object that another item has released", "immutable", of(ownership.ManifestLabel, "two"), of(released, "two"), holders{yields: true}, "[two]", false, false, map[string]int{"get": 1}},
		{"an immutable object that the item itself has released", "immutable", of(ownership.ManifestLabel, "one"), of(released, "one"), nil, "[one]", false, false, map[string]int{"get": 1, "patch": 1}},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			cluster := fakecluster.New()
			cluster.Put(marked(t, test.labels, test.annotations))
			object := prepared(t, cluster, test.policy, nil, plain)
			object.Known = true
			outcome, err := one(cluster, "", test.neighbors).Apply(t.Context(), object)
			if err != nil || outcome.Foreign != test.foreign || outcome.Shared != test.shared {
				t.Errorf("%+v, %v", outcome, err)
			}
			got := cluster.Find("ConfigMap", "ns", "a")
			if owner := ownership.Others(got, ""); !cmp.Equal(owner, ownersOf(test.owner)) {
				t.Errorf("it belongs to %v, want %s", owner, test.owner)
			}
			if test.owner == "[one]" && ownership.IsReleased(got) {
				t.Error("it is still released")
			}
			if diff := cmp.Diff(test.requests, cluster.Counts()); diff != "" {
				t.Errorf("requests, -want +got\n%s", diff)
			}
		})
	}
	t.Run("it is not known which item wants it", func(t *testing.T) {
		cluster := fakecluster.New()
		cluster.Put(marked(t, of(ownership.ManifestLabel, "two"), nil))
		object := prepared(t, cluster, "fallback", nil, plain)
		object.Known = true
		if _, err := one(cluster, "", holders{err: errors.New("no answer")}).Apply(t.Context(), object); err == nil {
			t.Error("it is taken, or left, without an answer")
		}
	})
}

func ownersOf(text string) []string {
	if text == "[]" {
		return nil
	}
	return []string{text[1 : len(text)-1]}
}
