package installation

import (
	"errors"
	"testing"

	"k8s.io/apimachinery/pkg/types"
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
		// The namespace is looked at when the job has ended, and what is left once more.
		{"another one", (*bench).forgetPlans, 3},
	} {
		t.Run(test.reason, func(t *testing.T) {
			b := newBench(t, publishing(t)...)
			b.reconcile(t)
			test.between(b)
			counted := &fault{reading: true, at: -1}
			b.Reader = counted.wrap(t, b.api)
			b.finishWith(t, "https://shop")
			b.refuse["create DataObject"] = errors.New("busy")
			for range 3 {
				_, _ = b.Reconcile(t.Context(), requestFor(b.installation(t)))
			}
			delete(b.refuse, "create DataObject")
			b.reconcile(t)
			b.reconcile(t)
			if s := b.installation(t).Status; s.InstallationPhase != "Succeeded" {
				t.Fatalf("%s, %+v", s.InstallationPhase, s.LastError)
			}
			reads := 0
			for _, call := range counted.calls {
				if call == "list *v1.SecretList" || call == "list *v1.PartialObjectMetadataList" {
					reads++
				}
			}
			if reads != test.reads || len(b.remembered.by) != 0 || b.kept.has(b.installation(t).UID) {
				t.Errorf("%d reads of %v, want %d; %d plans are remembered", reads, counted.calls, test.reads, len(b.remembered.by))
			}
		})
	}
}

// TestRemembered: a plan is of one job, and the oldest go when there are too many.
func TestRemembered(t *testing.T) {
	r := &remembered{}
	large := func(job string) *storedPlan { return &storedPlan{job: job, content: make([]byte, mostRemembered/3)} }
	for _, uid := range []types.UID{"a", "b", "a", "c", "d"} {
		r.note(uid, large("job-1"))
	}
	for uid, want := range map[types.UID]bool{"a": true, "b": false, "c": true, "d": true} {
		if got := r.of(uid, "job-1") != nil; got != want {
			t.Errorf("the plan of %s is remembered: %t", uid, got)
		}
	}
	if r.of("c", "job-2") != nil {
		t.Error("a plan of another job is used")
	}
	for _, uid := range []types.UID{"a", "c", "d", "e"} {
		r.forget(uid)
	}
	if r.bytes != 0 || len(r.order) != 0 {
		t.Errorf("%d bytes and %d plans are left", r.bytes, len(r.order))
	}
	r.note("e", &storedPlan{content: make([]byte, mostRemembered+1)})
	if r.of("e", "") != nil || r.bytes != 0 {
		t.Error("what is larger than all together is remembered")
	}
}
