package installation

import (
	"errors"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"go.landscaper.dev/internal/controller/installation/fakeapi"
	"go.landscaper.dev/internal/controller/installation/testbuilders"
)

// TestTidy: what is deleted of a stored plan, and what follows if the deletion fails.
func TestTidy(t *testing.T) {
	foreign := testbuilders.PlanOf(t, "job-2", "theirs", testbuilders.Owner("Installation", "other", "9"))
	foreign.Name = "theirs"
	for _, test := range []struct {
		reason string
		fault  fakeapi.Fault
		again  bool
		left   int
	}{
		{"our Secret is deleted, and that of another owner with our label stays", fakeapi.Fault{At: -1}, false, 1},
		{"the plan cannot be listed", fakeapi.Fault{Reading: true, Err: errors.New("busy")}, true, 2},
		{"the plan cannot be deleted", fakeapi.Fault{Err: errors.New("busy")}, true, 2},
		{"the plan was deleted, but the answer is lost", fakeapi.Fault{Lost: true, Err: errors.New("timeout")}, true, 1},
	} {
		t.Run(test.reason, func(t *testing.T) {
			b := newBench(t, testbuilders.PlanOf(t, "job-2", "ours"), foreign.DeepCopy())
			broken := test.fault.Wrap(t, b.api)
			s := snapshotOf(testbuilders.InstallationOf(t, "{}"))
			s.PlanStored = true
			if _, err := b.planStore().Load(t.Context(), s.Inst); err != nil {
				t.Fatal(err)
			}
			b.Client, b.Reader = broken, broken
			if err := b.cleanUp(t.Context(), s); err != nil {
				t.Fatalf("the job has ended, and its plan is no reason to fail: %v", err)
			}
			at := time.Time{}
			if test.again {
				at = testbuilders.Noon.Add(cleanUpRetry)
			}
			if !s.CleanUpAt.Equal(at) || s.PlanStored != test.again || b.memory.Of(s.Inst.UID).plan.Exists() != test.again {
				t.Errorf("again at %s, left over: %t, remembered: %t", s.CleanUpAt, s.PlanStored, b.memory.Of(s.Inst.UID).plan.Exists())
			}
			list := &corev1.SecretList{}
			if err := b.api.List(t.Context(), list); err != nil || len(list.Items) != test.left {
				t.Errorf("%d Secrets are left, %v", len(list.Items), err)
			}
			if err := b.cleanUp(t.Context(), s); err != nil || s.PlanStored || b.memory.Of(s.Inst.UID).plan.Exists() {
				t.Errorf("the next attempt: %t, %v", s.PlanStored, err)
			}
		})
	}
}
