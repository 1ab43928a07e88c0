package siblings

import (
	"slices"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/model/dataflow"
	"go.landscaper.dev/internal/model/predicates"
	"go.landscaper.dev/internal/runtime/job"
)

// Exporter is an Installation that exports something which another one imports.
type Exporter struct {
	// Name is the name of the Installation.
	Name string
	// Kind and Object are what it exports, as an import refers to it.
	Kind   dataflow.Kind
	Object string
	// Active says that it has a job, or is about to get one. Its exports may still come.
	Active bool
	// Absence is why an Installation without a job has not exported it: the last job has failed, or
	// never began. It is empty if the Installation should have exported it.
	Absence string
	// Cycle is set if it waits for the importer itself, in a cycle. Then its export will not come.
	Cycle string
}

// WillExport reports whether an Installation has a job that exports, or is about to get one. One
// that is being deleted exports nothing any more.
func WillExport(inst *v1alpha1.Installation, triggers predicates.Triggers) bool {
	status := &inst.Status
	if !job.Unfinished(status.JobID, status.JobIDFinished) {
		return !predicates.BeingDeleted(inst) && predicates.RequestsJob(inst, v1alpha1.Operation(inst.Annotations[v1alpha1.OperationAnnotation]), triggers)
	}
	return !predicates.BeingDeleted(inst) || !status.InstallationPhase.IsDeletion() && !job.Starting(status.JobID, status.JobIDFinished, string(status.InstallationPhase))
}

// waitsForInputs reports whether an Installation may still wait for its imports.
func waitsForInputs(inst *v1alpha1.Installation) bool {
	status := &inst.Status
	return status.InstallationPhase == v1alpha1.InstallationPhases.Init || !job.Unfinished(status.JobID, status.JobIDFinished) ||
		job.Starting(status.JobID, status.JobIDFinished, string(status.InstallationPhase))
}

// ExportersAmong returns what the siblings of an Installation export. Those which wait in a cycle
// with it, and have not got beyond that, will not export it.
func ExportersAmong(inst *v1alpha1.Installation, siblings []*v1alpha1.Installation, among *relations, triggers predicates.Triggers) []Exporter {
	cycle, _ := among.CycleOf(inst.Name)
	var all []Exporter
	for _, sibling := range siblings {
		if sibling.Name == inst.Name {
			continue
		}
		of := Exports(sibling, triggers)
		if slices.Contains(cycle.Members, sibling.Name) && waitsForInputs(sibling) {
			for i := range of {
				of[i].Cycle = cycle.String() + ": " + cycle.Explanation()
			}
		}
		all = append(all, of...)
	}
	return all
}

// Exports returns what an Installation exports.
func Exports(inst *v1alpha1.Installation, triggers predicates.Triggers) []Exporter {
	underWay := WillExport(inst, triggers)
	why := ""
	if !underWay {
		why = absence(inst)
	}
	var list []Exporter
	for _, export := range inst.Spec.Exports.Data {
		list = append(list, Exporter{Name: inst.Name, Kind: dataflow.KindDataObject, Object: export.DataRef, Active: underWay, Absence: why})
	}
	for _, export := range inst.Spec.Exports.Targets {
		list = append(list, Exporter{Name: inst.Name, Kind: dataflow.KindTarget, Object: export.Target, Active: underWay, Absence: why})
	}
	return list
}

// absence is why an Installation for which no job runs has not exported anything.
func absence(inst *v1alpha1.Installation) string {
	status := &inst.Status
	switch {
	case predicates.BeingDeleted(inst):
		return "is being deleted"
	case status.InstallationPhase.IsFailed() && status.LastError != nil:
		return "has failed: " + status.LastError.Message
	case status.InstallationPhase.IsFailed():
		return "has failed"
	case status.JobID == "":
		return "has had no job yet: run landscaper-cli installations reconcile " + inst.Name
	}
	return ""
}

// ImportsAny reports whether an Installation may import what siblings export.
func ImportsAny(inst *v1alpha1.Installation) bool {
	return len(inst.Spec.Imports.Data)+len(inst.Spec.Imports.Targets) > 0
}
