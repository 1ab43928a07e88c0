package installation

import (
	"errors"
	"testing"

	"go.landscaper.dev/internal/controller/installation/fakeapi"
	"go.landscaper.dev/internal/controller/installation/wake"
)

// TestPlanIsReadOnce: the plan of a job is not read by the process that has stored it, and
// once by another one.
func TestPlanIsReadOnce(t *testing.T) {
	for _, test := range []struct {
		reason  string
		between func(*bench)
		reads   int
	}{
		{"the process that has stored it", func(*bench) {}, 0},
		// The plan is read by its name; the namespace is listed when the job has ended, and the rest once
		// more.
		{"another process", (*bench).forgetPlans, 3},
	} {
		t.Run(test.reason, func(t *testing.T) {
			b := newBench(t, publishing(t)...)
			b.reconcile(t)
			test.between(b)
			counted := &fakeapi.Fault{Reading: true, At: -1}
			b.Reader = counted.Wrap(t, b.api)
			b.finishWith(t, "https://shop")
			b.refuse["create DataObject"] = errors.New("busy")
			for range 3 {
				_, _ = b.Reconcile(t.Context(), wake.RequestFor(b.installation(t)))
			}
			delete(b.refuse, "create DataObject")
			b.reconcile(t)
			b.reconcile(t)
			if s := b.installation(t).Status; s.InstallationPhase != "Succeeded" {
				t.Fatalf("%s, %+v", s.InstallationPhase, s.LastError)
			}
			reads := 0
			for _, call := range counted.Calls {
				if call == "get *v1.Secret" || call == "list *v1.SecretList" || call == "list *v1.PartialObjectMetadataList" {
					reads++
				}
			}
			if reads != test.reads || b.memory.Of(b.installation(t).UID).plan.Exists() {
				t.Errorf("%d reads of %v, want %d", reads, counted.Calls, test.reads)
			}
		})
	}
}
