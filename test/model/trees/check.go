package trees

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
	"go.landscaper.dev/test/model/desired"
	"go.landscaper.dev/test/model/store"
	"go.landscaper.dev/test/model/world"
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

// checkJob: at most one run per tree: an object gets a job when the previous one has ended, and a
// job ends once.
func (t *Trees) checkJob(c store.Change) {
	before, finishedBefore, _ := jobOf(c.Before)
	after, finished, _ := jobOf(c.After)
	if before != after && before != finishedBefore {
		t.Violate("%s %s gets %s while %s is not finished", c.Kind, c.Key.Name, after, before)
	}
	if finished != finishedBefore && finished != after {
		t.Violate("%s %s finishes %s, but its job is %s", c.Kind, c.Key.Name, finished, after)
	}
}

// noteSuccess notes in which jobs an Installation has succeeded: as soon as it has the next job, it does
// not show that any more.
func (t *Trees) noteSuccess(c store.Change) {
	inst, ok := c.After.(*v1alpha1.Installation)
	if !ok || inst.Status.InstallationPhase != v1alpha1.InstallationPhases.Succeeded {
		return
	}
	if t.succeeded[inst.UID] == nil {
		t.succeeded[inst.UID] = map[string]bool{}
	}
	t.succeeded[inst.UID][inst.Status.JobIDFinished] = true
}

// noteLeaving notes in which removal round of its parent the deletion of an object begins.
func (t *Trees) noteLeaving(c store.Change) {
	if c.Before == nil || c.After == nil || c.Before.GetDeletionTimestamp() != nil || c.After.GetDeletionTimestamp() == nil {
		return
	}
	delete(t.leaving, c.After.GetUID())
	parent, err := t.Store.Get("Installation", types.NamespacedName{Namespace: c.Key.Namespace, Name: world.ParentOf(c.After)})
	if err != nil {
		return
	}
	if round := job.Round(parent.(*v1alpha1.Installation)); job.IsRemoval(round) {
		t.leaving[c.After.GetUID()] = round
	}
}

// checkGone: the objects below an object are deleted before it.
func (t *Trees) checkGone(object client.Object) {
	for _, k := range []store.Kind{"Installation", "Execution", "DeployItem"} {
		for _, key := range store.KeysOf(t.Store.Objects[k]) {
			child := t.Store.Objects[k][key]
			// A child that never got a job has done nothing; it may be deleted later.
			if id, _, _ := jobOf(child); id == "" {
				continue
			}
			if owner := metav1.GetControllerOf(child); owner != nil && owner.UID == object.GetUID() {
				t.Violate("%s %s is deleted before its %s %s", store.KindOf(object), object.GetName(), k, key.Name)
			}
		}
	}
}

// checkSuccess: Succeeded means that all children are done and that the target has
// what the observed generation asks for.
func (t *Trees) checkSuccess(before, inst *v1alpha1.Installation) {
	succeeded := v1alpha1.InstallationPhases.Succeeded
	if inst.Status.InstallationPhase != succeeded || before.Status.InstallationPhase == succeeded && before.Status.JobIDFinished == inst.Status.JobIDFinished {
		return
	}
	for _, k := range []store.Kind{"Installation", "Execution", "DeployItem"} {
		for _, key := range store.KeysOf(t.Store.Objects[k]) {
			t.checkDone(inst, k, t.Store.Objects[k][key])
		}
	}
	if world.ParentOf(inst) != "-" {
		return // the root says what it asks for
	}
	wanted := t.Users.wanted[inst.UID][inst.Status.ObservedGeneration].Values()
	same := func(wanted, found int) bool { return wanted == found || wanted == desired.AnyValue }
	t.checkMoves(inst)
	t.checkExported(inst)
	if found := t.Target.of(inst.Name); !maps.EqualFunc(wanted, found, same) && !t.Users.leftBehind[inst.Name] {
		t.Violate("Installation %s has succeeded with generation %d, which asks for %v, but the target has %v", inst.Name, inst.Status.ObservedGeneration, wanted, found)
	}
}

// checkFailure: a job does not fail because of an Execution that only a cache lacks.
func (t *Trees) checkFailure(before, inst *v1alpha1.Installation) {
	if !inst.Status.InstallationPhase.IsFailed() || before.Status.InstallationPhase.IsFailed() || inst.Status.LastError == nil || t.isDoubtful(inst.Status.JobID) {
		return
	}
	if strings.HasPrefix(inst.Status.LastError.Message, "Execution "+inst.Name+" was deleted by another client") && !t.Users.removedNames[inst.Name] {
		t.Violate("Installation %s has failed with %q, and no user has deleted it", inst.Name, inst.Status.LastError.Message)
	}
}

// checkExported: what an Installation that has succeeded exports is there for those who import it.
func (t *Trees) checkExported(inst *v1alpha1.Installation) {
	value := t.Users.wanted[inst.UID][inst.Status.ObservedGeneration].Exports
	if value == 0 || inst.Generation != inst.Status.ObservedGeneration {
		return
	}
	stored, _ := t.Store.Objects["DataObject"][types.NamespacedName{Namespace: inst.Namespace, Name: inst.Spec.Exports.Data[0].DataRef}].(*v1alpha1.DataObject)
	if stored == nil || string(stored.Data.RawMessage) != strconv.Itoa(value) {
		t.Violate("Installation %s has succeeded and exports %d, but there is %+v", inst.Name, value, stored)
	}
}

// checkDone: an object below an Installation that has succeeded has succeeded in the same job.
func (t *Trees) checkDone(inst *v1alpha1.Installation, k store.Kind, object client.Object) {
	id, finished, phase := jobOf(object)
	// A deployer may have had a doubtful job from its Execution before the store was restored.
	if !t.belongs(object, inst.UID) || t.isDoubtful(id) {
		return
	}
	own := job.BaseOf(inst.Status.JobID)
	other := job.BaseOf(id) != own || job.BaseOf(finished) != own
	if other && job.Pending(inst.Status.Conditions) != nil {
		return // it may be held: the root has none of it
	}
	if other && !t.stays(object) || id != finished || phase != string(v1alpha1.InstallationPhases.Succeeded) {
		t.Violate("Installation %s has succeeded with %s, but %s %s has job %s, finished %s, phase %s", inst.Name, inst.Status.JobID, k, object.GetName(), id, finished, phase)
	}
}

// belongs reports whether an object is below an Installation.
func (t *Trees) belongs(object client.Object, uid types.UID) bool {
	owner := metav1.GetControllerOf(object)
	if owner == nil {
		return false
	}
	if owner.UID == uid {
		return true
	}
	parent, err := t.Store.Get(store.Kind(owner.Kind), types.NamespacedName{Namespace: object.GetNamespace(), Name: owner.Name})
	return err == nil && parent.GetUID() == owner.UID && t.belongs(parent, uid)
}

// stays reports whether an object is below an Installation that its last job has left as it is,
// because that only passes values on.
func (t *Trees) stays(object client.Object) bool {
	owner := metav1.GetControllerOf(object)
	if owner == nil {
		return false
	}
	above, err := t.Store.Get(store.Kind(owner.Kind), types.NamespacedName{Namespace: object.GetNamespace(), Name: owner.Name})
	if err != nil {
		return false
	}
	inst, ok := above.(*v1alpha1.Installation)
	return ok && inst.Status.DataUpdate != nil && inst.Status.DataUpdate.Unchanged || t.stays(above)
}

// checkTurn: an item is deployed after those that it depends on, and uninstalled
// after those that depend on it; and always with a job.
func (t *Trees) checkTurn(item *v1alpha1.DeployItem, uninstall bool) {
	if !job.Unfinished(item.Status.JobID, item.Status.JobIDFinished) {
		t.Violate("item %s is worked on without a job", item.Name)
	}
	if t.isDoubtful(item.Status.JobID) {
		return
	}
	owner := metav1.GetControllerOf(item)
	if item.DeletionTimestamp != nil && !uninstall {
		t.Violate("item %s is deployed although it is being deleted", item.Name)
	}
	for _, key := range store.KeysOf(t.Store.Objects["DeployItem"]) {
		other := t.Store.Objects["DeployItem"][key].(*v1alpha1.DeployItem)
		if of := metav1.GetControllerOf(other); of != nil && owner != nil && of.UID == owner.UID && other.UID != item.UID {
			t.checkOrder(item, other, uninstall)
		}
	}
}

// checkOrder: an item is deployed after the items that it depends on, and deleted before them.
func (t *Trees) checkOrder(item, other *v1alpha1.DeployItem, uninstall bool) {
	switch {
	case !uninstall && !job.IsRemoval(item.Status.JobID) && dependsOn(item, other) && (other.Status.JobIDFinished != item.Status.JobID || other.Status.Phase.String() != "Succeeded"):
		t.Violate("item %s is deployed before %s, which it depends on", item.Name, other.Name)
	// What never had a job has deployed nothing.
	case uninstall && dependsOn(other, item) && other.DeletionTimestamp != nil && other.Status.JobID != "":
		t.Violate("item %s is uninstalled before %s, which depends on it", item.Name, other.Name)
	}
}

// isDoubtful reports whether a job was under way when the store was restored: what has happened
// before is done, also if the store does not show it any more.
func (t *Trees) isDoubtful(jobID string) bool {
	return jobID != "" && number(jobID) <= t.doubtful
}

// dependsOn reports whether an item depends on another one.
func dependsOn(item, other *v1alpha1.DeployItem) bool {
	names := strings.Split(item.Annotations[v1alpha1.ExecutionDependsOnAnnotation], ",")
	return slices.Contains(names, other.Labels[v1alpha1.ExecutionManagedNameLabel])
}

// mayStay reports whether something of a user has to come before a deletion goes on.
func (t *Trees) mayStay(object client.Object, phase string) bool {
	// An interruption may have failed an item before its deletion began.
	if store.KindOf(object) == "DeployItem" && (phase == "Failed" || t.wasAborted(object)) {
		return true
	}
	return phase == "DeleteFailed" || t.waitsForNextJob(object) || t.waitsForParent(object) || t.waitsForImporter(object)
}

// waitsForNextJob reports whether a user has deleted an item: its deletion ends with the next job of
// its Execution.
func (t *Trees) waitsForNextJob(object client.Object) bool {
	return store.KindOf(object) == "DeployItem" && t.Users.removed[object.GetUID()]
}

// wasAborted reports whether the job of an Execution that was to delete an item has failed before
// it came to that: the next job continues.
func (t *Trees) wasAborted(item client.Object) bool {
	owner := metav1.GetControllerOf(item)
	if owner == nil {
		return false
	}
	exec, err := t.Store.Get("Execution", types.NamespacedName{Namespace: item.GetNamespace(), Name: owner.Name})
	if err != nil {
		return false
	}
	id, finished, phase := jobOf(exec)
	return id == finished && v1alpha1.ExecutionPhase(phase).IsFailed()
}

// waitsForParent reports whether the deletion of an object waits for the next job of its parent: a
// user has deleted the object, the job that was to delete it was interrupted, or the parent waits
// itself.
func (t *Trees) waitsForParent(object client.Object) bool {
	parent, err := t.Store.Get("Installation", types.NamespacedName{Namespace: object.GetNamespace(), Name: world.ParentOf(object)})
	if err != nil || store.KindOf(object) == "DeployItem" {
		return false
	}
	_, _, phase := jobOf(parent)
	return parent.GetDeletionTimestamp() == nil || phase == v1alpha1.PhaseStringDeleteFailed || t.waitsForImporter(parent) || t.waitsForParent(parent)
}

// waitsForParentToGo reports whether an interruption is for the job that a parent passes on as soon
// as its deletion continues.
func (t *Trees) waitsForParentToGo(object client.Object) bool {
	parent, err := t.Store.Get("Installation", types.NamespacedName{Namespace: object.GetNamespace(), Name: world.ParentOf(object)})
	return err == nil && t.waitsForImporter(parent)
}

// waitsForImporter reports whether the deletion of a root waits until the other root no longer
// imports its exports: the user decides that.
func (t *Trees) waitsForImporter(object client.Object) bool {
	inst, ok := object.(*v1alpha1.Installation)
	if !ok || inst.Status.InstallationPhase != v1alpha1.InstallationPhases.InitDelete || len(inst.Spec.Exports.Data) == 0 || world.ParentOf(inst) != "-" {
		return false
	}
	other, err := t.Store.Get("Installation", homeOf("b"))
	return err == nil && len(other.(*v1alpha1.Installation).Spec.Imports.Data) > 0
}

// CheckChange looks at every write when it is made, and notes it.
func (t *Trees) CheckChange(c store.Change) {
	if c.After != nil {
		id, finished, phase := jobOf(c.After)
		if phase == "" && store.KindOf(c.After) != "Extension" {
			t.Note("  %s writes %s %s: version %s generation %d deleted %t, finalizers %v, annotations %v", t.Writer, c.Kind, c.Key.Name,
				c.After.GetResourceVersion(), c.After.GetGeneration(), c.After.GetDeletionTimestamp() != nil, c.After.GetFinalizers(), c.After.GetAnnotations())
		}
		if phase != "" {
			t.Note("  %s %s: version %s generation %d job %s finished %s phase %s deleted %t", c.Kind, c.Key.Name,
				c.After.GetResourceVersion(), c.After.GetGeneration(), id, finished, phase, c.After.GetDeletionTimestamp() != nil)
		}
	}
	switch {
	case c.After == nil:
		t.Note("  %s %s is deleted", c.Kind, c.Key.Name)
		t.checkGone(c.Before)
	case c.Before != nil:
		t.checkJob(c)
	}
	t.noteSuccess(c)
	t.noteLeaving(c)
	if id, _, _ := jobOf(c.After); c.After != nil && job.IsRemoval(id) && c.Kind == "DeployItem" {
		if before, _, _ := jobOf(c.Before); before != id {
			t.Counts.Removals++
		}
	}
	t.checkReports(c)
	if inst, ok := c.After.(*v1alpha1.Installation); ok && c.Before != nil {
		t.checkSuccess(c.Before.(*v1alpha1.Installation), inst)
		t.checkFailure(c.Before.(*v1alpha1.Installation), inst)
	}
}

// CheckSettled looks at what is left when nothing happens by itself any more.
func (t *Trees) CheckSettled() {
	t.checkLate()
	t.checkAsked()
	for _, k := range []store.Kind{"Installation", "Execution", "DeployItem"} {
		for _, key := range store.KeysOf(t.Store.Objects[k]) {
			object := t.Store.Objects[k][key]
			id, finished, phase := jobOf(object)
			if id != finished && !t.waitsForImporter(object) {
				t.Violate("%s %s is not finished with %s, phase %s, and nothing will wake it", k, key.Name, id, phase)
			}
			if object.GetDeletionTimestamp() != nil && !t.mayStay(object, phase) {
				t.Violate("%s %s is still being deleted, phase %s, and nothing will wake it", k, key.Name, phase)
			}
			operation := object.GetAnnotations()[v1alpha1.OperationAnnotation]
			if k == "Installation" && operation != "" && !t.waitsForImporter(object) && !t.waitsForParentToGo(object) {
				t.Violate("Installation %s still asks for %s, and nothing will wake it", key.Name, operation)
			}
		}
	}
}

// CheckEmpty looks at what trees leave outside of the API server when everything was deleted.
func (t *Trees) CheckEmpty() {
	if t.dispatcher != nil && t.dispatcher.Pending() != 0 {
		t.Violate("%d jobs of deleted items are remembered", t.dispatcher.Pending())
	}
	for name := range t.Target.moving {
		if !t.Users.leftBehind[name[:1]] {
			t.Violate("%s is left on the target", name)
		}
	}
	for name := range t.Target.objects {
		if !t.Users.leftBehind[name[:1]] {
			t.Violate("%s is left on the target", name)
		}
	}
}
