package execution

import (
	"context"
	"errors"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/job"
	"go.landscaper.dev/internal/validation"
)

// begin starts a job: the items are written, then the job is stored, then the
// first items get it.
func (r *Reconciler) begin(ctx context.Context, s *snapshot) error {
	if s.exec.DeletionTimestamp != nil {
		return r.beginDeletion(ctx, s)
	}
	templates, err := s.exec.Spec.Items()
	if err != nil {
		return job.Terminally(job.Wrap(err, "handleReconcilePhase", "handlePhaseInit", "", v1alpha1.ErrorConfigurationProblem))
	}
	if errs := validation.Execution(s.exec); len(errs) > 0 {
		return job.Terminally(job.Wrap(errs.ToAggregate(), "handleReconcilePhase", "handlePhaseInit", "the Execution is not valid", v1alpha1.ErrorConfigurationProblem))
	}
	if err := r.writeItems(ctx, s, templates); err != nil {
		return classified(err)
	}
	now := metav1.NewTime(r.Now())
	status := &s.exec.Status
	if status.TransitionTimes == nil {
		status.TransitionTimes = job.Triggered(now)
	}
	status.TransitionTimes.InitTime, status.TransitionTimes.WaitTime = &now, &now
	status.ObservedGeneration = s.exec.Generation
	r.setPhase(s.exec, v1alpha1.ExecutionPhases.Progressing, nil)
	return r.writeStatus(ctx, s.exec)
}

// writeItems creates and updates the items, deletes those that are no longer
// wanted, and notes all of them.
func (r *Reconciler) writeItems(ctx context.Context, s *snapshot, templates v1alpha1.DeployItemTemplateList) error {
	wanted, orphans := members(templates, s.items)
	cache := &v1alpha1.DeployItemCache{}
	var items []*v1alpha1.DeployItem
	for i := range templates {
		item, err := r.ensureItem(ctx, s.exec, &templates[i], wanted[i].item)
		if err != nil {
			return err
		}
		items = append(items, item)
		cache.ActiveDIs = append(cache.ActiveDIs, v1alpha1.DiNamePair{SpecName: templates[i].Name, ObjectName: item.Name})
	}
	for _, orphan := range orphans {
		if err := r.deleteItem(ctx, s.exec, orphan.item); err != nil {
			return err
		}
		items = append(items, orphan.item)
		cache.OrphanedDIs = append(cache.OrphanedDIs, orphan.item.Name)
	}
	s.items, s.exec.Status.DeployItemCache = items, cache
	return nil
}

// classified marks errors that another attempt would only repeat: what the API
// server refuses because of its content.
func classified(err error) error {
	wrapped := job.Wrap(err, "handleReconcilePhase", "handlePhaseInit", "write deploy items")
	if apierrors.IsInvalid(err) || apierrors.IsForbidden(err) || apierrors.IsBadRequest(err) || apierrors.IsRequestEntityTooLargeError(err) {
		return job.Terminally(wrapped)
	}
	return wrapped
}

// advance triggers what can run and ends the job when everything has.
func (r *Reconciler) advance(ctx context.Context, s *snapshot) error {
	templates, err := s.exec.Spec.Items()
	if err != nil {
		return job.Terminally(job.Wrap(err, "handleReconcilePhase", "handlePhaseProgressing", "", v1alpha1.ErrorConfigurationProblem))
	}
	wanted, orphans := members(templates, s.items)
	if len(orphans) > 0 {
		// New items wait until the old ones are gone: they may own the same objects.
		return r.drainOrphans(ctx, s, orphans)
	}
	classes := classify(s.exec.Status.JobID, wanted)
	switch judge(classes) {
	case goOn:
		return r.triggerAll(ctx, s, in(runnable, classes, wanted), wanted)
	case allDone:
		return r.complete(ctx, s)
	case someFailed:
		return job.Terminally(job.Wrap(itemErrors(in(failed, classes, wanted), wanted), "handleReconcilePhase", "handlePhaseProgressing", "has failed or missing deploy items", v1alpha1.ErrorForInfoOnly))
	case stuck:
		return job.Terminally(job.NewError("handleReconcilePhase", "handlePhaseProgressing", "items could not be started: "+strings.Join(in(pending, classes, wanted), ", ")+" wait for each other", v1alpha1.ErrorForInfoOnly))
	}
	return errWait
}

// triggerAll hands the job to items.
func (r *Reconciler) triggerAll(ctx context.Context, s *snapshot, names []string, from []member) error {
	wanted := make(map[string]bool, len(names))
	for _, name := range names {
		wanted[name] = true
	}
	for _, m := range from {
		if !wanted[m.name] {
			continue
		}
		if err := r.trigger(ctx, s.exec, m.item); err != nil {
			return err
		}
	}
	return nil
}

// itemErrors tells which items have failed and what they say.
func itemErrors(names []string, from []member) error {
	failed := make(map[string]bool, len(names))
	for _, name := range names {
		failed[name] = true
	}
	var errs []error
	for _, m := range from {
		switch {
		case !failed[m.name]:
		case m.item == nil:
			errs = append(errs, fmt.Errorf("deploy item %q is missing", m.name))
		case m.item.Status.LastError != nil:
			errs = append(errs, fmt.Errorf("deploy item %q (%s): %s", m.name, whereabouts(m.item), m.item.Status.LastError.Message))
		default:
			errs = append(errs, fmt.Errorf("deploy item %q (%s) is in phase %s", m.name, whereabouts(m.item), m.item.Status.Phase))
		}
	}
	return errors.Join(errs...)
}

// whereabouts names an item and the Target that it is for.
func whereabouts(item *v1alpha1.DeployItem) string {
	if item.Spec.Target == nil {
		return item.Name
	}
	return item.Name + ", Target " + item.Spec.Target.Name
}

// interrupt fails every item that has not finished, so that the job ends.
func (r *Reconciler) interrupt(ctx context.Context, s *snapshot) error {
	cause := job.NewError("InterruptOperation", "InterruptOperation", "operation was interrupted")
	for _, item := range s.items {
		if !job.Unfinished(s.exec.Status.JobID, s.exec.Status.JobIDFinished) || item.Status.JobIDFinished == s.exec.Status.JobID {
			continue
		}
		if err := r.endItem(ctx, item, s.exec.Status.JobID, cause); err != nil {
			return err
		}
	}
	// The request goes last: if we stop before, it is found again.
	patch := client.MergeFrom(s.exec.DeepCopy())
	delete(s.exec.Annotations, v1alpha1.OperationAnnotation)
	status := s.exec.Status
	if err := r.Client.Patch(ctx, s.exec, patch); err != nil {
		return fmt.Errorf("remove the request for an interruption: %w", err)
	}
	s.exec.Status = status
	r.written.Record(s.exec)
	return nil
}
