package execution

import (
	"context"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/job"
)

// beginDeletion starts a job that deletes.
func (r *Reconciler) beginDeletion(ctx context.Context, s *snapshot) error {
	if len(s.items) == 0 {
		return r.release(ctx, s)
	}
	now := metav1.NewTime(r.Now())
	status := &s.exec.Status
	if status.TransitionTimes == nil {
		status.TransitionTimes = job.Triggered(now)
	}
	status.TransitionTimes.InitTime = &now
	status.DeployItemCache = nil
	r.setPhase(s.exec, v1alpha1.ExecutionPhases.InitDelete, nil)
	return r.writeStatus(ctx, s.exec)
}

// remove deletes all items. Each of them stays until its deployer has cleaned up.
func (r *Reconciler) remove(ctx context.Context, s *snapshot) error {
	for _, item := range s.items {
		if err := r.deleteItem(ctx, s.exec, item); err != nil {
			return err
		}
	}
	now := metav1.NewTime(r.Now())
	s.exec.Status.TransitionTimes.WaitTime = &now
	r.setPhase(s.exec, v1alpha1.ExecutionPhases.Deleting, nil)
	return r.writeStatus(ctx, s.exec)
}

// deleteItem deletes an item. What must not be uninstalled is marked first.
func (r *Reconciler) deleteItem(ctx context.Context, exec *v1alpha1.Execution, item *v1alpha1.DeployItem) error {
	if exec.Annotations[v1alpha1.DeleteWithoutUninstallAnnotation] == "true" && item.Annotations[v1alpha1.DeleteWithoutUninstallAnnotation] != "true" {
		patch := client.MergeFrom(item.DeepCopy())
		if item.Annotations == nil {
			item.Annotations = map[string]string{}
		}
		item.Annotations[v1alpha1.DeleteWithoutUninstallAnnotation] = "true"
		if err := r.Client.Patch(ctx, item, patch); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("annotate DeployItem %s: %w", item.Name, err)
		}
		r.written.Record(item)
	}
	if item.DeletionTimestamp != nil {
		return nil
	}
	if err := r.Client.Delete(ctx, item, client.Preconditions{UID: &item.UID}); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("delete DeployItem %s: %w", item.Name, err)
	}
	return nil
}

// drain triggers items in the reverse order of their creation and ends when all
// are gone.
func (r *Reconciler) drain(ctx context.Context, s *snapshot) error {
	all := make([]member, 0, len(s.items))
	for _, item := range s.items {
		all = append(all, member{name: itemName(item), dependsOn: dependsOn(item), item: item})
	}
	classes := classifyDeletion(s.exec.Status.JobID, all)
	switch judgeDeletion(classes) {
	case goOn:
		return r.uninstallAll(ctx, s, in(runnable, classes, all), all)
	case allDone:
		return r.release(ctx, s)
	case someFailed:
		return job.Terminally(job.Wrap(itemErrors(in(failed, classes, all), all), "handleReconcilePhase", "handlePhaseDeleting", "has failed items", v1alpha1.ErrorForInfoOnly))
	case stuck:
		return job.Terminally(job.NewError("handleReconcilePhase", "handlePhaseDeleting", "has pending items: "+strings.Join(in(pending, classes, all), ", "), v1alpha1.ErrorForInfoOnly))
	}
	return errWait
}

// drainOrphans deletes items that are no longer wanted.
func (r *Reconciler) drainOrphans(ctx context.Context, s *snapshot, orphans []member) error {
	classes := classifyDeletion(s.exec.Status.JobID, orphans)
	switch judgeDeletion(classes) {
	case goOn:
		return r.uninstallAll(ctx, s, in(runnable, classes, orphans), orphans)
	case someFailed, stuck:
		return job.Terminally(job.Wrap(itemErrors(in(failed, classes, orphans), orphans), "handleReconcilePhase", "handlePhaseProgressing", "items that are no longer wanted could not be deleted", v1alpha1.ErrorForInfoOnly))
	}
	return errWait
}

// uninstallAll hands the job to items that are to be deleted. Items that must not
// be uninstalled need no deployer: they are let go.
func (r *Reconciler) uninstallAll(ctx context.Context, s *snapshot, names []string, from []member) error {
	wanted := make(map[string]bool, len(names))
	for _, name := range names {
		wanted[name] = true
	}
	for _, m := range from {
		if !wanted[m.name] {
			continue
		}
		if err := r.uninstall(ctx, s, m.item); err != nil {
			return err
		}
	}
	return nil
}

func (r *Reconciler) uninstall(ctx context.Context, s *snapshot, item *v1alpha1.DeployItem) error {
	if item.DeletionTimestamp == nil {
		if err := r.deleteItem(ctx, s.exec, item); err != nil {
			return err
		}
		// The event of the deletion brings the version that can be written to.
		return errWait
	}
	if item.Annotations[v1alpha1.DeleteWithoutUninstallAnnotation] != "true" {
		return r.trigger(ctx, s.exec, item)
	}
	patch := client.MergeFrom(item.DeepCopy())
	if !controllerutil.RemoveFinalizer(item, v1alpha1.Finalizer) {
		return errWait
	}
	if err := r.Client.Patch(ctx, item, patch); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("let DeployItem %s go: %w", item.Name, err)
	}
	r.written.Record(item)
	return errWait
}

// release removes the finalizer, so that the object disappears.
func (r *Reconciler) release(ctx context.Context, s *snapshot) error {
	patch := client.MergeFrom(s.exec.DeepCopy())
	if controllerutil.RemoveFinalizer(s.exec, v1alpha1.Finalizer) {
		if err := r.Client.Patch(ctx, s.exec, patch); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("remove the finalizer of Execution %s/%s: %w", s.exec.Namespace, s.exec.Name, err)
		}
	}
	r.written.Forget(s.exec.UID)
	return errGone
}
