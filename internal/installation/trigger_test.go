package installation

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/dataflow"
	"go.landscaper.dev/internal/installation/given"
	"go.landscaper.dev/internal/installation/index"
	"go.landscaper.dev/internal/job"
)

// TestForcedJob: who wants a job at once ends the running one; the new one follows, and
// the request is met once.
func TestForcedJob(t *testing.T) {
	b := newBench(t, installed(t, "web")...)
	b.reconcile(t)
	b.request(t, v1alpha1.ForceReconcileOperation)
	wantWrites(t, "the children hear that it ends", b.reconcile(t), "patch Execution, patch Installation")
	if operation := b.installation(t).Annotations[v1alpha1.OperationAnnotation]; operation != "reconcile" {
		t.Errorf("what is left of the request is %q", operation)
	}
	wantWrites(t, "until they have ended, nothing else happens", b.reconcile(t), "")
	b.finish(t, "Failed", &v1alpha1.Error{Message: "operation was interrupted"})
	wantWrites(t, "the running job ends", b.reconcile(t), "status Installation")
	b.reconcile(t)
	s := b.installation(t).Status
	if s.JobID != "job-2" || s.InstallationPhase != "Progressing" || b.installation(t).Annotations[v1alpha1.OperationAnnotation] != "" {
		t.Errorf("%+v, %v", s, b.installation(t).Annotations)
	}
	if history := s.History; len(history) != 2 || history[1].Phase != "Failed" {
		t.Errorf("the history has %+v", history)
	}
}

// TestImportChange: a change of what is imported starts one job, however that ends.
func TestImportChange(t *testing.T) {
	for _, test := range []struct {
		reason  string
		change  func(*testing.T, *bench)
		refuse  string
		job     string
		trigger v1alpha1.JobTrigger
	}{
		{"nothing has changed", func(*testing.T, *bench) {}, "", "job-1", v1alpha1.TriggeredByReconcile},
		{"the Target has", retarget, "", "job-2", v1alpha1.TriggeredByImports},
		{"the Target is gone: a job could only fail", func(t *testing.T, b *bench) {
			t.Helper()
			if err := b.api.Delete(t.Context(), targetOf("cluster", "example.org/cluster")); err != nil {
				t.Fatal(err)
			}
		}, "", "job-1", v1alpha1.TriggeredByReconcile},
		{"something else in the namespace has changed", func(t *testing.T, b *bench) {
			t.Helper()
			if err := b.api.Create(t.Context(), targetOf("other", "example.org/cluster")); err != nil {
				t.Fatal(err)
			}
		}, "", "job-1", v1alpha1.TriggeredByReconcile},
		{"the job that follows fails: it is not started again for the same change", retarget, "create Execution", "job-2", v1alpha1.TriggeredByImports},
		{"also if it fails before it has read anything", func(t *testing.T, b *bench) {
			t.Helper()
			retarget(t, b)
			inst := b.installation(t)
			inst.Spec.Context = "nowhere"
			if err := b.api.Update(t.Context(), inst); err != nil {
				t.Fatal(err)
			}
		}, "", "job-2", v1alpha1.TriggeredByImports},
	} {
		t.Run(test.reason, func(t *testing.T) {
			b := newBench(t, installed(t, "web")...)
			b.Triggers.OnImportChange = true
			b.settle(t)
			test.change(t, b)
			if test.refuse != "" {
				// The name is taken, so that the next job fails.
				if err := b.api.Delete(t.Context(), b.execution(t)); err != nil {
					t.Fatal(err)
				}
				exec := b.execution(t)
				exec.Finalizers = nil
				if err := b.api.Update(t.Context(), exec); err != nil {
					t.Fatal(err)
				}
				b.refuse[test.refuse] = job.Terminally(errors.New("quota"))
			}
			b.settle(t)
			s := b.installation(t).Status
			if s.JobID != test.job || s.JobID != s.JobIDFinished || s.History[0].Trigger != test.trigger {
				t.Errorf("%+v, %+v", s, s.LastError)
			}
			if wantPhase := v1alpha1.InstallationPhase("Failed"); test.refuse != "" && s.InstallationPhase != wantPhase {
				t.Errorf("it ends %s, want %s", s.InstallationPhase, wantPhase)
			}
		})
	}
}

func targetOf(name, targetType string) *v1alpha1.Target {
	target := &v1alpha1.Target{ObjectMeta: metav1.ObjectMeta{Namespace: shop.Namespace, Name: name}}
	target.Spec.Type = v1alpha1.TargetType(targetType)
	return target
}

// retarget changes what is imported.
func retarget(t *testing.T, b *bench) {
	t.Helper()
	target := &v1alpha1.Target{}
	if err := b.api.Get(t.Context(), client.ObjectKey{Namespace: shop.Namespace, Name: "cluster"}, target); err != nil {
		t.Fatal(err)
	}
	target.Generation++
	target.Spec.Configuration = v1alpha1.NewAnyJSONPointer([]byte(`{"kubeconfig": "another"}`))
	if err := b.api.Update(t.Context(), target); err != nil {
		t.Fatal(err)
	}
}

// queued lets a handler see an event and returns who is woken.
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

// TestImportersOf: a change wakes the roots that import the object, and those only.
func TestImportersOf(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := errors.Join(given.AddCore(scheme), v1alpha1.AddToScheme(scheme)); err != nil {
		t.Fatal(err)
	}
	elsewhere := given.Root(t, "elsewhere", []string{"x"}, nil)
	elsewhere.Namespace = "other"
	child := given.Sibling("child x")
	objects := []client.Object{given.Root(t, "one", []string{"x"}, nil), given.Root(t, "two", []string{"x", "y"}, nil), given.Root(t, "three", []string{"z"}, nil), elsewhere, child}
	indexed := fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).WithIndex(&v1alpha1.Installation{}, index.ByImport, index.ImportsOfRoot).Build()
	unindexed := fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).Build()
	data := &v1alpha1.DataObject{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "x"}}
	for _, test := range []struct {
		reason string
		client client.Client
		kind   dataflow.Kind
		want   []string
	}{
		{"two import it; a subinstallation and another namespace do not", indexed, dataflow.KindDataObject, []string{"one", "two"}},
		{"a Target of the name is something else", indexed, dataflow.KindTarget, []string{}},
		{"who cannot be found is not woken; its next look finds the change", unindexed, dataflow.KindDataObject, []string{}},
	} {
		t.Run(test.reason, func(t *testing.T) {
			r := &Reconciler{Client: test.client, Now: time.Now}
			wakes := r.importersOf(test.kind)
			got := queued(t, func(ctx context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) {
				wakes.Update(ctx, event.UpdateEvent{ObjectOld: data, ObjectNew: data}, queue)
			})
			if !slices.Equal(got, test.want) {
				t.Errorf("%v are woken, want %v", got, test.want)
			}
		})
	}
}
