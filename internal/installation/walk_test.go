package installation

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/installation/decide"
	"go.landscaper.dev/internal/installation/facts"
	"go.landscaper.dev/internal/job"
)

// TestEveryDecisionKnowsItsWake looks at all combinations of what a decision depends
// on: whatever is not final has a reason that will wake it, and it is one that the
// controller watches.
func TestEveryDecisionKnowsItsWake(t *testing.T) {
	phases := []v1alpha1.InstallationPhase{"", "Init", "CleanupOrphaned", "ObjectsCreated", "Progressing", "Completing", "Succeeded", "Failed", "InitDelete", "TriggerDelete", "Deleting", "DeleteFailed", "Pending", "Dancing"}
	running, ended := [][2]string{{"a", ""}, {"b", "a"}}, [][2]string{{"", ""}, {"a", "a"}}
	none := option(func(*decide.Situation) {})
	common := [][]option{
		{none, deleting}, {none, finalized},
		{none, requested("reconcile"), requested("interrupt"), requested("abort"), requested("force-reconcile"), requested("data-update"), annotated(v1alpha1.ReconcileIfChangedAnnotation, "true")},
	}
	itself := [][]option{
		{none, sub}, {none, generations(2, 1)},
		{none, awaitingExecution, withExecution("a", "", "Progressing"), withExecution("b", "b", "Succeeded"), withExecution("b", "b", "Failed"),
			func(s *decide.Situation) { withExecution("a", "a", "Dancing")(s); withoutReference(s) }},
		{none, asked}, {none, left, func(s *decide.Situation) { left(s); untidy(s) }},
		{none, looked(nil), looked(func(in *decide.Inputs) { in.Landscape = nil }), looked(func(in *decide.Inputs) { in.Missing = missing("a", "b") }),
			func(s *decide.Situation) { updating(true, "x")(s); importsHashed("h", "h")(s) }, func(s *decide.Situation) { updating(true, "y")(s); importsHashed("h", "h")(s) }},
	}
	family := [][]option{
		{none, withoutParent, below("a", "a", "Succeeded"), below("b", "", "Progressing"), below("b", "", "Deleting")},
		{none, withSub("s", "a", "a", "Succeeded"), withSub("(s)", "b", "", "Init"), withSub("s", "b", "b", "Failed")},
		{none, written("s"), func(s *decide.Situation) { exportsSomething(s); hopeless(s) }, func(s *decide.Situation) { exportsSomething(s); surveyed("s")(s) }},
		{none, awaitingExecution, withExecution("b", "b", "Failed")},
		{none, looked(nil), looked(func(in *decide.Inputs) { in.Turn.Waits = []string{"s"} })},
	}
	afterwards := [][]option{
		// Whatever children there are, the job is over.
		{none, sub, withoutParent, below("b", "", "Progressing"), below("a", "a", "Succeeded")}, {none, left, func(s *decide.Situation) { left(s); untidy(s) }}, {none, generations(2, 1)},
		{none, every("1h", "1h", 1), func(s *decide.Situation) { every("1h", "1h", 1)(s); finishedBefore(2 * time.Hour)(s) }},
		{none, tells("d"), func(s *decide.Situation) { tells("d")(s); told("d")(s) }},
		{none, triggered(facts.Triggers{OnSpecChange: true, OnImportChange: true}), importing("a", "b")},
	}
	watched := []string{"Installation", "Execution", "Context"}
	cases := 0
	var visit func(axes [][]option, chosen []option)
	visit = func(axes [][]option, chosen []option) {
		if len(axes) > 0 {
			for _, option := range axes[0] {
				visit(axes[1:], append(slices.Clip(chosen), option))
			}
			return
		}
		cases++
		s := situationWith(chosen...)
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
			visit(slices.Concat(common, itself), []option{jobs(id[0], id[1], phase)})
			visit(slices.Concat(common, family), []option{jobs(id[0], id[1], phase)})
		}
		for _, id := range ended {
			visit(slices.Concat(common, afterwards), []option{jobs(id[0], id[1], phase)})
		}
	}
	if cases < 10000 {
		t.Errorf("only %d cases", cases)
	}
}
