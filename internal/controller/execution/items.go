package execution

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/landscape/desired"
	"go.landscaper.dev/internal/model/siblings/itemorder"
	"go.landscaper.dev/internal/runtime/dispatch"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/reporter"
)

// maxSalt bounds the search for a free name.
const maxSalt = 20

// ensureItem creates the DeployItem of a template, or updates it if it differs.
func (r *Reconciler) ensureItem(ctx context.Context, exec *v1alpha1.Execution, template *v1alpha1.DeployItemTemplate, live *v1alpha1.DeployItem) (*v1alpha1.DeployItem, error) {
	cluster, err := r.clusterOf(ctx, exec.Namespace, template)
	if err != nil {
		return nil, err
	}
	if live == nil {
		return r.createItem(ctx, exec, template, cluster)
	}
	item, change, err := desired.DeployItem(exec, template, live, cluster, 0, r.Now())
	if err != nil {
		return nil, fmt.Errorf("compare DeployItem %s: %w", live.Name, err)
	}
	if change == desired.None {
		return live, nil
	}
	if err := r.leaveRemoved(ctx, live, item); err != nil {
		return nil, err
	}
	if err := r.Client.Update(ctx, item); err != nil {
		return nil, fmt.Errorf("update DeployItem %s: %w", item.Name, err)
	}
	r.memory.wrote(item)
	return item, nil
}

// createItem creates a DeployItem. Its name follows from the Execution and the
// template, so that a repeated attempt meets the item of the first one.
func (r *Reconciler) createItem(ctx context.Context, exec *v1alpha1.Execution, template *v1alpha1.DeployItemTemplate, cluster *string) (*v1alpha1.DeployItem, error) {
	for salt := range maxSalt {
		item, _, err := desired.DeployItem(exec, template, nil, cluster, salt, r.Now())
		if err != nil {
			return nil, fmt.Errorf("create DeployItem %s: %w", template.Name, err)
		}
		// Also an item whose creation got no answer may exist.
		r.memory.Of(exec.UID).created.Expect(item.Name, r.Now())
		err = r.Client.Create(ctx, item)
		if err == nil {
			r.memory.wrote(item)
			r.memory.Of(exec.UID).made.Expect(item.Name, r.Now())
			return item, nil
		}
		if !apierrors.IsAlreadyExists(err) {
			if job.IsRefusal(err) {
				r.memory.Of(exec.UID).created.Forget(item.Name)
			}
			return nil, fmt.Errorf("create DeployItem %s: %w", template.Name, err)
		}
		live := &v1alpha1.DeployItem{}
		if err := r.Reader.Get(ctx, client.ObjectKeyFromObject(item), live); client.IgnoreNotFound(err) != nil {
			return nil, fmt.Errorf("read DeployItem %s: %w", item.Name, err)
		}
		if owner(exec).Owns(live) && itemorder.NameOf(live) == template.Name {
			// It may have been created from an older template.
			return r.ensureItem(ctx, exec, template, live)
		}
		r.memory.Of(exec.UID).created.Forget(item.Name)
	}
	return nil, fmt.Errorf("create DeployItem %s: %d names are taken by other objects", template.Name, maxSalt)
}

func owner(exec *v1alpha1.Execution) job.Owner { return job.Owner{Kind: "Execution", Object: exec} }

// trigger assigns the job of the Execution to an item. The job is written if its deployer does not
// work in this process.
func (r *Reconciler) trigger(ctx context.Context, exec *v1alpha1.Execution, item *v1alpha1.DeployItem) error {
	if r.Dispatcher.Dispatch(item, exec.Status.JobID, r.Now()) {
		return nil
	}
	dispatch.AssignJob(item, exec.Status.JobID, metav1.NewTime(r.Now()))
	return r.writeItem(ctx, item, "assign the job to")
}

// endItem fails the job of an item on behalf of its deployer.
//
// An item that has not got the job yet gets it and ends it in one write, so that no deployer begins
// with it. The write is bound to the version that was read: a deployer that was faster wins, and
// the next reconcile reads its result.
func (r *Reconciler) endItem(ctx context.Context, item *v1alpha1.DeployItem, jobID string, cause error) error {
	phase := v1alpha1.PhaseStringFailed
	if item.DeletionTimestamp != nil {
		phase = v1alpha1.PhaseStringDeleteFailed
	}
	item.Status.JobID, item.Status.ObservedGeneration = jobID, item.Generation
	reporter.DeployItem(item).Status.Enter(phase, cause, metav1.NewTime(r.Now()))
	return r.writeItem(ctx, item, "end the job of")
}

// writeItem writes the status of an item. An item that no longer exists is no failure.
func (r *Reconciler) writeItem(ctx context.Context, item *v1alpha1.DeployItem, doing string) error {
	if err := r.wrote(item, r.Client.Status().Update(ctx, item)); err != nil {
		return fmt.Errorf("%s DeployItem %s: %w", doing, item.Name, err)
	}
	return nil
}

// wrote notes a write of an item, and says whether it failed. An item that no longer exists got no
// new version, and its last version would never be forgotten.
func (r *Reconciler) wrote(item *v1alpha1.DeployItem, err error) error {
	if err == nil {
		r.memory.wrote(item)
	}
	return client.IgnoreNotFound(err)
}

// deleteItem deletes an item. An item that must not be uninstalled, or cannot be, is marked first.
func (r *Reconciler) deleteItem(ctx context.Context, s *snapshot, item *v1alpha1.DeployItem) error {
	keeps := s.exec.Annotations[v1alpha1.DeleteWithoutUninstallAnnotation] == "true"
	if !keeps && !itemorder.StaysInstalled(item) {
		var err error
		if keeps, err = r.clusterRemoved(ctx, item); err != nil {
			return err
		}
	}
	// The mark is written before the deletion, so that a crash in between never leaves an item that
	// is deleted and would be uninstalled.
	if keeps && !itemorder.StaysInstalled(item) {
		item = s.own(item)
		patch := client.MergeFrom(item.DeepCopy())
		if item.Annotations == nil {
			item.Annotations = map[string]string{}
		}
		item.Annotations[v1alpha1.DeleteWithoutUninstallAnnotation] = "true"
		if err := r.wrote(item, r.Client.Patch(ctx, item, patch)); err != nil {
			return fmt.Errorf("annotate DeployItem %s: %w", item.Name, err)
		}
	}
	if item.DeletionTimestamp != nil {
		return nil
	}
	if err := r.Client.Delete(ctx, item, client.Preconditions{UID: &item.UID}); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("delete DeployItem %s: %w", item.Name, err)
	}
	// The event of the deletion has the version that can be written to.
	s.awaitChange(item)
	return nil
}

// letGo removes the finalizer of an item that must not be uninstalled: that needs no
// deployer.
func (r *Reconciler) letGo(ctx context.Context, s *snapshot, item *v1alpha1.DeployItem) error {
	patch := client.MergeFromWithOptions(item.DeepCopy(), client.MergeFromWithOptimisticLock{})
	controllerutil.RemoveFinalizer(item, v1alpha1.Finalizer)
	if err := r.wrote(item, r.Client.Patch(ctx, item, patch)); err != nil {
		return fmt.Errorf("remove the finalizer of DeployItem %s: %w", item.Name, err)
	}
	s.awaitChange(item)
	return nil
}
