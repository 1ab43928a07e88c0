package deployer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"go.landscaper.dev/api/v1alpha1"
)

// script is a deployer that does what a test says.
type script struct {
	reconcile, remove func(context.Context, *Item) (Result, error)
	calls             []string
}

func (s *script) Reconcile(ctx context.Context, item *Item) (Result, error) {
	s.calls = append(s.calls, "reconcile")
	if s.reconcile == nil {
		return Done(), nil
	}
	return s.reconcile(ctx, item)
}

func (s *script) Delete(ctx context.Context, item *Item) (Result, error) {
	s.calls = append(s.calls, "delete")
	if s.remove == nil {
		return Done(), nil
	}
	return s.remove(ctx, item)
}

// stage is a reconciler with one item, a store in memory and a clock.
type stage struct {
	*testing.T
	reconciler *reconciler
	script     *script
	clock      time.Time
	// trouble is the error of the next writes.
	trouble  []error
	enqueued []types.NamespacedName
	events   *events.FakeRecorder
}

// emitted returns the events since the last call.
func (s *stage) emitted() []string {
	var emitted []string
	for {
		select {
		case event := <-s.events.Events:
			emitted = append(emitted, event)
		default:
			return emitted
		}
	}
}

// byTarget is the index of items by their Target.
const byTarget = "target"

var key = types.NamespacedName{Namespace: "ns", Name: "item"}

func onStage(t *testing.T, script *script, objects ...client.Object) *stage {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := errors.Join(v1alpha1.AddToScheme(scheme), corev1.AddToScheme(scheme)); err != nil {
		t.Fatal(err)
	}
	s := &stage{T: t, script: script, clock: time.Unix(1000, 0), events: events.NewFakeRecorder(100)}
	fail := func() error {
		if len(s.trouble) == 0 {
			return nil
		}
		next := s.trouble[0]
		s.trouble = s.trouble[1:]
		return next
	}
	store := fake.NewClientBuilder().WithScheme(scheme).WithStatusSubresource(&v1alpha1.DeployItem{}).WithObjects(objects...).
		WithIndex(&v1alpha1.DeployItem{}, byTarget, (&reconciler{options: Options{Type: "test"}}).targetOf).
		WithInterceptorFuncs(interceptor.Funcs{
			// A cache lists in no order, and nothing may depend on it.
			List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
				if err := c.List(ctx, list, options...); err != nil {
					return err
				}
				items, err := meta.ExtractList(list)
				slices.Reverse(items)
				return errors.Join(err, meta.SetList(list, items))
			},
			SubResourceUpdate: func(ctx context.Context, c client.Client, name string, object client.Object, options ...client.SubResourceUpdateOption) error {
				if err := fail(); err != nil {
					return err
				}
				return c.SubResource(name).Update(ctx, object, options...)
			},
		}).Build()
	s.reconciler = &reconciler{
		options: Options{Type: "test", Name: "test", Identity: "me", Version: "1", Deployer: script, Dispatcher: noDispatcher},
		client:  store, live: store, events: s.events,
		now: func() time.Time { return s.clock },

		followContexts: func(context.Context) error { return nil },
	}
	enqueue := func(key types.NamespacedName) { s.enqueued = append(s.enqueued, key) }
	s.reconciler.queue.Store(&enqueue)
	return s
}

// newItem is an item of our type with a job.
func newItem(change ...func(*v1alpha1.DeployItem)) *v1alpha1.DeployItem {
	item := &v1alpha1.DeployItem{
		ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name, UID: "u", Generation: 1, Finalizers: []string{v1alpha1.Finalizer}},
		Spec:       v1alpha1.DeployItemSpec{Type: "test", Configuration: &runtime.RawExtension{Raw: []byte(`{}`)}},
	}
	AssignJob(item, time.Unix(999, 0))
	for _, c := range change {
		c(item)
	}
	return item
}

// look lets the reconciler look at the item.
func (s *stage) look() ctrl.Result {
	s.Helper()
	result, err := s.reconciler.Reconcile(s.Context(), ctrl.Request{NamespacedName: key})
	if err != nil {
		s.Fatal(err)
	}
	return result
}

func (s *stage) item() *v1alpha1.DeployItem {
	s.Helper()
	item := &v1alpha1.DeployItem{}
	if err := s.reconciler.client.Get(s.Context(), key, item); err != nil {
		s.Fatal(err)
	}
	return item
}

// expect checks the phase, whether the job has ended, and the last error.
func (s *stage) expect(phase v1alpha1.DeployItemPhase, ended bool, message string) {
	s.Helper()
	item := s.item()
	shown := ""
	if item.Status.LastError != nil {
		shown = item.Status.LastError.Message
	}
	if item.Status.Phase != phase || (item.Status.JobID == item.Status.JobIDFinished) != ended || !strings.Contains(shown, message) || (message == "") != (shown == "") {
		s.Errorf("phase %s, job %s, finished %s, error %q; want %s, ended %t, %q", item.Status.Phase, item.Status.JobID, item.Status.JobIDFinished, shown, phase, ended, message)
	}
}

func TestJobs(t *testing.T) {
	answer := func(result Result, err error) *script {
		return &script{reconcile: func(context.Context, *Item) (Result, error) { return result, err }}
	}
	tests := []struct {
		reason  string
		script  *script
		item    *v1alpha1.DeployItem
		phase   v1alpha1.DeployItemPhase
		ended   bool
		message string
		again   time.Duration
		calls   []string
	}{
		{"a job that is done", answer(Done(), nil), newItem(), "Succeeded", true, "", 0, []string{"reconcile"}},
		{"a job that waits for its own objects", answer(WaitFor("a"), nil), newItem(), "Progressing", false, "", v1alpha1.DefaultDeployItemTimeout, []string{"reconcile"}},
		{"a job that waits for a user", answer(Done(), Waiting("o", "r", "create it")), newItem(), "Progressing", false, "create it", v1alpha1.DefaultDeployItemTimeout, []string{"reconcile"}},
		{"a job that is tried again", answer(Done(), errors.New("broken")), newItem(), "Init", false, "broken", firstBackoff, []string{"reconcile"}},
		{"a job that fails", answer(Done(), Final(errors.New("wrong"))), newItem(), "Failed", true, "wrong", 0, []string{"reconcile"}},
		{"a deployer that panics", &script{reconcile: func(context.Context, *Item) (Result, error) { panic("secret") }}, newItem(), "Failed", true, "Landscaper itself panicked", 0, []string{"reconcile"}},
		{"an item without configuration", &script{}, newItem(func(i *v1alpha1.DeployItem) { i.Spec.Configuration = nil }), "Failed", true, "set spec.config", 0, nil},
		{"an item without its target", &script{}, newItem(func(i *v1alpha1.DeployItem) {
			i.Spec.Target = &v1alpha1.ObjectReference{Namespace: key.Namespace, Name: "gone"}
		}), "Progressing", false, "Target ns/gone does not exist: create it", v1alpha1.DefaultDeployItemTimeout, nil},
		{"an invalid time limit", &script{}, newItem(func(i *v1alpha1.DeployItem) { i.Spec.Timeout = durationOf("soon") }), "Failed", true, "spec.timeout", 0, nil},
		{"an item that no policy has checked", &script{}, newItem(func(i *v1alpha1.DeployItem) {
			i.Spec.Target, i.Spec.Timeout = &v1alpha1.ObjectReference{Namespace: key.Namespace}, durationOf("secret")
		}), "Failed", true, "spec.target.name: Required", 0, nil},
		{"no time limit", answer(WaitFor("a"), nil), newItem(func(i *v1alpha1.DeployItem) { i.Spec.Timeout = durationOf("none") }), "Progressing", false, "", never, []string{"reconcile"}},
		{"a short time limit", answer(WaitFor("a"), nil), newItem(func(i *v1alpha1.DeployItem) { i.Spec.Timeout = durationOf("30s") }), "Progressing", false, "", 30 * time.Second, []string{"reconcile"}},
		{"nothing has changed since the last success", &script{}, newItem(func(i *v1alpha1.DeployItem) {
			i.Spec.UpdateOnChangeOnly, i.Status.ObservedGeneration, i.Status.Phase = true, 1, "Succeeded"
		}), "Succeeded", true, "", 0, nil},
		{"an item of another type", &script{}, newItem(func(i *v1alpha1.DeployItem) { i.Spec.Type = "other" }), "", false, "", 0, nil},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			s := onStage(t, test.script, test.item)
			result := s.look()
			s.expect(test.phase, test.ended, test.message)
			if result.RequeueAfter != test.again {
				t.Errorf("looked at again after %s, want %s", result.RequeueAfter, test.again)
			}
			if !slices.Equal(test.script.calls, test.calls) {
				t.Errorf("calls %v, want %v", test.script.calls, test.calls)
			}
			if strings.Contains(fmt.Sprintf("%+v", s.item().Status.LastError), "secret") {
				t.Error("the status repeats what the panic said")
			}
		})
	}
}

func durationOf(text string) *v1alpha1.Duration {
	d := &v1alpha1.Duration{}
	_ = d.UnmarshalJSON([]byte(`"` + text + `"`))
	return d
}

func TestWaitEndsWithAWake(t *testing.T) {
	s := onStage(t, &script{reconcile: func(context.Context, *Item) (Result, error) { return WaitFor("a"), nil }}, newItem())
	s.look()
	s.clock = s.clock.Add(time.Minute)
	if s.look(); len(s.script.calls) != 1 {
		t.Errorf("the deployer was called %d times although nothing has happened", len(s.script.calls))
	}
	s.reconciler.requeue(key)
	if !slices.Equal(s.enqueued, []types.NamespacedName{key}) {
		t.Errorf("in the queue: %v", s.enqueued)
	}
	if s.look(); len(s.script.calls) != 2 {
		t.Errorf("the deployer was called %d times", len(s.script.calls))
	}
}

func TestTimeIsOver(t *testing.T) {
	s := onStage(t, &script{reconcile: func(ctx context.Context, item *Item) (Result, error) {
		if err := item.Checkpoint(ctx, "test: work"); err != nil {
			return Result{}, err
		}
		return Result{}, errors.New("connection refused")
	}}, newItem())
	s.look()
	s.expect("Init", false, "connection refused")
	s.clock = s.clock.Add(v1alpha1.DefaultDeployItemTimeout + time.Second)
	s.look()
	s.expect("Failed", true, `timeout at: "test: work": connection refused`)
	if shown := s.item().Status.LastError; shown.Operation != "StandardTimeoutChecker.TimeoutExceeded" || shown.Reason != "ProgressingTimeout" || !slices.Contains(shown.Codes, v1alpha1.ErrorTimeout) {
		t.Errorf("last error %+v", shown)
	}
}

func TestInterruption(t *testing.T) {
	var s *stage
	s = onStage(t, &script{reconcile: func(ctx context.Context, item *Item) (Result, error) {
		stored := s.item()
		stored.Status.Phase, stored.Status.JobIDFinished = "Failed", stored.Status.JobID
		if err := s.reconciler.client.Status().Update(ctx, stored); err != nil {
			return Result{}, err
		}
		return Done(), item.Checkpoint(ctx, "test: work")
	}}, newItem())
	s.look()
	s.expect("Failed", true, "")
}

func TestDeletion(t *testing.T) {
	ending := func(i *v1alpha1.DeployItem) { i.DeletionTimestamp = &metav1.Time{Time: time.Unix(900, 0)} }
	running := func(i *v1alpha1.DeployItem) {
		i.Status.Phase, i.Status.TransitionTimes.InitTime = "Progressing", &metav1.Time{Time: time.Unix(950, 0)}
	}
	tests := []struct {
		reason  string
		remove  func(context.Context, *Item) (Result, error)
		item    *v1alpha1.DeployItem
		gone    bool
		phase   v1alpha1.DeployItemPhase
		ended   bool
		message string
		calls   []string
	}{
		{"an item is deleted when everything is removed", nil, newItem(ending), true, "", false, "", []string{"delete"}},
		{"an item stays while something is left", func(context.Context, *Item) (Result, error) { return WaitFor("a"), nil }, newItem(ending), false, "Deleting", false, "", []string{"delete"}},
		{"an item stays if the removal fails", func(context.Context, *Item) (Result, error) { return Done(), Final(errors.New("wrong")) }, newItem(ending), false, "DeleteFailed", true, "wrong", []string{"delete"}},
		{"an item stays if the deployer panics", func(context.Context, *Item) (Result, error) { panic("secret") }, newItem(ending), false, "DeleteFailed", true, "panicked", []string{"delete"}},
		{"a job that deploys ends first", nil, newItem(ending, running), false, "Failed", true, "the item was deleted while this job ran: ask the root for another job", nil},
		{"nothing is to be removed", nil, newItem(ending, func(i *v1alpha1.DeployItem) {
			i.Annotations = map[string]string{v1alpha1.DeleteWithoutUninstallAnnotation: "true"}
		}), true, "", false, "", nil},
		{"an item that is not valid can be deleted", nil, newItem(ending, func(i *v1alpha1.DeployItem) {
			i.Spec.Target, i.Spec.Timeout = &v1alpha1.ObjectReference{}, durationOf("soon")
		}), true, "", false, "", []string{"delete"}},
		{"an item that could not be deployed can be deleted", nil, newItem(ending, func(i *v1alpha1.DeployItem) { i.Status.Phase = "Failed" }), true, "", false, "", []string{"delete"}},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			s := onStage(t, &script{remove: test.remove}, test.item)
			s.look()
			if !slices.Equal(s.script.calls, test.calls) {
				t.Errorf("calls %v, want %v", s.script.calls, test.calls)
			}
			gone := apierrors.IsNotFound(s.reconciler.client.Get(t.Context(), key, &v1alpha1.DeployItem{}))
			if gone != test.gone {
				t.Errorf("gone: %t", gone)
			}
			if !gone {
				s.expect(test.phase, test.ended, test.message)
			}
			s.look()
			if gone && len(s.reconciler.memory.records) != 0 {
				t.Error("the run of a deleted item is remembered")
			}
		})
	}
}

// TestOutdatedItem: an attempt on an item that has changed meanwhile ends without a report, also if the
// deployer makes something else of the error.
func TestOutdatedItem(t *testing.T) {
	s := onStage(t, &script{reconcile: func(ctx context.Context, item *Item) (Result, error) {
		if err := item.Record(ctx, map[string]string{"release": "web"}); err == nil {
			t.Error("an outdated item is written")
		}
		return Result{}, errors.New("the release is not there")
	}}, newItem())
	s.trouble = []error{apierrors.NewConflict(schema.GroupResource{Resource: "deployitems"}, "item", errors.New("raced"))}
	if result := s.look(); result.RequeueAfter != firstConflict || s.item().Status.LastError != nil {
		t.Errorf("the next attempt comes in %s, reported is %+v", result.RequeueAfter, s.item().Status.LastError)
	}
}

func TestConflictsAndBrokenWrites(t *testing.T) {
	conflict := apierrors.NewConflict(schema.GroupResource{Resource: "deployitems"}, "item", errors.New("raced"))
	s := onStage(t, &script{}, newItem())
	s.trouble = []error{conflict, conflict}
	for i, want := range []time.Duration{firstConflict, 2 * firstConflict} {
		if got := s.look().RequeueAfter; got != want {
			t.Errorf("after conflict %d it is looked at after %s, want %s", i, got, want)
		}
	}
	s.look()
	s.expect("Succeeded", true, "")

	broken := errors.New("connection refused")
	s = onStage(t, &script{}, newItem())
	s.trouble = []error{broken}
	if _, err := s.reconciler.Reconcile(t.Context(), ctrl.Request{NamespacedName: key}); !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
	s.look()
	s.expect("Succeeded", true, "")
}

// TestPanicInTheLibrary shows that the job ends and that nothing is tried again,
// wherever the panic comes from.
func TestPanicInTheLibrary(t *testing.T) {
	tests := []struct {
		reason string
		item   *v1alpha1.DeployItem
		broken func(*stage)
		phase  v1alpha1.DeployItemPhase
		ended  bool
	}{
		{"while it looks", newItem(func(i *v1alpha1.DeployItem) { i.Spec.Target = &v1alpha1.ObjectReference{Name: "a"} }), func(s *stage) { s.reconciler.live = nil }, "Failed", true},
		{"while it takes a job up", newItem(), func(s *stage) {
			broken := true
			s.reconciler.now = func() time.Time {
				if broken {
					broken = false
					panic("no clock")
				}
				return s.clock
			}
		}, "Failed", true},
		{"a panic of the reconciler that repeats while the job is ended", newItem(), func(s *stage) { s.reconciler.now = func() time.Time { panic("no clock") } }, "", false},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			s := onStage(t, &script{}, test.item)
			recorded := ""
			s.reconciler.options.RecordProblem = func(_ context.Context, description string) error {
				recorded = description
				return errors.New("not recorded")
			}
			test.broken(s)
			if result := s.look(); result != (ctrl.Result{}) {
				t.Errorf("it is tried again: %+v", result)
			}
			message := ""
			if test.ended {
				message = "panicked"
			}
			s.expect(test.phase, test.ended, message)
			if !strings.HasPrefix(recorded, "test of ns/item: ") {
				t.Errorf("recorded %q", recorded)
			}
			if len(s.script.calls) != 0 {
				t.Errorf("calls %v", s.script.calls)
			}
		})
	}
}

// closed counts how often it is closed.
type closed int

func (c *closed) Close() error {
	*c++
	return nil
}

func TestMemory(t *testing.T) {
	var first, second closed
	remember := io.Closer(&first)
	s := onStage(t, &script{reconcile: func(_ context.Context, item *Item) (Result, error) {
		if known := item.Remembered(); known != nil && known != remember {
			t.Errorf("another memory: %v", known)
		}
		item.Remember(remember)
		return WaitFor("a"), nil
	}}, newItem())
	s.look()
	s.reconciler.requeue(key)
	s.look()
	if first != 0 {
		t.Errorf("the memory was closed %d times while the job continues", first)
	}
	item := s.item()
	item.Generation = 2
	if err := s.reconciler.client.Update(t.Context(), item); err != nil {
		t.Fatal(err)
	}
	remember = &second
	s.look()
	if first != 1 || second != 0 {
		t.Errorf("after a change of the specification: closed %d and %d times", first, second)
	}
	s.script.reconcile = nil
	s.reconciler.requeue(key)
	s.look()
	if second != 1 {
		t.Errorf("after the end of the job the memory was closed %d times", second)
	}
}

func TestRecord(t *testing.T) {
	s := onStage(t, nil, newItem())
	s.script = &script{reconcile: func(ctx context.Context, item *Item) (Result, error) {
		if err := item.Record(ctx, map[string]string{"a": "1"}); err != nil {
			return Result{}, err
		}
		if stored := s.item(); stored.Status.Phase != "Progressing" || string(stored.Status.ProviderStatus.Raw) != `{"a":"1"}` {
			t.Errorf("not stored: %+v", stored.Status)
		}
		before := s.item().ResourceVersion
		if err := item.Record(ctx, map[string]string{"a": "1"}); err != nil || s.item().ResourceVersion != before {
			t.Errorf("the same was stored again, error %v", err)
		}
		return Done(), item.SetProviderStatus(make(chan int))
	}}
	s.reconciler.options.Deployer = s.script
	s.look()
	s.expect("Failed", true, "encode the provider status")
}
