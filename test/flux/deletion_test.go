package flux

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/test/landscape"
	"go.landscaper.dev/test/scenario"
	"go.landscaper.dev/test/showcase"
)

// ending is when the deletion of an object was requested, and when the object was deleted.
type ending struct{ asked, gone time.Time }

// watchEndings watches objects of a kind until the given number is deleted, and returns a function
// that waits for that.
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
		case <-time.After(scenario.WaitLimit):
		}
		t.Fatalf("of %s in %s, not %d were deleted", kind.Kind, namespace, most)
		return nil
	}
}

// span is the time from the first request until the last object is deleted.
func span(endings []ending) time.Duration {
	asked := slices.MinFunc(endings, func(a, b ending) int { return a.asked.Compare(b.asked) }).asked
	return slices.MaxFunc(endings, func(a, b ending) int { return a.gone.Compare(b.gone) }).gone.Sub(asked)
}

// covered is the time in which any of them was being deleted.
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

// measureDeletion deletes the example, and reports how much longer that takes than Flux needs for
// its own objects: docs/flux.md has the figure. checkDeletion shows what it is made of.
func measureDeletion(t *testing.T, stage *showcase.Stage) {
	t.Helper()
	flux, err := landscape.Connect(stage.Flux)
	if err != nil {
		t.Fatal(err)
	}
	gone := watchEndings(t, env.Admin, installations, showcase.InstallationNamespace, 5)
	kustomizations := watchEndings(t, flux, kustomization("", "").GroupVersionKind(), "flux-system", 2)
	sources := watchEndings(t, flux, gitRepository("").GroupVersionKind(), "flux-system", 1)
	play(t, stage, "dataflow", "delete-installation.sh")
	whole, ofFlux := span(gone()), covered(append(kustomizations(), sources()...))
	t.Logf("the deletion took %s, Flux %s of that", whole, ofFlux)
}

// checkDeletion deletes the example, but holds a Kustomization by a finalizer. Until the
// Kustomization is deleted, nothing of ours sends requests; then the deletion continues. So beyond
// what Flux needs there are our requests, each of which follows an event, and no pauses.
func checkDeletion(t *testing.T, stage *showcase.Stage) {
	t.Helper()
	flux, err := landscape.Connect(stage.Flux)
	if err != nil {
		t.Fatal(err)
	}
	const keeping = "example.test/held"
	held := kustomization("flux-system", "dataflow-tokenconsumer")
	finalizers := func(patch string) {
		t.Helper()
		if err := flux.Patch(t.Context(), held.DeepCopy(), client.RawPatch("application/json-patch+json", []byte(patch))); err != nil {
			t.Fatal(err)
		}
	}
	finalizers(`[{"op": "add", "path": "/metadata/finalizers/-", "value": "` + keeping + `"}]`)
	deleted := make(chan error, 1)
	go func() { deleted <- stage.Script(t.Context(), "dataflow", "delete-installation.sh", t.Output()) }()
	const waits = "dataflow-tokenconsumer (finalizer " + keeping + ")"
	item := env.WaitItem(t, &v1alpha1.DeployItem{ObjectMeta: metav1.ObjectMeta{Namespace: showcase.InstallationNamespace}}, "waiting for nothing but its Kustomization", func(item *v1alpha1.DeployItem) bool {
		ready := job.GetCondition(item.Status.Conditions, v1alpha1.ReadyCondition)
		return ready != nil && strings.Contains(ready.Message, waits)
	})
	env.WaitShownAbove(t, item, waits)
	cluster := env.Lab.Clusters["flux"]
	mark, err := cluster.Mark(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	env.WantNoRequests(t, showcase.InstallationNamespace)
	requests, err := cluster.Requests(t.Context(), mark, "")
	if err != nil {
		t.Fatal(err)
	}
	for _, request := range requests {
		if strings.HasPrefix(request.UserAgent, "landscaper/") && request.Verb != "watch" {
			t.Errorf("the cluster with Flux gets a request although nothing has changed: %s %s", request.Verb, request.Path)
		}
	}
	finalizers(`[{"op": "remove", "path": "/metadata/finalizers"}]`)
	if err := <-deleted; err != nil {
		t.Fatal(err)
	}
}
