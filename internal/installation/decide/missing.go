package decide

import (
	"errors"
	"slices"
	"strings"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/dataflow"
	"go.landscaper.dev/internal/installation/kin"
	"go.landscaper.dev/internal/job"
	"go.landscaper.dev/internal/job/published"
)

// ByMissing judges imports that refer to objects which do not exist. The job
// waits if each of them is exported by somebody who is under way; what nobody is
// about to bring ends it.
func ByMissing(parent *v1alpha1.Installation, missing []*dataflow.MissingError, exporters []kin.Exporter) Decision {
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
		return failure(job.Wrap(all, published.Init, "ImportsSatisfied", "neither the imports of Installation "+parent.Name+" nor the exports of its subinstallations have it"))
	case !coming:
		return failure(job.Wrap(all, published.Init, "ImportsSatisfied", ""))
	}
	var blockers []string
	for _, event := range wake.Events() {
		blockers = append(blockers, event.Name)
	}
	return awaiting(wake, published.Init, "ImportsSatisfied", "waiting for Installations "+strings.Join(blockers, ", ")+", which export what is missing: "+all.Error())
}

// bringing returns the Installations that are about to bring an object.
func bringing(object dataflow.Object, exporters []kin.Exporter) []string {
	var names []string
	for _, e := range exporters {
		if e.UnderWay && e.Circle == "" && e.Kind == object.Kind && e.Object == object.Written {
			names = append(names, e.Name)
		}
	}
	return names
}

// circles tells which exporters of what is missing wait for the importer themselves.
func circles(missing []*dataflow.MissingError, exporters []kin.Exporter) []error {
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
