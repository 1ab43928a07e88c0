package targetsync

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/runtime/workpool"
)

// TestMade: which events of Targets and Secrets enqueue the TargetSyncs of their namespace, and that
// those count as changes which this process has not made.
func TestMade(t *testing.T) {
	ours := map[string]string{v1alpha1.TargetSyncLabel: v1alpha1.TargetSyncLabelValue}
	copied := map[string]string{v1alpha1.TargetSyncLabel: v1alpha1.TargetSyncLabelValue, v1alpha1.DataObjectContextLabel: "Inst.shop"}
	target := func(namespace string, labels map[string]string) client.Object {
		return &v1alpha1.Target{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "eu", Labels: labels, ResourceVersion: "7"}}
	}
	secret := func(name string, labels map[string]string) client.Object {
		return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "blue", Name: name, Labels: labels, ResourceVersion: "7"}}
	}
	targets, secrets := (*Reconciler).MadeTarget, (*Reconciler).MadeSecret
	for _, test := range []struct {
		reason  string
		handler func(*Reconciler) handler.EventHandler
		// A nil before is a creation, a nil after a deletion.
		before, after client.Object
		concerns      bool
		// written says that the memory has the object in the version of the event.
		written, due bool
	}{
		{"another client has made a Target of ours", targets, nil, target("blue", ours), true, false, true},
		{"this process has made it", targets, nil, target("blue", ours), true, true, false},
		{"another client has deleted it", targets, target("blue", ours), nil, true, true, true},
		{"another client has taken the label away", targets, target("blue", ours), target("blue", nil), true, false, true},
		{"a Target of a user", targets, nil, target("blue", nil), false, false, false},
		{"a copy that an Installation imports", targets, nil, target("blue", copied), false, false, false},
		{"a Target of another namespace", targets, nil, target("green", ours), false, false, false},
		{"another client has labelled a Secret", secrets, secret("eu", nil), secret("eu", ours), true, false, true},
		{"the access to the source", secrets, nil, secret("access", nil), true, false, true},
		{"a Secret of a user", secrets, nil, secret("eu", nil), false, false, false},
	} {
		t.Run(test.reason, func(t *testing.T) {
			b := newBench(t, newGarden(t), withStatus(interceptor.Funcs{}), annotatedFleet(nil))
			known := b.memories.of(key, "u")
			if test.written {
				known.targets["eu"] = "7"
			}
			queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
			defer queue.ShutDown()
			switch handler := test.handler(b.Reconciler); {
			case test.before == nil:
				handler.Create(t.Context(), event.CreateEvent{Object: test.after}, queue)
			case test.after == nil:
				handler.Delete(t.Context(), event.DeleteEvent{Object: test.before}, queue)
			default:
				handler.Update(t.Context(), event.UpdateEvent{ObjectOld: test.before, ObjectNew: test.after}, queue)
			}
			if concerns := queue.Len() == 1; concerns != test.concerns {
				t.Errorf("%d are enqueued", queue.Len())
			}
			if due := known.disturbed("access"); due != test.due {
				t.Errorf("it counts as a change of another client: %t", due)
			}
		})
	}
}

// TestRunAsync: a run goes on after the attempt that has begun it, and its end enqueues the TargetSync; a
// watch of the source enqueues as a manager does, if there is one.
func TestRunAsync(t *testing.T) {
	b := newBench(t, newGarden(t, "eu"), withStatus(interceptor.Funcs{}), annotatedFleet(nil))
	var works []func()
	var enqueued []types.NamespacedName
	options := workpool.Options{MaxConcurrent: 1, MaxPerNamespace: 1, MaxResults: 1, Timeout: longestRun, PreemptAfter: longestRun, Go: func(work func()) { works = append(works, work) }, Enqueue: func(key types.NamespacedName) { enqueued = append(enqueued, key) }}
	b.wake = nil
	b.RunAsync(t.Context(), b.metadata, options)
	attempt := func() {
		t.Helper()
		if _, err := b.Reconcile(t.Context(), ctrl.Request{NamespacedName: key}); err != nil {
			t.Fatal(err)
		}
	}
	attempt()
	if len(works) != 1 || len(enqueued) > 0 || b.stored(t).Status.SyncedTargets != 0 {
		t.Fatalf("%d runs have begun, enqueued are %v, the status is %+v", len(works), enqueued, b.stored(t).Status)
	}
	works[0]()
	if !slices.Equal(enqueued, []types.NamespacedName{key}) {
		t.Errorf("the end of the run enqueues %v", enqueued)
	}
	attempt()
	if synced := b.stored(t).Status.SyncedTargets; synced != 1 {
		t.Errorf("the status reports %d Targets", synced)
	}
	if b.wake(key); len(enqueued) != 2 {
		t.Errorf("without a manager, a change in the source enqueues %v", enqueued[1:])
	}
	enqueuedByManager := 0
	b.wake = func(types.NamespacedName) { enqueuedByManager++ }
	b.RunAsync(t.Context(), b.metadata, options)
	if b.wake(key); enqueuedByManager != 1 || len(enqueued) != 2 {
		t.Error("the queue of the manager is replaced")
	}
}
