package job

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"go.landscaper.dev/api/v1alpha1"
)

// TestAllReports goes through every state of a job and every outcome of a step, and
// checks what has to hold for all of them.
func TestAllReports(t *testing.T) {
	conflict := apierrors.NewConflict(v1alpha1.Resource("installations"), "x", errors.New("raced"))
	outcomes := map[string]error{
		"terminal": Terminally(errors.New("bad")), "waiting": WaitFor(OnChange("Context", "c"), "op", "r", "waits"),
		"transient": errors.New("refused"), "conflict": conflict, "panic": Protect(breakDown),
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
	d := newDesk(t, inst)
	before := read(t, d.Client)
	result, err := d.Report(t.Context(), Installation(read(t, d.Client)), "step", r.err)
	after := read(t, d.Client).Status
	running, ended := r.finished != "b", after.JobIDFinished == "b"
	switch OutcomeOf(r.err) {
	case Terminal:
		if !ended {
			t.Error("the job goes on")
		}
		if running && after.InstallationPhase.IsDeletion() != deletes(before) {
			t.Errorf("it ends in phase %s", after.InstallationPhase)
		}
		if err != nil || result.RequeueAfter != 0 {
			t.Errorf("what has ended is tried again: %+v, %v", result, err)
		}
	case Waiting, Transient:
		if ended && running {
			t.Error("the job has ended")
		}
		if running && after.InstallationPhase.IsFinal() {
			t.Errorf("a job that goes on has the final phase %s", after.InstallationPhase)
		}
		if (err != nil) != (OutcomeOf(r.err) == Transient) {
			t.Errorf("another attempt: %v", err)
		}
	case Conflict:
		if d.writes != 0 || result.RequeueAfter != ConflictPause {
			t.Errorf("%d writes, %+v", d.writes, result)
		}
	}
	if running && ended && (after.TransitionTimes == nil || after.TransitionTimes.FinishedTime == nil) {
		t.Error("nobody knows when the job has ended")
	}
	if !slices.ContainsFunc([]string{"", "a", "b"}, func(id string) bool { return id == after.JobIDFinished }) || after.JobID != "b" {
		t.Errorf("the job has become another one: %+v", after)
	}
}

// deletes reports whether a job is one that deletes. Before it begins, the phase is
// that of the job before.
func deletes(inst *v1alpha1.Installation) bool {
	if Starting(inst.Status.JobID, inst.Status.JobIDFinished, string(inst.Status.InstallationPhase)) {
		return inst.DeletionTimestamp != nil
	}
	return inst.Status.InstallationPhase.IsDeletion()
}

// TestAdopt: what a step noted on its copy is told with the next transition of the
// object itself, and only once.
func TestAdopt(t *testing.T) {
	d := newDesk(t, installation("a", "", "Init"))
	subject := Installation(read(t, d.Client))
	copied := Installation(read(t, d.Client))
	now := metav1.NewTime(noon)
	copied.Status.True("ValidateImports", "ImportsSatisfied", "all there", now)
	copied.Status.False("ValidateExport", "ExportsPending", "none yet", now)
	copied.Warn("Unusual", []string{"one"})
	if len(subject.Object.(*v1alpha1.Installation).Status.Conditions) != 0 {
		t.Error("the copy shares its conditions")
	}
	subject.Adopt(copied)
	if err := d.Enter(t.Context(), subject, "Progressing"); err != nil {
		t.Fatal(err)
	}
	if told := d.told(); !slices.Equal(told, []string{"Warning Unusual one"}) {
		t.Errorf("told %q", told)
	}
	conditions := read(t, d.Client).Status.Conditions
	for conditionType, want := range map[v1alpha1.ConditionType]v1alpha1.ConditionStatus{"ValidateImports": "True", "ValidateExport": "False"} {
		if got := GetCondition(conditions, conditionType); got == nil || got.Status != want {
			t.Errorf("%s: %+v, want %s", conditionType, got, want)
		}
	}
	if GetCondition(conditions, "Unknown") != nil {
		t.Error("nobody noted that")
	}
	if err := d.Enter(t.Context(), subject, "Completing"); err != nil || len(d.told()) != 0 {
		t.Errorf("the warning was told again: %v", err)
	}
}

// TestFirstPhases: a wait before a job has begun must not leave the phase of the job
// before, which would end the job.
func TestFirstPhases(t *testing.T) {
	waits := WaitFor(OnChange("Context", "c"), "op", "r", "waits")
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
		{"also if the object is deleted meanwhile", "Progressing", true, "Progressing"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			inst := installation("b", "a", test.phase)
			if test.deleted {
				inst.Finalizers, inst.DeletionTimestamp = []string{v1alpha1.Finalizer}, &metav1.Time{Time: noon}
			}
			d := newDesk(t, inst)
			if _, err := d.Report(t.Context(), Installation(read(t, d.Client)), "step", waits); err != nil {
				t.Fatal(err)
			}
			if got := read(t, d.Client).Status.InstallationPhase; got != test.want {
				t.Errorf("phase %s, want %s", got, test.want)
			}
		})
	}
}

func TestNewID(t *testing.T) {
	seen := map[string]bool{}
	for range 100 {
		seen[NewID()] = true
	}
	if len(seen) != 100 || seen[""] {
		t.Errorf("%d different IDs", len(seen))
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
	if !inst.Status.PhaseTransitionTime.Equal(before.PhaseTransitionTime) || !GetCondition(inst.Status.Conditions, "Ready").LastUpdateTime.Equal(&early) {
		t.Errorf("%+v", inst.Status)
	}
	s.Enter("Succeeded", nil, late)
	finished := inst.Status.TransitionTimes.FinishedTime
	s.Enter("Succeeded", nil, metav1.NewTime(noon.Add(2*time.Hour)))
	if !inst.Status.TransitionTimes.FinishedTime.Equal(finished) || !finished.Equal(&late) {
		t.Error("a job ends once")
	}
}

// TestProblemsUnderPressure: a record is tried again when somebody else was faster,
// and says where it wanted to write when the API server refuses.
func TestProblemsUnderPressure(t *testing.T) {
	conflict := apierrors.NewConflict(v1alpha1.Resource("criticalproblems"), problemsName, errors.New("raced"))
	for _, test := range []struct {
		reason string
		errs   []error
		recorded,
		fails bool
	}{
		{"nobody is in the way", nil, true, false},
		{"two were faster", []error{conflict, conflict}, true, false},
		{"it may not be written", []error{apierrors.NewForbidden(v1alpha1.Resource("criticalproblems"), problemsName, errors.New("no"))}, false, true},
	} {
		t.Run(test.reason, func(t *testing.T) {
			scheme := runtime.NewScheme()
			if err := v1alpha1.AddToScheme(scheme); err != nil {
				t.Fatal(err)
			}
			left := test.errs
			refuse := func() error {
				if len(left) == 0 {
					return nil
				}
				next := left[0]
				left = left[1:]
				return next
			}
			api := fake.NewClientBuilder().WithScheme(scheme).WithInterceptorFuncs(interceptor.Funcs{
				Create: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.CreateOption) error {
					if err := refuse(); err != nil {
						return err
					}
					return c.Create(ctx, object, options...)
				},
			}).Build()
			problems := &Problems{Client: api, Reader: api, Namespace: "landscaper", PodName: "pod", Now: func() time.Time { return noon }}
			err := problems.Record(t.Context(), "broke down")
			if (err != nil) != test.fails || (err != nil && !slices.Contains([]string{
				`record a critical problem in landscaper/critical-problems: criticalproblems.landscaper.gardener.cloud "critical-problems" is forbidden: no`,
			}, err.Error())) {
				t.Error(err)
			}
			stored := &v1alpha1.CriticalProblems{}
			err = api.Get(t.Context(), client.ObjectKey{Namespace: "landscaper", Name: problemsName}, stored)
			if (err == nil && len(stored.Spec.CriticalProblems) == 1) != test.recorded {
				t.Errorf("%+v, %v", stored.Spec, err)
			}
		})
	}
}
