package reporter

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/runtime/job"
)

// TestAllReports goes through every state of a job and every outcome of a step, and
// checks what has to hold for all of them.
func TestAllReports(t *testing.T) {
	conflict := apierrors.NewConflict(v1alpha1.Resource("installations"), "x", errors.New("raced"))
	outcomes := map[string]error{
		"terminal": job.AsTerminal(errors.New("bad")), "waiting": job.WaitFor(job.OnChange("Context", "c"), "op", "r", "waits"),
		"transient": errors.New("refused"), "conflict": conflict, "panic": job.RecoverPanic(breakDown),
	}
	phases := []v1alpha1.InstallationPhase{"", "Init", "Progressing", "Completing", "Succeeded", "Failed", "InitDelete", "TriggerDelete", "Deleting", "DeleteFailed"}
	for name, err := range outcomes {
		for _, phase := range phases {
			for _, finished := range []string{"", "a", "b"} {
				for _, deleted := range []bool{false, true} {
					t.Run(fmt.Sprintf("%s in phase %q, finished %q, deleted %t", name, phase, finished, deleted), func(t *testing.T) {
						checkReport(t, reported{phase: phase, finished: finished, deleted: deleted, err: err})
					})
				}
			}
		}
	}
}

// reported is the job b in some state, and how its step ended.
type reported struct {
	phase    v1alpha1.InstallationPhase
	finished string
	deleted  bool
	err      error
}

func checkReport(t *testing.T, r reported) {
	t.Helper()
	inst := installation("b", r.finished, r.phase)
	if r.deleted {
		inst.Finalizers, inst.DeletionTimestamp = []string{v1alpha1.Finalizer}, &metav1.Time{Time: noon}
	}
	d := newBench(t, inst)
	before := read(t, d.Client)
	result, err := d.Report(t.Context(), Installation(read(t, d.Client)), "step", r.err)
	after := read(t, d.Client).Status
	running, ended := r.finished != "b", after.JobIDFinished == "b"
	switch job.OutcomeOf(r.err) {
	case job.Terminal:
		if !ended {
			t.Error("the job goes on")
		}
		if running && after.InstallationPhase.IsDeletion() != deletes(before) {
			t.Errorf("it ends in phase %s", after.InstallationPhase)
		}
		if err != nil || result.RequeueAfter != 0 {
			t.Errorf("what has ended is tried again: %+v, %v", result, err)
		}
	case job.Waiting, job.Transient:
		if ended && running {
			t.Error("the job has ended")
		}
		if running && after.InstallationPhase.IsFinal() {
			t.Errorf("a job that goes on has the final phase %s", after.InstallationPhase)
		}
		if (err != nil) != (job.OutcomeOf(r.err) == job.Transient) {
			t.Errorf("another attempt: %v", err)
		}
	case job.Conflict:
		if d.writes != 0 || result.RequeueAfter != ConflictBackoff {
			t.Errorf("%d writes, %+v", d.writes, result)
		}
	}
	if running && ended && (after.TransitionTimes == nil || after.TransitionTimes.FinishedTime == nil) {
		t.Error("the end of the job has no time")
	}
	if !slices.ContainsFunc([]string{"", "a", "b"}, func(id string) bool { return id == after.JobIDFinished }) || after.JobID != "b" {
		t.Errorf("the job has become another one: %+v", after)
	}
}

// deletes reports whether a job is one that deletes. Before it begins, the phase is
// that of the job before.
func deletes(inst *v1alpha1.Installation) bool {
	if job.Starting(inst.Status.JobID, inst.Status.JobIDFinished, string(inst.Status.InstallationPhase)) {
		return inst.DeletionTimestamp != nil
	}
	return inst.Status.InstallationPhase.IsDeletion()
}

// TestAdopt: the warnings that a step noted on its copy are emitted with the next transition
// of the object itself, and only once.
func TestAdopt(t *testing.T) {
	d := newBench(t, installation("a", "", "Init"))
	subject := Installation(read(t, d.Client))
	copied := Installation(read(t, d.Client))
	now := metav1.NewTime(noon)
	copied.Status.SetTrue("ValidateImports", "ImportsSatisfied", "all there", now)
	copied.Status.SetFalse("ValidateExport", "ExportsPending", "none yet", now)
	copied.Warn("Unusual", []string{"one"})
	if len(subject.Object.(*v1alpha1.Installation).Status.Conditions) != 0 {
		t.Error("the copy shares its conditions")
	}
	subject.MergeFrom(copied)
	if err := d.Enter(t.Context(), subject, "Progressing"); err != nil {
		t.Fatal(err)
	}
	if events := d.emitted(); !slices.Equal(events, []string{"Warning Unusual one"}) {
		t.Errorf("events %q", events)
	}
	conditions := read(t, d.Client).Status.Conditions
	for conditionType, want := range map[v1alpha1.ConditionType]v1alpha1.ConditionStatus{"ValidateImports": "True", "ValidateExport": "False"} {
		if got := job.GetCondition(conditions, conditionType); got == nil || got.Status != want {
			t.Errorf("%s: %+v, want %s", conditionType, got, want)
		}
	}
	if job.GetCondition(conditions, "Unknown") != nil {
		t.Error("a warning that was not noted")
	}
	if err := d.Enter(t.Context(), subject, "Completing"); err != nil || len(d.emitted()) != 0 {
		t.Errorf("the warning was emitted again: %v", err)
	}
}

// TestFirstPhases: a wait before a job has begun must not leave the phase of the job
// before, which would end the job.
func TestFirstPhases(t *testing.T) {
	waits := job.WaitFor(job.OnChange("Context", "c"), "op", "r", "waits")
	for _, test := range []struct {
		reason  string
		phase   v1alpha1.InstallationPhase
		deleted bool
		want    v1alpha1.InstallationPhase
	}{
		{"a first job", "", false, "Init"},
		{"after a success", "Succeeded", false, "Init"},
		{"after a failed deletion", "DeleteFailed", false, "Init"},
		{"a deletion", "Succeeded", true, "InitDelete"},
		{"a job that has begun keeps its phase", "Progressing", false, "Progressing"},
		{"a job that has begun keeps its phase if the object is deleted meanwhile", "Progressing", true, "Progressing"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			inst := installation("b", "a", test.phase)
			if test.deleted {
				inst.Finalizers, inst.DeletionTimestamp = []string{v1alpha1.Finalizer}, &metav1.Time{Time: noon}
			}
			d := newBench(t, inst)
			if _, err := d.Report(t.Context(), Installation(read(t, d.Client)), "step", waits); err != nil {
				t.Fatal(err)
			}
			if got := read(t, d.Client).Status.InstallationPhase; got != test.want {
				t.Errorf("phase %s, want %s", got, test.want)
			}
		})
	}
}

// TestEnterKeepsTimes: entering the phase that an object has moves no time, so that
// nothing is written.
func TestEnterKeepsTimes(t *testing.T) {
	inst := installation("a", "", "Progressing")
	early, late := metav1.NewTime(noon), metav1.NewTime(noon.Add(time.Hour))
	s := Installation(inst).Status
	s.Enter("Completing", nil, early)
	before := inst.Status.DeepCopy()
	s.Enter("Completing", nil, late)
	if !inst.Status.PhaseTransitionTime.Equal(before.PhaseTransitionTime) || !job.GetCondition(inst.Status.Conditions, "Ready").LastUpdateTime.Equal(&early) {
		t.Errorf("%+v", inst.Status)
	}
	s.Enter("Succeeded", nil, late)
	finished := inst.Status.TransitionTimes.FinishedTime
	s.Enter("Succeeded", nil, metav1.NewTime(noon.Add(2*time.Hour)))
	if !inst.Status.TransitionTimes.FinishedTime.Equal(finished) || !finished.Equal(&late) {
		t.Error("a job ends once")
	}
}
