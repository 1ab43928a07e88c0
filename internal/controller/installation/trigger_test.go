package installation

import (
	"context"
	"errors"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/controller/installation/testbuilders"
	"go.landscaper.dev/internal/runtime/job"
)

// TestForcedJob: a request for a job at once ends the running one; the new one follows, and the
// request is met once.
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
		{"the Target has changed", retarget, "", "job-2", v1alpha1.TriggeredByImports},
		{"the Target does not exist any more: a job could only fail", func(t *testing.T, b *bench) {
			t.Helper()
			if err := b.api.Delete(t.Context(), testbuilders.TargetOf("cluster", "example.org/cluster")); err != nil {
				t.Fatal(err)
			}
		}, "", "job-1", v1alpha1.TriggeredByReconcile},
		{"something else in the namespace has changed", func(t *testing.T, b *bench) {
			t.Helper()
			if err := b.api.Create(t.Context(), testbuilders.TargetOf("other", "example.org/cluster")); err != nil {
				t.Fatal(err)
			}
		}, "", "job-1", v1alpha1.TriggeredByReconcile},
		{"a job that fails is not started again for the same change", retarget, "create Execution", "job-2", v1alpha1.TriggeredByImports},
		{"a job that fails before it has read anything is not started again for the same change", func(t *testing.T, b *bench) {
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
				b.refuse[test.refuse] = job.AsTerminal(errors.New("quota"))
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

// TestRequestedBy: the history has which client has asked for a job, as long as the attempt that begins it
// knows.
func TestRequestedBy(t *testing.T) {
	const operation = `{"f:metadata":{"f:annotations":{"f:landscaper.gardener.cloud/operation":{}}}}`
	for _, test := range []struct {
		reason    string
		operation v1alpha1.Operation
		by        string
		trigger   v1alpha1.JobTrigger
	}{
		{"a client", v1alpha1.ReconcileOperation, "kubectl-annotate", v1alpha1.TriggeredByReconcile},
		{"a client that does not wait for the running job", v1alpha1.ForceReconcileOperation, "landscaper-console", v1alpha1.TriggeredByForceReconcile},
		{"an API server that does not say it", v1alpha1.ReconcileOperation, "", v1alpha1.TriggeredByReconcile},
	} {
		t.Run(test.reason, func(t *testing.T) {
			b := newBench(t, installed(t, "web")...)
			b.settle(t)
			whole, ok := b.api.(client.WithWatch)
			if !ok {
				t.Fatal("the client cannot be wrapped")
			}
			b.request(t, test.operation)
			// The API server in memory records no managed fields.
			b.Client = interceptor.NewClient(whole, interceptor.Funcs{
				Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
					err := c.Get(ctx, key, object, options...)
					if inst, is := object.(*v1alpha1.Installation); is && test.by != "" && inst.Annotations[v1alpha1.OperationAnnotation] != "" {
						inst.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: test.by, FieldsV1: metav1.NewFieldsV1(operation)}}
					}
					return err
				},
			})
			b.settle(t)
			first := b.installation(t).Status.History[0]
			if first.Trigger != test.trigger || first.RequestedBy != test.by || first.ImportsHash == "" || len(first.Imports) != 1 {
				t.Errorf("%+v", first)
			}
		})
	}
}
