package deployer

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/deployer/internal/exportwatch"
	"go.landscaper.dev/internal/runtime/job"
)

// repeater is a deployer whose items are due again.
type repeater struct {
	*script
	repetition Repetition
	drift      func() ([]string, error)
	watcher    ExportWatcher
}

func (r *repeater) Repetition(*v1alpha1.DeployItem) Repetition { return r.repetition }

func (r *repeater) Drift(context.Context, *Item) ([]string, error) {
	r.calls = append(r.calls, "drift")
	if r.drift == nil {
		return nil, nil
	}
	return r.drift()
}

func (r *repeater) ExportWatcher(context.Context, *Item) (ExportWatcher, error) {
	r.calls = append(r.calls, "watcher")
	if r.watcher == nil {
		return nil, errors.New("the cluster does not answer")
	}
	return r.watcher, nil
}

func eachMinute(after time.Time) time.Time { return after.Add(time.Minute) }

// finishedItem was deployed at the time 1000.
func finishedItem(change ...func(*v1alpha1.DeployItem)) *v1alpha1.DeployItem {
	item := newItem(change...)
	at := metav1.NewTime(time.Unix(1000, 0))
	item.Status.JobIDFinished, item.Status.Phase, item.Status.ObservedGeneration = item.Status.JobID, "Succeeded", item.Generation
	item.Status.LastReconcileTime = &at
	return item
}

func repeating(t *testing.T, repetition Repetition, objects ...client.Object) (*stage, *repeater) {
	t.Helper()
	r := &repeater{script: &script{}, repetition: repetition}
	s := onStage(t, r.script, objects...)
	s.reconciler.options.Deployer = r
	return s, r
}

func TestRepetition(t *testing.T) {
	ofExecution := func(item *v1alpha1.DeployItem) {
		item.Labels = map[string]string{v1alpha1.ExecutionManagedByLabel: "exec", v1alpha1.ExecutionManagedNameLabel: "web"}
	}
	wanting := func(name, jobID, finished string) *v1alpha1.Execution {
		owner := &v1alpha1.Execution{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "exec"}, Status: v1alpha1.ExecutionStatus{JobID: jobID, JobIDFinished: finished}}
		if err := owner.Spec.SetItems(v1alpha1.DeployItemTemplateList{{Name: name, Type: "test"}}); err != nil {
			t.Fatal(err)
		}
		return owner
	}
	held := wanting("web", "a", "a")
	held.Status.Conditions = []v1alpha1.Condition{{Type: v1alpha1.PendingRemovalsCondition, Status: v1alpha1.ConditionTrue, Reason: "NotWanted"}}
	execution := func(jobID, finished string) *v1alpha1.Execution { return wanting("web", jobID, finished) }
	tests := []struct {
		reason  string
		item    *v1alpha1.DeployItem
		owner   *v1alpha1.Execution
		next    func(time.Time) time.Time
		after   time.Duration
		runs    bool
		requeue time.Duration
	}{
		{"an item that is not due yet", finishedItem(), nil, eachMinute, 20 * time.Second, false, 40 * time.Second},
		{"an item that is due", finishedItem(), nil, eachMinute, time.Minute, true, 0},
		{"an overdue item is deployed once", finishedItem(), nil, eachMinute, time.Hour, true, 0},
		{"no repetition is configured", finishedItem(), nil, nil, time.Hour, false, 0},
		{"a schedule without an end", finishedItem(), nil, func(time.Time) time.Time { return time.Time{} }, time.Hour, false, 0},
		{"a user has switched off the repetition", finishedItem(func(i *v1alpha1.DeployItem) {
			i.Annotations = map[string]string{v1alpha1.ContinuousReconcileActiveAnnotation: "false"}
		}), nil, eachMinute, time.Hour, false, 0},
		{"a specification that no job has deployed", func() *v1alpha1.DeployItem {
			item := finishedItem()
			item.Generation++
			return item
		}(), nil, eachMinute, time.Hour, false, 0},
		{"the last job has failed", func() *v1alpha1.DeployItem {
			item := finishedItem()
			item.Status.Phase = "Failed"
			return item
		}(), nil, eachMinute, time.Hour, false, 0},
		{"an item that is only deployed after a change is deployed by the schedule, too", finishedItem(func(i *v1alpha1.DeployItem) { i.Spec.UpdateOnChangeOnly = true }), nil, eachMinute, time.Hour, true, 0},
		{"the Execution of the item has no job", finishedItem(ofExecution), execution("a", "a"), eachMinute, time.Hour, true, 0},
		{"the Execution of the item does not exist", finishedItem(ofExecution), nil, eachMinute, time.Hour, true, 0},
		{"an item that its Execution does not want any more does not take back what others have taken over", finishedItem(ofExecution), wanting("new", "a", "a"), eachMinute, time.Hour, false, time.Minute},
		{"an item of a held Installation does not take back what others have taken over", finishedItem(ofExecution), held, eachMinute, time.Hour, false, time.Minute},
		{"a time in a job of the Execution is skipped", finishedItem(ofExecution), execution("b", "a"), eachMinute, time.Hour, false, time.Minute},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			objects := []client.Object{test.item}
			if test.owner != nil {
				objects = append(objects, test.owner)
			}
			before := test.item.Status.JobID
			s, r := repeating(t, Repetition{Next: test.next}, objects...)
			s.clock = s.clock.Add(test.after)
			result := s.look()
			if ran := len(r.calls) > 0; ran != test.runs || result.RequeueAfter != test.requeue {
				t.Errorf("calls %v, it comes back after %s", r.calls, result.RequeueAfter)
			}
			item := s.item()
			if changed := item.Status.JobID != before; changed != test.runs || item.Status.JobID != item.Status.JobIDFinished {
				t.Errorf("job %s, finished %s, before %s", item.Status.JobID, item.Status.JobIDFinished, before)
			}
			if test.runs && s.look().RequeueAfter != time.Minute {
				t.Error("it is not due again")
			}
		})
	}
}

// TestDrift compares, reports once what has changed, leaves it or corrects it, and writes nothing
// when there are no news.
func TestDrift(t *testing.T) {
	for _, correct := range []bool{false, true} {
		s, r := repeating(t, Repetition{Next: eachMinute, Compare: true, Correct: correct}, finishedItem())
		look := func(drift []string, err error) (*v1alpha1.Condition, ctrl.Result) {
			t.Helper()
			r.drift, r.calls = func() ([]string, error) { return drift, err }, nil
			s.clock = s.clock.Add(time.Minute)
			result := s.look()
			return job.GetCondition(s.item().Status.Conditions, v1alpha1.DriftedCondition), result
		}
		if found, result := look(nil, nil); found.Status != "False" || result.RequeueAfter != time.Minute {
			t.Errorf("in step: %+v, %+v", found, result)
		}
		version := s.item().ResourceVersion
		if look(nil, nil); s.item().ResourceVersion != version {
			t.Error("no news are no write")
		}
		if result := s.look(); result.RequeueAfter != time.Minute || len(r.calls) != 1 {
			t.Errorf("a look before it is due: %+v, calls %v", result, r.calls)
		}
		found, _ := look([]string{"ConfigMap ns/a (data.x)", "Secret ns/b (it does not exist)"}, nil)
		emitted := s.emitted()
		if correct {
			if strings.Join(r.calls, " ") != "drift reconcile" || found.Status != "False" || s.item().Status.JobID != s.item().Status.JobIDFinished {
				t.Errorf("corrected: calls %v, %+v", r.calls, found)
			}
		} else if len(r.calls) != 1 || found.Status != "True" || found.Message != "another client has changed ConfigMap ns/a (data.x), Secret ns/b (it does not exist)" {
			t.Errorf("reported: calls %v, %+v", r.calls, found)
		}
		if len(emitted) != 1 || !strings.Contains(emitted[0], "Drifted") || !strings.Contains(emitted[0], "ConfigMap ns/a (data.x)") {
			t.Errorf("events %v", emitted)
		}
		if !correct {
			look([]string{"ConfigMap ns/a (data.x)", "Secret ns/b (it does not exist)"}, nil)
			if emitted := s.emitted(); len(emitted) != 0 {
				t.Errorf("the same drift is reported again: %v", emitted)
			}
		}
		if found, _ := look(nil, errors.New("connection refused")); found.Status != "Unknown" || found.Message != "connection refused" || len(s.emitted()) != 0 {
			t.Errorf("not compared: %+v", found)
		}
		if s.item().Status.Phase != "Succeeded" {
			t.Errorf("a comparison is no job: phase %s", s.item().Status.Phase)
		}
	}
}

// TestDriftOfOthers shows what a comparison does when things go wrong around it.
func TestDriftOfOthers(t *testing.T) {
	target := func(item *v1alpha1.DeployItem) { item.Spec.Target = &v1alpha1.ObjectReference{Name: "gone"} }
	s, r := repeating(t, Repetition{Next: eachMinute, Compare: true}, finishedItem(target))
	s.clock = s.clock.Add(time.Hour)
	s.look()
	if found := job.GetCondition(s.item().Status.Conditions, v1alpha1.DriftedCondition); found.Status != "Unknown" || !strings.Contains(found.Message, "Target ns/gone does not exist") || len(r.calls) != 0 {
		t.Errorf("no target: %+v, calls %v", found, r.calls)
	}
	s, r = repeating(t, Repetition{Next: eachMinute, Compare: true}, finishedItem())
	r.drift = func() ([]string, error) { panic("broken") }
	s.clock = s.clock.Add(time.Hour)
	if result := s.look(); result.RequeueAfter != time.Minute {
		t.Errorf("a panic is repeated at once: %+v", result)
	}
	if found := job.GetCondition(s.item().Status.Conditions, v1alpha1.DriftedCondition); found.Status != "Unknown" {
		t.Errorf("a panic: %+v", found)
	}
	// A job that deploys puts everything in step.
	s, r = repeating(t, Repetition{Next: eachMinute, Compare: true}, finishedItem())
	r.drift = func() ([]string, error) { return []string{"ConfigMap ns/a (data.x)"}, nil }
	s.clock = s.clock.Add(time.Hour)
	s.look()
	item := s.item()
	AssignJob(item, s.clock)
	if err := s.reconciler.client.Status().Update(t.Context(), item); err != nil {
		t.Fatal(err)
	}
	s.look()
	if found := job.GetCondition(s.item().Status.Conditions, v1alpha1.DriftedCondition); found.Status != "False" {
		t.Errorf("after a job: %+v", found)
	}
	if err := s.reconciler.client.Delete(t.Context(), s.item()); err != nil {
		t.Fatal(err)
	}
	item = s.item()
	item.Finalizers = nil
	if err := s.reconciler.client.Update(t.Context(), item); err != nil {
		t.Fatal(err)
	}
	if s.look(); len(s.reconciler.memory.records) != 0 {
		t.Errorf("the look at a deleted item is remembered: %v", s.reconciler.memory.records)
	}
}

// TestDriftBesideExportWatcher shows that a comparison leaves no value unseen: where nothing has
// changed it writes nothing, so that no event makes up for that.
func TestDriftBesideExportWatcher(t *testing.T) {
	s, r := repeating(t, Repetition{Next: eachMinute, Compare: true, Watch: true}, finishedItem(), exportOf(`{"a":"1"}`))
	eyes := &sight{}
	r.watcher = eyes
	s.clock = s.clock.Add(time.Minute)
	if result := s.look(); strings.Join(r.calls, " ") != "drift watcher" || result.RequeueAfter != time.Minute {
		t.Errorf("the first look: calls %v, it comes back after %s", r.calls, result.RequeueAfter)
	}
	eyes.values = map[string]any{"a": "2"}
	s.clock = s.clock.Add(time.Minute)
	before := s.item().Status.JobID
	if result := s.look(); s.item().Status.JobID == before || result.RequeueAfter != exportwatch.PropagationInterval {
		t.Errorf("news at a comparison: calls %v, it comes back after %s", r.calls, result.RequeueAfter)
	}
	// The job was a moment ago, so that the news wait for less than the next comparison.
	s, r = repeating(t, Repetition{Next: func(after time.Time) time.Time { return after.Add(7 * time.Second) }, Compare: true, Watch: true}, finishedItem(), exportOf(`{"a":"1"}`))
	r.watcher = &sight{values: map[string]any{"a": "2"}}
	s.clock = s.clock.Add(7 * time.Second)
	if result := s.look(); result.RequeueAfter != exportwatch.PropagationInterval-7*time.Second {
		t.Errorf("news that have to wait: calls %v, they come back after %s", r.calls, result.RequeueAfter)
	}
}

// TestConflictsOfOwnJobs: each attempt to store a job of an item's own gives it another
// name, which does not make the pauses short again.
func TestConflictsOfOwnJobs(t *testing.T) {
	conflict := apierrors.NewConflict(schema.GroupResource{Resource: "deployitems"}, key.Name, errors.New("changed"))
	s, _ := repeating(t, Repetition{Next: eachMinute}, finishedItem())
	s.clock, s.trouble = s.clock.Add(time.Minute), []error{conflict, conflict, conflict}
	for nth := range s.trouble {
		if result := s.look(); result.RequeueAfter != firstConflict<<nth {
			t.Errorf("conflict %d: it comes back after %s", nth+1, result.RequeueAfter)
		}
	}
}

// TestDriftIsNotLost shows that a comparison counts only if its result is stored: the next
// one may be a day away.
func TestDriftIsNotLost(t *testing.T) {
	conflict := apierrors.NewConflict(schema.GroupResource{Resource: "deployitems"}, key.Name, errors.New("changed"))
	for _, test := range []struct {
		reason  string
		trouble []error
		correct bool
		calls   string
		status  metav1.ConditionStatus
	}{
		{"another client has changed the item", []error{conflict}, false, "drift drift", "True"},
		{"the API server does not answer", []error{errors.New("timeout")}, false, "drift drift", "True"},
		{"the job that corrects the drift meets a conflict", []error{nil, conflict}, true, "drift reconcile drift reconcile", "False"},
		{"the job that corrects the drift is stored", nil, true, "drift reconcile", "False"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			s, r := repeating(t, Repetition{Next: eachMinute, Compare: true, Correct: test.correct}, finishedItem())
			r.drift = func() ([]string, error) { return []string{"ConfigMap ns/a (data.x)"}, nil }
			s.clock, s.trouble = s.clock.Add(time.Minute), test.trouble
			result, err := s.reconciler.Reconcile(t.Context(), ctrl.Request{NamespacedName: key})
			if again := result.RequeueAfter > 0 || err != nil; !again && test.trouble != nil {
				t.Error("the item is not looked at again")
			}
			s.look()
			if calls := strings.Join(r.calls, " "); calls != test.calls {
				t.Errorf("calls %s, want %s", calls, test.calls)
			}
			if found := job.GetCondition(s.item().Status.Conditions, v1alpha1.DriftedCondition); found == nil || string(found.Status) != string(test.status) {
				t.Errorf("the condition is %+v", found)
			}
		})
	}
}
