package decide_test

import (
	"errors"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/installation/decide"
	"go.landscaper.dev/internal/installation/given"
	"go.landscaper.dev/internal/model/dataflow"
	"go.landscaper.dev/internal/model/predicates"
	"go.landscaper.dev/internal/model/siblings"
	"go.landscaper.dev/internal/runtime/job"
)

func TestDecide(t *testing.T) {
	const settled, itself = "nothing, the job has ended", "the step itself"
	tests := []struct {
		reason  string
		options []given.Option
		want    decide.Step
		wake    string
	}{
		{"nobody asked for anything", nil, decide.Rest, settled},
		{"a change of the spec alone starts nothing", []given.Option{given.Generations(2, 1)}, decide.Rest, settled},
		{"a request starts a job", []given.Option{given.Requested("reconcile")}, decide.Admit, itself},
		{"a request starts a further job", []given.Option{given.Requested("reconcile"), given.Finalized, given.Jobs("a", "a", "Succeeded")}, decide.Admit, itself},
		{"a request waits for the running job", []given.Option{given.Requested("reconcile"), given.Finalized, given.WithExecution("a", "z", "Progressing"), given.Jobs("a", "", "Progressing")}, decide.Rest, "Execution x"},
		{"force-reconcile starts a job like reconcile", []given.Option{given.Requested("force-reconcile"), given.Jobs("a", "a", "Failed")}, decide.Admit, itself},
		{"force-reconcile does not wait for the running job", []given.Option{given.Requested("force-reconcile"), given.Finalized, given.AwaitingExecution, given.Jobs("a", "", "Progressing")}, decide.Interrupt, itself},
		{"on a subinstallation it has no effect", []given.Option{given.Sub, given.Requested("force-reconcile"), given.Jobs("a", "", "Progressing")}, decide.Dismiss, itself},
		{"a first job that was taken up begins, also after a crash", []given.Option{given.Finalized, given.Annotated(v1alpha1.AdmittedAnnotation, "u")}, decide.Admit, itself},
		{"an interruption that came later is for it", []given.Option{given.Finalized, given.Annotated(v1alpha1.AdmittedAnnotation, "u"), given.Requested("interrupt")}, decide.Admit, itself},
		{"a deletion takes its place", []given.Option{given.Finalized, given.Deleting, given.Annotated(v1alpha1.AdmittedAnnotation, "u")}, decide.Admit, itself},
		{"that the original of a copy was taken up says nothing", []given.Option{given.Finalized, given.Annotated(v1alpha1.AdmittedAnnotation, "of-another")}, decide.Rest, settled},
		{"nor does it when there was a job", []given.Option{given.Finalized, given.Annotated(v1alpha1.AdmittedAnnotation, "u"), given.Jobs("a", "a", "Succeeded")}, decide.Rest, settled},
		{"a subinstallation is not taken up", []given.Option{given.Sub, given.Finalized, given.Annotated(v1alpha1.AdmittedAnnotation, "u")}, decide.Rest, settled},
		{"an unknown operation starts nothing", []given.Option{given.Requested("dance")}, decide.Rest, settled},
		{"a changed spec starts a job if the user wants that", []given.Option{given.Annotated(v1alpha1.ReconcileIfChangedAnnotation, "true"), given.Generations(2, 1)}, decide.Admit, itself},
		{"an unchanged spec starts nothing", []given.Option{given.Annotated(v1alpha1.ReconcileIfChangedAnnotation, "true"), given.Generations(2, 2)}, decide.Rest, settled},
		{"skip wins over automatic jobs", []given.Option{given.Annotated(v1alpha1.ReconcileIfChangedAnnotation, "true"), given.Annotated(v1alpha1.SkipAnnotation, "true"), given.Generations(2, 1)}, decide.Rest, settled},
		{"skip does not hold back a request", []given.Option{given.Annotated(v1alpha1.SkipAnnotation, "true"), given.Requested("reconcile")}, decide.Admit, itself},
		{"the old name of skip counts, too", []given.Option{given.Annotated(v1alpha1.ReconcileIfChangedAnnotation, "true"), given.Annotated(v1alpha1.IgnoreAnnotation, "true"), given.Generations(2, 1)}, decide.Rest, settled},
		{"an interruption comes first", []given.Option{given.Requested("interrupt"), given.Jobs("a", "", "Progressing")}, decide.Interrupt, itself},
		{"an abort is handed down", []given.Option{given.Requested("abort"), given.Jobs("a", "", "Progressing")}, decide.Interrupt, itself},
		{"a request on a subinstallation has no effect", []given.Option{given.Sub, given.Requested("reconcile")}, decide.Dismiss, itself},
		{"an owner of another group makes no subinstallation", []given.Option{given.Strange, given.Requested("reconcile")}, decide.Admit, itself},
		{"a subinstallation starts when its parent hands over a job", []given.Option{given.Sub, given.Jobs("a", "", "")}, decide.Begin, itself},
		{"a handed over job starts although the last phase is final", []given.Option{given.Jobs("b", "a", "Succeeded")}, decide.Begin, itself},
		{"from a phase that nobody knows the job begins again", []given.Option{given.Finalized, given.Jobs("a", "", "Dancing")}, decide.Begin, itself},
		{"an admission that was cut short is ended", []given.Option{given.Jobs("a", "", "Init")}, decide.Accept, itself},
		{"also when the children are written, and wait for that", []given.Option{given.Jobs("a", "", "Progressing")}, decide.Accept, itself},
		{"not before the job is stored", []given.Option{given.Requested("reconcile"), given.Jobs("b", "a", "Init"), func(s *decide.Situation) { s.Asked = v1alpha1.TriggeredByReconcile }}, decide.Look, itself},
		{"the request for the job does not interrupt it", []given.Option{given.Requested("force-reconcile"), given.Jobs("b", "a", "Init"), func(s *decide.Situation) { s.Asked = v1alpha1.TriggeredByReconcile }}, decide.Look, itself},
		{"first the inputs are read", []given.Option{given.Finalized, given.Jobs("a", "", "Init")}, decide.Look, itself},
		{"children are written", []given.Option{given.Finalized, given.Jobs("a", "", "Init"), given.Looked(nil)}, decide.BringUp, itself},
		{"a phase of the public system that we skip", []given.Option{given.Finalized, given.Jobs("a", "", "ObjectsCreated"), given.Looked(nil)}, decide.BringUp, itself},
		{"what is not valid ends the job", []given.Option{given.Finalized, given.Jobs("a", "", "Init"), given.Looked(func(in *decide.Inputs) { in.Invalid = field.ErrorList{field.Required(nil, "x")} })}, decide.Fail, itself},
		{"an import of no use ends the job", []given.Option{given.Finalized, given.Jobs("a", "", "Init"), given.Looked(func(in *decide.Inputs) { in.Broken = errors.New("x") })}, decide.Fail, itself},
		{"the default Context is made by the server", []given.Option{given.Finalized, given.Jobs("a", "", "Init"), given.Looked(func(in *decide.Inputs) { in.Landscape = nil })}, decide.Await, "Context default"},
		{"any other Context is up to the user", []given.Option{given.Finalized, given.Jobs("a", "", "Init"), given.OfContext("mine"), given.Looked(func(in *decide.Inputs) { in.Landscape = nil })}, decide.Fail, itself},
		{"an import that nobody brings ends the job", []given.Option{given.Finalized, given.Jobs("a", "", "Init"), given.Looked(func(in *decide.Inputs) { in.Missing = given.Missing("db") })}, decide.Fail, itself},
		{"an import that somebody brings is waited for", []given.Option{given.Finalized, given.Jobs("a", "", "Init"), given.Looked(func(in *decide.Inputs) {
			in.Missing, in.Exporters = given.Missing("db"), []siblings.Exporter{{Name: "sibling", Kind: dataflow.KindDataObject, Object: "db", UnderWay: true}}
		})}, decide.Await, "Installation sibling"},
		{"no children, nothing to wait for", []given.Option{given.Finalized, given.Jobs("a", "", "Progressing")}, decide.Complete, itself},
		{"the Execution is not in the cache yet", []given.Option{given.Finalized, given.AwaitingExecution, given.Jobs("a", "", "Progressing")}, decide.Confirm, itself},
		{"the API server has no Execution either: another client has removed it", []given.Option{given.Finalized, given.AwaitingExecution, given.Asked, given.Jobs("a", "", "Progressing")}, decide.Fail, itself},
		{"the other children end before the job does", []given.Option{given.Finalized, given.InPhase(time.Second), given.AwaitingExecution, given.Asked, given.Written("b"), given.WithSub("b", "a", "", "Progressing"), given.Jobs("a", "", "Progressing")}, decide.Rest, "Installation b, the time 2030-01-02T12:00:04Z"},
		{"and the cause is shown meanwhile", []given.Option{given.Finalized, given.InPhase(time.Minute), given.AwaitingExecution, given.Asked, given.Written("b"), given.WithSub("b", "a", "", "Progressing"), given.Jobs("a", "", "Progressing")}, decide.Show, itself},
		{"as with a subinstallation that does not exist any more", []given.Option{given.Finalized, given.InPhase(time.Minute), given.Written("b", "c"), given.WithSub("b", "a", "", "Progressing"), given.Jobs("a", "", "Progressing")}, decide.Show, itself},
		{"the Execution has an older job", []given.Option{given.Finalized, given.WithExecution("z", "z", "Succeeded"), given.Jobs("a", "", "Progressing")}, decide.Rest, "Execution x"},
		{"the Execution works", []given.Option{given.Finalized, given.WithExecution("a", "z", "Progressing"), given.Jobs("a", "", "Progressing")}, decide.Rest, "Execution x"},
		{"the Execution has succeeded", []given.Option{given.Finalized, given.WithExecution("a", "a", "Succeeded"), given.Jobs("a", "", "Progressing")}, decide.Complete, itself},
		{"the Execution has failed", []given.Option{given.Finalized, given.WithExecution("a", "a", "Failed"), given.Jobs("a", "", "Progressing")}, decide.Fail, itself},
		{"results are still to be collected", []given.Option{given.Finalized, given.Jobs("a", "", "Completing")}, decide.Complete, itself},
		{"results of another specification are none", []given.Option{given.Finalized, given.Jobs("a", "", "Completing"), given.Generations(2, 1)}, decide.Fail, itself},

		{"not as long as it may go before them", []given.Option{given.Below("a", "", "Progressing"), func(s *decide.Situation) { s.Parent.Finalizers = nil }, given.Finalized}, decide.Rest, "Installation parent"},
		{"a parent hands its job over when all children are written", []given.Option{given.Below("a", "", "Progressing"), given.Finalized}, decide.Adopt, itself},
		{"and not before", []given.Option{given.Below("a", "", "Init"), given.Finalized}, decide.Rest, "Installation parent"},
		{"nor while what is no longer wanted goes", []given.Option{given.Below("a", "", "CleanupOrphaned"), given.Finalized}, decide.Rest, "Installation parent"},
		{"a job is handed over once", []given.Option{given.Below("a", "", "Progressing"), given.Finalized, given.Jobs("a", "a", "Succeeded")}, decide.Rest, settled},
		{"a job that has ended is not handed over", []given.Option{given.Below("b", "b", "Progressing"), given.Finalized, given.Jobs("a", "a", "Succeeded")}, decide.Rest, settled},
		{"the job before has to end", []given.Option{given.Below("b", "", "Progressing"), given.Finalized, given.WithExecution("a", "z", "Progressing"), given.Jobs("a", "", "Progressing")}, decide.Rest, "Execution x"},
		{"an interruption is for the job that comes", []given.Option{given.Below("a", "", "Progressing"), given.Requested("interrupt"), given.Finalized}, decide.Adopt, itself},
		{"also one that comes before the job does", []given.Option{given.Below("a", "", "Init"), given.Requested("interrupt"), given.Finalized}, decide.Rest, "Installation parent"},
		{"and an abort, of one that has ended an earlier job", []given.Option{given.Below("b", "a", "CleanupOrphaned"), given.Requested("abort"), given.Finalized, given.Jobs("a", "a", "Succeeded")}, decide.Rest, "Installation parent"},
		{"the job that was to come has ended without it", []given.Option{given.Below("b", "b", "Failed"), given.Requested("interrupt"), given.Finalized, given.Jobs("a", "a", "Succeeded")}, decide.Interrupt, itself},
		{"a sibling has to be done before", []given.Option{given.Below("a", "", "Progressing"), given.Finalized, given.Jobs("a", "", "Init"), given.Looked(func(in *decide.Inputs) { in.Turn.Waits = []string{"b", "c"} })}, decide.Await, "Installation b, Installation c"},
		{"a sibling will never be done", []given.Option{given.Below("a", "", "Progressing"), given.Finalized, given.Jobs("a", "", "Init"), given.Looked(func(in *decide.Inputs) { in.Turn.Never = errors.New("x"); in.Turn.Waits = []string{"c"} })}, decide.Fail, itself},
		{"a subinstallation works", []given.Option{given.Finalized, given.Written("b", "c"), given.WithSub("b", "a", "a", "Succeeded"), given.WithSub("c", "a", "z", "Progressing"), given.Jobs("a", "", "Progressing")}, decide.Rest, "Installation c"},
		{"a subinstallation has not got the job yet", []given.Option{given.Finalized, given.Written("b"), given.WithSub("b", "z", "z", "Failed"), given.Jobs("a", "", "Progressing")}, decide.Rest, "Installation b"},
		{"all end, also if one has failed", []given.Option{given.Finalized, given.Written("b", "c"), given.WithSub("b", "a", "a", "Failed"), given.WithSub("c", "a", "", "Init"), given.Jobs("a", "", "Progressing")}, decide.Rest, "Installation c"},
		{"the Execution still works", []given.Option{given.Finalized, given.Written("b"), given.WithSub("b", "a", "a", "Succeeded"), given.WithExecution("a", "z", "Progressing"), given.Jobs("a", "", "Progressing")}, decide.Rest, "Execution x"},
		{"all children have succeeded", []given.Option{given.Finalized, given.Written("b"), given.WithSub("b", "a", "a", "Succeeded"), given.WithExecution("a", "a", "Succeeded"), given.Jobs("a", "", "Progressing")}, decide.Complete, itself},
		{"a subinstallation has failed", []given.Option{given.Finalized, given.Written("b"), given.WithSub("b", "a", "a", "Failed"), given.WithExecution("a", "a", "Succeeded"), given.Jobs("a", "", "Progressing")}, decide.Trace, itself},
		{"a subinstallation has failed, and nothing below it", []given.Option{given.Finalized, given.Written("b"), given.WithSub("b", "a", "a", "Failed"), given.WithExecution("a", "a", "Succeeded"), given.Jobs("a", "", "Progressing"), given.Traced}, decide.Fail, itself},
		{"somebody has deleted a subinstallation", []given.Option{given.Finalized, given.Written("b"), given.Jobs("a", "", "Progressing")}, decide.Fail, itself},
		{"what somebody has deleted goes before anything is rendered", []given.Option{given.Finalized, given.WithSub("(b)", "z", "z", "Succeeded"), given.Jobs("a", "", "Init")}, decide.Clear, itself},
		{"it goes with the job", []given.Option{given.Finalized, given.WithSub("(b)", "a", "z", "Deleting"), given.Jobs("a", "", "CleanupOrphaned")}, decide.Rest, "Installation b"},
		{"so does an Execution", []given.Option{given.Finalized, given.WithExecution("z", "z", "Succeeded"), given.ExecutionDeleted, given.Jobs("a", "", "Init")}, decide.Clear, itself},
		{"it is deleted with the job", []given.Option{given.Finalized, given.WithExecution("a", "z", "Deleting"), given.ExecutionDeleted, given.Jobs("a", "", "CleanupOrphaned")}, decide.Rest, "Execution x"},
		{"the cache shows none any more", []given.Option{given.Finalized, given.AwaitingExecution, given.Jobs("a", "", "CleanupOrphaned")}, decide.Confirm, itself},
		{"nor does another job begin without that question", []given.Option{given.Finalized, given.AwaitingExecution, given.Jobs("a", "z", "Init")}, decide.Confirm, itself},
		{"it is not there any more", []given.Option{given.Finalized, given.AwaitingExecution, given.Asked, given.Jobs("a", "", "CleanupOrphaned")}, decide.Look, itself},
		{"it could not be deleted", []given.Option{given.Finalized, given.WithExecution("a", "a", "DeleteFailed"), given.ExecutionDeleted, given.Jobs("a", "", "CleanupOrphaned")}, decide.Fail, itself},
		{"an interruption reaches it", []given.Option{given.Finalized, given.Requested("interrupt"), given.WithExecution("a", "z", "Deleting"), given.ExecutionDeleted, given.Jobs("a", "", "CleanupOrphaned")}, decide.Interrupt, itself},
		{"it is gone, and nothing was rendered yet", []given.Option{given.Finalized, given.Jobs("a", "", "CleanupOrphaned")}, decide.Look, itself},
		{"it is gone, and all others are written", []given.Option{given.Finalized, given.Written("c"), given.WithSub("c", "z", "z", "Succeeded"), given.Jobs("a", "", "CleanupOrphaned")}, decide.HandOver, itself},
		{"it is gone, and the public system has written the others: it has no plan for exports", []given.Option{given.Finalized, given.ExportsSomething, given.Written("c"), given.WithSub("c", "z", "z", "Succeeded"), given.Jobs("a", "", "CleanupOrphaned")}, decide.Look, itself},
		{"it does not go", []given.Option{given.Finalized, given.Written(), given.WithSub("(b)", "a", "a", "DeleteFailed"), given.Jobs("a", "", "CleanupOrphaned")}, decide.Trace, itself},
		{"it does not go, and nothing below it", []given.Option{given.Finalized, given.Written(), given.WithSub("(b)", "a", "a", "DeleteFailed"), given.Jobs("a", "", "CleanupOrphaned"), given.Traced}, decide.Fail, itself},
		{"a deletion waits for what goes already", []given.Option{given.Deleting, given.Finalized, given.Written(), given.WithSub("(b)", "a", "", "Deleting"), given.Jobs("a", "", "CleanupOrphaned")}, decide.Rest, "Installation b"},
		{"and abandons the job then", []given.Option{given.Deleting, given.Finalized, given.Written(), given.Jobs("a", "", "CleanupOrphaned")}, decide.Fail, itself},

		{"what the job had stored for its end goes", []given.Option{given.Finalized, given.Left, given.Jobs("a", "a", "Succeeded")}, decide.Tidy, itself},
		{"another job may begin before", []given.Option{given.Finalized, given.Left, given.Requested("reconcile"), given.Jobs("a", "a", "Failed")}, decide.Admit, itself},
		{"what is stored is needed as long as the job runs", []given.Option{given.Finalized, given.Left, given.WithExecution("a", "z", "Progressing"), given.Jobs("a", "", "Progressing")}, decide.Rest, "Execution x"},
		{"what could not be deleted is tried again later", []given.Option{given.Finalized, given.Left, given.Untidy, given.Jobs("a", "a", "Succeeded")}, decide.Rest, job.Wake{}.By(given.Noon).String()},

		{"a retry has its time", []given.Option{given.Finalized, given.Jobs("a", "a", "Failed"), given.Every("2m", "", 4), given.FinishedBefore(time.Minute)}, decide.Rest, job.Wake{}.By(given.Noon.Add(time.Minute)).String()},
		{"and starts then", []given.Option{given.Finalized, given.Jobs("a", "a", "Failed"), given.Every("2m", "", 4), given.FinishedBefore(2 * time.Minute)}, decide.Repeat, itself},
		{"a request goes before a retry", []given.Option{given.Finalized, given.Requested("reconcile"), given.Jobs("a", "a", "Failed"), given.Every("2m", "", 4), given.FinishedBefore(time.Hour)}, decide.Admit, itself},
		{"a success is repeated", []given.Option{given.Finalized, given.Jobs("a", "a", "Succeeded"), given.Every("", "1h", 0), given.FinishedBefore(time.Hour)}, decide.Repeat, itself},
		{"a stored plan does not hide the next job", []given.Option{given.Finalized, given.Left, given.Untidy, given.Jobs("a", "a", "Succeeded"), given.Every("", "1h", 0), given.FinishedBefore(2 * time.Hour)}, decide.Repeat, itself},
		{"what comes first wakes first", []given.Option{given.Finalized, given.Left, func(s *decide.Situation) { s.TidyAt = given.Noon.Add(time.Second) }, given.Jobs("a", "a", "Succeeded"), given.Every("", "1h", 0), given.FinishedBefore(0)}, decide.Rest, job.Wake{}.By(given.Noon.Add(time.Second)).String()},

		{"dependents are asked for a job", []given.Option{given.Finalized, given.Tells("d", "e"), given.Jobs("a", "a", "Succeeded")}, decide.Tell, itself},
		{"before the plan goes, which nobody needs", []given.Option{given.Finalized, given.Left, given.Tells("d"), given.Jobs("a", "a", "Succeeded")}, decide.Tell, itself},
		{"who works is asked when it has ended", []given.Option{given.Finalized, given.Tells("d", "e"), given.Told("e"), given.Jobs("a", "a", "Succeeded")}, decide.Rest, "Installation e"},
		{"an own job comes first", []given.Option{given.Finalized, given.Tells("d"), given.Requested("reconcile"), given.Jobs("a", "a", "Succeeded")}, decide.Admit, itself},
		{"and a job that runs", []given.Option{given.Finalized, given.Tells("d"), given.WithExecution("a", "z", "Progressing"), given.Jobs("b", "a", "Progressing")}, decide.Rest, "Execution x"},
		{"a failure asks those who were not asked before", []given.Option{given.Finalized, given.Tells("d"), given.Jobs("a", "a", "Failed")}, decide.Tell, itself},
		{"parts of a whole ask nobody", []given.Option{given.Finalized, given.Sub, given.Tells("d"), given.Jobs("a", "a", "Succeeded")}, decide.Rest, settled},
		{"what did not work is tried again", []given.Option{given.Finalized, given.Tells("d"), given.Told("d"), func(s *decide.Situation) { s.TellAt = given.Noon }, given.Jobs("a", "a", "Succeeded")}, decide.Rest, job.OnChange("Installation", "d").By(given.Noon).String()},

		{"the administrator wants a job for each changed spec", []given.Option{given.Generations(2, 1), given.Triggered(predicates.Triggers{OnSpecChange: true}), given.Jobs("a", "a", "Failed")}, decide.Admit, itself},
		{"and for whatever is new", []given.Option{given.Generations(1, 0), given.Triggered(predicates.Triggers{OnSpecChange: true})}, decide.Admit, itself},
		{"once", []given.Option{given.Generations(2, 2), given.Triggered(predicates.Triggers{OnSpecChange: true}), given.Jobs("a", "a", "Failed")}, decide.Rest, settled},
		{"not for parts of a whole", []given.Option{given.Sub, given.Generations(2, 1), given.Triggered(predicates.Triggers{OnSpecChange: true})}, decide.Rest, settled},
		{"nor for what users want to be skipped", []given.Option{given.Generations(2, 1), given.Annotated(v1alpha1.SkipAnnotation, "true"), given.Triggered(predicates.Triggers{OnSpecChange: true})}, decide.Rest, settled},
		{"the administrator wants a job for changed imports", []given.Option{given.Triggered(predicates.Triggers{OnImportChange: true}), given.Jobs("a", "a", "Failed")}, decide.Compare, itself},
		{"they have changed", []given.Option{given.Triggered(predicates.Triggers{OnImportChange: true}), given.Importing("old", "new"), given.Jobs("a", "a", "Failed")}, decide.Follow, itself},
		{"they are the same", []given.Option{given.Triggered(predicates.Triggers{OnImportChange: true}), given.Importing("old", "old"), given.Jobs("a", "a", "Failed")}, decide.Rest, settled},
		{"nobody can read them", []given.Option{given.Triggered(predicates.Triggers{OnImportChange: true}), given.Importing("old", ""), given.Jobs("a", "a", "Failed")}, decide.Rest, settled},
		{"what has never run is not started by its imports", []given.Option{given.Triggered(predicates.Triggers{OnImportChange: true})}, decide.Rest, settled},
		{"nor what users want to be skipped", []given.Option{given.Triggered(predicates.Triggers{OnImportChange: true}), given.Annotated(v1alpha1.SkipAnnotation, "true"), given.Jobs("a", "a", "Failed")}, decide.Rest, settled},

		{"a deletion starts without a request", []given.Option{given.Deleting, given.Finalized, given.Jobs("a", "a", "Succeeded")}, decide.Admit, itself},
		{"a deletion starts although nothing ever ran", []given.Option{given.Deleting, given.Finalized}, decide.Admit, itself},
		{"without our finalizer there is nothing to clean up", []given.Option{given.Deleting}, decide.Rest, settled},
		{"a job that has not reached a child is abandoned for the deletion", []given.Option{given.Deleting, given.Finalized, given.Jobs("a", "", "Init")}, decide.Fail, itself},
		{"a job that has reached children ends first", []given.Option{given.Deleting, given.Finalized, given.WithExecution("a", "", "Progressing"), given.Jobs("a", "", "Progressing")}, decide.Rest, "Execution x"},
		{"children are deleted", []given.Option{given.Deleting, given.Finalized, given.WithExecution("z", "z", "Succeeded"), given.Jobs("a", "z", "InitDelete")}, decide.Remove, itself},
		{"there never was a child", []given.Option{given.Deleting, given.Finalized, given.Jobs("a", "z", "InitDelete")}, decide.Release, itself},
		{"a child that the cache does not show may be there", []given.Option{given.Deleting, given.Finalized, given.AwaitingExecution, given.Jobs("a", "z", "InitDelete")}, decide.Remove, itself},
		{"the Execution is being deleted", []given.Option{given.Deleting, given.Finalized, given.Condemned, given.WithExecution("a", "z", "Deleting"), given.Jobs("a", "z", "Deleting")}, decide.Rest, "Execution x"},
		{"the cache shows the Execution only now", []given.Option{given.Deleting, given.Finalized, given.WithExecution("", "", ""), given.Jobs("a", "z", "Deleting")}, decide.Remove, itself},
		{"the cache does not show yet that the Execution was deleted", []given.Option{given.Deleting, given.Finalized, given.Condemned, given.WithExecution("", "", ""), given.Jobs("a", "z", "Deleting")}, decide.Rest, "Execution x"},
		{"the cache says that the Execution is gone", []given.Option{given.Deleting, given.Finalized, given.AwaitingExecution, given.Jobs("a", "z", "Deleting")}, decide.Confirm, itself},
		{"the API server says so, too", []given.Option{given.Deleting, given.Finalized, given.AwaitingExecution, given.Asked, given.Jobs("a", "z", "Deleting")}, decide.Release, itself},
		{"the API server knows better", []given.Option{given.Deleting, given.Finalized, given.WithExecution("a", "z", "Succeeded"), given.Asked, given.Jobs("b", "a", "Deleting")}, decide.Remove, itself},
		{"who exports looks for importers first", []given.Option{given.Deleting, given.Finalized, given.ExportsSomething, given.Jobs("a", "z", "InitDelete")}, decide.Survey, itself},
		{"unless nobody wants that", []given.Option{given.Deleting, given.Finalized, given.ExportsSomething, given.Annotated(v1alpha1.DeleteIgnoreSuccessorsAnnotation, "true"), given.Jobs("a", "z", "InitDelete")}, decide.Release, itself},
		{"importers go first", []given.Option{given.Deleting, given.Finalized, given.ExportsSomething, given.Surveyed("b"), given.Jobs("a", "z", "InitDelete")}, decide.Await, "Installation b"},
		{"no importer is left", []given.Option{given.Deleting, given.Finalized, given.ExportsSomething, given.Surveyed(), given.Jobs("a", "z", "InitDelete")}, decide.Release, itself},
		{"an importer does not go", []given.Option{given.Deleting, given.Finalized, given.ExportsSomething, given.Hopeless, given.Jobs("a", "z", "InitDelete")}, decide.Fail, itself},
		{"subinstallations are deleted", []given.Option{given.Deleting, given.Finalized, given.WithSub("b", "z", "z", "Succeeded"), given.Jobs("a", "z", "InitDelete")}, decide.Remove, itself},
		{"one was not reached", []given.Option{given.Deleting, given.Finalized, given.WithSub("(b)", "z", "z", "Succeeded"), given.WithSub("c", "z", "z", "Succeeded"), given.Jobs("a", "z", "Deleting")}, decide.Remove, itself},
		{"one is being deleted", []given.Option{given.Deleting, given.Finalized, given.WithSub("(b)", "a", "z", "Deleting"), given.Jobs("a", "z", "Deleting")}, decide.Rest, "Installation b"},
		{"one could not be deleted, another one still goes", []given.Option{given.Deleting, given.Finalized, given.WithSub("(b)", "a", "a", "DeleteFailed"), given.WithSub("(c)", "a", "z", "Deleting"), given.Jobs("a", "z", "Deleting")}, decide.Rest, "Installation c"},
		{"one could not be deleted", []given.Option{given.Deleting, given.Finalized, given.WithSub("(b)", "a", "a", "DeleteFailed"), given.Jobs("a", "z", "Deleting")}, decide.Trace, itself},
		{"one could not be deleted, and nothing below it", []given.Option{given.Deleting, given.Finalized, given.WithSub("(b)", "a", "a", "DeleteFailed"), given.Jobs("a", "z", "Deleting"), given.Traced}, decide.Fail, itself},
		{"the Execution still goes", []given.Option{given.Deleting, given.Finalized, given.Condemned, given.WithSub("(b)", "a", "a", "DeleteFailed"), given.WithExecution("a", "z", "Deleting"), given.Jobs("a", "z", "Deleting")}, decide.Rest, "Execution x"},
		{"a subinstallation is deleted with its parent", []given.Option{given.Below("b", "a", "Deleting"), given.Deleting, given.Finalized, given.Jobs("a", "a", "Succeeded")}, decide.Adopt, itself},
		{"when the parent has deleted all", []given.Option{given.Below("b", "a", "InitDelete"), given.Deleting, given.Finalized, given.Jobs("a", "a", "Succeeded")}, decide.Rest, "Installation parent"},
		{"one that is no longer wanted goes before the others", []given.Option{given.Below("b", "a", "CleanupOrphaned"), given.Deleting, given.Finalized, given.Jobs("a", "a", "Succeeded")}, decide.Adopt, itself},
		{"one that a user deletes waits for a job of the parent, and says so", []given.Option{given.Below("a", "a", "Succeeded"), given.Deleting, given.Finalized, given.Jobs("a", "a", "Succeeded")}, decide.Explain, itself},
		{"once", []given.Option{given.Below("a", "a", "Succeeded"), given.Deleting, given.Finalized, given.Jobs("a", "a", "Succeeded"), given.SaidSo}, decide.Rest, settled},
		{"not if its deletion has failed, which it says instead", []given.Option{given.Below("a", "a", "DeleteFailed"), given.Deleting, given.Finalized, given.Jobs("a", "a", "DeleteFailed")}, decide.Rest, settled},
		{"nor if nothing holds it", []given.Option{given.Below("a", "a", "Succeeded"), given.Deleting, given.Jobs("a", "a", "Succeeded")}, decide.Rest, settled},
		{"without its parent it deletes itself", []given.Option{given.WithoutParent, given.Deleting, given.Finalized, given.Jobs("a", "a", "Succeeded")}, decide.Admit, itself},
		{"once", []given.Option{given.WithoutParent, given.Deleting, given.Finalized, given.Jobs("a", "a", "DeleteFailed")}, decide.Rest, settled},
		{"and again on request", []given.Option{given.WithoutParent, given.Requested("reconcile"), given.Deleting, given.Finalized, given.Jobs("a", "a", "DeleteFailed")}, decide.Admit, itself},

		{"the Execution could not be deleted", []given.Option{given.Deleting, given.Finalized, given.Condemned, given.WithExecution("a", "a", "DeleteFailed"), given.Jobs("a", "z", "Deleting")}, decide.Fail, itself},
		{"a failed deletion waits for a request", []given.Option{given.Deleting, given.Finalized, given.Jobs("a", "a", "DeleteFailed")}, decide.Rest, settled},
		{"a failed deletion starts again on request", []given.Option{given.Deleting, given.Finalized, given.Requested("reconcile"), given.Jobs("a", "a", "DeleteFailed")}, decide.Admit, itself},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			got := decide.Next(given.Situation(test.options...))
			if got.Do != test.want || got.Wake.String() != test.wake {
				t.Errorf("%s and wakes by %s, want %s and %s", got.Do, got.Wake, test.want, test.wake)
			}
		})
	}
}

// TestInterruption: what ends with it, and with which words.
func TestInterruption(t *testing.T) {
	for _, test := range []struct {
		reason string
		option given.Option
		ends   bool
	}{
		{"a job that has not reached its children", given.Jobs("a", "", "Init"), true},
		{"a job whose children are at work ends with them", given.Jobs("a", "", "Progressing"), false},
		{"no job", given.Jobs("a", "a", "Succeeded"), false},
		{"a job that nobody has begun with", given.Jobs("b", "a", "Succeeded"), true},
		{"a deletion that waits for siblings", func(s *decide.Situation) { given.Jobs("a", "", "InitDelete")(s); given.Deleting(s) }, true},
		{"a deletion that has reached children", func(s *decide.Situation) { given.Jobs("a", "", "Deleting")(s); given.Deleting(s) }, false},
		{"subinstallations that go end first", func(s *decide.Situation) {
			given.Jobs("a", "", "CleanupOrphaned")(s)
			given.WithSub("(b)", "a", "", "Deleting")(s)
		}, false},
		{"none goes any more", given.Jobs("a", "", "CleanupOrphaned"), true},
	} {
		t.Run(test.reason, func(t *testing.T) {
			got := decide.Next(given.Situation(given.Requested("interrupt"), test.option))
			if got.Do != decide.Interrupt || (job.OutcomeOf(got.Err) == job.Terminal) != test.ends {
				t.Errorf("%+v", got)
			}
		})
	}
}
