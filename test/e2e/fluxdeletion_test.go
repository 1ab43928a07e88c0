package e2e

import (
	"cmp"
	"context"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/test/landscape"
	"go.landscaper.dev/test/showcase"
)

// ending is when an object was asked to go, and when it was gone.
type ending struct{ asked, gone time.Time }

// watchEndings watches objects of a kind until so many are gone, and returns what waits for
// that.
func watchEndings(t *testing.T, cluster client.WithWatch, kind schema.GroupVersionKind, namespace string, most int) func() []ending {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(kind)
	events, err := cluster.Watch(ctx, list, client.InNamespace(namespace))
	if err != nil {
		t.Fatal(err)
	}
	seen := make(chan []ending, 1)
	go func() {
		defer close(seen)
		asked, all := map[string]time.Time{}, []ending{}
		for event := range events.ResultChan() {
			object, ok := event.Object.(metav1.Object)
			if !ok {
				return
			}
			if name := object.GetName(); object.GetDeletionTimestamp() != nil && asked[name].IsZero() {
				asked[name] = time.Now()
			}
			if event.Type == "DELETED" {
				all = append(all, ending{asked[object.GetName()], time.Now()})
			}
			if len(all) == most {
				seen <- all
				return
			}
		}
	}()
	return func() []ending {
		t.Helper()
		select {
		case all := <-seen:
			if len(all) == most {
				return all
			}
		case <-time.After(patience):
		}
		t.Fatalf("of %s in %s, not %d have gone", kind.Kind, namespace, most)
		return nil
	}
}

// span is the time from the first request until the last one is gone.
func span(endings []ending) time.Duration {
	asked := slices.MinFunc(endings, func(a, b ending) int { return a.asked.Compare(b.asked) }).asked
	return slices.MaxFunc(endings, func(a, b ending) int { return a.gone.Compare(b.gone) }).gone.Sub(asked)
}

// covered is the time in which any of them was going.
func covered(endings []ending) (sum time.Duration) {
	slices.SortFunc(endings, func(a, b ending) int { return cmp.Or(a.asked.Compare(b.asked), a.gone.Compare(b.gone)) })
	var until time.Time
	for _, one := range endings {
		if one.asked.After(until) {
			until = one.asked
		}
		if one.gone.After(until) {
			sum, until = sum+one.gone.Sub(until), one.gone
		}
	}
	return sum
}

func TestCovered(t *testing.T) {
	at := func(second int) time.Time { return time.Unix(int64(second), 0) }
	endings := []ending{{at(10), at(12)}, {at(1), at(5)}, {at(2), at(3)}, {at(4), at(7)}}
	if got := covered(endings); got != 8*time.Second {
		t.Errorf("%s are covered", got)
	}
	if got := span(endings); got != 11*time.Second {
		t.Errorf("they take %s", got)
	}
}

// installations are Installations for watchEndings.
var installations = v1alpha1.GroupVersion.WithKind("Installation")

// plainDeletion is how long it takes here and now to delete a tree with which Flux has
// nothing to do: three Installations that go one after the other.
func plainDeletion(t *testing.T) time.Duration {
	t.Helper()
	space := namespace(t)
	root := waitSucceeded(t, createTree(t, space, "root", "", recordedLeaves()[1:]...))
	gone := watchEndings(t, env.admin, installations, space, 3)
	if err := env.admin.Delete(t.Context(), root); err != nil {
		t.Fatal(err)
	}
	return span(gone())
}

// maxBeyondFlux is how long the deletion of the data flow example may take beyond what
// Flux itself needs for its objects.
const maxBeyondFlux = 3 * time.Second

// deleteDataflow deletes the example, and returns how much longer that has taken than Flux
// itself needed.
func deleteDataflow(t *testing.T, stage *showcase.Stage) time.Duration {
	t.Helper()
	flux, err := landscape.Connect(stage.Flux)
	if err != nil {
		t.Fatal(err)
	}
	gone := watchEndings(t, env.admin, installations, showcase.InstallationNamespace, 5)
	kustomizations := watchEndings(t, flux, kustomization("", "").GroupVersionKind(), "flux-system", 2)
	sources := watchEndings(t, flux, gitRepository("").GroupVersionKind(), "flux-system", 1)
	play(t, stage, "dataflow", "delete-installation.sh")
	whole, ofFlux := span(gone()), covered(append(kustomizations(), sources()...))
	t.Logf("the deletion took %s, Flux %s of that", whole, ofFlux)
	play(t, stage, "dataflow", "delete-other-k8s-resources.sh")
	waitCollected(t)
	return whole - ofFlux
}
