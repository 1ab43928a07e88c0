package deployer

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/deployer/internal/exportwatch"
)

// sight is a watcher with the values of a test.
type sight struct {
	values map[string]any
	err    error
	closed int
}

func (s *sight) Values(context.Context) (map[string]any, error) {
	values := s.values
	s.values = nil
	return values, s.err
}

func (s *sight) Close() error { s.closed++; return nil }

func exportOf(content string) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "item-export", OwnerReferences: []metav1.OwnerReference{{UID: "u"}}}, Data: map[string][]byte{"config": []byte(content)}}
}

// TestExportWatcher shows when a value that has changed leads to a job of the item, and that
// nothing happens before.
func TestExportWatcher(t *testing.T) {
	tests := []struct {
		reason  string
		values  map[string]any
		after   time.Duration
		runs    bool
		requeue time.Duration
	}{
		{"no value has changed", nil, time.Hour, false, 0},
		{"the same values after a restart", map[string]any{"a": "1"}, time.Hour, false, 0},
		{"another value", map[string]any{"a": "2"}, time.Hour, true, exportwatch.PropagationInterval},
		{"another value, soon after a job", map[string]any{"a": "2"}, 4 * time.Second, false, 6 * time.Second},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			s, r := repeating(t, Repetition{Watch: true}, finishedItem(), exportOf(`{"a":"1"}`))
			eyes := &sight{values: test.values}
			r.watcher = eyes
			s.clock = s.clock.Add(test.after)
			before := s.item().Status.JobID
			result := s.look()
			if ran := s.item().Status.JobID != before; ran != test.runs || result.RequeueAfter != test.requeue {
				t.Errorf("calls %v, it comes back after %s", r.calls, result.RequeueAfter)
			}
			if emitted := strings.Join(s.emitted(), ""); strings.Contains(emitted, "what is exported as a has changed") != test.runs {
				t.Errorf("events %q", emitted)
			}
		})
	}
}

// TestExportWatcherIsKept shows that one watcher serves until the next job, that news which
// come too early are not lost, and that it ends with the wish and with the item.
func TestExportWatcherIsKept(t *testing.T) {
	s, r := repeating(t, Repetition{Watch: true, Next: func(after time.Time) time.Time { return after.Add(time.Hour) }}, finishedItem(), exportOf(`{"a":"1"}`))
	eyes := &sight{}
	r.watcher = eyes
	if result := s.look(); result.RequeueAfter != time.Hour {
		t.Errorf("the schedule is forgotten: %s", result.RequeueAfter)
	}
	eyes.values = map[string]any{"a": "2"}
	if result := s.look(); result.RequeueAfter != exportwatch.PropagationInterval {
		t.Errorf("news come too early: %s", result.RequeueAfter)
	}
	s.clock = s.clock.Add(exportwatch.PropagationInterval)
	s.look()
	if calls := strings.Join(r.calls, " "); calls != "watcher reconcile" {
		t.Errorf("calls %s", calls)
	}
	if s.look(); eyes.closed != 1 || strings.Join(r.calls, " ") != "watcher reconcile watcher" {
		t.Errorf("after the job: closed %d times, calls %v", eyes.closed, r.calls)
	}
	r.repetition.Watch = false
	if s.look(); eyes.closed != 2 || len(s.reconciler.memory.records) != 0 {
		t.Errorf("a watch that is not configured any more: closed %d times", eyes.closed)
	}
	r.repetition.Watch = true
	s.look()
	item := s.item()
	item.Finalizers = nil
	if err := s.reconciler.client.Update(t.Context(), item); err != nil {
		t.Fatal(err)
	}
	if err := s.reconciler.client.Delete(t.Context(), item); err != nil {
		t.Fatal(err)
	}
	if s.look(); eyes.closed != 3 {
		t.Errorf("the item is deleted: closed %d times", eyes.closed)
	}
}

// TestExportWatcherFails tries again later, with another watcher.
func TestExportWatcherFails(t *testing.T) {
	s, r := repeating(t, Repetition{Watch: true}, finishedItem(), exportOf(`{"a":"1"}`))
	if result := s.look(); result.RequeueAfter != exportWatchRetry {
		t.Errorf("no watcher: %s", result.RequeueAfter)
	}
	eyes := &sight{err: errors.New("forbidden")}
	r.watcher = eyes
	if result := s.look(); result.RequeueAfter != exportWatchRetry || eyes.closed != 1 {
		t.Errorf("a watcher that sees nothing: %s, closed %d times", result.RequeueAfter, eyes.closed)
	}
	if s.item().Status.Phase != "Succeeded" {
		t.Error("the job has succeeded all the same")
	}
}

// settled looks until values have settled.
func (s *stage) settled() ctrl.Result {
	s.Helper()
	result := s.look()
	for result.RequeueAfter > 0 && result.RequeueAfter <= exportwatch.SettleTime {
		s.clock = s.clock.Add(result.RequeueAfter)
		result = s.look()
	}
	return result
}

// TestPassOnExports shows who is asked to hand a value on: the Installation that the item
// belongs to in the end, when nothing has a job.
func TestPassOnExports(t *testing.T) {
	owned := func(item *v1alpha1.DeployItem) {
		item.Labels = map[string]string{v1alpha1.ExecutionManagedByLabel: "child"}
	}
	execution := func(finished string) client.Object {
		return &v1alpha1.Execution{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "child"}, Status: v1alpha1.ExecutionStatus{JobID: "j", JobIDFinished: finished}}
	}
	child := &v1alpha1.Installation{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "child", Labels: map[string]string{v1alpha1.EncompassedByLabel: "root"}}}
	root := func(change ...func(*v1alpha1.Installation)) client.Object {
		inst := &v1alpha1.Installation{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "root"}}
		for _, c := range change {
			c(inst)
		}
		return inst
	}
	ours := func(i *v1alpha1.Installation) { i.Status.History = []v1alpha1.JobRecord{{JobID: "j"}} }
	tests := []struct {
		reason string
		others []client.Object
		// asked is what the root was asked for, runs says that the item has a job of its own.
		asked v1alpha1.Operation
		runs  bool
	}{
		{"the root is asked", []client.Object{execution("j"), child, root(ours)}, v1alpha1.DataUpdateOperation, false},
		{"the tree was deployed by upstream", []client.Object{execution("j"), child, root()}, v1alpha1.ReconcileOperation, false},
		{"the Execution has a job, which will propagate the value", []client.Object{execution(""), child, root(ours)}, "", false},
		{"the root has a job", []client.Object{execution("j"), child, root(func(i *v1alpha1.Installation) { i.Status.JobID = "new" })}, "", false},
		{"the root is being deleted", []client.Object{execution("j"), child, root(func(i *v1alpha1.Installation) {
			i.Status.JobID, i.DeletionTimestamp, i.Finalizers = "new", &metav1.Time{Time: time.Unix(1, 0)}, []string{"x"}
		})}, "", false},
		{"a user has requested another operation", []client.Object{execution("j"), child, root(func(i *v1alpha1.Installation) {
			i.Annotations = map[string]string{v1alpha1.OperationAnnotation: "interrupt"}
		})}, "interrupt", false},
		{"an Execution without an Installation", []client.Object{execution("j")}, "", true},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			s, r := repeating(t, Repetition{Watch: true}, append(test.others, finishedItem(owned), exportOf(`{"a":"1"}`))...)
			r.watcher = &sight{values: map[string]any{"a": "2"}}
			s.clock = s.clock.Add(time.Hour)
			before := s.item().Status.JobID
			if result := s.settled(); result.RequeueAfter != exportwatch.PropagationInterval {
				t.Errorf("it comes back after %s", result.RequeueAfter)
			}
			if ran := s.item().Status.JobID != before; ran != test.runs {
				t.Errorf("calls %v", r.calls)
			}
			found := &v1alpha1.Installation{}
			_ = s.reconciler.client.Get(t.Context(), client.ObjectKey{Namespace: "ns", Name: "root"}, found)
			if asked := v1alpha1.Operation(found.Annotations[v1alpha1.OperationAnnotation]); asked != test.asked {
				t.Errorf("annotations %v", found.Annotations)
			}
			if stored := s.export(); test.asked == v1alpha1.DataUpdateOperation && (found.Annotations[v1alpha1.ChangedExportsAnnotation] != "child,root" || string(stored.Data["config"]) != `{"a":"2"}` || stored.Annotations[toPropagateAnnotation] != "") {
				t.Errorf("annotations %v, stored %s with %v", found.Annotations, stored.Data, stored.Annotations)
			}
			if test.asked != "" && test.asked != "interrupt" && !strings.Contains(found.Annotations[v1alpha1.ReconcileReasonAnnotation], "DeployItem ns/item") {
				t.Errorf("the reason is %q", found.Annotations[v1alpha1.ReconcileReasonAnnotation])
			}
		})
	}
}

// TestPassOnExportsTogether: an item whose values have changed with those of another one of the
// same Installation asks for no job of its own when the job of that one has propagated all of them.
func TestPassOnExportsTogether(t *testing.T) {
	update := func(named ...string) *v1alpha1.DataUpdate { return &v1alpha1.DataUpdate{Installations: named} }
	tests := []struct {
		reason string
		// jobID and update are what the root has when the item continues, phase that of the part
		// that the item belongs to.
		jobID  string
		update *v1alpha1.DataUpdate
		phase  v1alpha1.InstallationPhase
		asked  bool
	}{
		{"no other item has requested a job", "first", nil, "Succeeded", true},
		{"the other item has requested a job", "second", update("child", "root"), "Succeeded", false},
		{"an item of another Installation has requested a job", "second", update("sibling", "root"), "Succeeded", true},
		{"the job that the other item has requested has failed", "second", update("child", "root"), "Failed", true},
		{"the last job of the root is older than the change", "first", update("child", "root"), "Succeeded", true},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			owned := finishedItem(func(item *v1alpha1.DeployItem) {
				item.Labels = map[string]string{v1alpha1.ExecutionManagedByLabel: "child"}
			})
			part := func(name, jobID string) *v1alpha1.Installation {
				inst := &v1alpha1.Installation{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name}}
				inst.Status.JobID, inst.Status.JobIDFinished, inst.Status.InstallationPhase = jobID, jobID, "Succeeded"
				inst.Status.History = []v1alpha1.JobRecord{{JobID: jobID}}
				return inst
			}
			child, root := part("child", "first"), part("root", "first")
			child.Labels = map[string]string{v1alpha1.EncompassedByLabel: "root"}
			s, r := repeating(t, Repetition{Watch: true}, owned, child, root, exportOf(`{"a":"1"}`))
			r.watcher = &sight{values: map[string]any{"a": "2"}}
			s.clock = s.clock.Add(time.Hour)
			if result := s.look(); result.RequeueAfter != exportwatch.SettleTime {
				t.Fatalf("it comes back after %s", result.RequeueAfter)
			}
			if stored := s.export(); string(stored.Data["config"]) != `{"a":"2"}` {
				t.Errorf("stored %s: another item could not propagate it", stored.Data)
			}
			for _, inst := range []*v1alpha1.Installation{child, root} {
				inst.Status.JobID, inst.Status.JobIDFinished, inst.Status.DataUpdate = test.jobID, test.jobID, test.update
				if inst.Status.InstallationPhase = "Succeeded"; inst == child {
					inst.Status.InstallationPhase = test.phase
				}
				if err := s.reconciler.client.Update(t.Context(), inst); err != nil {
					t.Fatal(err)
				}
			}
			s.settled()
			if err := s.reconciler.client.Get(t.Context(), client.ObjectKeyFromObject(root), root); err != nil {
				t.Fatal(err)
			}
			if asked := root.Annotations[v1alpha1.OperationAnnotation] != ""; asked != test.asked {
				t.Errorf("asked: %t", asked)
			}
			if stored := s.export(); stored.Annotations[toPropagateAnnotation]+stored.Annotations[propagateAfterAnnotation] != "" {
				t.Errorf("the value is still to be propagated: %v", stored.Annotations)
			}
			if emitted := strings.Join(s.emitted(), ""); !strings.Contains(emitted, "what is exported as a has changed") {
				t.Errorf("events %q", emitted)
			}
		})
	}
}

// TestAllAreNamed: values that change one after the other, and are propagated together, are
// reported together.
func TestAllAreNamed(t *testing.T) {
	owned := finishedItem(func(item *v1alpha1.DeployItem) {
		item.Labels = map[string]string{v1alpha1.ExecutionManagedByLabel: "child"}
	})
	root := &v1alpha1.Installation{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "child"}}
	s, r := repeating(t, Repetition{Watch: true}, owned, root, exportOf(`{"a":"1","b":"1"}`))
	eyes := &sight{}
	r.watcher = eyes
	s.clock = s.clock.Add(time.Hour)
	for _, values := range []map[string]any{{"a": "2", "b": "1"}, {"a": "2", "b": "2"}} {
		eyes.values = values
		s.look()
	}
	s.settled()
	if emitted := strings.Join(s.emitted(), ""); !strings.Contains(emitted, "what is exported as a, b has changed") {
		t.Errorf("events %q", emitted)
	}
}

// TestNeverSettles: a value that changes all the time is propagated nevertheless.
func TestNeverSettles(t *testing.T) {
	owned := finishedItem(func(item *v1alpha1.DeployItem) {
		item.Labels = map[string]string{v1alpha1.ExecutionManagedByLabel: "child"}
	})
	root := &v1alpha1.Installation{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "child"}}
	s, r := repeating(t, Repetition{Watch: true}, owned, root, exportOf(`{"a":"0"}`))
	eyes := &sight{}
	r.watcher = eyes
	s.clock = s.clock.Add(time.Hour)
	begun := s.clock
	for value := 1; root.Annotations[v1alpha1.OperationAnnotation] == ""; value++ {
		eyes.values = map[string]any{"a": value}
		s.look()
		if err := s.reconciler.client.Get(t.Context(), client.ObjectKeyFromObject(root), root); err != nil || value > 20 {
			t.Fatalf("the value is not propagated after %s (%v)", s.clock.Sub(begun), err)
		}
		s.clock = s.clock.Add(exportwatch.SettleTime / 2)
	}
	if took := s.clock.Sub(begun); took < exportwatch.MaxSettleTime {
		t.Errorf("after %s", took)
	}
}

// export is the stored export of the item.
func (s *stage) export() *corev1.Secret {
	s.Helper()
	secret := &corev1.Secret{}
	if err := s.reconciler.client.Get(s.Context(), client.ObjectKey{Namespace: "ns", Name: "item-export"}, secret); client.IgnoreNotFound(err) != nil {
		s.Fatal(err)
	}
	return secret
}

// TestChangingValueOverRestarts: how often a value has changed is known to the next process.
func TestChangingValueOverRestarts(t *testing.T) {
	owned := finishedItem(func(item *v1alpha1.DeployItem) {
		item.Labels = map[string]string{v1alpha1.ExecutionManagedByLabel: "child"}
	})
	root := &v1alpha1.Installation{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "child"}}
	s, r := repeating(t, Repetition{Watch: true}, owned, root, exportOf(`{"a":"0"}`))
	s.clock = s.clock.Add(time.Hour)
	var pauses []string
	for _, value := range []string{"1", "2", "3", "4"} {
		s.reconciler.memory.dropExportWatch(key)
		r.watcher = &sight{values: map[string]any{"a": value}}
		s.clock = s.clock.Add(time.Second)
		if pause := s.settled().RequeueAfter; pause > exportwatch.PropagationInterval || value == "2" {
			pauses = append(pauses, pause.String())
			s.clock = s.clock.Add(pause)
			s.settled()
		}
		found := &v1alpha1.Installation{}
		if err := s.reconciler.client.Get(t.Context(), client.ObjectKeyFromObject(root), found); err != nil || found.Annotations[v1alpha1.OperationAnnotation] == "" {
			t.Fatalf("value %s is not propagated (%v)", value, err)
		}
		found.Annotations = nil
		if err := s.reconciler.client.Update(t.Context(), found); err != nil {
			t.Fatal(err)
		}
	}
	if got := strings.Join(pauses, " "); got != "9s 19s 39s" {
		t.Errorf("pauses %s", got)
	}
}

// TestDeletedExport: a value is propagated also if the Secret of the exports was deleted, and a
// Secret of another owner is not written.
func TestDeletedExport(t *testing.T) {
	for reason, stored := range map[string]*corev1.Secret{"the Secret of the exports is deleted": nil, "the Secret of the exports belongs to another owner": {ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "item-export"}}} {
		t.Run(reason, func(t *testing.T) {
			owned := finishedItem(func(item *v1alpha1.DeployItem) {
				item.Labels = map[string]string{v1alpha1.ExecutionManagedByLabel: "child"}
			})
			objects := []client.Object{owned, &v1alpha1.Installation{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "child"}}}
			if stored != nil {
				objects = append(objects, stored)
			}
			s, r := repeating(t, Repetition{Watch: true}, objects...)
			r.watcher = &sight{values: map[string]any{"a": "1"}}
			s.clock = s.clock.Add(time.Hour)
			s.settled()
			if written := string(s.export().Data["config"]) == `{"a":"1"}`; written != (stored == nil) {
				t.Errorf("stored %s", s.export().Data)
			}
		})
	}
}

// TestPassOnExportsFails shows that a value that could not be propagated is not reported, and does
// not count as a value that changes again and again.
func TestPassOnExportsFails(t *testing.T) {
	conflict := apierrors.NewConflict(schema.GroupResource{Resource: "installations"}, "child", errors.New("changed"))
	for reason, failure := range map[string]error{"another client has changed the root": conflict, "the API server is down": apierrors.NewServiceUnavailable("down")} {
		t.Run(reason, func(t *testing.T) {
			owned := finishedItem(func(item *v1alpha1.DeployItem) {
				item.Labels = map[string]string{v1alpha1.ExecutionManagedByLabel: "child"}
			})
			root := &v1alpha1.Installation{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "child"}}
			s, r := repeating(t, Repetition{Watch: true}, owned, root, exportOf(`{"a":"1"}`))
			store := s.reconciler.client.(client.WithWatch)
			s.reconciler.client = interceptor.NewClient(store, interceptor.Funcs{
				Patch: func(context.Context, client.WithWatch, client.Object, client.Patch, ...client.PatchOption) error {
					return failure
				},
			})
			s.clock = s.clock.Add(time.Hour)
			for range 5 {
				r.watcher = &sight{values: map[string]any{"a": "2"}}
				s.clock = s.clock.Add(s.look().RequeueAfter)
			}
			if emitted := s.emitted(); len(emitted) > 0 {
				t.Errorf("events %q", emitted)
			}
			// The value is stored, and another process knows that it was not propagated.
			if stored := s.export(); string(stored.Data["config"]) != `{"a":"2"}` || stored.Annotations[toPropagateAnnotation] != "a" {
				t.Errorf("stored %s with %v", stored.Data, stored.Annotations)
			}
			s.reconciler.memory.dropExportWatch(key)
			s.reconciler.client = store
			r.watcher = &sight{values: map[string]any{"a": "2"}}
			if s.look(); !strings.HasSuffix(strings.Join(s.emitted(), ""), "what is exported as a has changed") {
				t.Error("the value is not propagated at once")
			}
		})
	}
}
