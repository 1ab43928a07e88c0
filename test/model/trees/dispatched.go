package trees

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/test/model/store"
	"go.landscaper.dev/test/model/world"
)

// dispatchedJob is a job of an item that was passed to the dispatcher.
type dispatchedJob struct {
	uid   types.UID
	jobID string
}

// noteDispatched notes that the Execution of an item has dispatched its job.
func (t *Trees) noteDispatched(p *world.Process, item *v1alpha1.DeployItem) {
	if p == t.Process {
		t.given[types.NamespacedName{Namespace: item.Namespace, Name: item.Name}] = dispatchedJob{item.UID, item.Status.JobID}
	}
}

// CheckDispatched looks whether the dispatcher keeps each job until the item itself shows it, or until it is not needed
// any more. An Execution that has seen the job there does not look again.
func (t *Trees) CheckDispatched() {
	if t.dispatcher == nil {
		return
	}
	for _, key := range store.KeysOf(t.given) {
		given := t.given[key]
		item, _ := t.Store.Objects["DeployItem"][key].(*v1alpha1.DeployItem)
		if item == nil || item.UID != given.uid || item.Status.JobID == given.jobID || item.Status.JobIDFinished == given.jobID || !t.hasJob(item, given.jobID) {
			delete(t.given, key)
			continue
		}
		if shown := t.dispatcher.Overlay(item); shown.Status.JobID != given.jobID {
			t.Violate("item %s was given %s, and the dispatcher has lost it", key.Name, given.jobID)
		}
	}
}

// hasJob reports whether the Execution of an item works on a job.
func (t *Trees) hasJob(item *v1alpha1.DeployItem, jobID string) bool {
	owner := metav1.GetControllerOf(item)
	if owner == nil {
		return false
	}
	exec, _ := t.Store.Objects["Execution"][types.NamespacedName{Namespace: item.Namespace, Name: owner.Name}].(*v1alpha1.Execution)
	return exec != nil && exec.UID == owner.UID && exec.Status.JobID == jobID && exec.Status.JobIDFinished != jobID
}
