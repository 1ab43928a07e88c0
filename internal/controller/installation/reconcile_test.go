package installation

import (
	"context"
	"strconv"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/controller/installation/fakeapi"
	"go.landscaper.dev/internal/controller/installation/testbuilders"
	"go.landscaper.dev/internal/model/siblings"
	"go.landscaper.dev/internal/runtime/queue"
	"go.landscaper.dev/internal/runtime/reporter"
)

// watched is an API server that counts what is asked of it.
func watched(t *testing.T, reads *int, objects ...client.Object) client.Client {
	t.Helper()
	c, ok := fakeapi.New(t, objects...).(client.WithWatch)
	if !ok {
		t.Fatal("the client cannot be wrapped")
	}
	return interceptor.NewClient(c, interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
			*reads++
			return c.Get(ctx, key, object, options...)
		},
		SubResourceUpdate: func(ctx context.Context, c client.Client, _ string, object client.Object, _ ...client.SubResourceUpdateOption) error {
			return c.Update(ctx, object)
		},
	})
}

// TestPanicEndsJob: a panic fails the job, is recorded, and is not repeated by its own event; the
// object can be deleted.
func TestPanicEndsJob(t *testing.T) {
	key := types.NamespacedName{Namespace: "team-a", Name: "shop"}
	inst := &v1alpha1.Installation{ObjectMeta: metav1.ObjectMeta{
		Namespace: key.Namespace, Name: key.Name, UID: "uid-2",
		Annotations: map[string]string{v1alpha1.OperationAnnotation: "reconcile"},
	}}
	reads := 0
	c := watched(t, &reads, inst)
	clock := func() time.Time { return testbuilders.Noon }
	made := 0
	newID := func() string { made++; return "job-" + strconv.Itoa(made) }
	r := &Reconciler{
		Client: c, Reader: c, Order: &queue.Order{}, Now: clock, NewJobID: newID,
		Recorders: reporter.Recorders{Events: events.NewFakeRecorder(10), Problems: &reporter.Problems{Client: c, Reader: c, Namespace: "landscaper", Now: clock}},
		// Without Sources, reading the inputs panics.
	}
	for range 3 {
		if result, err := r.Reconcile(t.Context(), ctrl.Request{NamespacedName: key}); err != nil || result != (ctrl.Result{}) {
			t.Fatal(result, err)
		}
	}
	live := &v1alpha1.Installation{}
	if err := c.Get(t.Context(), key, live); err != nil {
		t.Fatal(err)
	}
	if s := live.Status; s.InstallationPhase != "Failed" || s.JobID != "job-1" || s.JobIDFinished != "job-1" || s.LastError.Reason != "Panic" || !strings.Contains(s.LastError.Message, "installation/observe.Reader.Inputs") {
		t.Errorf("%+v, %+v", s, s.LastError)
	}
	problems := &v1alpha1.CriticalProblems{}
	if err := c.Get(t.Context(), client.ObjectKey{Namespace: "landscaper", Name: "critical-problems"}, problems); err != nil || len(problems.Spec.CriticalProblems) != 1 {
		t.Errorf("%+v, %v", problems, err)
	}
	if err := c.Delete(t.Context(), live); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		_, err := r.Reconcile(t.Context(), ctrl.Request{NamespacedName: key})
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Get(t.Context(), key, live); client.IgnoreNotFound(err) != nil || err == nil {
		t.Errorf("it is still there: %+v, %v", live.Status, err)
	}
}

// TestMissingImport: an Installation that waits for an import names the exporter, and makes no
// request until the exporter has changed.
func TestMissingImport(t *testing.T) {
	exporter := &v1alpha1.Installation{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "db"}}
	exporter.Spec.Exports.Data = []v1alpha1.DataExport{{Name: "address", DataRef: "db-address"}}
	exporter.Status.JobID, exporter.Status.InstallationPhase = "a", "Progressing"
	waits := testbuilders.InstallationOf(t, "imports: {data: [{name: address, dataRef: db-address}]}")
	waits.Status.InstallationPhase = "Init"
	other := testbuilders.InstallationOf(t, "{}")
	other.Name, other.UID, other.Status.InstallationPhase = "other", "uid-3", "Progressing"
	reads := 0
	c := watched(t, &reads, exporter, waits, other)
	r := &Reconciler{Client: c, Reader: c}
	found, err := r.reader().Exporters(t.Context(), siblings.Family{Inst: waits})
	if err != nil || len(found) != 1 || !found[0].Active || found[0].Object != "db-address" {
		t.Errorf("%+v, %v", found, err)
	}
	if enqueued := r.mapper().WaitingSiblings(t.Context(), exporter); len(enqueued) != 1 || enqueued[0].Name != "shop" {
		t.Errorf("the end of the exporter enqueues %v", enqueued)
	}
	if enqueued := r.mapper().WaitingSiblings(t.Context(), other); len(enqueued) != 0 {
		t.Errorf("an Installation without exports enqueues %v", enqueued)
	}
	if enqueued := r.mapper().ByContext(t.Context(), &v1alpha1.Context{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "default"}}); len(enqueued) != 1 {
		t.Errorf("the default Context enqueues %v", enqueued)
	}
	if enqueued := r.mapper().ByContext(t.Context(), &v1alpha1.Context{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "mine"}}); len(enqueued) != 0 {
		t.Errorf("another Context enqueues %v", enqueued)
	}
}
