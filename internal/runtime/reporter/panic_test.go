package reporter

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/runtime/job"
)

// breakDown panics like a mistake of ours does.
func breakDown() error {
	var inst *v1alpha1.Installation
	return errors.New(inst.Name)
}

// TestPanic: a panic ends the job with an error, and the administrator finds it.
func TestPanic(t *testing.T) {
	d := newBench(t, installation("a", "", "Init"))
	err := job.RecoverPanic(breakDown)
	if result, err := d.Report(t.Context(), Installation(read(t, d.Client)), "step", err); err != nil || result != (ctrl.Result{}) {
		t.Error(result, err)
	}
	status := read(t, d.Client).Status
	if status.InstallationPhase != "Failed" || status.JobIDFinished != "a" || !slices.Contains(status.LastError.Codes, v1alpha1.ErrorInternalProblem) {
		t.Errorf("%+v", status)
	}
	problems := &v1alpha1.CriticalProblems{}
	if err := d.Client.Get(t.Context(), client.ObjectKey{Namespace: "landscaper", Name: "critical-problems"}, problems); err != nil {
		t.Fatal(err)
	}
	if list := problems.Spec.CriticalProblems; len(list) != 1 || list[0].PodName != "pod" || !strings.Contains(list[0].Description, "ReconcileThing of n/x: runtime error") {
		t.Errorf("%+v", list)
	}
}

// TestPanicWithoutJob: where no job runs, none is failed.
func TestPanicWithoutJob(t *testing.T) {
	d := newBench(t, installation("a", "a", "Succeeded"))
	broken := job.RecoverPanic(breakDown)
	if result, err := d.Report(t.Context(), Installation(read(t, d.Client)), "step", broken); err != nil || result != (ctrl.Result{}) || d.writes != 0 {
		t.Error(result, err, d.writes)
	}
	if result, err := d.Report(t.Context(), nil, "observe", broken); err != nil || result.RequeueAfter != maxPanicBackoff {
		t.Error(result, err)
	}
	if _, err := d.Report(t.Context(), nil, "observe", errors.New("x")); err == nil {
		t.Error("any other error is tried again")
	}
}

// TestBreakdowns: an object whose reconciles panic again and again is left alone for longer
// and longer, but a deletion or another specification is tried at once.
func TestBreakdowns(t *testing.T) {
	d := newBench(t)
	inst := installation("a", "", "Init")
	var pauses []time.Duration
	for range 8 {
		d.Known(inst.UID).panics.note(inst, d.now)
		pauses = append(pauses, d.PanicBackoff(Installation(inst)))
	}
	if pauses[0] != 0 || pauses[1] == 0 || !slices.IsSorted(pauses) || pauses[7] != maxPanicBackoff {
		t.Errorf("%v", pauses)
	}
	inst.Generation++
	if got := d.PanicBackoff(Installation(inst)); got != 0 {
		t.Errorf("another generation waits %s", got)
	}
	inst.Generation--
	d.ResetPanics(Installation(inst))
	if got := d.PanicBackoff(Installation(inst)); got != 0 {
		t.Errorf("after a reconcile without a panic it waits %s", got)
	}
}
