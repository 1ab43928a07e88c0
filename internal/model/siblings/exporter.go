package siblings

import (
	"slices"
	"strings"
	"time"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/model/dataflow"
	"go.landscaper.dev/internal/model/predicates"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/job/cause"
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
	// Obstacle is what keeps its job from going on, with the path to the cause, and Since when its
	// phase began.
	Obstacle string
	Since    time.Time
	// Absence is why an Installation without a job has not exported it: the last job has failed, or
	// never began. It is empty if the Installation should have exported it.
	Absence string
	// Cycle is set if it waits for the importer itself, in a cycle. Then its export will not come.
	Cycle string
}

// Exports reports whether it exports an object.
func (e Exporter) Exports(object dataflow.Object) bool {
	return e.Kind == object.Kind && e.Object == object.Written
}

// Awaited returns those that are about to export an object, so that its importers wait for them.
func Awaited(object dataflow.Object, exporters []Exporter) []Exporter {
	return slices.DeleteFunc(slices.Clone(exporters), func(e Exporter) bool {
		return !e.Active || e.Cycle != "" || !e.Exports(object)
	})
}

// IsLacking reports whether an import is missing that no Installation is about to export.
func IsLacking(missing []*dataflow.MissingError, exporters []Exporter) bool {
	return slices.ContainsFunc(missing, func(m *dataflow.MissingError) bool { return len(Awaited(m.Object, exporters)) == 0 })
}

// CyclesFor returns the cycles of the importer and the exporters of missing objects, each once.
func CyclesFor(missing []*dataflow.MissingError, exporters []Exporter) []string {
	var cycles []string
	for _, m := range missing {
		for _, e := range exporters {
			if e.Cycle != "" && e.Exports(m.Object) && !slices.Contains(cycles, e.Cycle) {
				cycles = append(cycles, e.Cycle)
			}
		}
	}
	return cycles
}

// Shown is what keeps an exporter from going on, if that has lasted long enough: most waits are over
// by then, and cost no write of those that import from it.
func (e Exporter) Shown(now time.Time) string {
	if e.Since.Add(job.Settling).After(now) {
		return ""
	}
	return cause.Cause{Message: strings.ReplaceAll(e.Obstacle, "\n", "; ")}.String()
}

// ShownAt is when an obstacle is to be shown that is not yet; zero without one.
func (e Exporter) ShownAt(now time.Time) time.Time {
	if e.Obstacle == "" || e.Shown(now) != "" {
		return time.Time{}
	}
	return e.Since.Add(job.Settling)
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
	of := Exporter{Name: inst.Name, Active: WillExport(inst, triggers)}
	if of.Active {
		of.describe(inst)
	} else {
		of.Absence = absence(inst)
	}
	var list []Exporter
	for _, export := range inst.Spec.Exports.Data {
		of.Kind, of.Object = dataflow.KindDataObject, export.DataRef
		list = append(list, of)
	}
	for _, export := range inst.Spec.Exports.Targets {
		of.Kind, of.Object = dataflow.KindTarget, export.Target
		list = append(list, of)
	}
	return list
}

// describe says what the job of an Installation waits for. Before the job has begun, the status is
// that of the job before.
func (e *Exporter) describe(inst *v1alpha1.Installation) {
	status := &inst.Status
	if !job.Unfinished(status.JobID, status.JobIDFinished) || job.Starting(status.JobID, status.JobIDFinished, string(status.InstallationPhase)) {
		return
	}
	e.Obstacle = job.Obstacle(status.Conditions)
	if status.PhaseTransitionTime != nil {
		e.Since = status.PhaseTransitionTime.Time
	}
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
