package decide_test

import (
	"fmt"
	"runtime/debug"
	"slices"
	"testing"
	"time"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/installation/decide"
	"go.landscaper.dev/internal/installation/given"
	"go.landscaper.dev/internal/model/predicates"
	"go.landscaper.dev/internal/runtime/job"
)

// TestEveryDecisionKnowsItsWake looks at all combinations of what a decision depends
// on: whatever is not final has a reason that will wake it, and it is one that the
// controller watches.
func TestEveryDecisionKnowsItsWake(t *testing.T) {
	// Situations are short-lived garbage, and there is little else.
	defer debug.SetGCPercent(debug.SetGCPercent(800))
	phases := []v1alpha1.InstallationPhase{"", "Init", "CleanupOrphaned", "ObjectsCreated", "Progressing", "Completing", "Succeeded", "Failed", "InitDelete", "TriggerDelete", "Deleting", "DeleteFailed", "Pending", "Dancing"}
	running, ended := [][2]string{{"a", ""}, {"b", "a"}, {"b-removal", "b"}}, [][2]string{{"", ""}, {"a", "a"}}
	none := given.Option(func(*decide.Situation) {})
	common := [][]given.Option{
		{none, given.Deleting}, {none, given.Finalized},
		{none, given.Requested("reconcile"), given.Requested("interrupt"), given.Requested("abort"), given.Requested("force-reconcile"), given.Requested("data-update"), given.Annotated(v1alpha1.ReconcileIfChangedAnnotation, "true")},
	}
	itself := [][]given.Option{
		{none, given.Sub}, {none, given.Generations(2, 1)},
		{none, given.AwaitingExecution, given.WithExecution("a", "", "Progressing"), given.WithExecution("b", "b", "Succeeded"), given.WithExecution("b", "b", "Failed"),
			func(s *decide.Situation) { given.WithExecution("b", "a", "Deleting")(s); given.ExecutionDeleted(s) },
			func(s *decide.Situation) { given.WithExecution("a", "a", "Dancing")(s); given.WithoutReference(s) }},
		{none, given.Asked}, {none, given.Left, func(s *decide.Situation) { given.Left(s); given.Untidy(s) }},
		{none, given.Looked(nil), given.Looked(func(in *decide.Inputs) { in.Landscape = nil }), given.Looked(func(in *decide.Inputs) { in.Missing = given.Missing("a", "b") }),
			func(s *decide.Situation) { given.Updating(true, "x")(s); given.ImportsHashed("h", "h")(s) }, func(s *decide.Situation) { given.Updating(true, "y")(s); given.ImportsHashed("h", "h")(s) }},
	}
	family := [][]given.Option{
		{none, given.WithoutParent, given.Below("a", "a", "Succeeded"), given.Below("b", "", "Progressing"), given.Below("b", "", "Deleting")},
		{none, given.WithSub("s", "a", "a", "Succeeded"), given.WithSub("(s)", "b", "", "Init"), given.WithSub("s", "b", "b", "Failed"), given.WithStuck("s", job.WaitingReason, "m", time.Minute), given.WithStuck("s", job.BlockedReason, "m", time.Second),
			func(s *decide.Situation) { given.WithSub("s", "a", "a", "Succeeded")(s); given.Leaves("s")(s) }},
		{none, given.Removing},
		{none, given.Written("s"), func(s *decide.Situation) { given.ExportsSomething(s); given.Hopeless(s) }, func(s *decide.Situation) { given.ExportsSomething(s); given.Surveyed("s")(s) }},
		{none, given.AwaitingExecution, given.WithExecution("b", "b", "Failed")},
		{none, given.Looked(nil), given.Looked(func(in *decide.Inputs) { in.Turn.Waits = []string{"s"} })},
	}
	afterwards := [][]given.Option{
		// Whatever children there are, the job is over.
		{none, given.Sub, given.WithoutParent, given.Below("b", "", "Progressing"), given.Below("a", "a", "Succeeded")}, {none, given.Left, func(s *decide.Situation) { given.Left(s); given.Untidy(s) }}, {none, given.Generations(2, 1)},
		{none, given.Every("1h", "1h", 1), func(s *decide.Situation) { given.Every("1h", "1h", 1)(s); given.FinishedBefore(2 * time.Hour)(s) }},
		{none, given.Tells("d"), func(s *decide.Situation) { given.Tells("d")(s); given.Told("d")(s) }},
		{none, given.Triggered(predicates.Triggers{OnSpecChange: true, OnImportChange: true}), given.Importing("a", "b")},
	}
	watched := []string{"Installation", "Execution", "Context"}
	cases := 0
	var visit func(axes [][]given.Option, chosen []given.Option)
	visit = func(axes [][]given.Option, chosen []given.Option) {
		if len(axes) > 0 {
			for _, option := range axes[0] {
				visit(axes[1:], append(slices.Clip(chosen), option))
			}
			return
		}
		cases++
		s := given.Situation(chosen...)
		unfinished := job.Unfinished(s.Inst.Status.JobID, s.Inst.Status.JobIDFinished)
		d := decide.Next(s)
		problem := ""
		switch {
		case d.Do == "":
			problem = "no step"
		case !d.Wake.Recorded():
			problem = "nothing is recorded that wakes it"
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
				problem = fmt.Sprintf("%+v wakes nobody", event)
			}
		}
		if problem != "" {
			t.Fatalf("%s: %s by %s, %v; status %+v", problem, d.Do, d.Wake, d.Err, s.Inst.Status)
		}
	}
	for _, phase := range phases {
		for _, id := range running {
			visit(slices.Concat(common, itself), []given.Option{given.Jobs(id[0], id[1], phase)})
			visit(slices.Concat(common, family), []given.Option{given.Jobs(id[0], id[1], phase)})
		}
		for _, id := range ended {
			visit(slices.Concat(common, afterwards), []given.Option{given.Jobs(id[0], id[1], phase)})
		}
	}
	if cases < 10000 {
		t.Errorf("only %d cases", cases)
	}
}
