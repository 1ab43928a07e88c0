package lifecycle

import (
	"context"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"go.landscaper.dev/internal/controller/shootflux/access"
	"go.landscaper.dev/internal/controller/shootflux/gardener"
	"go.landscaper.dev/internal/controller/shootflux/managed"
	"go.landscaper.dev/internal/runtime/expectations"
)

const (
	firstPause   = 200 * time.Millisecond
	longestPause = 5 * time.Minute
	// fresh is how long the cache may lag behind an operation.
	fresh = time.Minute
)

type queueOf = workqueue.TypedRateLimitingInterface[reconcile.Request]

// Wake enqueues Extensions when their project in the garden changes; see access.Watch. The queue
// exists as soon as this replica is the leader; the mutex guards only the queue, and is never held
// while Extensions are listed.
type Wake struct {
	mutex sync.Mutex
	queue queueOf
	owner *Reconciler
}

// Changed enqueues the shoots of a project, spread over time.
func (w *Wake) Changed(change access.Change) {
	w.mutex.Lock()
	queue := w.queue
	w.mutex.Unlock()
	if queue == nil {
		return // another replica is the leader
	}
	all := &gardener.ExtensionList{}
	if err := w.owner.Client.List(context.Background(), all); err != nil {
		return // the cache knows the kind, so this cannot happen
	}
	for i := range all.Items {
		e := &all.Items[i]
		if !ours(e) || !w.owner.projects.concerned(e, change) {
			continue
		}
		queue.AddAfter(reconcile.Request{NamespacedName: client.ObjectKeyFromObject(e)}, w.owner.spread())
	}
}

func (r *Reconciler) spread() time.Duration {
	return time.Duration(r.Schedule.Random() * float64(r.Schedule.Spread))
}

// readFrom sets the reader for a cache that is behind. Both controllers share the record of their
// writes.
func (r *Reconciler) readFrom(api client.Reader) {
	if r.writer == nil {
		r.extensionsNow, r.writer = &expectations.Reader{Cache: r.Client, API: api}, managed.NewWriter(r.Client, api)
		r.writer.Begins = r.writing.begin
	}
}

// SetupWithManager watches Extensions, their ManagedResources, and the resources of their Shoots.
func (r *Reconciler) SetupWithManager(manager ctrl.Manager, options controller.Options) (*Wake, error) {
	r.readFrom(manager.GetAPIReader())
	options.RateLimiter = workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](firstPause, longestPause)
	wake := &Wake{owner: r}
	referred := builder.WithPredicates(predicate.NewPredicateFuncs(isReference))
	secrets := builder.WithPredicates(predicate.NewPredicateFuncs(func(object client.Object) bool {
		return isReference(object) || isToken(object)
	}))
	return wake, ctrl.NewControllerManagedBy(manager).
		Named("extension").
		Watches(&gardener.Extension{}, r.OnExtension()).
		Watches(&gardener.ManagedResource{}, r.OnManagedResource()).
		WatchesMetadata(&corev1.Secret{}, r.OnReference(), secrets).
		WatchesMetadata(&corev1.ConfigMap{}, r.OnReference(), referred).
		WatchesRawSource(source.Func(func(_ context.Context, queue queueOf) error {
			wake.mutex.Lock()
			defer wake.mutex.Unlock()
			wake.queue = queue
			return nil
		})).
		WithOptions(options).
		Complete(r)
}

// OnExtension enqueues Extensions when gardenlet asks, and for the resync.
func (r *Reconciler) OnExtension() handler.EventHandler {
	return handler.Funcs{
		CreateFunc: func(_ context.Context, created event.CreateEvent, queue queueOf) {
			e, ok := created.Object.(*gardener.Extension)
			request := reconcile.Request{NamespacedName: client.ObjectKeyFromObject(created.Object)}
			switch {
			case !ok || !ours(e):
			case triggersAtStart(e, r.Schedule.IgnoreOperationAnnotation):
				queue.Add(request)
			case !migrated(e):
				queue.AddAfter(request, time.Duration(r.Schedule.Random()*float64(r.Schedule.Resync)))
			}
		},
		UpdateFunc: func(_ context.Context, updated event.UpdateEvent, queue queueOf) {
			before, isBefore := updated.ObjectOld.(*gardener.Extension)
			after, isAfter := updated.ObjectNew.(*gardener.Extension)
			if isBefore && isAfter && triggersReconcile(before, after, r.Schedule.IgnoreOperationAnnotation) {
				queue.Add(reconcile.Request{NamespacedName: client.ObjectKeyFromObject(after)})
			}
		},
		// The reconcile of a deleted Extension drops its record, since a reconcile may still be
		// running.
		DeleteFunc: func(_ context.Context, deleted event.DeleteEvent, queue queueOf) {
			queue.Add(reconcile.Request{NamespacedName: client.ObjectKeyFromObject(deleted.Object)})
		},
	}
}

// OnManagedResource enqueues Extensions that wait for a ManagedResource. Writes of this controller do
// not trigger reconciles, nor do objects that existed at the start, unless they have no Extension.
func (r *Reconciler) OnManagedResource() handler.EventHandler {
	enqueue := handler.EnqueueRequestsFromMapFunc(r.waiting)
	return handler.Funcs{
		CreateFunc: func(ctx context.Context, e event.CreateEvent, queue queueOf) {
			if isPiece(e.Object) {
				r.onStray(ctx, e.Object, queue)
			}
		},
		UpdateFunc: func(ctx context.Context, e event.UpdateEvent, queue queueOf) {
			if isPiece(e.ObjectNew) && hasNews(e.ObjectOld, e.ObjectNew) {
				enqueue.Update(ctx, e, queue)
			}
		},
		DeleteFunc: func(ctx context.Context, e event.DeleteEvent, queue queueOf) {
			if isPiece(e.Object) {
				enqueue.Delete(ctx, e, queue)
			}
		},
		GenericFunc: func(ctx context.Context, e event.GenericEvent, queue queueOf) {
			if isPiece(e.Object) {
				enqueue.Generic(ctx, e, queue)
			}
		},
	}
}

// onStray enqueues an object of ours that has no Extension: the reconcile of an Extension that does not
// exist removes it. The name is the usual one.
func (r *Reconciler) onStray(ctx context.Context, object client.Object, queue queueOf) {
	if len(r.inNamespace(ctx, object.GetNamespace())) == 0 {
		queue.Add(reconcile.Request{NamespacedName: client.ObjectKey{Namespace: object.GetNamespace(), Name: Type}})
	}
}

func isReference(object client.Object) bool {
	return strings.HasPrefix(object.GetName(), gardener.ReferencePrefix)
}

// isToken reports whether a Secret is that in which the extension asks for a token.
func isToken(object client.Object) bool { return object.GetName() == access.TokenSecret }

func isPiece(object client.Object) bool {
	switch object.GetName() {
	case InstallName, ConfigName, DataName:
		return true
	}
	return false
}

// hasNews says whether the resource manager, or a deletion, has changed a ManagedResource.
func hasNews(before, after client.Object) bool {
	old, isOld := before.(*gardener.ManagedResource)
	now, isNow := after.(*gardener.ManagedResource)
	if !isOld || !isNow {
		return true
	}
	return !equality.Semantic.DeepEqual(old.Status, now.Status) || (old.DeletionTimestamp == nil) != (now.DeletionTimestamp == nil)
}

// inNamespace returns the Extensions of this controller in a namespace.
func (r *Reconciler) inNamespace(ctx context.Context, namespace string) []*gardener.Extension {
	all := &gardener.ExtensionList{}
	if err := r.Client.List(ctx, all, client.InNamespace(namespace)); err != nil {
		return nil // the cache knows the kind, so this cannot happen
	}
	var list []*gardener.Extension
	for i := range all.Items {
		if ours(&all.Items[i]) {
			list = append(list, &all.Items[i])
		}
	}
	return list
}

// waiting returns the Extensions that wait for a ManagedResource, or miss it. The status says that
// an Extension waits only after the ManagedResource was written, and the cache shows it later
// still.
func (r *Reconciler) waiting(ctx context.Context, object client.Object) []reconcile.Request {
	var requests []reconcile.Request
	for _, e := range r.inNamespace(ctx, object.GetNamespace()) {
		if unfinished(e) || r.writing.in(e.Namespace) || r.extensionsNow.IsStale(e) || object.GetDeletionTimestamp() != nil || r.Now().Sub(e.Status.LastOperation.LastUpdateTime.Time) < fresh {
			requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(e)})
		}
	}
	return requests
}

// OnReference enqueues the Extensions of a namespace for changes of their Shoots' resources, and looks for
// requests for a token that have no Extension. Usually
// gardenlet asks for an operation at the same time.
func (r *Reconciler) OnReference() handler.EventHandler {
	tell := func(ctx context.Context, object client.Object, queue queueOf) {
		if isToken(object) {
			return // we write it ourselves
		}
		for _, e := range r.inNamespace(ctx, object.GetNamespace()) {
			queue.AddAfter(reconcile.Request{NamespacedName: client.ObjectKeyFromObject(e)}, r.spread())
		}
	}
	return handler.Funcs{
		CreateFunc: func(ctx context.Context, e event.CreateEvent, queue queueOf) {
			switch {
			case isToken(e.Object):
				r.onStray(ctx, e.Object, queue)
			case !e.IsInInitialList:
				tell(ctx, e.Object, queue)
			}
		},
		UpdateFunc: func(ctx context.Context, e event.UpdateEvent, queue queueOf) {
			if e.ObjectOld.GetResourceVersion() != e.ObjectNew.GetResourceVersion() {
				tell(ctx, e.ObjectNew, queue)
			}
		},
		DeleteFunc: func(ctx context.Context, e event.DeleteEvent, queue queueOf) { tell(ctx, e.Object, queue) },
	}
}

// SetupWithManager watches the ManagedResources of Extensions.
func (h *Health) SetupWithManager(manager ctrl.Manager, options controller.Options) error {
	h.readFrom(manager.GetAPIReader())
	ofPiece := func(ctx context.Context, object client.Object) []reconcile.Request {
		var requests []reconcile.Request
		for _, e := range h.inNamespace(ctx, object.GetNamespace()) {
			requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(e)})
		}
		return requests
	}
	return ctrl.NewControllerManagedBy(manager).
		Named("healthcheck").
		Watches(&gardener.Extension{}, &handler.EnqueueRequestForObject{}).
		Watches(&gardener.ManagedResource{}, handler.EnqueueRequestsFromMapFunc(ofPiece), builder.WithPredicates(predicate.NewPredicateFuncs(isPiece))).
		WithOptions(options).
		Complete(h)
}
