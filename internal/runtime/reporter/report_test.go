package reporter

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/runtime/expectations"
	"go.landscaper.dev/internal/runtime/job"
)

var noon = time.Date(2030, 1, 2, 12, 0, 0, 0, time.UTC)

// bench is a reporter with an API server in memory, and the events that it has emitted.
type bench struct {
	*Reporter
	recorder *events.FakeRecorder
	now      time.Time
	// refuse is what the API server says to the next writes of a status.
	refuse error
	writes int
}

func newBench(t *testing.T, objects ...client.Object) *bench {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	d := &bench{recorder: events.NewFakeRecorder(100), now: noon}
	api := fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).WithStatusSubresource(objects...).WithInterceptorFuncs(interceptor.Funcs{
		SubResourceUpdate: func(ctx context.Context, c client.Client, subresource string, object client.Object, options ...client.SubResourceUpdateOption) error {
			d.writes++
			if d.refuse != nil {
				return d.refuse
			}
			return c.SubResource(subresource).Update(ctx, object, options...)
		},
	}).Build()
	clock := func() time.Time { return d.now }
	d.Reporter = &Reporter{
		Client: api, Action: "ReconcileThing", EmitSuccess: true, Now: clock, Known: (&expectations.Records[Known]{}).Of,
		Recorders: Recorders{Events: d.recorder, Problems: &Problems{Client: api, Reader: api, Namespace: "landscaper", PodName: "pod", Now: clock}},
	}
	return d
}

// emitted returns the events since the last call.
func (d *bench) emitted() []string {
	var list []string
	for {
		select {
		case event := <-d.recorder.Events:
			list = append(list, event)
		default:
			return list
		}
	}
}

func installation(id, finished string, phase v1alpha1.InstallationPhase) *v1alpha1.Installation {
	inst := &v1alpha1.Installation{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "x", UID: "u"}}
	inst.Status.JobID, inst.Status.JobIDFinished, inst.Status.InstallationPhase = id, finished, phase
	return inst
}

func read(t *testing.T, c client.Reader) *v1alpha1.Installation {
	t.Helper()
	inst := &v1alpha1.Installation{}
	if err := c.Get(t.Context(), client.ObjectKey{Namespace: "n", Name: "x"}, inst); err != nil {
		t.Fatal(err)
	}
	return inst
}

// TestReport: what follows from an error.
func TestReport(t *testing.T) {
	resource := v1alpha1.Resource("installations")
	transient, terminal := errors.New("connection refused"), job.AsTerminal(job.NewError("op", "Bad", "bad template"))
	tests := []struct {
		reason   string
		inst     *v1alpha1.Installation
		err      error
		refuse   error
		phase    v1alpha1.InstallationPhase
		finished string
		after    time.Duration
		again    bool
		events   []string
	}{
		{"another attempt follows, and the user knows why", installation("a", "", "Init"), transient, nil, "Init", "", 0, true, []string{"Warning Error connection refused"}},
		{"a failure ends the job", installation("a", "", "Progressing"), terminal, nil, "Failed", "a", 0, false, []string{"Warning Bad bad template"}},
		{"a failed deletion has a phase of its own", installation("b", "a", "Deleting"), terminal, nil, "DeleteFailed", "b", 0, false, []string{"Warning Bad bad template"}},
		{"before a job begins, the phase is that of the one before", installation("b", "a", "DeleteFailed"), terminal, nil, "Failed", "b", 0, false, []string{"Warning Bad bad template"}},
		{"a wait is in the status alone, and no timer runs", installation("a", "", "Init"), job.WaitFor(job.OnChange("Context", "default"), "op", "Context", "waiting for it"), nil, "Init", "", 0, false, nil},
		{"another writer was faster: nothing is written", installation("a", "", "Init"), apierrors.NewConflict(resource, "x", transient), nil, "Init", "", ConflictBackoff, false, nil},
		{"the object is deleted: nothing is written, and the engine forgets it", installation("a", "", "Init"), expectations.StaleCacheError{Deleted: true}, nil, "Init", "", 0, true, nil},
		{"a cache is behind: nothing is written, and the engine tries again", installation("a", "", "Init"), expectations.StaleCacheError{RetryAfter: time.Second}, nil, "Init", "", 0, true, nil},
		{"another writer was faster with the status: the next attempt writes it", installation("a", "", "Init"), terminal, apierrors.NewConflict(resource, "x", transient), "Init", "", ConflictBackoff, false, nil},
		{"the object is deleted when the status is written: the engine forgets it", installation("a", "", "Init"), terminal, apierrors.NewNotFound(resource, "x"), "Init", "", 0, true, nil},
		{"the status cannot be written", installation("a", "", "Init"), terminal, apierrors.NewInternalError(transient), "Init", "", 0, true, nil},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			d := newBench(t, test.inst)
			d.refuse = test.refuse
			result, err := d.Report(t.Context(), Installation(read(t, d.Client)), "step", test.err)
			stored := read(t, d.Client).Status
			if job.OutcomeOf(test.err) == job.Waiting && stored.LastError.Reason != "Context" {
				t.Errorf("%+v", stored.LastError)
			}
			if stored.InstallationPhase != test.phase || stored.JobIDFinished != test.finished || result.RequeueAfter != test.after || (err != nil) != test.again {
				t.Errorf("%+v, %v, %+v", result, err, stored)
			}
			if events := d.emitted(); !slices.Equal(events, test.events) {
				t.Errorf("events %q", events)
			}
		})
	}
}

// TestSilence: a failure that goes on is neither written nor reported over and over.
func TestSilence(t *testing.T) {
	inst := installation("a", "", "Init")
	d := newBench(t, inst)
	attempt := func(after time.Duration, message string) (writes int, events []string) {
		before := d.writes
		d.now = noon.Add(after)
		if _, err := d.Report(t.Context(), Installation(read(t, d.Client)), "step", errors.New(message)); err == nil {
			t.Error("there has to be another attempt")
		}
		return d.writes - before, d.emitted()
	}
	for _, test := range []struct {
		reason  string
		after   time.Duration
		message string
		writes  int
		events  []string
	}{
		{"the first failure is written", 0, "port 1", 1, []string{"Warning Error port 1"}},
		{"the same failure is not written", time.Second, "port 1", 0, nil},
		{"another port is not written", 2 * time.Second, "port 2", 0, nil},
		{"after a while the details are written", statusInterval, "port 3", 1, []string{"Warning Error port 3"}},
	} {
		if writes, events := attempt(test.after, test.message); writes != test.writes || !slices.Equal(events, test.events) {
			t.Errorf("%s: %d writes, events %q", test.reason, writes, events)
		}
	}
}

// TestRepeatedWait: what waits for the same writes nothing.
func TestRepeatedWait(t *testing.T) {
	d := newBench(t, installation("a", "", "Init"))
	wait := job.WaitFor(job.OnChange("Context", "default"), "op", "r", "waiting")
	for range 3 {
		d.now = d.now.Add(time.Hour)
		if result, err := d.Report(t.Context(), Installation(read(t, d.Client)), "step", wait); err != nil || result != (ctrl.Result{}) {
			t.Error(result, err)
		}
	}
	if d.writes != 1 || len(d.emitted()) != 0 {
		t.Errorf("%d writes", d.writes)
	}
}

// TestEnter: what a successful step writes and emits.
func TestEnter(t *testing.T) {
	d := newBench(t, installation("a", "", "Init"))
	subject := Installation(read(t, d.Client))
	subject.Warn("Unusual", []string{"one", "two"})
	subject.Warn("Nothing", nil)
	if err := d.Enter(t.Context(), subject, "Progressing"); err != nil {
		t.Fatal(err)
	}
	if events := d.emitted(); !slices.Equal(events, []string{"Warning Unusual one; two"}) {
		t.Errorf("events %q", events)
	}
	if err := d.Enter(t.Context(), subject, "Succeeded"); err != nil {
		t.Fatal(err)
	}
	if events := d.emitted(); !slices.Equal(events, []string{"Normal Succeeded job a has succeeded"}) {
		t.Errorf("events %q", events)
	}
	status := read(t, d.Client).Status
	if status.JobIDFinished != "a" || status.TransitionTimes.FinishedTime == nil || status.LastError != nil || job.GetCondition(status.Conditions, "Ready").Status != "True" {
		t.Errorf("%+v", status)
	}
	d.refuse = apierrors.NewNotFound(v1alpha1.Resource("installations"), "x")
	if err := d.Enter(t.Context(), subject, "Init"); !expectations.IsDeleted(err) {
		t.Error(err)
	}
	d.Events, d.refuse = nil, nil
	if err := d.Enter(t.Context(), subject, "Succeeded"); err != nil {
		t.Error("without a recorder of events:", err)
	}
}

// TestRefusedEnd: a job whose end could not be stored has not ended, and keeps no error
// when it has.
func TestRefusedEnd(t *testing.T) {
	d := newBench(t, installation("a", "", "Progressing"))
	subject := Installation(read(t, d.Client))
	d.refuse = apierrors.NewInternalError(errors.New("busy"))
	drop := func(metav1.Time) { job.DropCondition(subject.Status.Conditions, "Kept") }
	job.SetCondition(subject.Status.Conditions, v1alpha1.Condition{Type: "Kept"}, metav1.NewTime(noon))
	err := d.Enter(t.Context(), subject, "Succeeded", drop)
	if err == nil || !subject.Status.Unfinished() || *subject.Status.Phase != "Progressing" || job.GetCondition(*subject.Status.Conditions, "Kept") == nil {
		t.Fatalf("%v, %+v", err, subject.Object)
	}
	d.refuse = nil
	if _, again := d.Report(t.Context(), subject, "complete", err); again == nil {
		t.Error("there has to be another attempt")
	}
	if s := read(t, d.Client).Status; s.JobIDFinished != "" || s.InstallationPhase != "Progressing" || s.LastError == nil {
		t.Errorf("%+v", s)
	}
	if err := d.Enter(t.Context(), Installation(read(t, d.Client)), "Succeeded"); err != nil {
		t.Fatal(err)
	}
	if s := read(t, d.Client).Status; s.JobIDFinished != "a" || s.LastError != nil || len(s.History) != 1 {
		t.Errorf("%+v", s)
	}
	if events := d.emitted(); len(events) != 2 || events[1] != "Normal Succeeded job a has succeeded" {
		t.Errorf("events %q", events)
	}
	for _, s := range []*Subject{Execution(&v1alpha1.Execution{}), DeployItem(&v1alpha1.DeployItem{})} {
		s.Status.Trigger("a", metav1.NewTime(noon))
		undo := s.backup()
		s.Status.Enter("Succeeded", nil, metav1.NewTime(noon))
		if undo(); !s.Status.Unfinished() || *s.Status.Phase != "" {
			t.Errorf("%T: %+v", s.Object, s.Object)
		}
	}
}

// TestWarningsOfAFailure: warnings are emitted with the end of the job, not with attempts.
func TestWarningsOfAFailure(t *testing.T) {
	d := newBench(t, installation("a", "", "Init"))
	subject := Installation(read(t, d.Client))
	subject.Warn("Unusual", []string{"one"})
	_, _ = d.Report(t.Context(), subject, "step", errors.New("soon"))
	_, _ = d.Report(t.Context(), subject, "step", job.AsTerminal(errors.New("never")))
	if events := d.emitted(); !slices.Equal(events, []string{"Warning Error soon", "Warning Error never", "Warning Unusual one"}) {
		t.Errorf("events %q", events)
	}
}

// TestStatusOfAllKinds: the report writes the same into each kind.
func TestStatusOfAllKinds(t *testing.T) {
	inst, exec, item := &v1alpha1.Installation{}, &v1alpha1.Execution{}, &v1alpha1.DeployItem{}
	now := metav1.NewTime(noon)
	for _, s := range []*Subject{Installation(inst), Execution(exec), DeployItem(item)} {
		s.Status.Trigger("a", now)
		if !s.Status.Unfinished() {
			t.Errorf("%T: the job is assigned", s.Object)
		}
		s.Status.Begin(7, now)
		s.Status.Wait(now)
		s.Status.Enter("Failed", errors.New("bad"), now)
	}
	times := v1alpha1.TransitionTimes{TriggerTime: &now, InitTime: &now, WaitTime: &now, FinishedTime: &now}
	if s := inst.Status; s.InstallationPhase != "Failed" || s.JobIDFinished != "a" || s.ObservedGeneration != 7 || s.LastError.Message != "bad" || !equality.Semantic.DeepEqual(*s.TransitionTimes, times) || len(s.Conditions) != 2 || !s.PhaseTransitionTime.Equal(&now) {
		t.Errorf("%+v", s)
	}
	if s := exec.Status; s.ExecutionPhase != "Failed" || s.JobIDFinished != "a" || s.ObservedGeneration != 7 || s.LastError.Message != "bad" || !equality.Semantic.DeepEqual(*s.TransitionTimes, times) || len(s.Conditions) != 2 || !s.PhaseTransitionTime.Equal(&now) {
		t.Errorf("%+v", s)
	}
	if s := item.Status; s.Phase != "Failed" || s.JobIDFinished != "a" || s.ObservedGeneration != 7 || s.LastError.Message != "bad" || !equality.Semantic.DeepEqual(*s.TransitionTimes, times) || len(s.Conditions) != 2 || !s.PhaseTransitionTime.Equal(&now) {
		t.Errorf("%+v", s)
	}
}

// TestPauses: an attempt after an error comes soon, and never later than in 30 s.
func TestPauses(t *testing.T) {
	pauses := NewRateLimiter()
	request := reconcile.Request{}
	first, last := pauses.When(request), time.Duration(0)
	for range 40 {
		last = pauses.When(request)
	}
	if first != minBackoff || last != maxBackoff {
		t.Errorf("%s ... %s", first, last)
	}
}
