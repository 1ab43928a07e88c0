package decide_test

import (
	"fmt"
	"runtime/debug"
	"slices"
	"testing"
	"time"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/controller/installation/decide"
	"go.landscaper.dev/internal/controller/installation/testbuilders"
	"go.landscaper.dev/internal/model/predicates"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/job/reasons"
)

// TestEveryDecisionKnowsItsWake checks all combinations of what a decision depends on: each state
// that is not final has a trigger for the next reconcile, and the controller watches it.
func TestEveryDecisionKnowsItsWake(t *testing.T) {
	// Situations are short-lived garbage, and there is little else.
	defer debug.SetGCPercent(debug.SetGCPercent(800))
	phases := []v1alpha1.InstallationPhase{"", "Init", "CleanupOrphaned", "ObjectsCreated", "Progressing", "Completing", "Succeeded", "Failed", "InitDelete", "TriggerDelete", "Deleting", "DeleteFailed", "Pending", "Dancing"}
	running, ended := [][2]string{{"a", ""}, {"b", "a"}, {"b-removal", "b"}}, [][2]string{{"", ""}, {"a", "a"}}
	none := testbuilders.Option(func(*decide.Situation) {})
	common := [][]testbuilders.Option{
		{none, testbuilders.Deleting}, {none, testbuilders.Finalized},
		{none, testbuilders.Requested("reconcile"), testbuilders.Requested("interrupt"), testbuilders.Requested("abort"), testbuilders.Requested("force-reconcile"), testbuilders.Requested("data-update"), testbuilders.Annotated(v1alpha1.ReconcileIfChangedAnnotation, "true")},
	}
	itself := [][]testbuilders.Option{
		{none, testbuilders.Sub}, {none, testbuilders.Generations(2, 1)},
		{none, testbuilders.AwaitingExecution, testbuilders.WithExecution("a", "", "Progressing"), testbuilders.WithExecution("b", "b", "Succeeded"), testbuilders.WithExecution("b", "b", "Failed"),
			func(s *decide.Situation) {
				testbuilders.WithExecution("b", "a", "Deleting")(s)
				testbuilders.ExecutionDeleted(s)
			},
			func(s *decide.Situation) {
				testbuilders.WithExecution("a", "a", "Dancing")(s)
				testbuilders.WithoutReference(s)
			}},
		{none, testbuilders.ExecutionAbsent}, {none, testbuilders.PlanStored, func(s *decide.Situation) { testbuilders.PlanStored(s); testbuilders.CleanUpFailed(s) }},
		{none, testbuilders.InputsRead(nil), testbuilders.InputsRead(func(in *decide.Inputs) { in.Context = nil }), testbuilders.InputsRead(func(in *decide.Inputs) { in.Missing = testbuilders.Missing("a", "b") }),
			func(s *decide.Situation) {
				testbuilders.Updating(true, "x")(s)
				testbuilders.ImportsHashed("h", "h")(s)
			}, func(s *decide.Situation) {
				testbuilders.Updating(true, "y")(s)
				testbuilders.ImportsHashed("h", "h")(s)
			}},
	}
	family := [][]testbuilders.Option{
		{none, testbuilders.WithoutParent, testbuilders.Below("a", "a", "Succeeded"), testbuilders.Below("b", "", "Progressing"), testbuilders.Below("b", "", "Deleting")},
		{none, testbuilders.WithSub("s", "a", "a", "Succeeded"), testbuilders.WithSub("(s)", "b", "", "Init"), testbuilders.WithSub("s", "b", "b", "Failed"), testbuilders.WithStuck("s", string(reasons.Waiting), "m", time.Minute), testbuilders.WithStuck("s", string(reasons.ChildrenBlocked), "m", time.Second),
			func(s *decide.Situation) {
				testbuilders.WithSub("s", "a", "a", "Succeeded")(s)
				testbuilders.DropsSubs("s")(s)
			}},
		{none, testbuilders.Removing},
		{none, testbuilders.Written("s"), func(s *decide.Situation) { testbuilders.ExportsSomething(s); testbuilders.NeverReady(s) }, func(s *decide.Situation) { testbuilders.ExportsSomething(s); testbuilders.SiblingsChecked("s")(s) }},
		{none, testbuilders.AwaitingExecution, testbuilders.WithExecution("b", "b", "Failed")},
		{none, testbuilders.InputsRead(nil), testbuilders.InputsRead(func(in *decide.Inputs) { in.Turn.WaitsFor = []string{"s"} })},
	}
	afterwards := [][]testbuilders.Option{
		// The job is over with any children.
		{none, testbuilders.Sub, testbuilders.WithoutParent, testbuilders.Below("b", "", "Progressing"), testbuilders.Below("a", "a", "Succeeded")}, {none, testbuilders.PlanStored, func(s *decide.Situation) { testbuilders.PlanStored(s); testbuilders.CleanUpFailed(s) }}, {none, testbuilders.Generations(2, 1)},
		{none, testbuilders.Every("1h", "1h", 1), func(s *decide.Situation) {
			testbuilders.Every("1h", "1h", 1)(s)
			testbuilders.FinishedBefore(2 * time.Hour)(s)
		}},
		{none, testbuilders.WithDependents("d"), func(s *decide.Situation) { testbuilders.WithDependents("d")(s); testbuilders.WithUntriggered("d")(s) }},
		{none, testbuilders.Triggered(predicates.Triggers{OnSpecChange: true, OnImportChange: true}), testbuilders.Importing("a", "b")},
		{none, frozen("All")},
	}
	watched := []string{"Installation", "Execution", "Context", "DeliveryPolicy"}
	cases := 0
	var visit func(axes [][]testbuilders.Option, chosen []testbuilders.Option)
	visit = func(axes [][]testbuilders.Option, chosen []testbuilders.Option) {
		if len(axes) > 0 {
			for _, option := range axes[0] {
				visit(axes[1:], append(slices.Clip(chosen), option))
			}
			return
		}
		cases++
		s := testbuilders.Situation(chosen...)
		unfinished := job.Unfinished(s.Inst.Status.JobID, s.Inst.Status.JobIDFinished)
		d := decide.Next(s)
		problem := ""
		switch {
		case d.Do == "":
			problem = "no step"
		case !d.Wake.Recorded():
			problem = "no trigger for the next reconcile is recorded"
		case d.Wake.IsSettled() && unfinished:
			problem = "the job is not finished, but nothing is waited for"
		case d.Wake.ContinuesAtOnce() == (d.Do == decide.Rest || d.Do == decide.Await):
			problem = "only a step that does something goes on by itself"
		case d.Do == decide.Fail && job.OutcomeOf(d.Err) != job.Terminal:
			problem = "a failure has to be final"
		case d.Do == decide.Await && (job.OutcomeOf(d.Err) != job.Waiting || job.WakeOf(d.Err).String() != d.Wake.String()):
			problem = "a wait has to say what ends it"
		}
		for _, event := range d.Wake.Events() {
			if !slices.Contains(watched, event.Kind) || event.Name == "" {
				problem = fmt.Sprintf("%+v enqueues no Installation", event)
			}
		}
		if problem != "" {
			t.Fatalf("%s: %s by %s, %v; status %+v", problem, d.Do, d.Wake, d.Err, s.Inst.Status)
		}
	}
	for _, phase := range phases {
		for _, id := range running {
			visit(slices.Concat(common, itself), []testbuilders.Option{testbuilders.Jobs(id[0], id[1], phase)})
			visit(slices.Concat(common, family), []testbuilders.Option{testbuilders.Jobs(id[0], id[1], phase)})
		}
		for _, id := range ended {
			visit(slices.Concat(common, afterwards), []testbuilders.Option{testbuilders.Jobs(id[0], id[1], phase)})
		}
	}
	if cases < 10000 {
		t.Errorf("only %d cases", cases)
	}
}
