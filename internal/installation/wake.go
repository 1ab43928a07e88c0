package installation

import (
	"context"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/installation/facts"
	"go.landscaper.dev/internal/installation/index"
	"go.landscaper.dev/internal/installation/kin"
	"go.landscaper.dev/internal/job"
)

func requestFor(object client.Object) reconcile.Request {
	return reconcile.Request{NamespacedName: client.ObjectKeyFromObject(object)}
}

// waitingAs returns the Installations that wait under an entry of the index. One that
// the cache does not show as waiting yet will look again after its own write.
func (r *Reconciler) waitingAs(ctx context.Context, namespace, entry string) []v1alpha1.Installation {
	list := &v1alpha1.InstallationList{}
	if err := r.Client.List(ctx, list, client.InNamespace(namespace), client.MatchingFields{index.Waiting: entry}, client.UnsafeDisableDeepCopy); err != nil {
		return nil
	}
	return list.Items
}

// waitingForContext returns the Installations that a new Context lets go on.
func (r *Reconciler) waitingForContext(ctx context.Context, object client.Object) []reconcile.Request {
	if object.GetName() != v1alpha1.DefaultContextName {
		return nil
	}
	var requests []reconcile.Request
	for _, inst := range r.waitingAs(ctx, object.GetNamespace(), string(v1alpha1.InstallationPhases.Init)) {
		requests = append(requests, requestFor(&inst))
	}
	return requests
}

// Woken returns the Installations that a change of another one may let go on: siblings
// that wait for it, subinstallations that it has a job for, and its parent. Before and
// after are nil if there was or is none.
func (r *Reconciler) Woken(ctx context.Context, before, after *v1alpha1.Installation) []reconcile.Request {
	var requests []reconcile.Request
	last := after
	if before != nil {
		requests = r.waitingSiblings(ctx, before)
	}
	if after != nil {
		requests = append(requests, r.waitingSiblings(ctx, after)...)
	} else {
		last = before
	}
	for _, teller := range r.waitingAs(ctx, last.Namespace, index.TellsAs(last.Name)) {
		requests = append(requests, requestFor(&teller))
	}
	requests = append(requests, r.waitingChildren(ctx, last, after == nil)...)
	if name := index.ParentOf(last)[0]; name != index.NoParent && concernsParent(before, after) {
		requests = append(requests, reconcile.Request{NamespacedName: types.NamespacedName{Namespace: last.Namespace, Name: name}})
	}
	return requests
}

// waitingSiblings returns the siblings of an Installation that may wait for it: for what
// it exports, which it brings when its job ends, or never; and, to be deleted, until it
// no longer imports what they export.
func (r *Reconciler) waitingSiblings(ctx context.Context, inst *v1alpha1.Installation) []reconcile.Request {
	var requests []reconcile.Request
	if len(kin.Exports(inst, r.Triggers)) > 0 {
		for _, sibling := range r.waitingAs(ctx, inst.Namespace, index.WaitingBeside(inst, v1alpha1.InstallationPhases.Init)) {
			if sibling.Name != inst.Name && kin.ImportsFrom(&sibling, inst) {
				requests = append(requests, requestFor(&sibling))
			}
		}
	}
	if kin.ImportsAny(inst) {
		for _, sibling := range r.waitingAs(ctx, inst.Namespace, index.WaitingBeside(inst, v1alpha1.InstallationPhases.InitDelete)) {
			if sibling.Name != inst.Name {
				requests = append(requests, requestFor(&sibling))
			}
		}
	}
	return requests
}

// waitingChildren returns the subinstallations that an Installation has a job for, and
// those that still work for one that has ended, or were to be interrupted in it. Those
// that wait for a job to be deleted in do that themselves when it is gone.
func (r *Reconciler) waitingChildren(ctx context.Context, inst *v1alpha1.Installation, gone bool) []reconcile.Request {
	children, err := r.sight().Children(ctx, inst.Namespace, inst.Name)
	if err != nil {
		return nil
	}
	ended := !job.Unfinished(inst.Status.JobID, inst.Status.JobIDFinished)
	var requests []reconcile.Request
	for _, child := range children {
		if gone && facts.BeingDeleted(child) || kin.HandsOver(kin.Family{Inst: child, Parent: inst}) || ended && (facts.EndsEarly(child, false) || job.Unfinished(child.Status.JobID, child.Status.JobIDFinished)) {
			requests = append(requests, requestFor(child))
		}
	}
	return requests
}

// concernsParent reports whether a change of a subinstallation may let its parent go
// on: the end of a job, and a deletion. Whatever else becomes of it is its own business.
func concernsParent(before, after *v1alpha1.Installation) bool {
	if before == nil || after == nil {
		return after == nil
	}
	return before.Status.JobIDFinished != after.Status.JobIDFinished || facts.BeingDeleted(before) != facts.BeingDeleted(after)
}

// family wakes who is woken by a change of an Installation.
func (r *Reconciler) family() handler.EventHandler {
	type line = workqueue.TypedRateLimitingInterface[reconcile.Request]
	wake := func(ctx context.Context, before, after client.Object, queue line) {
		was, _ := before.(*v1alpha1.Installation)
		is, _ := after.(*v1alpha1.Installation)
		if was == nil && is == nil {
			return
		}
		for _, request := range r.Woken(ctx, was, is) {
			queue.Add(request)
		}
	}
	return handler.Funcs{
		CreateFunc: func(ctx context.Context, e event.CreateEvent, queue line) { wake(ctx, nil, e.Object, queue) },
		UpdateFunc: func(ctx context.Context, e event.UpdateEvent, queue line) { wake(ctx, e.ObjectOld, e.ObjectNew, queue) },
		DeleteFunc: func(ctx context.Context, e event.DeleteEvent, queue line) { wake(ctx, e.Object, nil, queue) },
	}
}
