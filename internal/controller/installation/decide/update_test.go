package decide_test

import (
	"strings"
	"testing"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/controller/installation/decide"
	"go.landscaper.dev/internal/controller/installation/testbuilders"
	"go.landscaper.dev/internal/model/predicates"
)

func TestDecideUpdate(t *testing.T) {
	running := func(options ...testbuilders.Option) []testbuilders.Option {
		return append([]testbuilders.Option{testbuilders.Finalized, testbuilders.Jobs("b", "a", "Init")}, options...)
	}
	tests := []struct {
		reason  string
		options []testbuilders.Option
		want    decide.Step
	}{
		{"a deployer requests a data update of a root", []testbuilders.Option{testbuilders.Requested("data-update"), testbuilders.Finalized, testbuilders.Jobs("a", "a", "Succeeded")}, decide.Admit},
		{"a data update waits for the running job", []testbuilders.Option{testbuilders.Requested("data-update"), testbuilders.Finalized, testbuilders.WithExecution("a", "z", "Progressing"), testbuilders.Jobs("a", "", "Progressing")}, decide.Rest},
		{"a subinstallation has no data update of its own", []testbuilders.Option{testbuilders.Sub, testbuilders.Requested("data-update"), testbuilders.Jobs("a", "a", "Succeeded")}, decide.Dismiss},
		{"a data update does not retry a failed deletion", []testbuilders.Option{testbuilders.Deleting, testbuilders.Finalized, testbuilders.Requested("data-update"), testbuilders.Jobs("a", "a", "DeleteFailed")}, decide.Dismiss},
		{"a data update reads the imports first", running(testbuilders.Updating(true, "x")), decide.ReadInputs},
		{"something that the Installation exports may have changed", running(testbuilders.Updating(true, "y", "x"), testbuilders.ImportsHashed("h", "h")), decide.Refresh},
		{"no import of the Installation has changed", running(testbuilders.Updating(true, "y"), testbuilders.ImportsHashed("h", "h")), decide.Pass},
		{"the Installation imports another value", running(testbuilders.Updating(true, "x"), testbuilders.ImportsHashed("h", "i")), decide.WriteChildren},
		{"the last job has not left the Installation as it should be", running(testbuilders.Updating(false, "x"), testbuilders.ImportsHashed("h", "h")), decide.WriteChildren},
		{"the imports of the Installation are unknown", running(testbuilders.Updating(true, "x"), testbuilders.ImportsHashed("", "")), decide.WriteChildren},
		{"a job that deploys everything", running(testbuilders.ImportsHashed("h", "h")), decide.WriteChildren},
		{"an import is missing", running(testbuilders.Updating(true, "y"), testbuilders.ImportsHashed("h", "h"), func(s *decide.Situation) { s.Inputs.Missing = testbuilders.Missing("db") }), decide.Fail},
		{"siblings come first", running(testbuilders.Updating(true, "y"), testbuilders.Below("b", "a", "Progressing"), testbuilders.ImportsHashed("h", "h"), func(s *decide.Situation) { s.Inputs.Turn.WaitsFor = []string{"c"} }), decide.Await},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			s := testbuilders.Situation(test.options...)
			if got := decide.Next(s); got.Do != test.want || !got.Wake.Recorded() {
				t.Errorf("%s by %s (%v), want %s", got.Do, got.Wake, got.Err, test.want)
			}
		})
	}
}

// TestUpdateOf: when the last job has left an Installation as it should be.
func TestUpdateOf(t *testing.T) {
	tests := []struct {
		reason  string
		options []testbuilders.Option
		want    bool
	}{
		{"the last job has succeeded", []testbuilders.Option{testbuilders.Jobs("a", "a", "Succeeded"), testbuilders.Written("s"), testbuilders.WithSub("s", "a", "a", "Succeeded"), testbuilders.WithExecution("a", "a", "Succeeded")}, true},
		{"the last job has failed", []testbuilders.Option{testbuilders.Jobs("a", "a", "Failed")}, false},
		{"there was no job", nil, false},
		{"the specification has changed", []testbuilders.Option{testbuilders.Jobs("a", "a", "Succeeded"), testbuilders.Generations(2, 1)}, false},
		{"a subinstallation does not exist any more", []testbuilders.Option{testbuilders.Jobs("a", "a", "Succeeded"), testbuilders.Written("s")}, false},
		{"a subinstallation is being deleted", []testbuilders.Option{testbuilders.Jobs("a", "a", "Succeeded"), testbuilders.Written("s"), testbuilders.WithSub("(s)", "a", "a", "Succeeded")}, false},
		{"the Execution does not exist any more", []testbuilders.Option{testbuilders.Jobs("a", "a", "Succeeded"), testbuilders.AwaitingExecution}, false},
		{"the Execution is being deleted", []testbuilders.Option{testbuilders.Jobs("a", "a", "Succeeded"), testbuilders.WithExecution("a", "a", "Succeeded"), testbuilders.ExecutionDeleted}, false},
		{"an attempt that was lost has changed the Execution", []testbuilders.Option{testbuilders.Jobs("a", "a", "Succeeded"), testbuilders.WithExecution("a", "a", "Succeeded"), func(s *decide.Situation) { s.Exec.Generation++ }}, false},
		{"an attempt that was lost has changed a subinstallation", []testbuilders.Option{testbuilders.Jobs("a", "a", "Succeeded"), testbuilders.Written("s"), testbuilders.WithSub("s", "a", "a", "Succeeded"), func(s *decide.Situation) { s.Subs[0].Generation++ }}, false},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			s := testbuilders.Situation(append(test.options, testbuilders.Annotated(v1alpha1.ChangedExportsAnnotation, "s,x"))...)
			got := decide.RequestedUpdate(s, v1alpha1.TriggeredByExports)
			if got.Unchanged != test.want || strings.Join(got.Installations, " ") != "s x" {
				t.Errorf("%+v", got)
			}
			if decide.RequestedUpdate(s, v1alpha1.TriggeredByReconcile) != nil {
				t.Error("a request for a job about everything is narrowed")
			}
		})
	}
}

// TestFollowsImports: which Installation gets a job when its imports have changed.
func TestFollowsImports(t *testing.T) {
	on, done := testbuilders.Triggered(predicates.Triggers{OnImportChange: true}), testbuilders.Jobs("a", "a", "Succeeded")
	for _, test := range []struct {
		reason  string
		options []testbuilders.Option
		want    bool
	}{
		{"a root that has run", []testbuilders.Option{on, done}, true},
		{"a root that has failed: perhaps because of what it imported", []testbuilders.Option{on, testbuilders.Jobs("a", "a", "Failed")}, true},
		{"the administrator has not switched it on", []testbuilders.Option{done}, false},
		{"the first job needs a request", []testbuilders.Option{on}, false},
		{"a request comes first", []testbuilders.Option{on, done, testbuilders.Requested("reconcile")}, false},
		{"an unknown request is left to its author", []testbuilders.Option{on, done, testbuilders.Requested("dance")}, false},
		{"the user has switched automatic jobs off", []testbuilders.Option{on, done, testbuilders.Annotated(v1alpha1.SkipAnnotation, "true")}, false},
		{"the Installation is being deleted", []testbuilders.Option{on, done, testbuilders.Deleting}, false},
		{"a subinstallation follows its parent", []testbuilders.Option{on, done, testbuilders.Sub}, false},
	} {
		t.Run(test.reason, func(t *testing.T) {
			if got := decide.FollowsImports(testbuilders.Situation(test.options...)); got != test.want {
				t.Errorf("got %t", got)
			}
		})
	}
}
