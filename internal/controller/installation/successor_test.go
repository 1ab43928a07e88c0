package installation

import (
	"testing"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
)

// TestSuccessorHasJob: a process that is replaced while it begins a job does not write its job into the
// copies of the process that leads by then: its successor has stored another job, and deletes at the
// end what is not of that.
func TestSuccessorHasJob(t *testing.T) {
	b := newBench(t, installed(t, "web")...)
	former := b.Reconciler
	b.before = func(request string) {
		if request != "create Target" {
			return
		}
		b.before = nil
		b.restart()
		if _, err := b.Reconcile(t.Context(), ctrl.Request{NamespacedName: shop}); err != nil {
			t.Error(err)
		}
	}
	if _, err := former.Reconcile(t.Context(), ctrl.Request{NamespacedName: shop}); err != nil {
		t.Logf("the former process: %v", err)
	}
	if copies := b.copies(t); len(copies) != 1 || copies[0].Labels[v1alpha1.DataObjectJobIDLabel] != b.installation(t).Status.JobID {
		t.Errorf("the job is %s, the copies are %+v", b.installation(t).Status.JobID, copies)
	}
	b.finish(t, "Succeeded", nil)
	b.reconcile(t)
	if phase := b.installation(t).Status.InstallationPhase; phase != "Succeeded" || len(b.copies(t)) != 1 {
		t.Errorf("%s, with the copies %+v", phase, b.copies(t))
	}
}

// TestCopyOfOtherAttempt: an attempt after a crash stores its job before it writes over a copy with the
// job that the process before has not stored; a copy of the job before needs no further write.
func TestCopyOfOtherAttempt(t *testing.T) {
	for _, test := range []struct {
		reason string
		// finished is the job before, and first the phase after one attempt.
		finished, first string
	}{
		{"the job before is another one", "job-0", "Init"},
		{"the copy is of the job before", "job-9", "Progressing"},
		{"the copy is of the first round of the job before", "job-9-removal", "Progressing"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			b := newBench(t, installed(t, "web")...)
			b.reconcile(t)
			b.finish(t, "Succeeded", nil)
			b.reconcile(t)
			copied := b.copies(t)[0]
			copied.Labels[v1alpha1.DataObjectJobIDLabel] = "job-9"
			if err := b.api.Update(t.Context(), &copied); err != nil {
				t.Fatal(err)
			}
			// A change is what starts a job that is not stored at once.
			inst := b.installation(t)
			inst.Annotations = map[string]string{v1alpha1.ReconcileIfChangedAnnotation: "true"}
			inst.Generation++
			if err := b.api.Update(t.Context(), inst); err != nil {
				t.Fatal(err)
			}
			inst.Status.JobID, inst.Status.JobIDFinished = test.finished, test.finished
			if err := b.api.Status().Update(t.Context(), inst); err != nil {
				t.Fatal(err)
			}
			b.restart()
			b.reconcile(t)
			if phase := b.installation(t).Status.InstallationPhase; string(phase) != test.first {
				t.Errorf("after one attempt: %s, want %s; %s", phase, test.first, b.writes)
			}
			b.reconcile(t)
			if copied := b.copies(t)[0].Labels[v1alpha1.DataObjectJobIDLabel]; copied != b.installation(t).Status.JobID {
				t.Errorf("the copy is of %s, the job is %s", copied, b.installation(t).Status.JobID)
			}
		})
	}
}

// copies returns the copies of Targets.
func (b *bench) copies(t *testing.T) []v1alpha1.Target {
	t.Helper()
	list := &v1alpha1.TargetList{}
	if err := b.api.List(t.Context(), list, client.MatchingLabels{v1alpha1.DataObjectContextLabel: v1alpha1.InstallationScope(shop.Name)}); err != nil {
		t.Fatal(err)
	}
	return list.Items
}
