package installation

import (
	"errors"
	"strings"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/dataflow"
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
}

// decideMissing judges imports that refer to objects which do not exist. The job
// waits if each of them is exported by somebody who is under way; what nobody is
// about to bring ends it.
func decideMissing(missing []*dataflow.MissingError, exporters []exporter) decision {
	var errs []error
	var wake job.Wake
	coming := true
	for _, m := range missing {
		errs = append(errs, m)
		from := bringing(m.Object, exporters)
		coming = coming && len(from) > 0
		wake = wake.And(job.OnChange("Installation", from...))
	}
	all := errors.Join(errs...)
	if !coming {
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
		if e.UnderWay && e.Kind == object.Kind && e.Object == object.Written {
			names = append(names, e.Name)
		}
	}
	return names
}

// exports returns what an Installation exports.
func exports(inst *v1alpha1.Installation) []exporter {
	operation := v1alpha1.Operation(inst.Annotations[v1alpha1.OperationAnnotation])
	underWay := job.Unfinished(inst.Status.JobID, inst.Status.JobIDFinished) || wantsJob(inst, operation)
	var list []exporter
	for _, export := range inst.Spec.Exports.Data {
		list = append(list, exporter{Name: inst.Name, Kind: dataflow.KindDataObject, Object: export.DataRef, UnderWay: underWay})
	}
	for _, export := range inst.Spec.Exports.Targets {
		list = append(list, exporter{Name: inst.Name, Kind: dataflow.KindTarget, Object: export.Target, UnderWay: underWay})
	}
	return list
}
