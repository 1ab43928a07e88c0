package predicates

import (
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/job/reasons"
)

// ExportsArePending reports whether the exports of the last job were not made.
func ExportsArePending(inst *v1alpha1.Installation) bool {
	condition := job.GetCondition(inst.Status.Conditions, v1alpha1.CreateExportsCondition)
	return condition != nil && condition.Status != v1alpha1.ConditionTrue
}

// Exporting reports whether a job has stored a plan for its exports. The export executions of a
// blueprint run also if the Installation publishes nothing, which only the condition shows.
func Exporting(inst *v1alpha1.Installation) bool {
	spec := &inst.Spec
	return ExportsArePending(inst) || len(spec.Exports.Data)+len(spec.Exports.Targets)+len(spec.ExportDataMappings) > 0
}

// BroughtUpByUs reports whether the children of a job with exports were written by this project and
// not by upstream: that is noted when the children are written.
func BroughtUpByUs(inst *v1alpha1.Installation) bool {
	condition := job.GetCondition(inst.Status.Conditions, v1alpha1.CreateExportsCondition)
	return reasons.IsExportsPending(condition) && condition.Status == v1alpha1.ConditionUnknown
}

// HasDependentsToTrigger reports whether dependents are still to be triggered.
func HasDependentsToTrigger(inst *v1alpha1.Installation) bool {
	return len(inst.Status.DependentsToTrigger) > 0 && IsRoot(inst) && !BeingDeleted(inst)
}
