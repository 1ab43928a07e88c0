package model

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"go.landscaper.dev/api/v1alpha1"
)

// hand is a job of an item that was handed over at the desk.
type hand struct {
	uid   types.UID
	jobID string
}

// noteHanded notes that the Execution of an item has handed its job over.
func (w *world) noteHanded(p *process, item *v1alpha1.DeployItem) {
	if p == w.process {
		w.given[types.NamespacedName{Namespace: item.Namespace, Name: item.Name}] = hand{item.UID, item.Status.JobID}
	}
}

// checkHanded: what was handed over stays at the desk until the item itself shows it, or
// until nobody needs it any more. An Execution that has seen it there does not look again.
func (w *world) checkHanded() {
	if w.desk == nil {
		return
	}
	for _, key := range keysOf(w.given) {
		given := w.given[key]
		item, _ := w.store.objects["DeployItem"][key].(*v1alpha1.DeployItem)
		if item == nil || item.UID != given.uid || item.Status.JobID == given.jobID || item.Status.JobIDFinished == given.jobID || !w.hasJob(item, given.jobID) {
			delete(w.given, key)
			continue
		}
		if shown := w.desk.Show(item); shown.Status.JobID != given.jobID {
			w.violate("item %s was given %s, and the desk has lost it", key.Name, given.jobID)
		}
	}
}

// hasJob tells whether the Execution of an item is at work for a job.
func (w *world) hasJob(item *v1alpha1.DeployItem, jobID string) bool {
	owner := metav1.GetControllerOf(item)
	if owner == nil {
		return false
	}
	exec, _ := w.store.objects["Execution"][types.NamespacedName{Namespace: item.Namespace, Name: owner.Name}].(*v1alpha1.Execution)
	return exec != nil && exec.UID == owner.UID && exec.Status.JobID == jobID && exec.Status.JobIDFinished != jobID
}
