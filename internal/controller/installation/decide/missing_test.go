package decide_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/controller/installation/decide"
	"go.landscaper.dev/internal/controller/installation/testbuilders"
	"go.landscaper.dev/internal/model/dataflow"
	"go.landscaper.dev/internal/model/siblings"
	"go.landscaper.dev/internal/runtime/job/reasons"
)

// at is the time of the decisions.
var at = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// exporter is an Installation at work that exports a DataObject, and has been in its phase for a
// minute.
func exporter(name, object string, change ...func(*siblings.Exporter)) siblings.Exporter {
	e := siblings.Exporter{Name: name, Kind: dataflow.KindDataObject, Object: object, Active: true, Since: at.Add(-time.Minute)}
	for _, alter := range change {
		alter(&e)
	}
	return e
}

func idle(e *siblings.Exporter)     { e.Active = false }
func asTarget(e *siblings.Exporter) { e.Kind = dataflow.KindTarget }

func blockedFor(lasting time.Duration, obstacle string) func(*siblings.Exporter) {
	return func(e *siblings.Exporter) { e.Obstacle, e.Since = obstacle, at.Add(-lasting) }
}

// TestDecideMissing: a job waits for an import as long as a sibling is about to export it, and only
// an import that none is about to export is to be created.
func TestDecideMissing(t *testing.T) {
	const (
		waits     = `waiting for Installation a, which exports DataObject "db" for import db`
		waitsDNS  = `waiting for Installation a, which exports DataObject "dns" for import dns`
		absentDB  = `spec.imports.data[0].dataRef: import db: there is no DataObject "db" in namespace n: create it, or correct the reference`
		absentDNS = `spec.imports.data[0].dataRef: import dns: there is no DataObject "dns" in namespace n: create it, or correct the reference`
	)
	for _, test := range []struct {
		reason    string
		missing   []*dataflow.MissingError
		exporters []siblings.Exporter
		want      decide.Step
		wake      string
		message   string
	}{
		{"no sibling exports the import", testbuilders.Missing("db"), nil, decide.Fail, "the step itself", absentDB},
		{"the exporter is at work", testbuilders.Missing("db"), []siblings.Exporter{exporter("a", "db")}, decide.Await, "Installation a", waits},
		{"the exporter has ended without the export", testbuilders.Missing("db"), []siblings.Exporter{exporter("a", "db", idle)}, decide.Fail, "the step itself", absentDB},
		{"two siblings export the import", testbuilders.Missing("db"), []siblings.Exporter{exporter("a", "db"), exporter("b", "db")}, decide.Await, "Installation a, Installation b", `waiting for Installations a, b, which export DataObject "db" for import db`},
		{"each import has another exporter", testbuilders.Missing("db", "dns"), []siblings.Exporter{exporter("b", "db"), exporter("a", "dns")}, decide.Await, "Installation b, Installation a", `waiting for Installation b, which exports DataObject "db" for import db; ` + waitsDNS},
		{"no sibling exports one of two imports", testbuilders.Missing("db", "dns"), []siblings.Exporter{exporter("a", "db")}, decide.Fail, "the step itself", absentDNS + "\n" + `spec.imports.data[0].dataRef: import db: Installation a is about to export DataObject "db"`},
		{"a Target of the name is something else", testbuilders.Missing("db"), []siblings.Exporter{exporter("a", "db", asTarget)}, decide.Fail, "the step itself", absentDB},
		{"the exporter is blocked", testbuilders.Missing("db"), []siblings.Exporter{exporter("a", "db", blockedFor(time.Minute, "check open fails; at item one on Target north"))}, decide.Await, "Installation a", waits + ": check open fails; at item one on Target north"},
		{"the exporter is blocked at two places", testbuilders.Missing("db"), []siblings.Exporter{exporter("a", "db", blockedFor(time.Minute, "x\ny"))}, decide.Await, "Installation a", waits + ": x; y"},
		{"the exporter has been blocked for a moment", testbuilders.Missing("db"), []siblings.Exporter{exporter("a", "db", blockedFor(time.Second, "x"))}, decide.Await, "Installation a, the time 2026-01-01T12:00:04Z", waits},
		{"the exporter of two imports is blocked", testbuilders.Missing("db", "dns"), []siblings.Exporter{exporter("a", "db", blockedFor(time.Minute, "x")), exporter("a", "dns", blockedFor(time.Minute, "x"))}, decide.Await, "Installation a, Installation a", waits + ": x; " + waitsDNS},
	} {
		t.Run(test.reason, func(t *testing.T) {
			got := decide.ByMissing(nil, &decide.Inputs{Missing: test.missing, Exporters: test.exporters}, at)
			if got.Do != test.want || got.Wake.String() != test.wake || got.Err.Error() != test.message {
				t.Errorf("%s by %s: %v", got.Do, got.Wake, got.Err)
			}
		})
	}
}

// TestAbsence: which object should have brought a missing import, and why it did not.
func TestAbsence(t *testing.T) {
	target := &dataflow.MissingError{Path: "spec.imports.targets[0].target", Import: "cluster", Object: dataflow.Object{Kind: dataflow.KindTarget, Name: "blue", Written: "blue", Namespace: "n"}}
	sync := func(change func(*v1alpha1.TargetSync)) *v1alpha1.TargetSync {
		s := &v1alpha1.TargetSync{}
		s.Namespace, s.Name, s.Spec.SourceNamespace, s.Spec.ShootNameExpression = "n", "garden", "garden-team", "*"
		s.Status.Conditions = []v1alpha1.Condition{{Type: v1alpha1.TargetSyncReady, Status: v1alpha1.ConditionTrue}}
		change(s)
		return s
	}
	syncs := func(change func(*v1alpha1.TargetSync)) decide.Inputs {
		return decide.Inputs{Missing: []*dataflow.MissingError{target}, Syncs: []*v1alpha1.TargetSync{sync(change)}}
	}
	data := func(exporters ...siblings.Exporter) decide.Inputs {
		return decide.Inputs{Missing: testbuilders.Missing("db"), Exporters: exporters}
	}
	const head, headTarget = `spec.imports.data[0].dataRef: import db: there is no DataObject "db" in namespace n: `, `spec.imports.targets[0].target: import cluster: there is no Target "blue" in namespace n: `
	for _, test := range []struct {
		reason string
		in     decide.Inputs
		want   string
	}{
		{"no object brings the import", data(), head + "create it, or correct the reference"},
		{"the exporter has failed", data(siblings.Exporter{Name: "a", Kind: dataflow.KindDataObject, Object: "db", Absence: "has failed: no such image; at item web on Target prod"}), head + "Installation a exports it, and has failed: no such image; at item web on Target prod"},
		{"the exporter has had no job", data(siblings.Exporter{Name: "a", Kind: dataflow.KindDataObject, Object: "db", Absence: "has had no job yet: run x"}), head + "Installation a exports it, and has had no job yet: run x"},
		{"the exporter of a Target of the name has failed", data(siblings.Exporter{Name: "a", Kind: dataflow.KindTarget, Object: "db", Absence: "has failed"}), head + "create it, or correct the reference"},
		{"the exporter has succeeded without the export", data(siblings.Exporter{Name: "a", Kind: dataflow.KindDataObject, Object: "db"}), head + "create it, or correct the reference"},
		{"a TargetSync says why it has not made the Target", syncs(func(s *v1alpha1.TargetSync) {
			s.Status.Items = []v1alpha1.TargetSyncItem{{Name: "blue", State: v1alpha1.TargetSyncItemSkipped, Message: "the shoot has no address yet"}}
		}), headTarget + "TargetSync garden makes it, and says of it: Skipped: the shoot has no address yet"},
		{"a TargetSync has failed as a whole", syncs(func(s *v1alpha1.TargetSync) {
			s.Status.LastErrors = []string{"Secret garden cannot be found"}
		}), headTarget + "TargetSync garden makes it, and has failed: Secret garden cannot be found"},
		{"a TargetSync has not run yet", syncs(func(s *v1alpha1.TargetSync) { s.Status.Conditions = nil }), headTarget + "TargetSync garden makes it, and is not ready: it has not run yet"},
		{"a TargetSync that is not ready", syncs(func(s *v1alpha1.TargetSync) {
			s.Status.Conditions = []v1alpha1.Condition{{Type: v1alpha1.TargetSyncReady, Status: v1alpha1.ConditionFalse, Message: "the source cannot be reached"}}
		}), headTarget + "TargetSync garden makes it, and is not ready: the source cannot be reached"},
		{"the source has no such shoot", syncs(func(*v1alpha1.TargetSync) {}), headTarget + "TargetSync garden would make it, and there is no shoot of this name in namespace garden-team of its source: create the shoot, or the Target, or correct the reference"},
		{"the source has no such Secret", syncs(func(s *v1alpha1.TargetSync) { s.Spec.ShootNameExpression, s.Spec.SecretNameExpression = "", "^blue$" }), headTarget + "TargetSync garden would make it, and there is no Secret of this name in namespace garden-team of its source: create the Secret, or the Target, or correct the reference"},
		{"the Target to the source itself", syncs(func(s *v1alpha1.TargetSync) {
			s.Spec.ShootNameExpression, s.Spec.CreateTargetToSource, s.Spec.TargetToSourceName = "", true, "blue"
			s.Status.LastErrors = []string{"x"}
		}), headTarget + "TargetSync garden makes it, and has failed: x"},
		{"a TargetSync that selects others", syncs(func(s *v1alpha1.TargetSync) { s.Spec.ShootNameExpression = "^red$" }), headTarget + "create it, or correct the reference"},
		{"a TargetSync whose expression is wrong", syncs(func(s *v1alpha1.TargetSync) { s.Spec.ShootNameExpression = "(" }), headTarget + "create it, or correct the reference"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			if got := decide.ByMissing(nil, &test.in, at); got.Do != decide.Fail || got.Err.Error() != test.want {
				t.Errorf("%s: %v, want %s", got.Do, got.Err, test.want)
			}
		})
	}
}

// TestChildrenError: the parent names the causes, and not the failures that follow from them.
func TestChildrenError(t *testing.T) {
	failed := func(name, reason, message string) testbuilders.Option {
		return func(s *decide.Situation) {
			testbuilders.WithSub(name, "a", "a", "Failed")(s)
			s.Subs[len(s.Subs)-1].Status.LastError = &v1alpha1.Error{Reason: reason, Message: message}
		}
	}
	for _, test := range []struct {
		reason  string
		options []testbuilders.Option
		want    string
	}{
		{"the cause, without what follows", []testbuilders.Option{failed("b", "TemplatingFailed", "no capacity"), failed("c", string(reasons.AllPredecessorsSucceeded), "depending on b"), testbuilders.WithSub("d", "a", "a", "Succeeded")}, "no capacity; in b"},
		{"several causes", []testbuilders.Option{failed("b", "x", "1"), failed("c", "x", "2"), failed("d", "x", "3"), failed("e", "x", "4"), failed("f", "x", "5")}, "1; in b\n2; in c\n3; in d\nand 2 more"},
		{"a subinstallation was removed by another client", []testbuilders.Option{testbuilders.Written("b")}, "Installation b was deleted by another client during the job: start another job with the annotation landscaper.gardener.cloud/operation: reconcile"},
		{"the Execution was removed by another client", []testbuilders.Option{testbuilders.AwaitingExecution, testbuilders.ExecutionAbsent}, "Execution x was deleted by another client during the job: start another job with the annotation landscaper.gardener.cloud/operation: reconcile"},
		{"the Execution has failed as well as a subinstallation", []testbuilders.Option{failed("b", "x", "1"), testbuilders.WithExecution("a", "a", "Failed"), func(s *decide.Situation) { s.Exec.Status.LastError = &v1alpha1.Error{Message: "2"} }}, "1; in b\n2"},
		{"a long message is cut", []testbuilders.Option{failed("b", "x", strings.Repeat("y", 3000))}, strings.Repeat("y", 1000) + " ...; in b"},
		{"many", slices.Repeat([]testbuilders.Option{failed("b", string(reasons.AllPredecessorsSucceeded), "x")}, 25), "x; in b"},
		{"no causes", []testbuilders.Option{testbuilders.WithSub("b", "a", "a", "Succeeded")}, ""},
	} {
		t.Run(test.reason, func(t *testing.T) {
			got := ""
			if err := decide.Next(testbuilders.Situation(append(test.options, testbuilders.Finalized, testbuilders.Jobs("a", "", "Progressing"), testbuilders.Traced)...)).Err; err != nil {
				got = err.Error()
			}
			if got != test.want {
				t.Errorf("got %q", got)
			}
		})
	}
}

// TestSayWhoImports: the message of a deletion that waits names the importers, and the annotation
// that lets it start before them.
func TestSayWhoImports(t *testing.T) {
	const head, tail = "a sibling still imports some of the exports: waiting until ", " with the annotation landscaper.gardener.cloud/delete-ignore-successors=true"
	for _, test := range []struct {
		reason    string
		importers []string
		want      string
	}{
		{"one imports", []string{"b"}, "Installation b is deleted: delete it, or let this Installation go before it"},
		{"several import", []string{"b", "c"}, "Installations b, c are deleted: delete them, or let this Installation go before them"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			got := decide.Next(testbuilders.Situation(testbuilders.Deleting, testbuilders.Finalized, testbuilders.ExportsSomething, testbuilders.SiblingsChecked(test.importers...), testbuilders.Jobs("a", "z", "InitDelete"))).Err
			if want := head + test.want + tail; got == nil || got.Error() != want {
				t.Errorf("got %v, want %s", got, want)
			}
		})
	}
}
