package deployer

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/deployer/internal/exportwatch"
)

// TestDecidePropagation: what becomes of a value that has changed, and what brings the next look.
func TestDecidePropagation(t *testing.T) {
	now := time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
	idle := &v1alpha1.Installation{ObjectMeta: metav1.ObjectMeta{Name: "shop"}, Status: v1alpha1.InstallationStatus{JobID: "job-1", JobIDFinished: "job-1"}}
	deleted := idle.DeepCopy()
	deleted.DeletionTimestamp = &metav1.Time{Time: now}
	collected := idle.DeepCopy()
	collected.Status = v1alpha1.InstallationStatus{
		JobID: "job-2", JobIDFinished: "job-2", InstallationPhase: v1alpha1.InstallationPhases.Succeeded, DataUpdate: &v1alpha1.DataUpdate{Installations: []string{"shop"}},
	}
	late := exportwatch.ParseChangeBackoff("").After(now.Add(-time.Second))
	changed := func(changes ...func(*propagation)) propagation {
		p := propagation{Changed: exportwatch.Changed{Names: []string{"host"}}, tree: true, above: []*v1alpha1.Installation{idle}, now: now}
		for _, change := range changes {
			change(&p)
		}
		return p
	}
	stored := func(settles time.Duration) func(*propagation) {
		return func(p *propagation) { p.Stored, p.After, p.Settles = true, "job-1", now.Add(settles) }
	}
	below := func(inst ...*v1alpha1.Installation) func(*propagation) {
		return func(p *propagation) { p.above = inst }
	}
	for _, test := range []struct {
		reason string
		p      propagation
		want   propagationStep
		// pause is the time until the next look; 0 if a change, or the step itself, leads to it.
		pause time.Duration
	}{
		{"nothing has changed: a change enqueues the item", propagation{now: now}, restPropagation, 0},
		{"a job has just begun: one at a time", changed(func(p *propagation) { p.lastJob = now.Add(-4 * time.Second) }), restPropagation, 6 * time.Second},
		{"the last job is long ago", changed(func(p *propagation) { p.lastJob = now.Add(-time.Hour) }, func(p *propagation) { p.tree = false }), readTree, 0},
		{"a value that changes again and again waits", changed(func(p *propagation) { p.Backoff = late }), restPropagation, 9 * time.Second},
		{"nothing is read before it has to be", changed(func(p *propagation) { p.tree = false }), readTree, 0},
		{"the tree has a job, which may propagate the value", changed(func(p *propagation) { p.busy = true }), restPropagation, exportwatch.PropagationInterval},
		{"an Installation above is deleted: so is the item soon", changed(below(idle, deleted)), dropChange, exportwatch.PropagationInterval},
		{"also if the value is stored already", changed(below(deleted), stored(0)), dropChange, exportwatch.PropagationInterval},
		{"an item without a tree gets a job of its own", changed(below()), deployAgain, exportwatch.PropagationInterval},
		{"the value is stored before anything is asked for: this process may end", changed(), storeValues, 0},
		{"other values may change as well, which one job propagates", changed(stored(time.Second)), restPropagation, time.Second},
		{"the values have settled", changed(stored(0)), requestPropagation, 0},
		{"the request is made once", changed(stored(0), func(p *propagation) { p.requested = true }), completePropagation, exportwatch.PropagationInterval},
		{"a job for another item has propagated this value, too", changed(stored(0), below(collected)), completePropagation, exportwatch.PropagationInterval},
	} {
		t.Run(test.reason, func(t *testing.T) {
			got, wake := decidePropagation(test.p)
			if got != test.want || wake.Pause(now) != test.pause || !wake.Recorded() {
				t.Errorf("%s, next by %s after %s; want %s after %s", got, wake, wake.Pause(now), test.want, test.pause)
			}
		})
	}
}
