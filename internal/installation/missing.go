package installation

import (
	"errors"
	"slices"
	"strings"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/dataflow"
	"go.landscaper.dev/internal/installation/facts"
	"go.landscaper.dev/internal/job"
)

// exporter is an Installation that exports something which another one imports.
type exporter struct {
	// Name is the name of the Installation.
	Name string
	// Kind and Object are what it exports, as an import refers to it.
	Kind   dataflow.Kind
	Object string
	// UnderWay says that it has a job, or is about to get one. What it exports may
	// still come.
	UnderWay bool
	// Circle is set if it waits for the importer itself, in a circle. Then it will not
	// come.
	Circle string
}

// decideMissing judges imports that refer to objects which do not exist. The job
// waits if each of them is exported by somebody who is under way; what nobody is
// about to bring ends it.
func decideMissing(parent *v1alpha1.Installation, missing []*dataflow.MissingError, exporters []exporter) decision {
	var errs []error
	var wake job.Wake
	coming := true
	for _, m := range missing {
		errs = append(errs, m)
		from := bringing(m.Object, exporters)
		coming = coming && len(from) > 0
		wake = wake.And(job.OnChange("Installation", from...))
	}
	errs = append(errs, circles(missing, exporters)...)
	all := errors.Join(errs...)
	switch {
	case !coming && parent != nil:
		return failure(job.Wrap(all, "init", "ImportsSatisfied", "neither the imports of Installation "+parent.Name+" nor the exports of its subinstallations have it"))
	case !coming:
		return failure(job.Wrap(all, "init", "ImportsSatisfied", ""))
	}
	var blockers []string
	for _, event := range wake.Events() {
		blockers = append(blockers, event.Name)
	}
	return awaiting(wake, "init", "ImportsSatisfied", "waiting for Installations "+strings.Join(blockers, ", ")+", which export what is missing: "+all.Error())
}

// bringing returns the Installations that are about to bring an object.
func bringing(object dataflow.Object, exporters []exporter) []string {
	var names []string
	for _, e := range exporters {
		if e.UnderWay && e.Circle == "" && e.Kind == object.Kind && e.Object == object.Written {
			names = append(names, e.Name)
		}
	}
	return names
}

// willExport reports whether an Installation has a job that exports, or is about to get
// one. One that is being deleted brings nothing any more.
func willExport(inst *v1alpha1.Installation, triggers facts.Triggers) bool {
	status := &inst.Status
	if !job.Unfinished(status.JobID, status.JobIDFinished) {
		return !facts.BeingDeleted(inst) && facts.WantsJob(inst, v1alpha1.Operation(inst.Annotations[v1alpha1.OperationAnnotation]), triggers)
	}
	return !facts.BeingDeleted(inst) || !status.InstallationPhase.IsDeletion() && !job.Starting(status.JobID, status.JobIDFinished, string(status.InstallationPhase))
}

// circles tells which exporters of what is missing wait for the importer themselves.
func circles(missing []*dataflow.MissingError, exporters []exporter) []error {
	var said []string
	for _, m := range missing {
		for _, e := range exporters {
			if e.Circle != "" && e.Kind == m.Object.Kind && e.Object == m.Object.Written && !slices.Contains(said, e.Circle) {
				said = append(said, e.Circle)
			}
		}
	}
	errs := make([]error, len(said))
	for i, circle := range said {
		errs[i] = errors.New("Installations wait for each other in a circle: " + circle)
	}
	return errs
}

// exportersAmong returns what the siblings of an Installation export. Those which wait
// in a circle with it, and have not got beyond that, will not bring it.
func exportersAmong(inst *v1alpha1.Installation, siblings []*v1alpha1.Installation, among *relatives, triggers facts.Triggers) []exporter {
	cycle, _ := among.circleOf(inst.Name)
	var all []exporter
	for _, sibling := range siblings {
		if sibling.Name == inst.Name {
			continue
		}
		of := exports(sibling, triggers)
		if slices.Contains(cycle.Members, sibling.Name) && waitsForInputs(sibling) {
			for i := range of {
				of[i].Circle = cycle.String() + ": " + cycle.Explanation()
			}
		}
		all = append(all, of...)
	}
	return all
}

// waitsForInputs reports whether an Installation may still wait for its imports.
func waitsForInputs(inst *v1alpha1.Installation) bool {
	status := &inst.Status
	return status.InstallationPhase == v1alpha1.InstallationPhases.Init || !job.Unfinished(status.JobID, status.JobIDFinished) ||
		job.Starting(status.JobID, status.JobIDFinished, string(status.InstallationPhase))
}

// exports returns what an Installation exports.
func exports(inst *v1alpha1.Installation, triggers facts.Triggers) []exporter {
	underWay := willExport(inst, triggers)
	var list []exporter
	for _, export := range inst.Spec.Exports.Data {
		list = append(list, exporter{Name: inst.Name, Kind: dataflow.KindDataObject, Object: export.DataRef, UnderWay: underWay})
	}
	for _, export := range inst.Spec.Exports.Targets {
		list = append(list, exporter{Name: inst.Name, Kind: dataflow.KindTarget, Object: export.Target, UnderWay: underWay})
	}
	return list
}
