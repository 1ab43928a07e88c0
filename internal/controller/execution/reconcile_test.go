package execution

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/model/siblings/itemorder"
	"go.landscaper.dev/internal/runtime/parallelize"
	"go.landscaper.dev/internal/runtime/queue"
	"go.landscaper.dev/internal/runtime/reporter"
)

var key = types.NamespacedName{Namespace: "n", Name: "x"}

// bench is a reconciler with an API server in memory that counts deletions.
type bench struct {
	*Reconciler
	api      client.Client
	now      time.Time
	deletes  int
	breaks   bool
	attempts int
	// creating is called before an item is created.
	creating func(*v1alpha1.DeployItem) error
}

func newBench(t *testing.T, objects ...client.Object) *bench {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	b, created := &bench{now: noon}, sync.Map{}
	b.api = fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).
		WithStatusSubresource(&v1alpha1.Installation{}, &v1alpha1.Execution{}, &v1alpha1.DeployItem{}).
		WithIndex(&v1alpha1.DeployItem{}, itemsByExecution, func(object client.Object) []string {
			return []string{object.GetLabels()[v1alpha1.ExecutionManagedByLabel]}
		}).
		WithInterceptorFuncs(interceptor.Funcs{
			Delete: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.DeleteOption) error {
				b.deletes++
				return c.Delete(ctx, object, options...)
			},
			Create: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.CreateOption) error {
				if _, ok := object.(*v1alpha1.DeployItem); ok && b.breaks {
					b.attempts++
					panic("password")
				}
				if item, ok := object.(*v1alpha1.DeployItem); ok && b.creating != nil {
					if err := b.creating(item); err != nil {
						return err
					}
				}
				uid := "uid-" + object.GetName()
				if _, again := created.LoadOrStore(uid, true); again {
					uid += "-again"
				}
				object.SetUID(types.UID(uid))
				return c.Create(ctx, object, options...)
			},
		}).Build()
	clock := func() time.Time { return b.now }
	ids := 0
	b.Reconciler = &Reconciler{
		Client: b.api, Reader: b.api, Order: &queue.Order{}, Now: clock, PickupTimeout: time.Minute,
		NewJobID:  func() string { ids++; return "own-" + strconv.Itoa(ids) },
		Recorders: reporter.Recorders{Problems: &reporter.Problems{Client: b.api, Reader: b.api, Namespace: "landscaper", Now: clock}},
	}
	return b
}

// reconcile reconciles the Execution once.
func (b *bench) reconcile(t *testing.T) ctrl.Result {
	t.Helper()
	result, err := b.Reconcile(t.Context(), ctrl.Request{NamespacedName: key})
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func (b *bench) execution(t *testing.T) *v1alpha1.Execution {
	t.Helper()
	exec := &v1alpha1.Execution{}
	if err := b.api.Get(t.Context(), key, exec); err != nil {
		t.Fatal(err)
	}
	return exec
}

func (b *bench) items(t *testing.T) []v1alpha1.DeployItem {
	t.Helper()
	list := &v1alpha1.DeployItemList{}
	if err := b.api.List(t.Context(), list); err != nil {
		t.Fatal(err)
	}
	return list.Items
}

// finish ends the jobs of all items that have one.
func (b *bench) finish(t *testing.T, phase v1alpha1.DeployItemPhase) {
	t.Helper()
	for _, item := range b.items(t) {
		if item.Status.JobID == item.Status.JobIDFinished {
			continue
		}
		item.Status.JobIDFinished, item.Status.Phase = item.Status.JobID, phase
		if err := b.api.Status().Update(t.Context(), &item); err != nil {
			t.Fatal(err)
		}
	}
}

// handOver gives the Execution a job, as tools do.
func (b *bench) handOver(t *testing.T, id string) {
	t.Helper()
	exec := b.execution(t)
	exec.Status.JobID = id
	if err := b.api.Status().Update(t.Context(), exec); err != nil {
		t.Fatal(err)
	}
}

func withItems(templates ...v1alpha1.DeployItemTemplate) *v1alpha1.Execution {
	exec := &v1alpha1.Execution{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name, UID: "uid", Finalizers: []string{v1alpha1.Finalizer}}}
	for i := range templates {
		templates[i].Type = "example.org/x"
		templates[i].Configuration = &runtime.RawExtension{Raw: []byte(`{"apiVersion":"v1","kind":"C"}`)}
	}
	exec.Spec = v1alpha1.ExecutionSpec{Context: "default", DeployItems: templates}
	return exec
}

// TestTimeoutTwice: an item with a timeout has a second job.
func TestTimeoutTwice(t *testing.T) {
	b := newBench(t, withItems(v1alpha1.DeployItemTemplate{Name: "one", Timeout: v1alpha1.NewDuration(time.Minute)}))
	for _, id := range []string{"a", "b"} {
		b.handOver(t, id)
		if result := b.reconcile(t); result.RequeueAfter != pickupWarnAfter {
			t.Errorf("it is looked at again before the deadline of the pickup: %+v", result)
		}
		b.finish(t, v1alpha1.DeployItemPhases.Succeeded)
		b.reconcile(t)
		if s := b.execution(t).Status; s.JobIDFinished != id || s.ExecutionPhase != "Succeeded" || len(b.items(t)) != 1 {
			t.Fatalf("%+v, %+v", s, s.LastError)
		}
	}
}

// TestItemsAreWrittenTogether: an Execution with many items does not write one after the other.
func TestItemsAreWrittenTogether(t *testing.T) {
	var templates []v1alpha1.DeployItemTemplate
	for i := range 3*parallelize.Parallelism + 1 {
		templates = append(templates, v1alpha1.DeployItemTemplate{Name: fmt.Sprintf("item-%02d", i)})
	}
	t.Run("the writes run in parallel up to the limit", func(t *testing.T) {
		b := newBench(t, withItems(templates...))
		var first sync.WaitGroup
		first.Add(parallelize.Parallelism)
		var created atomic.Int32
		b.creating = func(*v1alpha1.DeployItem) error {
			if created.Add(1) <= parallelize.Parallelism {
				first.Done()
				first.Wait()
			}
			return nil
		}
		b.handOver(t, "a")
		b.reconcile(t)
		active := b.execution(t).Status.DeployItemCache.ActiveDIs
		if len(active) != len(templates) || !slices.IsSortedFunc(active, func(a, b v1alpha1.DiNamePair) int { return strings.Compare(a.SpecName, b.SpecName) }) {
			t.Errorf("the status names them in order: %+v", active)
		}
	})
	t.Run("no write begins after a refusal, which ends the job", func(t *testing.T) {
		b := newBench(t, withItems(templates...))
		var asked atomic.Int32
		b.creating = func(item *v1alpha1.DeployItem) error {
			asked.Add(1)
			return apierrors.NewForbidden(schema.GroupResource{Resource: "deployitems"}, item.Name, errors.New("exceeded quota"))
		}
		b.handOver(t, "a")
		b.reconcile(t)
		if phase := b.execution(t).Status.ExecutionPhase; phase != "Failed" || asked.Load() > parallelize.Parallelism {
			t.Errorf("%s after %d requests", phase, asked.Load())
		}
	})
}

// TestDeletion: items go in reverse order, each by one request, and nothing is left.
func TestDeletion(t *testing.T) {
	b := newBench(t, withItems(v1alpha1.DeployItemTemplate{Name: "one"}, v1alpha1.DeployItemTemplate{Name: "two", DependsOn: []string{"one"}}))
	b.handOver(t, "a")
	for range 2 {
		b.reconcile(t)
		b.finish(t, v1alpha1.DeployItemPhases.Succeeded)
	}
	b.reconcile(t)
	if err := b.api.Delete(t.Context(), b.execution(t)); err != nil {
		t.Fatal(err)
	}
	b.deletes = 0
	b.handOver(t, "b")
	for _, name := range []string{"two", "one"} {
		b.reconcile(t)
		b.reconcile(t)
		for _, item := range b.items(t) {
			if hasJob := item.Status.JobID == "b"; hasJob != (itemorder.NameOf(&item) == name) {
				t.Fatalf("item %s has job %s, the turn is at %s", itemorder.NameOf(&item), item.Status.JobID, name)
			} else if hasJob {
				item.Finalizers = nil
				if err := b.api.Update(t.Context(), &item); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	b.reconcile(t)
	if err := b.api.Get(t.Context(), key, &v1alpha1.Execution{}); client.IgnoreNotFound(err) != nil || err == nil || b.deletes != 2 {
		t.Errorf("%d requests to delete, %v", b.deletes, err)
	}
}

// TestPickup: an item that no deployer picks up fails at its deadline.
func TestPickup(t *testing.T) {
	b := newBench(t, withItems(v1alpha1.DeployItemTemplate{Name: "one"}))
	b.handOver(t, "a")
	b.reconcile(t)
	b.now = b.now.Add(time.Minute)
	b.reconcile(t)
	exec, item := b.execution(t), b.items(t)[0]
	if exec.Status.ExecutionPhase != "Failed" || item.Status.Phase != "Failed" || item.Status.LastError.Reason != "PickupTimeout" || !strings.Contains(exec.Status.LastError.Message, "no deployer has reconciled") {
		t.Errorf("%+v, %+v", exec.Status.LastError, item.Status)
	}
}

// TestInterruptedBeginning: an interruption that comes with its job is not lost.
func TestInterruptedBeginning(t *testing.T) {
	exec := withItems(v1alpha1.DeployItemTemplate{Name: "one"})
	exec.Annotations = map[string]string{v1alpha1.OperationAnnotation: "interrupt"}
	b := newBench(t, exec)
	b.handOver(t, "a")
	b.reconcile(t)
	live := b.execution(t)
	if live.Status.ExecutionPhase != "Failed" || live.Status.JobIDFinished != "a" || live.Annotations[v1alpha1.OperationAnnotation] != "" || b.items(t)[0].Status.LastError.Reason != "InterruptOperation" {
		t.Errorf("%+v, %v", live.Status, live.Annotations)
	}
}

// TestPanicEndsJob: a panic fails the job once, and the next job may succeed. TestDismissed: a new
// request that comes while the old one is removed stays.
func TestDismissed(t *testing.T) {
	for _, test := range []struct {
		reason, meanwhile, left string
		conflict                bool
	}{
		{"the request that was read is removed", "", "", false},
		{"an interruption that was requested since stays", "interrupt", "interrupt", true},
	} {
		t.Run(test.reason, func(t *testing.T) {
			exec := withItems()
			exec.Annotations = map[string]string{v1alpha1.OperationAnnotation: "abort"}
			b := newBench(t, exec)
			seen, _, err := b.observed(t)
			if err != nil {
				t.Fatal(err)
			}
			if test.meanwhile != "" {
				now := b.execution(t)
				now.Annotations[v1alpha1.OperationAnnotation] = test.meanwhile
				if err := b.api.Update(t.Context(), now); err != nil {
					t.Fatal(err)
				}
			}
			if err := b.dismiss(t.Context(), seen); apierrors.IsConflict(err) != test.conflict || err != nil && !test.conflict {
				t.Errorf("got %v", err)
			}
			if got := b.execution(t).Annotations[v1alpha1.OperationAnnotation]; got != test.left {
				t.Errorf("the request is %q", got)
			}
		})
	}
}

func TestPanicEndsJob(t *testing.T) {
	b := newBench(t, withItems(v1alpha1.DeployItemTemplate{Name: "one"}))
	b.breaks = true
	b.handOver(t, "a")
	for range 3 {
		b.reconcile(t)
	}
	s := b.execution(t).Status
	if s.ExecutionPhase != "Failed" || s.JobIDFinished != "a" || s.LastError.Reason != "Panic" || strings.Contains(s.LastError.Message, "password") || b.attempts != 1 {
		t.Errorf("%d attempts, %+v, %+v", b.attempts, s, s.LastError)
	}
	problems := &v1alpha1.CriticalProblems{}
	if err := b.api.Get(t.Context(), client.ObjectKey{Namespace: "landscaper", Name: "critical-problems"}, problems); err != nil || len(problems.Spec.CriticalProblems) != 1 {
		t.Errorf("%+v, %v", problems, err)
	}
	b.breaks = false
	b.handOver(t, "b")
	b.reconcile(t)
	if s := b.execution(t).Status; s.ExecutionPhase != "Progressing" || s.LastError != nil {
		t.Errorf("%+v", s)
	}
}
