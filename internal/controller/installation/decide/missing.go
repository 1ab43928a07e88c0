package decide

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/controller/targetsync/syncplan"
	"go.landscaper.dev/internal/model/dataflow"
	"go.landscaper.dev/internal/model/siblings"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/job/published"
	"go.landscaper.dev/internal/runtime/job/reasons"
)

// ByMissing judges imports that refer to objects which do not exist. The job waits if each of them
// is exported by an Installation at work; a missing object that none is about to export ends the
// job, with the reason why it was not exported.
func ByMissing(parent *v1alpha1.Installation, in *Inputs, now time.Time) Decision {
	if siblings.IsLacking(in.Missing, in.Exporters) {
		why := ""
		if parent != nil {
			why = "neither the imports of Installation " + parent.Name + " nor the exports of its subinstallations have it"
		}
		return failure(job.Wrap(lacking(in), published.Init, reasons.ImportsSatisfied, why))
	}
	var wake job.Wake
	var sentences []string
	said := map[string]bool{}
	for _, m := range in.Missing {
		from := siblings.Awaited(m.Object, in.Exporters)
		sentence := exporting(m, from, "waiting for Installation %s, which exports", "waiting for Installations %s, which export") + " for import " + m.Import
		for _, e := range from {
			wake = wake.And(job.OnChange("Installation", e.Name).By(e.ShownAt(now)))
			if obstacle := e.Shown(now); obstacle != "" && !said[e.Name] {
				sentence, said[e.Name] = sentence+": "+obstacle, true
			}
		}
		sentences = append(sentences, sentence)
	}
	return awaiting(wake, published.Init, reasons.ImportsSatisfied, strings.Join(sentences, "; "))
}

// lacking says why missing imports do not come. Those that would have come are the last ones: no
// user has to do anything about them.
func lacking(in *Inputs) error {
	var absent, coming []error
	for _, m := range in.Missing {
		if from := siblings.Awaited(m.Object, in.Exporters); len(from) > 0 {
			coming = append(coming, fmt.Errorf("%s: import %s: %s", m.Path, m.Import, exporting(m, from, "Installation %s is about to export", "Installations %s are about to export")))
			continue
		}
		absent = append(absent, absence(m, in))
	}
	for _, cycle := range siblings.CyclesFor(in.Missing, in.Exporters) {
		absent = append(absent, errors.New("Installations wait for each other in a cycle: "+cycle))
	}
	return errors.Join(append(absent, coming...)...)
}

// exporting says which Installations are about to export an object: in the phrase about one of them,
// or the one about several. Their phases are not part of it: each of them would cost a write of
// every Installation that waits.
func exporting(m *dataflow.MissingError, from []siblings.Exporter, one, several string) string {
	names := make([]string, len(from))
	for i, e := range from {
		names[i] = e.Name
	}
	return fmt.Sprintf("%s %s %q", siblings.Phrase(names, one, several), m.Object.Kind, m.Object.Written)
}

// absence says why an object is missing: because of the Installation that exports it, or of the
// TargetSync that makes it. If neither does, the user has to create the object.
func absence(m *dataflow.MissingError, in *Inputs) error {
	object := fmt.Sprintf("%s: import %s: there is no %s %q in namespace %s", m.Path, m.Import, m.Object.Kind, m.Object.Written, m.Object.Namespace)
	for _, e := range in.Exporters {
		if e.Absence != "" && e.Exports(m.Object) {
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
