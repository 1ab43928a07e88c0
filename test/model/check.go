package model

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/runtime/job"
)

// jobOf returns the job of an object and the one that it has finished.
func jobOf(object client.Object) (id, finished, phase string) {
	switch object := object.(type) {
	case *v1alpha1.Installation:
		return object.Status.JobID, object.Status.JobIDFinished, string(object.Status.InstallationPhase)
	case *v1alpha1.Execution:
		return object.Status.JobID, object.Status.JobIDFinished, string(object.Status.ExecutionPhase)
	case *v1alpha1.DeployItem:
		return object.Status.JobID, object.Status.JobIDFinished, object.Status.Phase.String()
	}
	return "", "", ""
}

// checkChange looks at every write when it is made.
func (w *world) checkChange(c change) {
	if c.after != nil {
		id, finished, phase := jobOf(c.after)
		if phase == "" && kindOf(c.after) != "Extension" {
			w.note("  %s writes %s %s: version %s generation %d deleted %t, finalizers %v, annotations %v", w.writer, c.kind, c.key.Name,
				c.after.GetResourceVersion(), c.after.GetGeneration(), c.after.GetDeletionTimestamp() != nil, c.after.GetFinalizers(), c.after.GetAnnotations())
		}
		if phase != "" {
			w.note("  %s %s: version %s generation %d job %s finished %s phase %s deleted %t", c.kind, c.key.Name,
				c.after.GetResourceVersion(), c.after.GetGeneration(), id, finished, phase, c.after.GetDeletionTimestamp() != nil)
		}
	}
	switch {
	case c.after == nil:
		w.note("  %s %s is deleted", c.kind, c.key.Name)
		w.checkGone(c.before)
	case c.before != nil:
		w.checkJob(c)
	}
	w.noteSuccess(c)
	w.noteLeaving(c)
	if id, _, _ := jobOf(c.after); c.after != nil && job.IsRemoval(id) && c.kind == "DeployItem" {
		if before, _, _ := jobOf(c.before); before != id {
			w.counts.removals++
		}
	}
	w.checkMade(c)
	w.checkReports(c)
	w.checkExtension(c)
	if inst, ok := c.after.(*v1alpha1.Installation); ok && c.before != nil {
		w.checkSuccess(c.before.(*v1alpha1.Installation), inst)
	}
}

// checkJob: at most one run per tree: an object gets a job when the previous one has ended, and a
// job ends once.
func (w *world) checkJob(c change) {
	before, finishedBefore, _ := jobOf(c.before)
	after, finished, _ := jobOf(c.after)
	if before != after && before != finishedBefore {
		w.violate("%s %s gets %s while %s is not finished", c.kind, c.key.Name, after, before)
	}
	if finished != finishedBefore && finished != after {
		w.violate("%s %s finishes %s, but its job is %s", c.kind, c.key.Name, finished, after)
	}
}

// noteSuccess notes in which jobs an Installation has succeeded: as soon as it has the next job, it does
// not show that any more.
func (w *world) noteSuccess(c change) {
	inst, ok := c.after.(*v1alpha1.Installation)
	if !ok || inst.Status.InstallationPhase != v1alpha1.InstallationPhases.Succeeded {
		return
	}
	if w.succeeded[inst.UID] == nil {
		w.succeeded[inst.UID] = map[string]bool{}
	}
	w.succeeded[inst.UID][inst.Status.JobIDFinished] = true
}

// noteLeaving notes in which removal round of its parent the deletion of an object begins.
func (w *world) noteLeaving(c change) {
	if c.before == nil || c.after == nil || c.before.GetDeletionTimestamp() != nil || c.after.GetDeletionTimestamp() == nil {
		return
	}
	delete(w.leaving, c.after.GetUID())
	parent, err := w.store.get("Installation", types.NamespacedName{Namespace: c.key.Namespace, Name: parentOf(c.after)})
	if err != nil {
		return
	}
	if round := job.Round(parent.(*v1alpha1.Installation)); job.IsRemoval(round) {
		w.leaving[c.after.GetUID()] = round
	}
}

// checkGone: the objects below an object are deleted before it.
func (w *world) checkGone(object client.Object) {
	for _, k := range []kind{"Installation", "Execution", "DeployItem"} {
		for _, key := range keysOf(w.store.objects[k]) {
			child := w.store.objects[k][key]
			// A child that never got a job has done nothing; it may be deleted later.
			if id, _, _ := jobOf(child); id == "" {
				continue
			}
			if owner := metav1.GetControllerOf(child); owner != nil && owner.UID == object.GetUID() {
				w.violate("%s %s is deleted before its %s %s", kindOf(object), object.GetName(), k, key.Name)
			}
		}
	}
}

// checkSuccess: Succeeded means that all children are done and that the target has
// what the observed generation asks for.
func (w *world) checkSuccess(before, inst *v1alpha1.Installation) {
	succeeded := v1alpha1.InstallationPhases.Succeeded
	if inst.Status.InstallationPhase != succeeded || before.Status.InstallationPhase == succeeded && before.Status.JobIDFinished == inst.Status.JobIDFinished {
		return
	}
	for _, k := range []kind{"Installation", "Execution", "DeployItem"} {
		for _, key := range keysOf(w.store.objects[k]) {
			w.checkDone(inst, k, w.store.objects[k][key])
		}
	}
	if parentOf(inst) != "-" {
		return // the root says what it asks for
	}
	wanted := w.users.wanted[inst.UID][inst.Status.ObservedGeneration].values()
	same := func(wanted, found int) bool { return wanted == found || wanted == anyValue }
	w.checkMoves(inst)
	w.checkExported(inst)
	if found := w.target.of(inst.Name); !maps.EqualFunc(wanted, found, same) && !w.users.leftBehind[inst.Name] {
		w.violate("Installation %s has succeeded with generation %d, which asks for %v, but the target has %v", inst.Name, inst.Status.ObservedGeneration, wanted, found)
	}
}

// checkExported: what an Installation that has succeeded exports is there for those who import it.
func (w *world) checkExported(inst *v1alpha1.Installation) {
	value := w.users.wanted[inst.UID][inst.Status.ObservedGeneration].exports
	if value == 0 || inst.Generation != inst.Status.ObservedGeneration {
		return
	}
	stored, _ := w.store.objects["DataObject"][types.NamespacedName{Namespace: inst.Namespace, Name: inst.Spec.Exports.Data[0].DataRef}].(*v1alpha1.DataObject)
	if stored == nil || string(stored.Data.RawMessage) != strconv.Itoa(value) {
		w.violate("Installation %s has succeeded and exports %d, but there is %+v", inst.Name, value, stored)
	}
}

// checkDone: an object below an Installation that has succeeded has succeeded in the same job.
func (w *world) checkDone(inst *v1alpha1.Installation, k kind, object client.Object) {
	id, finished, phase := jobOf(object)
	// A deployer may have had a doubtful job from its Execution before the store was restored.
	if !w.belongs(object, inst.UID) || w.isDoubtful(id) {
		return
	}
	own := job.BaseOf(inst.Status.JobID)
	other := job.BaseOf(id) != own || job.BaseOf(finished) != own
	if other && job.Pending(inst.Status.Conditions) != nil {
		return // it may be held: the root has none of it
	}
	if other && !w.stays(object) || id != finished || phase != string(v1alpha1.InstallationPhases.Succeeded) {
		w.violate("Installation %s has succeeded with %s, but %s %s has job %s, finished %s, phase %s", inst.Name, inst.Status.JobID, k, object.GetName(), id, finished, phase)
	}
}

// belongs reports whether an object is below an Installation.
func (w *world) belongs(object client.Object, uid types.UID) bool {
	owner := metav1.GetControllerOf(object)
	if owner == nil {
		return false
	}
	if owner.UID == uid {
		return true
	}
	parent, err := w.store.get(kind(owner.Kind), types.NamespacedName{Namespace: object.GetNamespace(), Name: owner.Name})
	return err == nil && parent.GetUID() == owner.UID && w.belongs(parent, uid)
}

// stays reports whether an object is below an Installation that its last job has left as it is,
// because that only passes values on.
func (w *world) stays(object client.Object) bool {
	owner := metav1.GetControllerOf(object)
	if owner == nil {
		return false
	}
	above, err := w.store.get(kind(owner.Kind), types.NamespacedName{Namespace: object.GetNamespace(), Name: owner.Name})
	if err != nil {
		return false
	}
	inst, ok := above.(*v1alpha1.Installation)
	return ok && inst.Status.DataUpdate != nil && inst.Status.DataUpdate.Unchanged || w.stays(above)
}

// checkTurn: an item is deployed after those that it depends on, and uninstalled
// after those that depend on it; and always with a job.
func (w *world) checkTurn(item *v1alpha1.DeployItem, uninstall bool) {
	if !job.Unfinished(item.Status.JobID, item.Status.JobIDFinished) {
		w.violate("item %s is worked on without a job", item.Name)
	}
	if w.isDoubtful(item.Status.JobID) {
		return
	}
	owner := metav1.GetControllerOf(item)
	if item.DeletionTimestamp != nil && !uninstall {
		w.violate("item %s is deployed although it is being deleted", item.Name)
	}
	for _, key := range keysOf(w.store.objects["DeployItem"]) {
		other := w.store.objects["DeployItem"][key].(*v1alpha1.DeployItem)
		if of := metav1.GetControllerOf(other); of != nil && owner != nil && of.UID == owner.UID && other.UID != item.UID {
			w.checkOrder(item, other, uninstall)
		}
	}
}

// checkOrder: an item is deployed after the items that it depends on, and deleted before them.
func (w *world) checkOrder(item, other *v1alpha1.DeployItem, uninstall bool) {
	switch {
	case !uninstall && !job.IsRemoval(item.Status.JobID) && dependsOn(item, other) && (other.Status.JobIDFinished != item.Status.JobID || other.Status.Phase.String() != "Succeeded"):
		w.violate("item %s is deployed before %s, which it depends on", item.Name, other.Name)
	// What never had a job has deployed nothing.
	case uninstall && dependsOn(other, item) && other.DeletionTimestamp != nil && other.Status.JobID != "":
		w.violate("item %s is uninstalled before %s, which depends on it", item.Name, other.Name)
	}
}

// isDoubtful reports whether a job was under way when the store was restored: what has happened
// before is done, also if the store does not show it any more.
func (w *world) isDoubtful(jobID string) bool {
	return jobID != "" && number(jobID) <= w.doubtful
}

// dependsOn reports whether an item depends on another one.
func dependsOn(item, other *v1alpha1.DeployItem) bool {
	names := strings.Split(item.Annotations[v1alpha1.ExecutionDependsOnAnnotation], ",")
	return slices.Contains(names, other.Labels[v1alpha1.ExecutionManagedNameLabel])
}

// checkSettled looks at what is left when nothing happens by itself any more.
func (w *world) checkSettled() {
	w.checkLate()
	w.checkAsked()
	w.checkExtensionSettled()
	for _, k := range []kind{"Installation", "Execution", "DeployItem"} {
		for _, key := range keysOf(w.store.objects[k]) {
			object := w.store.objects[k][key]
			id, finished, phase := jobOf(object)
			if id != finished && !w.waitsForImporter(object) {
				w.violate("%s %s is not finished with %s, phase %s, and nothing will wake it", k, key.Name, id, phase)
			}
			if object.GetDeletionTimestamp() != nil && !w.mayStay(object, phase) {
				w.violate("%s %s is still being deleted, phase %s, and nothing will wake it", k, key.Name, phase)
			}
			operation := object.GetAnnotations()[v1alpha1.OperationAnnotation]
			if k == "Installation" && operation != "" && !w.waitsForImporter(object) && !w.waitsForParentToGo(object) {
				w.violate("Installation %s still asks for %s, and nothing will wake it", key.Name, operation)
			}
		}
	}
}

// mayStay reports whether something of a user has to come before a deletion goes on.
func (w *world) mayStay(object client.Object, phase string) bool {
	// An interruption may have failed an item before its deletion began.
	if kindOf(object) == "DeployItem" && (phase == "Failed" || w.wasAborted(object)) {
		return true
	}
	return phase == "DeleteFailed" || w.waitsForNextJob(object) || w.waitsForParent(object) || w.waitsForImporter(object)
}

// waitsForNextJob reports whether a user has deleted an item: its deletion ends with the next job of
// its Execution.
func (w *world) waitsForNextJob(object client.Object) bool {
	return kindOf(object) == "DeployItem" && w.users.removed[object.GetUID()]
}

// wasAborted reports whether the job of an Execution that was to delete an item has failed before
// it came to that: the next job continues.
func (w *world) wasAborted(item client.Object) bool {
	owner := metav1.GetControllerOf(item)
	if owner == nil {
		return false
	}
	exec, err := w.store.get("Execution", types.NamespacedName{Namespace: item.GetNamespace(), Name: owner.Name})
	if err != nil {
		return false
	}
	id, finished, phase := jobOf(exec)
	return id == finished && v1alpha1.ExecutionPhase(phase).IsFailed()
}

// waitsForParent reports whether the deletion of an object waits for the next job of its parent: a
// user has deleted the object, the job that was to delete it was interrupted, or the parent waits
// itself.
func (w *world) waitsForParent(object client.Object) bool {
	parent, err := w.store.get("Installation", types.NamespacedName{Namespace: object.GetNamespace(), Name: parentOf(object)})
	if err != nil || kindOf(object) == "DeployItem" {
		return false
	}
	_, _, phase := jobOf(parent)
	return parent.GetDeletionTimestamp() == nil || phase == v1alpha1.PhaseStringDeleteFailed || w.waitsForImporter(parent) || w.waitsForParent(parent)
}

// waitsForParentToGo reports whether an interruption is for the job that a parent passes on as soon
// as its deletion continues.
func (w *world) waitsForParentToGo(object client.Object) bool {
	parent, err := w.store.get("Installation", types.NamespacedName{Namespace: object.GetNamespace(), Name: parentOf(object)})
	return err == nil && w.waitsForImporter(parent)
}

// waitsForImporter reports whether the deletion of a root waits until the other root no longer
// imports its exports: the user decides that.
func (w *world) waitsForImporter(object client.Object) bool {
	inst, ok := object.(*v1alpha1.Installation)
	if !ok || inst.Status.InstallationPhase != v1alpha1.InstallationPhases.InitDelete || len(inst.Spec.Exports.Data) == 0 || parentOf(inst) != "-" {
		return false
	}
	other, err := w.store.get("Installation", homeOf("b"))
	return err == nil && len(other.(*v1alpha1.Installation).Spec.Imports.Data) > 0
}

// checkEmpty looks at what is left when everything was deleted.
func (w *world) checkEmpty() {
	for _, k := range w.store.kinds() {
		for _, key := range keysOf(w.store.objects[k]) {
			if k != "Context" && key.Name != "host" && key.Name != given && key.Name != accessName && w.store.objects[k][key].GetLabels()[ofUsers] == "" {
				w.violate("%s %s is left after everything was deleted", k, key.Name)
			}
		}
	}
	if w.dispatcher != nil && w.dispatcher.Pending() != 0 {
		w.violate("%d jobs of deleted items are remembered", w.dispatcher.Pending())
	}
	for name := range w.target.moving {
		if !w.users.leftBehind[name[:1]] {
			w.violate("%s is left on the target", name)
		}
	}
	for name := range w.target.objects {
		if !w.users.leftBehind[name[:1]] {
			w.violate("%s is left on the target", name)
		}
	}
}

// checkSecret: nothing that is shown contains what must not be shown.
func (w *world) checkSecret(where, text string) {
	if strings.Contains(text, secretMark) {
		w.violate("%s shows a secret: %s", where, text)
	}
}
