package targetsync

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
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/prometheus/client_golang/prometheus"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/runtime/job/reasons"
	"go.landscaper.dev/internal/runtime/reporter"
	"go.landscaper.dev/internal/runtime/workpool"
)

// bench is a reconciler with a source, which is enqueued when a run has ended.
type bench struct {
	*Reconciler
	enqueued chan types.NamespacedName
	events   *events.FakeRecorder
}

func newBench(t *testing.T, g *garden, fails interceptor.Funcs, objects ...client.Object) *bench {
	t.Helper()
	r := g.runWith(t, fails, objects...)
	b := &bench{Reconciler: r.Reconciler, enqueued: make(chan types.NamespacedName, 10), events: events.NewFakeRecorder(100)}
	b.Events, b.Spread = b.events, func() float64 { return 1 }
	b.runs = workpool.New[*outcome](t.Context(), workpool.Options{
		MaxConcurrent: 1, MaxPerNamespace: 1, MaxResults: 4, PreemptAfter: time.Minute, Timeout: time.Minute, Enqueue: func(key types.NamespacedName) { b.enqueued <- key },
	})
	return b
}

// settle looks at the TargetSync until it waits for nothing but the time.
func (b *bench) settle(t *testing.T) ctrl.Result {
	t.Helper()
	for range 10 {
		result, err := b.Reconcile(t.Context(), ctrl.Request{NamespacedName: key})
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case result.RequeueAfter > time.Second:
			return result
		case result.RequeueAfter == 0:
			<-b.enqueued
		}
	}
	t.Fatal("it does not come to rest")
	return ctrl.Result{}
}

func (b *bench) stored(t *testing.T) *v1alpha1.TargetSync {
	t.Helper()
	sync := &v1alpha1.TargetSync{}
	if err := b.Client.Get(t.Context(), key, sync); err != nil {
		t.Fatal(err)
	}
	return sync
}

func annotatedFleet(annotations map[string]string) *v1alpha1.TargetSync {
	sync := fleet()
	sync.UID, sync.Annotations = "u", annotations
	return sync
}

// withStatus lets an API server in memory store a status as it stores everything else.
func withStatus(fails interceptor.Funcs) interceptor.Funcs {
	fails.SubResourceUpdate = func(ctx context.Context, c client.Client, _ string, object client.Object, _ ...client.SubResourceUpdateOption) error {
		return c.Update(ctx, object)
	}
	return fails
}

// TestReconcile: a TargetSync is run when it is due, tells how it went, takes away what it
// has served, and rests.
func TestReconcile(t *testing.T) {
	asking := map[string]string{v1alpha1.OperationAnnotation: "reconcile", "note": "mine"}
	g := newGarden(t, "eu")
	b := newBench(t, g, withStatus(interceptor.Funcs{}), annotatedFleet(asking))
	if result := b.settle(t); result.RequeueAfter > interval {
		t.Errorf("the next look is in %s", result.RequeueAfter)
	}
	sync := b.stored(t)
	if sync.Status.SyncedTargets != 1 || conditionOf(sync.Status.Conditions, v1alpha1.TargetSyncReady).Status != v1alpha1.ConditionTrue || sync.Finalizers[0] != v1alpha1.Finalizer {
		t.Errorf("%+v", sync)
	}
	if len(sync.Annotations) != 1 || sync.Annotations["note"] != "mine" {
		t.Errorf("the annotations are %v", sync.Annotations)
	}
	lists, version := g.requests("/shoots"), sync.ResourceVersion
	b.settle(t)
	if again := b.stored(t); again.ResourceVersion != version || g.requests("/shoots") != lists {
		t.Errorf("nothing has happened, but it was written, or the source was asked")
	}
	emitted := ""
	for len(b.events.Events) > 0 {
		emitted += <-b.events.Events + "\n"
	}
	if !strings.Contains(emitted, string(reasons.TargetsCreated)) || !strings.Contains(emitted, "eu") || strings.Contains(emitted, word) {
		t.Errorf("the events are %q", emitted)
	}
}

// TestReconcileLostRun: a run whose result was lost is made again. It began because of a change
// that would not be reported once more.
func TestReconcileLostRun(t *testing.T) {
	g := newGarden(t, "eu")
	b := newBench(t, g, withStatus(interceptor.Funcs{}), annotatedFleet(nil))
	b.settle(t)
	sync := b.stored(t)
	sync.Generation = 2
	if err := b.Client.Update(t.Context(), sync); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Reconcile(t.Context(), ctrl.Request{NamespacedName: key}); err != nil {
		t.Fatal(err)
	}
	<-b.enqueued
	b.runs.Forget(key)
	b.settle(t)
	if sync := b.stored(t); sync.Status.ObservedGeneration != 2 {
		t.Errorf("%+v", sync.Status)
	}
}

// TestReconcileSeveral: of two TargetSyncs in a namespace neither works, and the end of one
// is reason enough for the other.
func TestReconcileSeveral(t *testing.T) {
	other := annotatedFleet(nil)
	other.Name, other.UID = "other", "v"
	g := newGarden(t, "eu")
	b := newBench(t, g, withStatus(interceptor.Funcs{}), annotatedFleet(nil), other)
	b.settle(t)
	if sync := b.stored(t); len(g.asked) > 0 || sync.Status.LastErrors[0] != errSeveral.Error() || conditionOf(sync.Status.Conditions, v1alpha1.TargetSyncReady).Reason != string(reasons.SeveralTargetSyncs) {
		t.Errorf("%+v, the source was asked %v", sync.Status, g.asked)
	}
	if err := b.Client.Delete(t.Context(), other); err != nil {
		t.Fatal(err)
	}
	b.settle(t)
	if sync := b.stored(t); sync.Status.SyncedTargets != 1 || len(sync.Status.LastErrors) > 0 {
		t.Errorf("%+v", sync.Status)
	}
}

// TestReconcileDeletion: what it has made goes with it, without the source, and what
// others have made stays.
func TestReconcileDeletion(t *testing.T) {
	forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "targets"}, "eu", errors.New("no"))
	foreign := ownTarget(func(target *v1alpha1.Target) { target.Name, target.Labels = "foreign", nil })
	access := ownSecret(func(s *corev1.Secret) { s.Name = "access" })
	for _, test := range []struct {
		reason    string
		finalizer string
		fails     interceptor.Funcs
		gone      bool
		// left has the names of the Targets and Secrets that are left.
		left string
	}{
		{"all goes, but neither the access nor what others have made", v1alpha1.Finalizer, interceptor.Funcs{}, true, "T:foreign S:access"},
		{"what cannot be removed keeps it", v1alpha1.Finalizer, refuses("delete", "Target", forbidden), false, "T:eu T:foreign S:access S:eu"},
		{"a TargetSync without our finalizer waits for another controller", "other.example.org/x", interceptor.Funcs{}, false, "T:eu T:foreign S:access S:eu"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			sync := annotatedFleet(nil)
			sync.Finalizers, sync.DeletionTimestamp = []string{test.finalizer}, &metav1.Time{Time: now}
			g := newGarden(t)
			b := newBench(t, g, withStatus(test.fails), sync, ownSecret(unchanged), ownTarget(unchanged), foreign.DeepCopy(), access.DeepCopy())
			if _, err := b.Reconcile(t.Context(), ctrl.Request{NamespacedName: key}); err != nil {
				t.Fatal(err)
			}
			err := b.Client.Get(t.Context(), key, sync)
			if apierrors.IsNotFound(err) != test.gone || len(g.asked) > 0 {
				t.Errorf("%v; the source was asked %v", err, g.asked)
			}
			if got := made(t, b.Client); got != test.left {
				t.Errorf("left is %q", got)
			}
			if blocked := test.finalizer == v1alpha1.Finalizer && !test.gone; blocked && !strings.Contains(sync.Status.LastErrors[0], "remove what the TargetSync has made: delete eu") {
				t.Errorf("it says %v", sync.Status.LastErrors)
			}
		})
	}
}

// TestReconcileDeletionOfSeveral: what tells no maker goes with the last TargetSync of a
// namespace, also if two go at once and each still sees the other.
func TestReconcileDeletionOfSeveral(t *testing.T) {
	going := &metav1.Time{Time: now}
	for _, test := range []struct {
		reason string
		other  *metav1.Time
		left   string
	}{
		{"the other one stays, and may need it", nil, "T:eu S:eu S:other-access"},
		{"objects of a TargetSync in deletion are deleted, but not its access, even with a label", going, "S:other-access"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			sync, other := annotatedFleet(nil), annotatedFleet(nil)
			sync.Finalizers, sync.DeletionTimestamp = []string{v1alpha1.Finalizer}, going
			other.Name, other.UID, other.Finalizers, other.DeletionTimestamp = "other", "v", sync.Finalizers, test.other
			other.Spec.SecretRef.Name = "other-access"
			access := ownSecret(func(s *corev1.Secret) { s.Name = "other-access" })
			b := newBench(t, newGarden(t), withStatus(interceptor.Funcs{}), sync, other, ownSecret(unchanged), ownTarget(unchanged), access)
			if _, err := b.Reconcile(t.Context(), ctrl.Request{NamespacedName: key}); err != nil {
				t.Fatal(err)
			}
			if got := made(t, b.Client); got != test.left {
				t.Errorf("left is %q", got)
			}
		})
	}
}

// TestReconcileDeleted: a deleted TargetSync is forgotten, and a new one of the name begins anew.
func TestReconcileDeleted(t *testing.T) {
	g := newGarden(t, "eu")
	b := newBench(t, g, withStatus(interceptor.Funcs{}), annotatedFleet(nil))
	b.settle(t)
	sync := b.stored(t)
	sync.Finalizers = nil
	if err := errors.Join(b.Client.Update(t.Context(), sync), b.Client.Delete(t.Context(), sync)); err != nil {
		t.Fatal(err)
	}
	if result, err := b.Reconcile(t.Context(), ctrl.Request{NamespacedName: key}); err != nil || result != (ctrl.Result{}) || len(b.memories.known) > 0 {
		t.Errorf("%v, %v, it remembers %v", result, err, b.memories.known)
	}
	// In memory its versions begin anew: what was last written is forgotten as well.
	if err := b.Client.Create(t.Context(), annotatedFleet(nil)); err != nil {
		t.Fatal(err)
	}
	if b.settle(t); b.stored(t).Status.SyncedTargets != 1 {
		t.Errorf("%+v", b.stored(t).Status)
	}
}

// TestReconcilePanics: a mistake of ours ends the look, is recorded without a value,
// and is not repeated at once.
func TestReconcilePanics(t *testing.T) {
	g := newGarden(t, "eu")
	breaks := interceptor.Funcs{Get: func(ctx context.Context, c client.WithWatch, at client.ObjectKey, object client.Object, options ...client.GetOption) error {
		if at == key {
			panic(word)
		}
		return c.Get(ctx, at, object, options...)
	}}
	b := newBench(t, g, breaks, annotatedFleet(nil))
	b.Problems = &reporter.Problems{Client: b.Client, Reader: b.Client, Namespace: "landscaper", Now: b.Now}
	if result, err := b.Reconcile(t.Context(), ctrl.Request{NamespacedName: key}); err != nil || result.RequeueAfter != interval {
		t.Fatal(result, err)
	}
	problems := &v1alpha1.CriticalProblems{}
	if err := b.Client.Get(t.Context(), client.ObjectKey{Namespace: "landscaper", Name: "critical-problems"}, problems); err != nil || len(problems.Spec.CriticalProblems) != 1 {
		t.Fatalf("%+v, %v", problems, err)
	}
	if text := problems.Spec.CriticalProblems[0].Description; !strings.Contains(text, "SynchronizeTargets of blue/fleet") || strings.Contains(text, word) {
		t.Errorf("it says %q", text)
	}
}

// TestGauge: the numbers of all TargetSyncs together, and no metric while they are unknown.
func TestGauge(t *testing.T) {
	first, second := fleet(), fleet()
	second.Namespace = "red"
	first.Status = v1alpha1.TargetSyncStatus{SyncedTargets: 3, FailedTargets: 1}
	second.Status = v1alpha1.TargetSyncStatus{SyncedTargets: 4, SkippedTargets: 2}
	broken := interceptor.Funcs{List: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error {
		return errors.New("the cache is not filled")
	}}
	for _, test := range []struct {
		reason string
		fails  interceptor.Funcs
		want   map[string]float64
	}{
		{"of two namespaces", interceptor.Funcs{}, map[string]float64{"synced": 7, "failed": 1, "skipped": 2}},
		{"a cache that is not filled: no number is better than 0", broken, map[string]float64{}},
	} {
		t.Run(test.reason, func(t *testing.T) {
			registry := prometheus.NewRegistry()
			if err := registry.Register(gauge{runOn(t, test.fails, first, second).Client}); err != nil {
				t.Fatal(err)
			}
			families, err := registry.Gather()
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]float64{}
			for _, family := range families {
				for _, metric := range family.GetMetric() {
					got[metric.GetLabel()[0].GetValue()] = metric.GetGauge().GetValue()
				}
			}
			if len(got) != len(test.want) {
				t.Errorf("%v", got)
			}
			for state, value := range test.want {
				if got[state] != value {
					t.Errorf("%s is %v, want %v", state, got[state], value)
				}
			}
		})
	}
}

// TestSeveralWhileARunEnds: a run that is told to end because another TargetSync came is
// waited for: it still reads what a report of ours would write.
func TestSeveralWhileARunEnds(t *testing.T) {
	g := newGarden(t, "eu")
	reads, goOn := make(chan struct{}), make(chan struct{})
	b := newBench(t, g, withStatus(interceptor.Funcs{Get: func(ctx context.Context, c client.WithWatch, at client.ObjectKey, object client.Object, options ...client.GetOption) error {
		if at.Name == "access" {
			close(reads)
			<-goOn
		}
		return c.Get(ctx, at, object, options...)
	}}), annotatedFleet(nil))
	look := func() ctrl.Result {
		t.Helper()
		result, err := b.Reconcile(t.Context(), ctrl.Request{NamespacedName: key})
		if err != nil {
			t.Fatal(err)
		}
		return result
	}
	look()
	<-reads
	other := annotatedFleet(nil)
	other.Name, other.UID = "other", "v"
	if err := b.Client.Create(t.Context(), other); err != nil {
		t.Fatal(err)
	}
	if result := look(); result.RequeueAfter != reporter.ConflictBackoff || len(b.stored(t).Status.LastErrors) > 0 {
		t.Errorf("looks again in %s, and tells %v", result.RequeueAfter, b.stored(t).Status.LastErrors)
	}
	close(goOn)
	for look().RequeueAfter == reporter.ConflictBackoff {
		continue
	}
	if sync := b.stored(t); sync.Status.LastErrors[0] != errSeveral.Error() {
		t.Errorf("%+v", sync.Status)
	}
}

// TestGivenUpBeforeItBegins: a run that is cancelled after its start, but before its first step,
// does no step: its canceller has not seen that it goes on.
func TestGivenUpBeforeItBegins(t *testing.T) {
	reads := 0
	b := newBench(t, newGarden(t, "eu"), withStatus(interceptor.Funcs{Get: func(ctx context.Context, c client.WithWatch, at client.ObjectKey, object client.Object, options ...client.GetOption) error {
		if at.Name == "access" {
			reads++
		}
		return c.Get(ctx, at, object, options...)
	}}), annotatedFleet(nil))
	var begin func()
	b.runs = workpool.New[*outcome](t.Context(), workpool.Options{
		MaxConcurrent: 1, MaxPerNamespace: 1, MaxResults: 4, PreemptAfter: time.Minute, Timeout: time.Minute, Go: func(work func()) { begin = work },
	})
	other := annotatedFleet(nil)
	other.Name, other.UID = "other", "v"
	for range 2 {
		if _, err := b.Reconcile(t.Context(), ctrl.Request{NamespacedName: key}); err != nil {
			t.Fatal(err)
		}
		if err := b.Client.Create(t.Context(), other.DeepCopy()); client.IgnoreAlreadyExists(err) != nil {
			t.Fatal(err)
		}
	}
	if reported := b.stored(t).Status.LastErrors; len(reported) != 1 || reported[0] != errSeveral.Error() {
		t.Fatalf("the errors are %v", reported)
	}
	if begin(); reads > 0 {
		t.Error("it has begun")
	}
}

// TestRotatesOncePerRequest: a run that has renewed the token on request and could not tell
// so is made again, but not its token.
func TestRotatesOncePerRequest(t *testing.T) {
	lost := true
	fails := withStatus(interceptor.Funcs{})
	stores := fails.SubResourceUpdate
	fails.SubResourceUpdate = func(ctx context.Context, c client.Client, name string, object client.Object, options ...client.SubResourceUpdateOption) error {
		if lost {
			lost = false
			return apierrors.NewConflict(schema.GroupResource{Resource: "targetsyncs"}, object.GetName(), errors.New("another client was faster"))
		}
		return stores(ctx, c, name, object, options...)
	}
	sync := annotatedFleet(map[string]string{v1alpha1.RotateTokenAnnotation: ""})
	sync.Spec.TokenRotation = &v1alpha1.TokenRotation{Enabled: true}
	g := newGarden(t, "eu")
	b := newBench(t, g, fails, sync)
	ask := func(want int) {
		t.Helper()
		b.settle(t)
		if stored := b.stored(t); g.requests("/token") != want || metav1.HasAnnotation(stored.ObjectMeta, v1alpha1.RotateTokenAnnotation) {
			t.Errorf("%d tokens, want %d; %v", g.requests("/token"), want, stored.Annotations)
		}
	}
	ask(1)
	again := b.stored(t)
	metav1.SetMetaDataAnnotation(&again.ObjectMeta, v1alpha1.RotateTokenAnnotation, "")
	if err := b.Client.Update(t.Context(), again); err != nil {
		t.Fatal(err)
	}
	ask(2)
}
