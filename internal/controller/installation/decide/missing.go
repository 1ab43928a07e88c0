package decide

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/controller/targetsync/syncplan"
	"go.landscaper.dev/internal/model/dataflow"
	"go.landscaper.dev/internal/model/siblings"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/job/published"
)

// ByMissing judges imports that refer to objects which do not exist. The job waits if each of them
// is exported by an Installation at work; a missing object that none is about to export ends the
// job, with the reason why it was not exported.
func ByMissing(parent *v1alpha1.Installation, in *Inputs) Decision {
	var errs []error
	var wake job.Wake
	coming := true
	for _, m := range in.Missing {
		from := exportersOf(m.Object, in.Exporters)
		coming = coming && len(from) > 0
		wake = wake.And(job.OnChange("Installation", from...))
		if len(from) > 0 {
			errs = append(errs, m)
			continue
		}
		errs = append(errs, absence(m, in))
	}
	errs = append(errs, cycles(in.Missing, in.Exporters)...)
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
	return awaiting(wake, published.Init, "ImportsSatisfied", "waiting for Installations "+strings.Join(blockers, ", ")+", which export the missing objects: "+all.Error())
}

// exports reports whether an Installation exports an object.
func exports(e siblings.Exporter, object dataflow.Object) bool {
	return e.Kind == object.Kind && e.Object == object.Written
}

// exportersOf returns the Installations that are about to export an object.
func exportersOf(object dataflow.Object, exporters []siblings.Exporter) []string {
	var names []string
	for _, e := range exporters {
		if e.Active && e.Cycle == "" && exports(e, object) {
			names = append(names, e.Name)
		}
	}
	return names
}

// absence says why an object is missing: because of the Installation that exports it, or of the
// TargetSync that makes it. If neither does, the user has to create the object.
func absence(m *dataflow.MissingError, in *Inputs) error {
	object := fmt.Sprintf("%s: import %s: there is no %s %q in namespace %s", m.Path, m.Import, m.Object.Kind, m.Object.Written, m.Object.Namespace)
	for _, e := range in.Exporters {
		if e.Absence != "" && exports(e, m.Object) {
			return fmt.Errorf("%s: Installation %s exports it, and %s", object, e.Name, e.Absence)
		}
	}
	if m.Object.Kind == dataflow.KindTarget {
		for _, sync := range in.Syncs {
			if sync.Namespace == m.Object.Namespace && makes(sync, m.Object.Name) {
				return fmt.Errorf("%s: %s", object, unsynced(sync, m.Object.Name))
			}
		}
	}
	return m
}

// makes reports whether a TargetSync makes a Target of a name, if its source has the object for it.
func makes(sync *v1alpha1.TargetSync, target string) bool {
	spec := &sync.Spec
	if spec.CreateTargetToSource && target == cmp.Or(spec.TargetToSourceName, spec.SourceNamespace) {
		return true
	}
	for _, expression := range []string{spec.ShootNameExpression, spec.SecretNameExpression} {
		if selects, err := syncplan.Names(expression); err == nil && selects(target) {
			return true
		}
	}
	return false
}

// unsynced says why a TargetSync has not made a Target.
func unsynced(sync *v1alpha1.TargetSync, target string) string {
	status := &sync.Status
	if at := slices.IndexFunc(status.Items, func(item v1alpha1.TargetSyncItem) bool { return item.Name == target }); at >= 0 {
		return fmt.Sprintf("TargetSync %s makes it, and says of it: %s: %s", sync.Name, status.Items[at].State, cmp.Or(status.Items[at].Message, "see its status"))
	}
	if len(status.LastErrors) > 0 {
		return fmt.Sprintf("TargetSync %s makes it, and has failed: %s", sync.Name, status.LastErrors[0])
	}
	if ready := job.GetCondition(status.Conditions, v1alpha1.TargetSyncReady); ready == nil || ready.Status != v1alpha1.ConditionTrue {
		message := "it has not run yet"
		if ready != nil {
			message = ready.Message
		}
		return fmt.Sprintf("TargetSync %s makes it, and is not ready: %s", sync.Name, message)
	}
	what := "shoot"
	if sync.Spec.SecretNameExpression != "" {
		what = "Secret"
	}
	return fmt.Sprintf("TargetSync %s would make it, and there is no %s of this name in namespace %s of its source: create the %s, or the Target, or correct the reference", sync.Name, what, sync.Spec.SourceNamespace, what)
}

// cycles returns an error for each cycle of the importer and the exporters of missing objects.
func cycles(missing []*dataflow.MissingError, exporters []siblings.Exporter) []error {
	var said []string
	for _, m := range missing {
		for _, e := range exporters {
			if e.Cycle != "" && exports(e, m.Object) && !slices.Contains(said, e.Cycle) {
				said = append(said, e.Cycle)
			}
		}
	}
	errs := make([]error, len(said))
	for i, cycle := range said {
		errs[i] = errors.New("Installations wait for each other in a cycle: " + cycle)
	}
	return errs
}
