package installation

import (
	"context"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/controller/installation/dependents"
	"go.landscaper.dev/internal/model/predicates"
	"go.landscaper.dev/internal/model/siblings"
)

// amid lets something happen once, before the Execution is created; what it returns is
// the answer.
func (b *bench) amid(t *testing.T, happens func() error) {
	t.Helper()
	whole, ok := b.api.(client.WithWatch)
	if !ok {
		t.Fatal("the client cannot be wrapped")
	}
	b.Client = interceptor.NewClient(whole, interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.CreateOption) error {
			if _, ok := object.(*v1alpha1.Execution); ok && happens != nil {
				do := happens
				happens = nil
				if err := do(); err != nil {
					return err
				}
			}
			return c.Create(ctx, object, options...)
		},
	})
}

// jobs lets everything come to rest and returns the jobs that there were.
func (b *bench) jobs(t *testing.T) []v1alpha1.JobRecord {
	t.Helper()
	b.settle(t)
	return b.installation(t).Status.History
}

// also requests an operation and keeps the other annotations.
func also(operation v1alpha1.Operation) func(*testing.T, *bench, func()) error {
	return func(t *testing.T, b *bench, _ func()) error {
		t.Helper()
		inst := b.installation(t)
		inst.Annotations = merged(inst.Annotations, v1alpha1.OperationAnnotation, string(operation))
		return b.api.Update(t.Context(), inst)
	}
}

// TestPickedUp: between the removal of the request for a first job and the status that shows the
// job, no change of another client is lost.
func TestPickedUp(t *testing.T) {
	for _, test := range []struct {
		reason string
		// amid happens when the children are written.
		amid func(t *testing.T, b *bench, stop func()) error
		// phase is what the status shows after the attempt, jobs how many jobs there are in the end.
		phase v1alpha1.InstallationPhase
		jobs  int
		last  v1alpha1.InstallationPhase
	}{
		{"no other client writes", func(*testing.T, *bench, func()) error { return nil }, "Progressing", 1, "Succeeded"},
		{"a user requests another job", also(v1alpha1.ReconcileOperation), "", 2, "Succeeded"},
		{"a user interrupts this job", also(v1alpha1.InterruptOperation), "", 1, "Failed"},
		{"a user requests a job at once", also(v1alpha1.ForceReconcileOperation), "", 2, "Succeeded"},
		{"a user interrupts and replaces all annotations", func(t *testing.T, b *bench, _ func()) error {
			t.Helper()
			b.request(t, v1alpha1.InterruptOperation)
			return nil
		}, "", 1, "Failed"},
		{"the process dies", func(_ *testing.T, b *bench, _ func()) error {
			b.restart()
			return apierrors.NewConflict(v1alpha1.Resource("executions"), "x", context.Canceled)
		}, "", 1, "Succeeded"},
		{"the process is stopped, and may be followed by an older release", func(_ *testing.T, _ *bench, stop func()) error {
			stop()
			return context.Canceled
		}, "Init", 1, "Succeeded"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			b := newBench(t, installed(t, "web")...)
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			b.amid(t, func() error {
				inst := b.installation(t)
				if inst.Annotations[v1alpha1.OperationAnnotation] != "" || !predicates.Admitted(inst) || !predicates.HasFinalizer(inst) || !siblings.WillExport(inst, predicates.Triggers{}) || dependents.Decide(inst) != dependents.TriggerLater {
					t.Errorf("%+v", inst.ObjectMeta)
				}
				return test.amid(t, b, stop)
			})
			if _, err := b.Reconcile(ctx, ctrl.Request{NamespacedName: shop}); err != nil {
				t.Log(err)
			}
			inst := b.installation(t)
			if inst.Status.InstallationPhase != test.phase {
				t.Errorf("%+v, %+v", inst.ObjectMeta, inst.Status)
			}
			jobs := b.jobs(t)
			if len(jobs) != test.jobs || jobs[0].Phase != test.last || jobs[len(jobs)-1].Trigger != v1alpha1.TriggeredByReconcile {
				t.Errorf("%+v", jobs)
			}
			if inst := b.installation(t); predicates.Admitted(inst) || inst.Annotations[v1alpha1.OperationAnnotation] != "" {
				t.Errorf("%+v", inst.ObjectMeta)
			}
		})
	}
}
