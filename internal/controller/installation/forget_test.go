package installation

import (
	"errors"
	"testing"

	ctrl "sigs.k8s.io/controller-runtime"

	"go.landscaper.dev/internal/content/component/registry"
	"go.landscaper.dev/internal/controller/installation/resolve"
	"go.landscaper.dev/internal/runtime/job"
)

// TestForgotten: nothing is remembered of an Installation that no longer exists.
func TestForgotten(t *testing.T) {
	for _, test := range []struct {
		reason string
		end    func(t *testing.T, b *bench)
	}{
		{"another client has removed the finalizer, and the watch reports the deletion", func(t *testing.T, b *bench) { b.memory.forget(b.installation(t)) }},
		{"the finalizer is removed", func(t *testing.T, b *bench) {
			if err := b.api.Delete(t.Context(), b.installation(t)); err != nil {
				t.Fatal(err)
			}
			b.settle(t)
		}},
		{"the Installation is missing when its status is written", func(t *testing.T, b *bench) {
			b.request(t, "reconcile")
			b.before = func(request string) {
				if request != "status Installation" {
					return
				}
				b.before = nil
				inst := b.installation(t)
				inst.Finalizers = nil
				if err := errors.Join(b.api.Update(t.Context(), inst), b.api.Delete(t.Context(), inst)); err != nil {
					t.Error(err)
				}
			}
			if _, err := b.Reconcile(t.Context(), ctrl.Request{NamespacedName: shop}); err != nil {
				t.Error(err)
			}
		}},
	} {
		t.Run(test.reason, func(t *testing.T) {
			b := newBench(t, installed(t, "web")...)
			b.settle(t)
			inst := b.installation(t)
			for _, of := range []mark{unstored, pickedUp, terminating, executionDeleted} {
				b.memory.Of(inst.UID).marks.note(of, true)
			}
			if err := b.memory.Of(inst.UID).outage.Classify(b.Now().Add(-resolve.OutageLimit), &job.Error{Cause: registry.ErrStalled}); job.OutcomeOf(err) != job.Transient {
				t.Fatal(err)
			}
			test.end(t, b)
			for _, of := range []mark{unstored, pickedUp, terminating, executionDeleted} {
				if b.memory.Of(inst.UID).marks.has(of) {
					t.Errorf("mark %d is left", of)
				}
			}
			if err := b.memory.Of(inst.UID).outage.Classify(b.Now(), &job.Error{Cause: registry.ErrStalled}); job.OutcomeOf(err) != job.Transient {
				t.Errorf("an outage is left: %v", err)
			}
			inst.ResourceVersion = "1"
			if b.memory.await(t.Context(), b.Reader, inst) != nil || b.memory.Of(inst.UID).plan.Exists() {
				t.Error("what was written is remembered")
			}
		})
	}
}
