package installation

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/log"

	deliveryv1alpha1 "go.landscaper.dev/api/delivery/v1alpha1"
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/controller/installation/decide"
	"go.landscaper.dev/internal/controller/installation/planstore"
	"go.landscaper.dev/internal/controller/installation/repeat"
	"go.landscaper.dev/internal/landscape/plan"
	"go.landscaper.dev/internal/model/predicates"
	"go.landscaper.dev/internal/model/siblings"
	"go.landscaper.dev/internal/runtime/expectations"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/job/reasons"
)

// admit starts a job that was requested.
func (r *Reconciler) admit(ctx context.Context, s *snapshot) error {
	trigger := job.TriggerOf(s.Inst)
	switch {
	case decide.PickedUp(s.Situation):
		// Who has requested it is not known any more: a present request is for the job after it.
		trigger, s.requester = v1alpha1.TriggeredByReconcile, ""
	case predicates.RequestsFirstJob(s.Inst):
		// Another attempt would not know any more what has led to the request.
		trigger = v1alpha1.TriggeredByReconcile
		if err := r.pickUp(ctx, s); err != nil {
			return err
		}
	case trigger == v1alpha1.TriggeredByReconcile && isNewlyBack(s.Inst):
		trigger = v1alpha1.TriggeredByRollback
	}
	repeat.Forget(s.Inst)
	s.admitted = decide.PickedUp(s.Situation)
	return r.start(ctx, s, trigger)
}

// removeRequest removes the request for a job.
func removeRequest(inst *v1alpha1.Installation) {
	delete(inst.Annotations, v1alpha1.OperationAnnotation)
	delete(inst.Annotations, v1alpha1.ReconcileReasonAnnotation)
	delete(inst.Annotations, v1alpha1.ChangedExportsAnnotation)
}

// start begins a job. One that an operation requests is stored at once, and the request removed: a
// second request during the rendering means a change that may not have been read. Any other job is
// stored with the next step, because its trigger stays.
func (r *Reconciler) start(ctx context.Context, s *snapshot, trigger v1alpha1.JobTrigger) error {
	s.Inst.Status.DataUpdate = nil
	if s.approved == nil {
		// A plan is for the whole tree, and what children may write follows from parents that have written
		// them in the same job.
		s.Inst.Status.DataUpdate = decide.RequestedUpdate(s.Situation, trigger)
	}
	s.subject.Status.Trigger(r.NewJobID(), metav1.NewTime(r.Now()))
	if r.Changes != nil && predicates.IsRoot(s.Inst) {
		r.Changes.Begin(s.Inst.UID, s.Inst.Status.JobID)
	}
	s.subject.RecordTrigger(trigger, s.requester)
	s.PendingTrigger = trigger
	r.reportOverride(ctx, s, trigger)
	r.notePlan(ctx, s)
	if err := r.begin(ctx, s); err != nil {
		return err
	}
	if s.Inst.Annotations[v1alpha1.OperationAnnotation] != "" {
		if err := r.save(ctx, s); err != nil {
			return err
		}
	}
	// The next attempt finds what an earlier one has made.
	s.ends = r.memory.Of(s.Inst.UID).marks.has(unstored)
	return nil
}

// started accepts a job of our own that was stored just now. It is stored before the
// request for it is removed, so that a crash in between repeats a job rather than losing
// one.
func (r *Reconciler) started(ctx context.Context, s *snapshot) error {
	if s.PendingTrigger == "" {
		return nil
	}
	s.PickedUp = false
	r.memory.Of(s.Inst.UID).marks.note(pickedUp, false)
	why, unasked := unaskedJobs[s.PendingTrigger]
	s.PendingTrigger = ""
	if unasked {
		r.reporter().Emit(s.subject, corev1.EventTypeNormal, reasons.JobStarted, "job "+s.Inst.Status.JobID+" begins because "+why)
	}
	return r.accept(ctx, s)
}

// shutdownTimeout is how long a process that shuts down tries to store a job.
const shutdownTimeout = 5 * time.Second

// stored ensures that a job is stored, and its request removed, before its error is reported: the
// error might end the job. A deletion that waits has no request to remove, so that its job is
// stored with its blocker.
func (r *Reconciler) stored(ctx context.Context, s *snapshot, err error) error {
	outcome := job.OutcomeOf(err)
	switch {
	case s.PendingTrigger == "", outcome == job.Conflict:
		return err
	case s.PendingTrigger == v1alpha1.TriggeredByDeletion && outcome == job.Waiting:
		return err
	case job.IsShutdown(ctx, err) && !s.admitted:
		return err
	case job.IsShutdown(ctx, err):
		// An older release may continue, which does not know the note of the request.
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), shutdownTimeout)
		defer cancel()
	}
	if saveErr := job.RecoverPanic(func() error { return r.save(ctx, s) }); saveErr != nil {
		return saveErr
	}
	return err
}

// ignore removes a request for a job that has no effect, and says so.
func (r *Reconciler) ignore(ctx context.Context, s *snapshot) error {
	why := " has no effect on a subinstallation: ask the root of the tree for a job"
	if predicates.IsRoot(s.Inst) {
		why = " has no effect on an Installation that is being deleted"
	}
	r.reporter().Emit(s.subject, corev1.EventTypeWarning, reasons.RequestIgnored, "operation "+s.Inst.Annotations[v1alpha1.OperationAnnotation]+why)
	return r.dismiss(ctx, s)
}

// adopt takes over the job of the parent, or its removal round, which is a part of a job that is
// recorded already.
func (r *Reconciler) adopt(_ context.Context, s *snapshot) error {
	if round := job.Round(s.Parent); siblings.IsRound(s.Family, round) {
		s.subject.Status.Trigger(round, metav1.NewTime(r.Now()))
		return nil
	}
	s.Inst.Status.DataUpdate = decide.InheritedUpdate(s.Situation)
	s.subject.Status.Trigger(job.Round(s.Parent), metav1.NewTime(r.Now()))
	s.subject.RecordTrigger(v1alpha1.TriggeredByParent, "")
	return nil
}

// clear waits for the end of children that are being deleted.
func (r *Reconciler) clear(ctx context.Context, s *snapshot) error {
	s.Inst.Status.SubInstCache = nil
	if s.Exec != nil {
		// An attempt whose job was not stored may have created it: with the reference, it gets
		// the job.
		noteExecution(s)
	}
	noteDeployed(s.Inst)
	return r.enter(ctx, s, v1alpha1.PhaseStringCleanupOrphaned)
}

// propagate passes the job to all children: they take it when they see the phase.
func (r *Reconciler) propagate(ctx context.Context, s *snapshot) error {
	return r.enter(ctx, s, v1alpha1.PhaseStringProgressing)
}

// begin enters the first phase of a job. The job of a parent is stored with the next step: until
// then the parent records it. So is a job of our own.
func (r *Reconciler) begin(ctx context.Context, s *snapshot) error {
	phase := v1alpha1.PhaseStringInit
	if predicates.BeingDeleted(s.Inst) {
		phase = v1alpha1.PhaseStringInitDelete
	} else if err := r.keepRevision(ctx, s); err != nil {
		return err
	}
	s.subject.Status.Begin(s.Inst.Generation, metav1.NewTime(r.Now()))
	s.Inst.Status.SubInstCache = nil
	// Kept objects are found again. A child that is wanted again says so with its job.
	job.DropCondition(&s.Inst.Status.Conditions, v1alpha1.PendingRemovalsCondition)
	job.DropCondition(&s.Inst.Status.Conditions, deliveryv1alpha1.DeferredCondition)
	if s.PendingTrigger != "" || s.Parent != nil && job.Round(s.Parent) == s.Inst.Status.JobID {
		s.subject.Status.Enter(phase, nil, metav1.NewTime(r.Now()))
		s.unsaved = true
		return nil
	}
	return r.enter(ctx, s, phase)
}

// enter stores the status in a new phase.
func (r *Reconciler) enter(ctx context.Context, s *snapshot, phase string) error {
	var notes []func(metav1.Time)
	if phase == v1alpha1.PhaseStringSucceeded {
		// As long as the job goes on, the status must keep that the removal round has begun.
		notes = append(notes, s.noteEnd)
	}
	if err := r.reporter().Enter(ctx, s.subject, phase, notes...); err != nil {
		return err // says what was written
	}
	if phase != v1alpha1.PhaseStringInit {
		r.memory.Of(s.Inst.UID).marks.note(unstored, false)
	}
	s.unsaved = false
	return r.started(ctx, s)
}

// noteExecution notes the Execution in the status.
func noteExecution(s *snapshot) {
	s.Inst.Status.ExecutionReference = &v1alpha1.ObjectReference{Name: s.Exec.Name, Namespace: s.Exec.Namespace}
}

// save stores a job that has begun, because the next step takes long.
func (r *Reconciler) save(ctx context.Context, s *snapshot) error {
	if !s.unsaved {
		return nil
	}
	return r.enter(ctx, s, string(s.Inst.Status.InstallationPhase))
}

// saveOwn stores a job of our own that has begun, before a step that cannot be undone.
func (r *Reconciler) saveOwn(ctx context.Context, s *snapshot) error {
	if s.PendingTrigger == "" {
		return nil
	}
	return r.save(ctx, s)
}

// accept sets the finalizer and removes the request for the job. It is bound to
// the version that was read: a request that comes meanwhile stays, as does one for what
// has changed since the job began.
func (r *Reconciler) accept(ctx context.Context, s *snapshot) error {
	return r.patchOwn(ctx, s, func(inst *v1alpha1.Installation) {
		if !predicates.BeingDeleted(inst) {
			controllerutil.AddFinalizer(inst, v1alpha1.Finalizer)
		}
		r.useOverride(inst, s.Inst.Status.JobID)
		if !s.admitted && s.Inst.Generation == s.Inst.Status.ObservedGeneration {
			removeRequest(inst)
		}
	})
}

// dismiss removes a request that is done, or that has no effect.
func (r *Reconciler) dismiss(ctx context.Context, s *snapshot) error {
	return r.patchOwn(ctx, s, dismissed)
}

// dismissed removes a request, and leaves one for changed exports that it hides.
func dismissed(inst *v1alpha1.Installation) {
	delete(inst.Annotations, v1alpha1.AbortTimeAnnotation)
	if predicates.HidesDataUpdate(inst) {
		inst.Annotations[v1alpha1.OperationAnnotation] = string(v1alpha1.DataUpdateOperation)
		return
	}
	removeRequest(inst)
}

// interrupt passes an interruption to the children and removes the request for it. A request for an
// interruption and a new job becomes one for the job now.
func (r *Reconciler) interrupt(ctx context.Context, s *snapshot) error {
	if s.subject.Status.Unfinished() {
		for _, child := range s.children() {
			if !child.done {
				if err := r.propagateInterruption(ctx, s.Inst, child.Object); err != nil {
					return err
				}
			}
		}
	}
	if predicates.Forced(s.Inst) {
		return r.patchOwn(ctx, s, demandNext)
	}
	return r.patchOwn(ctx, s, func(inst *v1alpha1.Installation) {
		noteStopped(inst, s)
		dismissed(inst)
	})
}

// complete collects the results of the children and ends the job.
func (r *Reconciler) complete(ctx context.Context, s *snapshot) error {
	exports := &plan.Exports{}
	if predicates.Exporting(s.Inst) {
		var err error
		if exports, err = r.exported(ctx, s); err != nil || exports == nil {
			return err
		}
	}
	return r.conclude(ctx, s, exports)
}

// conclude publishes the exports and ends the job. Exports of earlier jobs are deleted only when
// all exports of this one exist.
func (r *Reconciler) conclude(ctx context.Context, s *snapshot, exports *plan.Exports) error {
	if err := r.publish(ctx, s, exports); err != nil {
		return err
	}
	r.memory.Of(s.Inst.UID).outage.Over()
	if !decide.Unchanged(s.Inst) && !s.needsCopies() {
		// Otherwise they are those of the job that has written them.
		if err := r.exportWriter().DeleteStaleCopies(ctx, s.Inst); err != nil {
			return err
		}
	}
	if err := r.exportWriter().DeleteStaleExports(ctx, s.Inst, exports.Exports); err != nil {
		return err
	}
	if err := r.noteDependents(ctx, s, exports.Exports); err != nil {
		return err
	}
	s.PlanStored = r.memory.Of(s.Inst.UID).plan.Exists()
	s.subject.Status.SetTrue(v1alpha1.CreateExportsCondition, reasons.DataObjectsCreated, "DataObjects successfully created", metav1.NewTime(r.Now()))
	return r.enter(ctx, s, v1alpha1.PhaseStringSucceeded)
}

// patchOwn is patchMetadata for the Installation of the attempt, which may have been deleted.
func (r *Reconciler) patchOwn(ctx context.Context, s *snapshot, change func(*v1alpha1.Installation)) error {
	err := r.patchMetadata(ctx, s.Inst, change)
	if apierrors.IsNotFound(err) {
		return expectations.StaleCacheError{Deleted: true}
	}
	return err // says what was changed
}

// patchMetadata changes the metadata of the version that was read, if there is
// anything to change.
func (r *Reconciler) patchMetadata(ctx context.Context, inst *v1alpha1.Installation, change func(*v1alpha1.Installation)) error {
	// The rest is the same before and after, and may be large.
	before := &v1alpha1.Installation{ObjectMeta: inst.ObjectMeta}
	changed := before.DeepCopy()
	change(changed)
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	data, err := patch.Data(changed)
	if err != nil {
		return fmt.Errorf("compare metadata: %w", err)
	}
	if !changesMore(data) {
		return nil
	}
	// The status is not part of the answer's meaning: it is what we know already.
	status := inst.Status
	if err := r.Client.Patch(ctx, changed, client.RawPatch(patch.Type(), data)); err != nil {
		return fmt.Errorf("change the metadata of Installation %s/%s: %w", inst.Namespace, inst.Name, err)
	}
	*inst = *changed
	inst.Status = status
	r.memory.Of(inst.UID).Written.Record(inst)
	return nil
}

// annotate sets an annotation on a child.
func (r *Reconciler) annotate(ctx context.Context, child client.Object, key, value string) error {
	if child.GetAnnotations()[key] == value {
		return nil
	}
	kind, err := r.Client.GroupVersionKindFor(child)
	if err != nil {
		return fmt.Errorf("annotate %s/%s: %w", child.GetNamespace(), child.GetName(), err)
	}
	before, ok := child.DeepCopyObject().(client.Object)
	changed, isToo := child.DeepCopyObject().(client.Object)
	if !ok || !isToo {
		return fmt.Errorf("annotate %s %s/%s: it is not an object of the API", kind.Kind, child.GetNamespace(), child.GetName())
	}
	changed.SetAnnotations(merged(child.GetAnnotations(), key, value))
	if err := r.Client.Patch(ctx, changed, client.MergeFrom(before)); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("annotate %s %s/%s: %w", kind.Kind, child.GetNamespace(), child.GetName(), err)
	}
	return nil
}

// planStore keeps the plans of jobs.
func (r *Reconciler) planStore() planstore.Store {
	return planstore.Store{Client: r.Client, Reader: r.Reader, Cache: &r.memory.plans, Known: func(uid types.UID) *planstore.Known { return &r.memory.Of(uid).plan }, Key: r.Planner.Key}
}

// cleanUpRetry is the time after which the deletion of a plan is retried.
const cleanUpRetry = 30 * time.Second

// cleanUp deletes the stored plan of a job that has ended. The outcome of the job is recorded already,
// so that a failure here only leads to a retry.
func (r *Reconciler) cleanUp(ctx context.Context, s *snapshot) error {
	if err := r.planStore().Delete(ctx, s.Inst); err != nil {
		log.FromContext(ctx).Info("the stored plan of a job that has ended is still there", "cause", err.Error())
		s.CleanUpAt = r.Now().Add(cleanUpRetry)
		return nil
	}
	s.PlanStored = false
	return nil
}
