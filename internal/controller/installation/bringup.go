package installation

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/content/template"
	"go.landscaper.dev/internal/controller/installation/planstore"
	"go.landscaper.dev/internal/controller/installation/treesize"
	"go.landscaper.dev/internal/landscape/desired"
	"go.landscaper.dev/internal/landscape/plan"
	"go.landscaper.dev/internal/model/dataflow"
	"go.landscaper.dev/internal/model/predicates"
	"go.landscaper.dev/internal/model/siblings"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/job/published"
	"go.landscaper.dev/internal/runtime/job/reasons"
	"go.landscaper.dev/internal/runtime/parallelize"
)

// writeChildren renders the blueprint and writes the children. They start when the
// status says that all of them are written.
func (r *Reconciler) writeChildren(ctx context.Context, s *snapshot) error {
	noteDeployed(s.Inst)
	if err := noteImports(s); err != nil {
		return err
	}
	made, err := r.planned(ctx, s)
	if err != nil || made == nil {
		return err
	}
	if err := r.checkPermits(ctx, s, made); err != nil {
		return err
	}
	if err := made.states.Write(ctx, made.children.States); err != nil {
		return err
	}
	if made.exports != nil && s.hasNoChildren() {
		if s.ends, err = r.storeCopies(ctx, s, s.Family, made.copies)(); s.ends || err != nil {
			return err
		}
		return r.finish(ctx, s, made)
	}
	// An attempt whose job has to be stored first ends: its end stores the job, unless another process
	// has stored one.
	if s.ends, err = r.planStore().Save(ctx, s.Inst, made.stored, s.PendingTrigger == ""); s.ends || err != nil {
		return err
	}
	// If another client has written first, the next attempt has to know these children; also if the job
	// was stored before, since its end may have had no answer.
	r.memory.Of(s.Inst.UID).marks.note(unstored, true)
	if s.ends, err = r.writeAll(ctx, s, made); s.ends || err != nil {
		return err
	}
	r.memory.Of(s.Inst.UID).outage.Over()
	r.noteChildren(s, made)
	// Only the exports of this job are still to be rendered.
	r.forgetPlan(client.ObjectKeyFromObject(s.Inst))
	if len(siblings.Terminating(s.Family)) > 0 {
		return r.enter(ctx, s, v1alpha1.PhaseStringCleanupOrphaned)
	}
	return r.propagate(ctx, s)
}

// hasNoChildren reports whether an Installation has no children, and none to delete.
func (s *snapshot) hasNoChildren() bool {
	return s.Exec == nil && len(s.Subs) == 0 && s.Inst.Status.ExecutionReference == nil && s.Inst.Generation == s.Inst.Status.ObservedGeneration
}

// finish ends a job that has nothing to wait for.
func (r *Reconciler) finish(ctx context.Context, s *snapshot, made *renderedJob) error {
	if err := r.saveOwn(ctx, s); err != nil {
		return err
	}
	s.Inst.Status.SubInstCache = &v1alpha1.SubInstCache{}
	// Nothing is stored: the exports are made before any step reads the stored plan.
	noted := *made
	noted.stored = nil
	r.noteChildren(s, &noted)
	return r.conclude(ctx, s, made.exports)
}

// writeAll writes what children import and the children themselves, and deletes those that
// are no longer wanted. All of them begin only when the status says that everything is
// written, so that none waits for the others. It reports whether the job has to be stored first.
func (r *Reconciler) writeAll(ctx context.Context, s *snapshot, made *renderedJob) (jobFirst bool, err error) {
	var (
		family           = s.Family
		copied           func() (bool, error)
		cache            *v1alpha1.SubInstCache
		orphans          []*v1alpha1.Installation
		subsErr, execErr error
	)
	parallelize.All(r.Parallelizer,
		func() { copied = r.storeCopies(ctx, s, family, made.copies) },
		func() { cache, orphans, subsErr = r.ensureSubs(ctx, s, made.children.Subinstallations) },
		func() { execErr = r.ensureExecution(ctx, s, made.children.DeployItems) },
	)
	if jobFirst, err := copied(); jobFirst || err != nil {
		return jobFirst, err
	}
	r.memory.Of(s.Inst.UID).plan.RecordCopies(made.copies)
	if subsErr == nil && execErr == nil {
		s.subject.Warn(reasons.DuplicateSubinstallations, duplicates(orphans, cache))
		subsErr = r.holdOrDrop(ctx, s, orphans, made)
	}
	if subsErr != nil {
		r.falseCondition(s, v1alpha1.EnsureSubInstallationsCondition, reasons.InstallationCreatingFailed, "Unable to write the subinstallations")
		return false, job.Wrap(subsErr, published.HandlePhaseInit, reasons.CreateImportsAndSubobjects, "EnsureSubinstallations")
	}
	if execErr != nil {
		r.falseCondition(s, v1alpha1.ReconcileExecutionCondition, reasons.CreateOrUpdateExecution, "Unable to write Execution "+s.Inst.Name)
		return false, job.Wrap(execErr, published.HandlePhaseInit, reasons.CreateImportsAndSubobjects, "ReconcileExecution: write Execution "+s.Inst.Name)
	}
	s.Inst.Status.SubInstCache = cache
	return false, nil
}

// noteChildren notes in the status what the job has made.
func (r *Reconciler) noteChildren(s *snapshot, made *renderedJob) {
	now := metav1.NewTime(r.Now())
	status := &s.Inst.Status
	status.ImportsHash = made.hash
	// A failure of an earlier job did not occur in this one.
	job.DropCondition(&status.Conditions, v1alpha1.ValidateImportsCondition)
	job.DropCondition(&status.Conditions, v1alpha1.CreateImportsCondition)
	s.subject.Status.SetTrue(v1alpha1.EnsureSubInstallationsCondition, reasons.InstallationsInstalled, "All Installations are successfully installed", now)
	if s.Exec != nil {
		noteExecution(s)
		s.subject.Status.SetTrue(v1alpha1.ReconcileExecutionCondition, reasons.ExecutionDeployed, "Deployed execution item", now)
	} else {
		// Another client may have deleted the one of an earlier job.
		status.ExecutionReference = nil
		job.DropCondition(&status.Conditions, v1alpha1.ReconcileExecutionCondition)
	}
	r.noteExports(s, made.stored != nil)
	s.subject.Status.Wait(now)
}

// falseCondition sets the condition that users read first to false.
func (r *Reconciler) falseCondition(s *snapshot, conditionType v1alpha1.ConditionType, reason reasons.Reason, message string) {
	s.subject.Status.SetFalse(conditionType, reason, message, metav1.NewTime(r.Now()))
}

// final classifies an error of the rendering.
func (r *Reconciler) final(inst *v1alpha1.Installation, err *job.Error) error {
	return r.memory.Of(inst.UID).outage.Classify(r.Now(), err)
}

// maxPlanDuration is how long one attempt may take to read what an Installation needs.
// It is enough to verify the signature of a component with large images.
const maxPlanDuration = 15 * time.Minute

// plan renders the children of an Installation from its inputs. An error in the Installation or its
// blueprint ends the job.
func (r *Reconciler) plan(ctx context.Context, s *snapshot, functions map[string]template.Function) (*renderedJob, error) {
	// A registry that sends a byte now and then never times out.
	ctx, cancel := context.WithTimeout(ctx, maxPlanDuration)
	defer cancel()
	from, err := r.Planner.resolver(&r.memory.Of(s.Inst.UID).outage, r.Now).Resolve(ctx, s.subject, s.Inst, s.Inputs.Context)
	if err != nil {
		return nil, err
	}
	defer from.Close()
	if err := r.bookInputs(ctx, s, from.Blueprint.Files); err != nil {
		return nil, err
	}
	use, err := treesize.Usage(ctx, r.reader(), s.Inst, func(uid types.UID) *treesize.Member { return &r.memory.Of(uid).tree })
	if err != nil {
		return nil, err
	}
	states := planstore.NewStates(r.Client, s.Inst)
	made, failed := r.Planner.maker().Make(ctx, plan.Input{
		Installation: s.Inst, Blueprint: from.Blueprint, Component: from.Component, Imports: s.Inputs.Imports,
		Functions: functions, States: states, Tree: use, NamedTargets: r.Planner.NamedTargets,
	}, plan.Want{Alone: s.hasNoChildren()})
	if made != nil {
		s.subject.Warn(reasons.ImportWarnings, withoutFirst(made.Warnings, from.Blueprint.Warnings))
		s.subject.Warn(reasons.BlueprintWarnings, made.Later)
	}
	if failed != nil {
		return nil, r.unplanned(s, failed)
	}
	if made.Children.Held != nil {
		// The others run; these report their error again when it is their turn.
		s.subject.Warn(reasons.SubinstallationWarnings, []string{made.Children.Held.Error()})
	}
	if made.Exports != nil {
		s.subject.Warn(reasons.ExportWarnings, made.Exports.Warnings)
	}
	r.memory.Of(s.Inst.UID).tree.Record(plan.Taken(len(made.Children.Subinstallations), made.Copies))
	return &renderedJob{hash: s.Inputs.Hash, copies: made.Copies, children: made.Children, states: states, stored: made.Stored, exports: made.Exports}, nil
}

// renderedJob is the rendered result of a job.
type renderedJob struct {
	// hash identifies the imports.
	hash     string
	copies   dataflow.Exports
	children *plan.Children
	states   *planstore.States
	// stored is what the exports need when the job ends; nil without exports.
	stored []byte
	// exports are known at once if there are no children.
	exports *plan.Exports
}

// unrendered classifies an error in the children.
func (r *Reconciler) unrendered(s *snapshot, err error) error {
	var subs *plan.SubinstallationError
	if errors.As(err, &subs) {
		r.falseCondition(s, v1alpha1.EnsureSubInstallationsCondition, reasons.InstallationCreatingFailed, "Unable to work out the subinstallations")
		return r.final(s.Inst, job.Wrap(err, published.HandlePhaseInit, reasons.CreateImportsAndSubobjects, "EnsureSubinstallations", v1alpha1.ErrorForInfoOnly))
	}
	r.falseCondition(s, v1alpha1.ReconcileExecutionCondition, reasons.TemplatingFailed, "Unable to template executions")
	return r.final(s.Inst, job.Wrap(err, published.HandlePhaseInit, reasons.CreateImportsAndSubobjects, "ReconcileExecution", v1alpha1.ErrorForInfoOnly))
}

// unplanned classifies an error by the step that has failed.
func (r *Reconciler) unplanned(s *snapshot, err error) error {
	var failed *plan.StepError
	errors.As(err, &failed)
	switch failed.Step {
	case plan.ChildrenStep:
		return r.unrendered(s, failed.Cause)
	case plan.CopiesStep:
		return job.AsTerminal(job.Wrap(failed.Cause, published.HandlePhaseInit, reasons.CreateImportsAndSubobjects, "CreateOrUpdateImports"))
	case plan.StoreStep:
		return job.AsTerminal(job.Wrap(failed.Cause, published.HandlePhaseInit, reasons.CreateImportsAndSubobjects, "StorePlan"))
	case plan.ExportsStep:
		return r.notExported(s, failed.Cause)
	}
	var invalid *plan.ImportError
	reason := "ConstructImports"
	if errors.As(failed.Cause, &invalid) {
		reason = "RenderImportExecutions"
		r.falseCondition(s, v1alpha1.ValidateImportsCondition, reasons.ImportValidationFailed, invalid.Text())
	}
	return r.final(s.Inst, job.Wrap(failed.Cause, published.HandlePhaseInit, reasons.CreateImportsAndSubobjects, reason))
}

// ensureExecution writes the Execution with the items, unless it exists as wanted.
func (r *Reconciler) ensureExecution(ctx context.Context, s *snapshot, items v1alpha1.DeployItemTemplateList) error {
	exec, change, err := desired.Execution(s.Inst, items, s.Exec)
	if err != nil {
		return err // the caller says what is written
	}
	switch change {
	case desired.None:
		return nil
	case desired.Create:
		// The deletion that a cache has shown was that of the previous Execution. A new one whose
		// creation got no answer may exist, too.
		r.memory.Of(s.Inst.UID).marks.note(terminating, false)
		r.memory.Of(s.Inst.UID).marks.note(executionDeleted, false)
		if err := r.Client.Create(ctx, exec); err != nil {
			return r.nameTaken(ctx, s.Inst, err)
		}
		r.memory.Of(s.Inst.UID).created.Expect(exec.Name, r.Now())
	case desired.Update:
		if err := r.Client.Update(ctx, exec); err != nil {
			return err // the caller says what is written
		}
	}
	s.Exec = exec
	r.memory.Of(exec.UID).Written.Record(exec)
	return nil
}

// nameTaken explains why an Execution could not be created: one of that name may be left from an
// Installation of the same name that was deleted, or it may belong to another owner.
func (r *Reconciler) nameTaken(ctx context.Context, inst *v1alpha1.Installation, err error) error {
	if !apierrors.IsAlreadyExists(err) {
		return err
	}
	live := &v1alpha1.Execution{}
	if getErr := r.Client.Get(ctx, client.ObjectKeyFromObject(inst), live); getErr != nil || predicates.AsOwner(inst).Owns(live) {
		return err
	}
	if live.DeletionTimestamp != nil || metav1.GetControllerOf(live) != nil {
		return job.WaitFor(job.OnChange("Execution", live.Name), published.HandlePhaseInit, reasons.ReconcileExecution, "waiting until Execution "+live.Name+" of an earlier Installation is deleted")
	}
	return job.AsTerminal(fmt.Errorf("there is an Execution %s that does not belong to this Installation: delete it or choose another name", live.Name))
}
