package installation

import (
	"context"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/base/jsonvalue"
	"go.landscaper.dev/internal/content/component"
	"go.landscaper.dev/internal/content/template"
	"go.landscaper.dev/internal/controller/installation/decide"
	"go.landscaper.dev/internal/controller/installation/exportwriter"
	"go.landscaper.dev/internal/controller/installation/index"
	"go.landscaper.dev/internal/controller/installation/planstore"
	"go.landscaper.dev/internal/landscape/desired"
	"go.landscaper.dev/internal/landscape/importreader"
	"go.landscaper.dev/internal/landscape/plan"
	"go.landscaper.dev/internal/landscape/repocontext"
	"go.landscaper.dev/internal/model/dataflow"
	"go.landscaper.dev/internal/model/predicates"
	"go.landscaper.dev/internal/model/siblings"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/job/published"
	"go.landscaper.dev/internal/runtime/job/reasons"
)

// noteExports notes whether the job is going to export something.
func (r *Reconciler) noteExports(s *snapshot, needed bool) {
	conditions := &s.Inst.Status.Conditions
	if !needed {
		if predicates.ExportsArePending(s.Inst) {
			job.DropCondition(conditions, v1alpha1.CreateExportsCondition)
		}
		return
	}
	job.SetCondition(conditions, v1alpha1.Condition{
		Type: v1alpha1.CreateExportsCondition, Status: v1alpha1.ConditionUnknown, Reason: string(reasons.ExportsPending),
		Message: "the exports are made when all children have succeeded; until then those of the last job that succeeded stay",
	}, metav1.NewTime(r.Now()))
}

// exported renders the exports of the job, with the inputs that the job was admitted with.
func (r *Reconciler) exported(ctx context.Context, s *snapshot) (*plan.Exports, error) {
	result, err := r.runAsync(ctx, s, false, func(ctx context.Context, s *snapshot, reach externalAccess) (*planResult, error) {
		exports, err := r.export(ctx, s, reach)
		return &planResult{exports: exports}, err
	})
	if result == nil {
		return nil, err
	}
	return result.exports, err
}

// export continues with the stored plan.
func (r *Reconciler) export(ctx context.Context, s *snapshot, reach externalAccess) (*plan.Exports, error) {
	ctx, cancel := context.WithTimeout(ctx, maxPlanDuration)
	defer cancel()
	content, err := r.planStore().Load(ctx, s.Inst)
	if err != nil {
		return nil, r.notExported(s, err)
	}
	var session *component.Session
	defer func() {
		if session != nil {
			_ = session.Close()
		}
	}()
	exports, err := r.Planner.maker().Exports(ctx, s.Inst, content, plan.Surroundings{
		Functions: reach.functions, States: planstore.NewStates(r.Client, s.Inst), NamedTargets: r.Planner.NamedTargets,
		Open: func(ctx context.Context, definition *v1alpha1.ComponentDescriptorDefinition) (opened *plan.Component, err error) {
			if reach.needs() {
				return nil, errOutside
			}
			opened, session, err = r.reopenComponent(ctx, s.Inst, definition)
			return opened, err
		},
	}, func() (plan.Results, error) { return r.results(ctx, s) })
	if err != nil {
		return nil, r.notExported(s, err)
	}
	s.subject.Warn(reasons.ExportWarnings, exports.Warnings)
	return exports, nil
}

// notExported classifies an error before anything was published.
func (r *Reconciler) notExported(s *snapshot, err error) error {
	r.falseCondition(s, v1alpha1.CreateExportsCondition, reasons.ConstructExports, "Unable to work out the exports")
	return r.final(s.Inst, job.Wrap(err, published.HandlePhaseCompleting, reasons.ConstructExports, ""))
}

// reopenComponent finds the component version again. The plan checks whether it is still the one
// that was admitted, and perhaps verified.
func (r *Reconciler) reopenComponent(ctx context.Context, inst *v1alpha1.Installation, definition *v1alpha1.ComponentDescriptorDefinition) (*plan.Component, *component.Session, error) {
	landscape, err := r.reader().Context(ctx, inst)
	if err != nil {
		return nil, nil, &repocontext.ReadError{Object: "Context " + predicates.ContextOf(inst), Cause: err}
	}
	if landscape == nil {
		return nil, nil, fmt.Errorf("there is no Context %q in namespace %s any more", predicates.ContextOf(inst), inst.Namespace)
	}
	return r.Planner.resolver(&r.memory.Of(inst.UID).outage, r.Now).Reopen(ctx, inst, landscape, definition) // names the component version
}

// results reads the results of the children. The caches may be behind, so that the API server is
// asked.
func (r *Reconciler) results(ctx context.Context, s *snapshot) (plan.Results, error) {
	items, err := r.itemExports(ctx, s.Exec)
	if err != nil {
		return plan.Results{}, err
	}
	data, targets, err := r.scope(ctx, s)
	if err != nil {
		return plan.Results{}, err
	}
	var dataObjects []*v1alpha1.DataObject
	for i := range data.Items {
		if object := &data.Items[i]; ofThisJob(s, object) {
			dataObjects = append(dataObjects, object)
		}
	}
	var all []*v1alpha1.Target
	for i := range targets.Items {
		if object := &targets.Items[i]; ofThisJob(s, object) {
			all = append(all, importreader.AsRead(object))
		}
	}
	secrets, err := importreader.ValuesOf(ctx, r.Reader, dataObjects)
	if err != nil {
		return plan.Results{}, err
	}
	results := plan.Results{DeployItems: items, Scope: all}
	results.DataObjects, results.Targets, err = dataflow.ScopeValues(dataObjects, secrets, all)
	return results, err // names the object
}

// scope lists what is in the scope of an Installation. Without subinstallations only the job itself
// has written into it, so that a cache which has all of these objects is as good as the API server.
func (r *Reconciler) scope(ctx context.Context, s *snapshot) (*v1alpha1.DataObjectList, *v1alpha1.TargetList, error) {
	data, targets := &v1alpha1.DataObjectList{}, &v1alpha1.TargetList{}
	list := func(reader client.Reader, scope client.ListOption) error {
		for _, list := range []client.ObjectList{data, targets} {
			if err := reader.List(ctx, list, client.InNamespace(s.Inst.Namespace), scope); err != nil {
				return &repocontext.ReadError{Object: "what is in the scope of the Installation", Cause: err}
			}
		}
		// A cache lists in no order, and an error names the first object that is wrong.
		slices.SortFunc(data.Items, func(a, b v1alpha1.DataObject) int { return strings.Compare(a.Name, b.Name) })
		slices.SortFunc(targets.Items, func(a, b v1alpha1.Target) int { return strings.Compare(a.Name, b.Name) })
		return nil
	}
	name := v1alpha1.InstallationScope(s.Inst.Name)
	if wrote := r.memory.Of(s.Inst.UID).plan.CopiesOf(s.Inst.Status.JobID); wrote != nil && len(s.Subs) == 0 {
		err := list(r.Client, client.MatchingFields{index.CopiesByScope: name})
		if err != nil || wrote.AreIn(s.Inst.Status.JobID, data, targets) {
			return data, targets, err
		}
	}
	return data, targets, list(r.Reader, client.MatchingLabels{v1alpha1.DataObjectContextLabel: name})
}

// ofThisJob reports whether an object in the scope of an Installation counts. An object of an
// earlier job may be about to be removed, unless the job deploys only what has changed.
func ofThisJob(s *snapshot, object client.Object) bool {
	jobID, labelled := object.GetLabels()[v1alpha1.DataObjectJobIDLabel]
	stays := decide.Unchanged(s.Inst) || s.Inst.Status.DataUpdate != nil && exportwriter.OwnsWriter(s.Family, object)
	return jobID == s.Inst.Status.JobID || stays || !labelled && !desired.Stale(s.Inst, object)
}

// itemExports returns what the deploy items export, by their names.
func (r *Reconciler) itemExports(ctx context.Context, exec *v1alpha1.Execution) (map[string]any, error) {
	if exec == nil {
		return nil, nil
	}
	object, name := &v1alpha1.DataObject{}, desired.ItemExportsName(exec)
	err := r.Reader.Get(ctx, client.ObjectKey{Namespace: exec.Namespace, Name: name}, object)
	switch {
	case err == nil && !(job.Owner{Kind: "Execution", Object: exec}).Owns(object), apierrors.IsNotFound(err):
		return nil, fmt.Errorf("DataObject %s with the exports of the deploy items is missing: start another job with the annotation %s: reconcile", name, v1alpha1.OperationAnnotation)
	case err != nil:
		return nil, &repocontext.ReadError{Object: "DataObject " + name, Cause: err}
	}
	if len(object.Data.RawMessage) == 0 {
		// An API server drops a field that is null.
		return nil, nil
	}
	value, err := jsonvalue.FromJSON(object.Data.RawMessage)
	items, isMap := value.(map[string]any)
	if err != nil || !isMap && value != nil {
		// The cause may quote a value.
		return nil, fmt.Errorf("DataObject %s does not hold the exports of deploy items: start another job with the annotation %s: reconcile", name, v1alpha1.OperationAnnotation)
	}
	return items, nil
}

// publish writes what the Installation exports.
func (r *Reconciler) publish(ctx context.Context, s *snapshot, exports *plan.Exports) error {
	if err := planstore.NewStates(r.Client, s.Inst).Write(ctx, exports.States); err != nil {
		return err
	}
	return r.exportWriter().WriteExports(ctx, s.Family, exports.Exports, func(object client.Object, reason reasons.Reason, err error) error {
		message := "store export " + object.GetLabels()[v1alpha1.DataObjectKeyLabel]
		r.falseCondition(s, v1alpha1.CreateExportsCondition, reason, "Unable to "+message)
		return job.Wrap(err, published.HandlePhaseCompleting, reasons.CreateOrUpdateExports, message)
	})
}

// exportWriter writes the objects of Installations besides their children.
func (r *Reconciler) exportWriter() exportwriter.Writer {
	return exportwriter.Writer{Client: r.Client, Reader: r.Reader, Parallelizer: r.Parallelizer}
}

// storeCopies writes the copies of imports for the children. The error says in the status what
// could not be written. The function returns whether the job has to be stored first. The family is that of
// the snapshot, which gets its children meanwhile.
func (r *Reconciler) storeCopies(ctx context.Context, s *snapshot, f siblings.Family, copies dataflow.Exports) func() (jobFirst bool, err error) {
	tell := func() error { return nil }
	jobFirst, _ := r.exportWriter().WriteCopies(ctx, f, copies, s.PendingTrigger == "", func(object client.Object, reason reasons.Reason, err error) error {
		message := "CreateOrUpdateImports: store import " + object.GetLabels()[v1alpha1.DataObjectKeyLabel]
		tell = func() error {
			r.falseCondition(s, v1alpha1.CreateImportsCondition, reason, message)
			return job.Wrap(err, published.HandlePhaseInit, reasons.CreateImportsAndSubobjects, message)
		}
		return err
	}) // it returns the error about the object
	return func() (bool, error) { return jobFirst, tell() }
}

// externalAccess says whether work may use systems outside of the resource cluster.
type externalAccess struct {
	functions map[string]template.Function
	// asked notes that an external system is needed, where it must not be used; it is nil where it
	// may.
	asked *bool
}

// needs notes that an external system is needed. It returns whether that must not be used.
func (r externalAccess) needs() bool {
	if r.asked == nil {
		return false
	}
	*r.asked = true
	return true
}
