package job

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
)

// breakDown panics like a mistake of ours does.
func breakDown() error {
	var inst *v1alpha1.Installation
	return errors.New(inst.Name)
}

// TestPanic: a panic ends the job with an error, and the administrator finds it.
func TestPanic(t *testing.T) {
	d := newDesk(t, installation("a", "", "Init"))
	err := Protect(breakDown)
	if !IsPanic(err) || OutcomeOf(err) != Terminal || !strings.Contains(err.Error(), "nil pointer dereference in internal/job.breakDown, line ") {
		t.Fatal(err)
	}
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
	if err := Protect(func() error { return http.ErrAbortHandler }); IsPanic(err) {
		t.Error("an error is no panic")
	}
}

// TestPanicShowsNoValue: what is thrown may hold a secret.
func TestPanicShowsNoValue(t *testing.T) {
	for _, thrown := range []any{"password", errors.New("password"), map[string]string{"password": "password"}} {
		if err := Protect(func() error { panic(thrown) }); strings.Contains(err.Error(), "password") || !strings.Contains(err.Error(), "panic with a ") {
			t.Error(err)
		}
	}
}

// TestPanicWithoutJob: where no job runs, none is failed.
func TestPanicWithoutJob(t *testing.T) {
	d := newDesk(t, installation("a", "a", "Succeeded"))
	broken := Protect(breakDown)
	if result, err := d.Report(t.Context(), Installation(read(t, d.Client)), "step", broken); err != nil || result != (ctrl.Result{}) || d.writes != 0 {
		t.Error(result, err, d.writes)
	}
	if result, err := d.Report(t.Context(), nil, "observe", broken); err != nil || result.RequeueAfter != longestBreak {
		t.Error(result, err)
	}
	if _, err := d.Report(t.Context(), nil, "observe", errors.New("x")); err == nil {
		t.Error("any other error is tried again")
	}
}

// TestBreakdowns: what breaks down again and again is left alone for longer and
// longer, but a deletion or another specification is looked at at once.
func TestBreakdowns(t *testing.T) {
	d := newDesk(t)
	inst := installation("a", "", "Init")
	var pauses []time.Duration
	for range 8 {
		d.breakdowns.note(inst, d.now)
		pauses = append(pauses, d.Rest(Installation(inst)))
	}
	if pauses[0] != 0 || pauses[1] == 0 || !slices.IsSorted(pauses) || pauses[7] != longestBreak {
		t.Errorf("%v", pauses)
	}
	inst.Generation++
	if got := d.Rest(Installation(inst)); got != 0 {
		t.Errorf("another generation waits %s", got)
	}
	inst.Generation--
	d.Calm(Installation(inst))
	if got := d.Rest(Installation(inst)); got != 0 {
		t.Errorf("after a calm look it waits %s", got)
	}
}

// TestWithProblem: one mistake does not push the others out of the list.
func TestWithProblem(t *testing.T) {
	var list []v1alpha1.CriticalProblem
	for _, description := range strings.Split("a b a c d e f g h i j k", " ") {
		list = withProblem(list, v1alpha1.CriticalProblem{Description: description})
	}
	var got string
	for _, problem := range list {
		got += problem.Description
	}
	if got != "acdefghijk"[0:10] {
		t.Errorf("got %s", got)
	}
}

// TestProblemsOfTwo: two processes that record at once lose nothing.
func TestProblemsOfTwo(t *testing.T) {
	d := newDesk(t)
	for _, description := range []string{"a", "b"} {
		if err := d.Problems.Record(t.Context(), description); err != nil {
			t.Fatal(err)
		}
	}
	problems := &v1alpha1.CriticalProblems{}
	if err := d.Client.Get(t.Context(), client.ObjectKey{Namespace: "landscaper", Name: "critical-problems"}, problems); err != nil || len(problems.Spec.CriticalProblems) != 2 {
		t.Errorf("%+v, %v", problems, err)
	}
}
