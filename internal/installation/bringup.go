package installation

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/dataflow"
	"go.landscaper.dev/internal/job"
	"go.landscaper.dev/internal/plan"
	"go.landscaper.dev/internal/validation"
)

// bringUp renders the blueprint and writes the children. They start when the
// status says that all of them are written.
func (r *Reconciler) bringUp(ctx context.Context, s *snapshot) error {
	made, err := r.plan(ctx, s)
	if err != nil {
		return err
	}
	if err := made.states.write(ctx, made.children.States); err != nil {
		return err
	}
	if err := r.storeCopies(ctx, s.inst, made.copies); err != nil {
		return err
	}
	if err := r.ensureExecution(ctx, s, made.children.DeployItems); err != nil {
		r.falseCondition(s.inst, v1alpha1.ReconcileExecutionCondition, "CreateOrUpdateExecution", "Unable to write Execution "+s.inst.Name)
		return job.Wrap(err, "handlePhaseInit", "CreateImportsAndSubobjects", "ReconcileExecution: write Execution "+s.inst.Name)
	}
	r.outages.over(s.inst.UID)
	r.noteChildren(s, made)
	if err := r.writeStatus(ctx, s.inst); err != nil {
		return err
	}
	r.warn(s)
	return nil
}

// noteChildren writes into the status what the job has made.
func (r *Reconciler) noteChildren(s *snapshot, made *made) {
	now := metav1.NewTime(r.Now())
	status := &s.inst.Status
	status.ImportsHash, status.SubInstCache = made.hash, &v1alpha1.SubInstCache{}
	// What was wrong in an earlier job has gone well in this one.
	dropCondition(&status.Conditions, v1alpha1.ValidateImportsCondition)
	dropCondition(&status.Conditions, v1alpha1.CreateImportsCondition)
	r.condition(s.inst, v1alpha1.EnsureSubInstallationsCondition, "InstallationsInstalled", "All Installations are successfully installed", now)
	if s.exec != nil {
		status.ExecutionReference = &v1alpha1.ObjectReference{Name: s.exec.Name, Namespace: s.exec.Namespace}
		r.condition(s.inst, v1alpha1.ReconcileExecutionCondition, "ExecutionDeployed", "Deployed execution item", now)
	} else {
		dropCondition(&status.Conditions, v1alpha1.ReconcileExecutionCondition)
	}
	status.TransitionTimes.WaitTime = &now
	r.setPhase(s.inst, v1alpha1.InstallationPhases.Progressing, nil)
}

func dropCondition(conditions *[]v1alpha1.Condition, conditionType v1alpha1.ConditionType) {
	*conditions = slices.DeleteFunc(*conditions, func(c v1alpha1.Condition) bool { return c.Type == conditionType })
}

// longestPlan is how long one attempt may take to read what an Installation needs.
// It is enough to verify the signature of a component with large images.
const longestPlan = 15 * time.Minute

// plan reads what the Installation needs and works out its children. What is
// wrong with the Installation or its blueprint ends the job.
func (r *Reconciler) plan(ctx context.Context, s *snapshot) (*made, error) {
	// A registry that sends a byte now and then never stands still.
	ctx, cancel := context.WithTimeout(ctx, longestPlan)
	defer cancel()
	if errs := validation.Installation(s.inst, r.Sources.Foreign); len(errs) > 0 {
		return nil, job.Terminally(job.Wrap(errs.ToAggregate(), "InitPrerequisites", "ValidateInstallation", "the Installation is not valid", v1alpha1.ErrorForInfoOnly))
	}
	from, err := r.prerequisites(ctx, s)
	if err != nil {
		return nil, err
	}
	defer from.close()
	if err := supported(s.inst, from.blueprint.Info); err != nil {
		return nil, job.Terminally(job.Wrap(err, "InitPrerequisites", "ResolveBlueprint", ""))
	}
	imports, err := r.imports(ctx, s.inst)
	if err != nil {
		return nil, err
	}
	states := newStates(r.Client, s.inst)
	planned, err := plan.New(ctx, plan.Input{
		Installation: s.inst, Blueprint: from.blueprint, Component: from.component, Imports: imports,
		Functions: r.Functions(s.inst.Namespace), States: states,
	})
	if err != nil {
		return nil, r.unplanned(s.inst, err)
	}
	s.warn(importWarnings, withoutFirst(planned.Warnings, from.blueprint.Warnings))
	return r.made(ctx, s.inst, planned, imports, states)
}

// made works out what the job writes.
func (r *Reconciler) made(ctx context.Context, inst *v1alpha1.Installation, planned *plan.Plan, imports dataflow.Imports, states *states) (*made, error) {
	children, err := planned.Children(ctx)
	if err != nil {
		r.falseCondition(inst, v1alpha1.ReconcileExecutionCondition, "TemplatingFailed", "Unable to template executions")
		return nil, r.final(inst, job.Wrap(err, "handlePhaseInit", "CreateImportsAndSubobjects", "ReconcileExecution", v1alpha1.ErrorForInfoOnly))
	}
	copies, err := planned.Copies()
	if err != nil {
		return nil, job.Terminally(job.Wrap(err, "handlePhaseInit", "CreateImportsAndSubobjects", "CreateOrUpdateImports"))
	}
	hash, err := dataflow.ImportsHash(imports)
	if err != nil {
		return nil, job.Terminally(job.Wrap(err, "init", "HashImports", ""))
	}
	return &made{hash: hash, copies: copies, children: children, states: states}, nil
}

// falseCondition notes what went wrong where users look first.
func (r *Reconciler) falseCondition(inst *v1alpha1.Installation, conditionType v1alpha1.ConditionType, reason, message string) {
	job.SetCondition(&inst.Status.Conditions, v1alpha1.Condition{
		Type: conditionType, Status: v1alpha1.ConditionFalse, Reason: reason, Message: message,
	}, metav1.NewTime(r.Now()))
}

// made is what a job has worked out.
type made struct {
	// hash identifies the imports.
	hash     string
	copies   dataflow.Exports
	children *plan.Children
	states   *states
}

// unplanned says what follows from an error with the imports.
func (r *Reconciler) unplanned(inst *v1alpha1.Installation, err error) error {
	var invalid *plan.ImportError
	reason := "ConstructImports"
	if errors.As(err, &invalid) {
		reason = "RenderImportExecutions"
		r.falseCondition(inst, v1alpha1.ValidateImportsCondition, "ImportValidationFailed", invalid.Text())
	}
	return r.final(inst, job.Wrap(err, "handlePhaseInit", "CreateImportsAndSubobjects", reason))
}

// supported refuses what would otherwise be left out silently.
func supported(inst *v1alpha1.Installation, info *v1alpha1.Blueprint) error {
	features := []struct {
		name string
		used bool
	}{
		{"spec.exports", len(inst.Spec.Exports.Data)+len(inst.Spec.Exports.Targets) > 0},
		{"spec.exportDataMappings", len(inst.Spec.ExportDataMappings) > 0},
		{"blueprint.yaml: subinstallations", len(info.Subinstallations)+len(info.SubinstallationExecutions) > 0},
		{"blueprint.yaml: exports", len(info.ExportExecutions)+len(info.Exports) > 0},
	}
	for _, feature := range features {
		if feature.used {
			return fmt.Errorf("%s is not supported yet", feature.name)
		}
	}
	return nil
}

// landscape reads the Context of an Installation.
func (r *Reconciler) landscape(ctx context.Context, inst *v1alpha1.Installation) (*v1alpha1.Context, error) {
	name := inst.Spec.Context
	if name == "" {
		name = v1alpha1.DefaultContextName
	}
	found := &v1alpha1.Context{}
	err := confirming{Reader: r.Client, live: r.Reader}.Get(ctx, client.ObjectKey{Namespace: inst.Namespace, Name: name}, found)
	switch {
	case apierrors.IsNotFound(err) && name == v1alpha1.DefaultContextName:
		// The controller for default Contexts is about to make it.
		return nil, job.NewWaiting("InitPrerequisites", "CalculateContext", "waiting for Context default of namespace "+inst.Namespace+", which the server makes unless the administrator has switched that off: create it, or name another one in spec.context")
	case apierrors.IsNotFound(err):
		return nil, job.Terminally(job.NewError("InitPrerequisites", "CalculateContext", fmt.Sprintf("spec.context: there is no Context %q in namespace %s: create it, or name another one", name, inst.Namespace)))
	case err != nil:
		return nil, job.Wrap(err, "InitPrerequisites", "CalculateContext", "read Context "+name)
	}
	return found, nil
}

// ensureExecution writes the Execution with the items. Without items there is none,
// but one that exists is emptied.
func (r *Reconciler) ensureExecution(ctx context.Context, s *snapshot, items v1alpha1.DeployItemTemplateList) error {
	if s.exec == nil && len(items) == 0 {
		return nil
	}
	if s.exec == nil {
		exec := &v1alpha1.Execution{ObjectMeta: metav1.ObjectMeta{
			Name: s.inst.Name, Namespace: s.inst.Namespace,
			Annotations:     map[string]string{v1alpha1.OperationAnnotation: string(v1alpha1.ReconcileOperation)},
			Finalizers:      []string{v1alpha1.Finalizer},
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(s.inst, v1alpha1.GroupVersion.WithKind("Installation"))},
		}}
		mirrorAnnotation(exec, s.inst, v1alpha1.CacheHelmChartsAnnotation)
		exec.Spec.Context = s.inst.Spec.Context
		if err := exec.Spec.SetItems(items); err != nil {
			return err
		}
		if err := r.Client.Create(ctx, exec); err != nil {
			return r.nameTaken(ctx, exec, err)
		}
		s.exec = exec
		r.written.Record(exec)
		return nil
	}
	changed := s.exec.DeepCopy()
	changed.Spec.Context = s.inst.Spec.Context
	mirrored := mirrorAnnotation(changed, s.inst, v1alpha1.CacheHelmChartsAnnotation)
	if err := changed.Spec.SetItems(items); err != nil {
		return err
	}
	if !mirrored && sameSpec(&s.exec.Spec, &changed.Spec) {
		return nil
	}
	if err := r.Client.Update(ctx, changed); err != nil {
		return err
	}
	s.exec = changed
	r.written.Record(changed)
	return nil
}

// mirrorAnnotation gives an Execution the annotation of its Installation, and
// reports whether that changes it.
func mirrorAnnotation(exec *v1alpha1.Execution, inst *v1alpha1.Installation, key string) bool {
	wanted, exists := inst.Annotations[key]
	if last, had := exec.Annotations[key]; last == wanted && had == exists {
		return false
	}
	if !exists {
		delete(exec.Annotations, key)
		return true
	}
	exec.Annotations = merged(exec.Annotations, map[string]string{key: wanted})
	return true
}

// nameTaken explains why an Execution could not be created: one of that name may
// be left from an Installation of the same name that was deleted, or it may belong
// to somebody else.
func (r *Reconciler) nameTaken(ctx context.Context, exec *v1alpha1.Execution, err error) error {
	if !apierrors.IsAlreadyExists(err) {
		return err
	}
	live := &v1alpha1.Execution{}
	if getErr := r.Client.Get(ctx, client.ObjectKeyFromObject(exec), live); getErr != nil || owns(ownerOf(exec), live) {
		return err
	}
	if live.DeletionTimestamp != nil || metav1.GetControllerOf(live) != nil {
		return job.NewWaiting("handlePhaseInit", "ReconcileExecution", "waiting until Execution "+live.Name+" of an earlier Installation is deleted")
	}
	return job.Terminally(fmt.Errorf("there is an Execution %s that does not belong to this Installation: delete it or choose another name", live.Name))
}

func ownerOf(exec *v1alpha1.Execution) *v1alpha1.Installation {
	owner := metav1.GetControllerOf(exec)
	return &v1alpha1.Installation{ObjectMeta: metav1.ObjectMeta{UID: owner.UID}}
}

// sameSpec compares two specifications by what they mean on the wire.
func sameSpec(a, b *v1alpha1.ExecutionSpec) bool {
	itemsA, errA := a.Items()
	itemsB, errB := b.Items()
	if errA != nil || errB != nil || a.Context != b.Context {
		return false
	}
	rawA, errA := json.Marshal(itemsA)
	rawB, errB := json.Marshal(itemsB)
	if errA != nil || errB != nil {
		return false
	}
	var valueA, valueB any
	if json.Unmarshal(rawA, &valueA) != nil || json.Unmarshal(rawB, &valueB) != nil {
		return false
	}
	return equality.Semantic.DeepEqual(valueA, valueB)
}
