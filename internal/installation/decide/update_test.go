package decide_test

import (
	"strings"
	"testing"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/installation/decide"
	"go.landscaper.dev/internal/installation/given"
	"go.landscaper.dev/internal/model/predicates"
)

func TestDecideUpdate(t *testing.T) {
	running := func(options ...given.Option) []given.Option {
		return append([]given.Option{given.Finalized, given.Jobs("b", "a", "Init")}, options...)
	}
	tests := []struct {
		reason  string
		options []given.Option
		want    decide.Step
	}{
		{"a deployer asks a root for it", []given.Option{given.Requested("data-update"), given.Finalized, given.Jobs("a", "a", "Succeeded")}, decide.Admit},
		{"it waits for the running job", []given.Option{given.Requested("data-update"), given.Finalized, given.WithExecution("a", "z", "Progressing"), given.Jobs("a", "", "Progressing")}, decide.Rest},
		{"a subinstallation has none of its own", []given.Option{given.Sub, given.Requested("data-update"), given.Jobs("a", "a", "Succeeded")}, decide.Dismiss},
		{"what could not be deleted is not tried again by it", []given.Option{given.Deleting, given.Finalized, given.Requested("data-update"), given.Jobs("a", "a", "DeleteFailed")}, decide.Dismiss},
		{"first it is looked what is imported", running(given.Updating(true, "x")), decide.Look},
		{"something that the Installation exports may have changed", running(given.Updating(true, "y", "x"), given.ImportsHashed("h", "h")), decide.CarryOn},
		{"nothing of it has changed", running(given.Updating(true, "y"), given.ImportsHashed("h", "h")), decide.Pass},
		{"it imports another value", running(given.Updating(true, "x"), given.ImportsHashed("h", "i")), decide.BringUp},
		{"its last job has not left it as it should be", running(given.Updating(false, "x"), given.ImportsHashed("h", "h")), decide.BringUp},
		{"nobody knows what it imports", running(given.Updating(true, "x"), given.ImportsHashed("", "")), decide.BringUp},
		{"a job about everything", running(given.ImportsHashed("h", "h")), decide.BringUp},
		{"an import is missing", running(given.Updating(true, "y"), given.ImportsHashed("h", "h"), func(s *decide.Situation) { s.Inputs.Missing = given.Missing("db") }), decide.Fail},
		{"siblings come first", running(given.Updating(true, "y"), given.Below("b", "a", "Progressing"), given.ImportsHashed("h", "h"), func(s *decide.Situation) { s.Inputs.Turn.Waits = []string{"c"} }), decide.Await},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			s := given.Situation(test.options...)
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
		options []given.Option
		want    bool
	}{
		{"it has succeeded", []given.Option{given.Jobs("a", "a", "Succeeded"), given.Written("s"), given.WithSub("s", "a", "a", "Succeeded"), given.WithExecution("a", "a", "Succeeded")}, true},
		{"it has failed", []given.Option{given.Jobs("a", "a", "Failed")}, false},
		{"there was none", nil, false},
		{"the specification has changed", []given.Option{given.Jobs("a", "a", "Succeeded"), given.Generations(2, 1)}, false},
		{"a subinstallation is gone", []given.Option{given.Jobs("a", "a", "Succeeded"), given.Written("s")}, false},
		{"a subinstallation is to go", []given.Option{given.Jobs("a", "a", "Succeeded"), given.Written("s"), given.WithSub("(s)", "a", "a", "Succeeded")}, false},
		{"the Execution is gone", []given.Option{given.Jobs("a", "a", "Succeeded"), given.AwaitingExecution}, false},
		{"the Execution is being deleted", []given.Option{given.Jobs("a", "a", "Succeeded"), given.WithExecution("a", "a", "Succeeded"), given.ExecutionDeleted}, false},
		{"an attempt that was lost has changed the Execution", []given.Option{given.Jobs("a", "a", "Succeeded"), given.WithExecution("a", "a", "Succeeded"), func(s *decide.Situation) { s.Exec.Generation++ }}, false},
		{"or a subinstallation", []given.Option{given.Jobs("a", "a", "Succeeded"), given.Written("s"), given.WithSub("s", "a", "a", "Succeeded"), func(s *decide.Situation) { s.Subs[0].Generation++ }}, false},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			s := given.Situation(append(test.options, given.Annotated(v1alpha1.ChangedExportsAnnotation, "s,x"))...)
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

// TestFollowsImports: who gets a job when what it imports has changed.
func TestFollowsImports(t *testing.T) {
	on, done := given.Triggered(predicates.Triggers{OnImportChange: true}), given.Jobs("a", "a", "Succeeded")
	for _, test := range []struct {
		reason  string
		options []given.Option
		want    bool
	}{
		{"a root that has run", []given.Option{on, done}, true},
		{"a root that has failed: perhaps because of what it imported", []given.Option{on, given.Jobs("a", "a", "Failed")}, true},
		{"the administrator has not switched it on", []given.Option{done}, false},
		{"the first job is somebody's wish", []given.Option{on}, false},
		{"a request comes first", []given.Option{on, done, given.Requested("reconcile")}, false},
		{"a request that nobody knows is left to its author", []given.Option{on, done, given.Requested("dance")}, false},
		{"the user has switched automatic jobs off", []given.Option{on, done, given.Annotated(v1alpha1.SkipAnnotation, "true")}, false},
		{"it is being deleted", []given.Option{on, done, given.Deleting}, false},
		{"a subinstallation follows its parent", []given.Option{on, done, given.Sub}, false},
	} {
		t.Run(test.reason, func(t *testing.T) {
			if got := decide.FollowsImports(given.Situation(test.options...)); got != test.want {
				t.Errorf("got %t", got)
			}
		})
	}
}
