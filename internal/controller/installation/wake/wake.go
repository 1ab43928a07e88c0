package wake

import (
	"context"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/controller/installation/index"
	"go.landscaper.dev/internal/controller/installation/observe"
	"go.landscaper.dev/internal/model/dataflow"
	"go.landscaper.dev/internal/model/predicates"
	"go.landscaper.dev/internal/model/siblings"
	"go.landscaper.dev/internal/runtime/job"
)

// Mapper maps a change to the Installations that it enqueues.
type Mapper struct {
	Reader observe.Reader
}

// waitingAs returns the Installations that wait under an entry of the index. One that the cache
// does not show as waiting yet is reconciled again after its own write.
func (w Mapper) waitingAs(ctx context.Context, namespace, entry string) []v1alpha1.Installation {
	list := &v1alpha1.InstallationList{}
	if err := w.Reader.Cached.List(ctx, list, client.InNamespace(namespace), client.MatchingFields{index.Waiting: entry}, client.UnsafeDisableDeepCopy); err != nil {
		return nil
	}
	return list.Items
}

// ByContext returns the Installations that a new Context unblocks.
func (w Mapper) ByContext(ctx context.Context, object client.Object) []reconcile.Request {
	if object.GetName() != v1alpha1.DefaultContextName {
		return nil
	}
	var requests []reconcile.Request
	for _, inst := range w.waitingAs(ctx, object.GetNamespace(), string(v1alpha1.InstallationPhases.Init)) {
		requests = append(requests, RequestFor(&inst))
	}
	return requests
}

// Enqueued returns the Installations that a change of another one may unblock: siblings that wait for
// it, subinstallations that it has a job for, and its parent. Before is nil for a new one, after
// for a deleted one.
func (w Mapper) Enqueued(ctx context.Context, before, after *v1alpha1.Installation) []reconcile.Request {
	var requests []reconcile.Request
	last := after
	if before != nil {
		requests = w.WaitingSiblings(ctx, before)
	}
	if after != nil {
		requests = append(requests, w.WaitingSiblings(ctx, after)...)
	} else {
		last = before
	}
	for _, teller := range w.waitingAs(ctx, last.Namespace, index.TriggersAs(last.Name)) {
		requests = append(requests, RequestFor(&teller))
	}
	requests = append(requests, w.waitingChildren(ctx, last, after == nil)...)
	if name := index.ParentOf(last)[0]; name != index.NoParent && concernsParent(before, after) {
		requests = append(requests, reconcile.Request{NamespacedName: types.NamespacedName{Namespace: last.Namespace, Name: name}})
	}
	return requests
}

// WaitingSiblings returns the siblings of an Installation that may wait for it: for its exports,
// which come when its job ends, or never; and, to be deleted, until it no longer imports their
// exports.
func (w Mapper) WaitingSiblings(ctx context.Context, inst *v1alpha1.Installation) []reconcile.Request {
	var requests []reconcile.Request
	if len(siblings.Exports(inst, w.Reader.Triggers)) > 0 {
		for _, sibling := range w.waitingAs(ctx, inst.Namespace, index.WaitingBeside(inst, v1alpha1.InstallationPhases.Init)) {
			if sibling.Name != inst.Name && siblings.ImportsFrom(&sibling, inst) {
				requests = append(requests, RequestFor(&sibling))
			}
		}
	}
	if siblings.ImportsAny(inst) {
		for _, sibling := range w.waitingAs(ctx, inst.Namespace, index.WaitingBeside(inst, v1alpha1.InstallationPhases.InitDelete)) {
			if sibling.Name != inst.Name {
				requests = append(requests, RequestFor(&sibling))
			}
		}
	}
	return requests
}

// waitingChildren returns the subinstallations that an Installation has a job for, and those that
// still work for one that has ended, were to be interrupted in it, or have to say that they are deleted
// with the next one. Those that wait for a job to be deleted in are included when the Installation no
// longer exists: they then delete themselves.
func (w Mapper) waitingChildren(ctx context.Context, inst *v1alpha1.Installation, gone bool) []reconcile.Request {
	children, err := w.Reader.Children(ctx, inst.Namespace, inst.Name)
	if err != nil {
		return nil
	}
	ended := !job.Unfinished(inst.Status.JobID, inst.Status.JobIDFinished)
	var requests []reconcile.Request
	for _, child := range children {
		family := siblings.Family{Inst: child, Parent: inst}
		if gone && predicates.BeingDeleted(child) || siblings.ParentHasJob(family) || ended && concernsChild(family) {
			requests = append(requests, RequestFor(child))
		}
	}
	return requests
}

// concernsChild reports whether the end of a job of the parent concerns a subinstallation.
func concernsChild(f siblings.Family) bool {
	return predicates.IsInterrupted(f.Inst, false) || job.Unfinished(f.Inst.Status.JobID, f.Inst.Status.JobIDFinished) ||
		siblings.DeletedWithNextJob(f) && !siblings.HasDeletionCondition(f)
}

// ByFamily enqueues the Installations that a change of an Installation may unblock.
func (w Mapper) ByFamily() handler.EventHandler {
	type line = workqueue.TypedRateLimitingInterface[reconcile.Request]
	wake := func(ctx context.Context, before, after client.Object, queue line) {
		was, _ := before.(*v1alpha1.Installation)
		is, _ := after.(*v1alpha1.Installation)
		if was == nil && is == nil {
			return
		}
		for _, request := range w.Enqueued(ctx, was, is) {
			queue.Add(request)
		}
	}
	return handler.Funcs{
		CreateFunc: func(ctx context.Context, e event.CreateEvent, queue line) { wake(ctx, nil, e.Object, queue) },
		UpdateFunc: func(ctx context.Context, e event.UpdateEvent, queue line) { wake(ctx, e.ObjectOld, e.ObjectNew, queue) },
		DeleteFunc: func(ctx context.Context, e event.DeleteEvent, queue line) { wake(ctx, e.Object, nil, queue) },
	}
}

// ByImport returns the handler that enqueues the roots that import an object.
func (w Mapper) ByImport(kind dataflow.Kind) handler.EventHandler {
	return handler.EnqueueRequestsFromMapFunc(func(ctx context.Context, object client.Object) []reconcile.Request {
		list := &v1alpha1.InstallationList{}
		entry := index.ImportOf(kind, object.GetNamespace(), object.GetName())
		if err := w.Reader.Cached.List(ctx, list, client.MatchingFields{index.ByImport: entry}, client.UnsafeDisableDeepCopy); err != nil {
			return nil
		}
		requests := make([]reconcile.Request, len(list.Items))
		for i := range list.Items {
			requests[i] = RequestFor(&list.Items[i])
		}
		return requests
	})
}

// concernsParent reports whether a change of a subinstallation may unblock its parent: the end of a
// job, and a deletion; or whether the parent is to show it: what blocks the subinstallation, unless
// that is a sibling. Nothing else concerns the parent.
func concernsParent(before, after *v1alpha1.Installation) bool {
	if before == nil || after == nil {
		return after == nil
	}
	return before.Status.JobIDFinished != after.Status.JobIDFinished || predicates.BeingDeleted(before) != predicates.BeingDeleted(after) ||
		obstacle(before) != obstacle(after)
}

// obstacle is what blocks a subinstallation, as its parent shows it.
func obstacle(sub *v1alpha1.Installation) string {
	if !siblings.IsStuck(sub, sub.Status.JobID) {
		return ""
	}
	return job.Obstacle(sub.Status.Conditions)
}

// RequestFor requests a reconcile of an object.
func RequestFor(object client.Object) reconcile.Request {
	return reconcile.Request{NamespacedName: client.ObjectKeyFromObject(object)}
}
