package wake

import (
	"context"
	"errors"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/controller/installation/fakeapi"
	"go.landscaper.dev/internal/controller/installation/index"
	"go.landscaper.dev/internal/controller/installation/observe"
	"go.landscaper.dev/internal/controller/installation/testbuilders"
	"go.landscaper.dev/internal/model/dataflow"
)

// queued passes an event to a handler and returns the enqueued Installations.
func queued(t *testing.T, see func(context.Context, workqueue.TypedRateLimitingInterface[reconcile.Request])) []string {
	t.Helper()
	queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
	defer queue.ShutDown()
	see(t.Context(), queue)
	names := []string{}
	for queue.Len() > 0 {
		request, _ := queue.Get()
		names = append(names, request.Name)
		queue.Done(request)
	}
	slices.Sort(names)
	return names
}

// TestImportersOf: a change enqueues the roots that import the object, and those only.
func TestImportersOf(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := errors.Join(fakeapi.AddCore(scheme), v1alpha1.AddToScheme(scheme)); err != nil {
		t.Fatal(err)
	}
	elsewhere := testbuilders.Root(t, "elsewhere", []string{"x"}, nil)
	elsewhere.Namespace = "other"
	child := testbuilders.Sibling("child x")
	objects := []client.Object{testbuilders.Root(t, "one", []string{"x"}, nil), testbuilders.Root(t, "two", []string{"x", "y"}, nil), testbuilders.Root(t, "three", []string{"z"}, nil), elsewhere, child}
	indexed := fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).WithIndex(&v1alpha1.Installation{}, index.ByImport, index.ImportsOfRoot).Build()
	unindexed := fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).Build()
	data := &v1alpha1.DataObject{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "x"}}
	for _, test := range []struct {
		reason string
		client client.Client
		kind   dataflow.Kind
		want   []string
	}{
		{"two roots import the object; a subinstallation and another namespace do not", indexed, dataflow.KindDataObject, []string{"one", "two"}},
		{"a Target of the name is something else", indexed, dataflow.KindTarget, []string{}},
		{"a root that cannot be listed is not enqueued; its next reconcile finds the change", unindexed, dataflow.KindDataObject, []string{}},
	} {
		t.Run(test.reason, func(t *testing.T) {
			w := Mapper{Reader: observe.Reader{Cached: test.client}}
			wakes := w.ByImport(test.kind)
			got := queued(t, func(ctx context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) {
				wakes.Update(ctx, event.UpdateEvent{ObjectOld: data, ObjectNew: data}, queue)
			})
			if !slices.Equal(got, test.want) {
				t.Errorf("%v are enqueued, want %v", got, test.want)
			}
		})
	}
}
