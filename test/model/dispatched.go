package model

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"go.landscaper.dev/api/v1alpha1"
)

// dispatchedJob is a job of an item that was passed to the dispatcher.
type dispatchedJob struct {
	uid   types.UID
	jobID string
}

// noteDispatched notes that the Execution of an item has dispatched its job.
func (w *world) noteDispatched(p *process, item *v1alpha1.DeployItem) {
	if p == w.process {
		w.given[types.NamespacedName{Namespace: item.Namespace, Name: item.Name}] = dispatchedJob{item.UID, item.Status.JobID}
	}
}

// checkDispatched: the dispatcher keeps a job until the item itself shows it, or until it is not needed
// any more. An Execution that has seen the job there does not look again.
func (w *world) checkDispatched() {
	if w.dispatcher == nil {
		return
	}
	for _, key := range keysOf(w.given) {
		given := w.given[key]
		item, _ := w.store.objects["DeployItem"][key].(*v1alpha1.DeployItem)
		if item == nil || item.UID != given.uid || item.Status.JobID == given.jobID || item.Status.JobIDFinished == given.jobID || !w.hasJob(item, given.jobID) {
			delete(w.given, key)
			continue
		}
		if shown := w.dispatcher.Overlay(item); shown.Status.JobID != given.jobID {
			w.violate("item %s was given %s, and the dispatcher has lost it", key.Name, given.jobID)
		}
	}
}

// hasJob reports whether the Execution of an item works on a job.
func (w *world) hasJob(item *v1alpha1.DeployItem, jobID string) bool {
	owner := metav1.GetControllerOf(item)
	if owner == nil {
		return false
	}
	exec, _ := w.store.objects["Execution"][types.NamespacedName{Namespace: item.Namespace, Name: owner.Name}].(*v1alpha1.Execution)
	return exec != nil && exec.UID == owner.UID && exec.Status.JobID == jobID && exec.Status.JobIDFinished != jobID
}
