package decide_test

import (
	"errors"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/controller/installation/decide"
	"go.landscaper.dev/internal/controller/installation/testbuilders"
	"go.landscaper.dev/internal/model/dataflow"
	"go.landscaper.dev/internal/model/predicates"
	"go.landscaper.dev/internal/model/siblings"
	"go.landscaper.dev/internal/runtime/job"
)

func TestDecide(t *testing.T) {
	const settled, itself = "nothing, the job has ended", "the step itself"
	tests := []struct {
		reason  string
		options []testbuilders.Option
		want    decide.Step
		wake    string
	}{
		{"nobody asked for anything", nil, decide.Rest, settled},
		{"a change of the spec alone starts nothing", []testbuilders.Option{testbuilders.Generations(2, 1)}, decide.Rest, settled},
		{"a request starts a job", []testbuilders.Option{testbuilders.Requested("reconcile")}, decide.Admit, itself},
		{"a request starts a further job", []testbuilders.Option{testbuilders.Requested("reconcile"), testbuilders.Finalized, testbuilders.Jobs("a", "a", "Succeeded")}, decide.Admit, itself},
		{"a request waits for the running job", []testbuilders.Option{testbuilders.Requested("reconcile"), testbuilders.Finalized, testbuilders.WithExecution("a", "z", "Progressing"), testbuilders.Jobs("a", "", "Progressing")}, decide.Rest, "Execution x"},
		{"force-reconcile starts a job like reconcile", []testbuilders.Option{testbuilders.Requested("force-reconcile"), testbuilders.Jobs("a", "a", "Failed")}, decide.Admit, itself},
		{"force-reconcile does not wait for the running job", []testbuilders.Option{testbuilders.Requested("force-reconcile"), testbuilders.Finalized, testbuilders.AwaitingExecution, testbuilders.Jobs("a", "", "Progressing")}, decide.Interrupt, itself},
		{"on a subinstallation it has no effect", []testbuilders.Option{testbuilders.Sub, testbuilders.Requested("force-reconcile"), testbuilders.Jobs("a", "", "Progressing")}, decide.Dismiss, itself},
		{"a first job that was taken up begins, also after a crash", []testbuilders.Option{testbuilders.Finalized, testbuilders.Annotated(v1alpha1.AdmittedAnnotation, "u")}, decide.Admit, itself},
		{"an interruption that came later is for it", []testbuilders.Option{testbuilders.Finalized, testbuilders.Annotated(v1alpha1.AdmittedAnnotation, "u"), testbuilders.Requested("interrupt")}, decide.Admit, itself},
		{"a deletion takes its place", []testbuilders.Option{testbuilders.Finalized, testbuilders.Deleting, testbuilders.Annotated(v1alpha1.AdmittedAnnotation, "u")}, decide.Admit, itself},
		{"that the original of a copy was taken up says nothing", []testbuilders.Option{testbuilders.Finalized, testbuilders.Annotated(v1alpha1.AdmittedAnnotation, "of-another")}, decide.Rest, settled},
		{"nor does it when there was a job", []testbuilders.Option{testbuilders.Finalized, testbuilders.Annotated(v1alpha1.AdmittedAnnotation, "u"), testbuilders.Jobs("a", "a", "Succeeded")}, decide.Rest, settled},
		{"a subinstallation is not taken up", []testbuilders.Option{testbuilders.Sub, testbuilders.Finalized, testbuilders.Annotated(v1alpha1.AdmittedAnnotation, "u")}, decide.Rest, settled},
		{"an unknown operation starts nothing", []testbuilders.Option{testbuilders.Requested("dance")}, decide.Rest, settled},
		{"a changed spec starts a job if the user wants that", []testbuilders.Option{testbuilders.Annotated(v1alpha1.ReconcileIfChangedAnnotation, "true"), testbuilders.Generations(2, 1)}, decide.Admit, itself},
		{"an unchanged spec starts nothing", []testbuilders.Option{testbuilders.Annotated(v1alpha1.ReconcileIfChangedAnnotation, "true"), testbuilders.Generations(2, 2)}, decide.Rest, settled},
		{"skip wins over automatic jobs", []testbuilders.Option{testbuilders.Annotated(v1alpha1.ReconcileIfChangedAnnotation, "true"), testbuilders.Annotated(v1alpha1.SkipAnnotation, "true"), testbuilders.Generations(2, 1)}, decide.Rest, settled},
		{"skip does not hold back a request", []testbuilders.Option{testbuilders.Annotated(v1alpha1.SkipAnnotation, "true"), testbuilders.Requested("reconcile")}, decide.Admit, itself},
		{"the old name of skip counts, too", []testbuilders.Option{testbuilders.Annotated(v1alpha1.ReconcileIfChangedAnnotation, "true"), testbuilders.Annotated(v1alpha1.IgnoreAnnotation, "true"), testbuilders.Generations(2, 1)}, decide.Rest, settled},
		{"an interruption comes first", []testbuilders.Option{testbuilders.Requested("interrupt"), testbuilders.Jobs("a", "", "Progressing")}, decide.Interrupt, itself},
		{"an abort is handed down", []testbuilders.Option{testbuilders.Requested("abort"), testbuilders.Jobs("a", "", "Progressing")}, decide.Interrupt, itself},
		{"a request on a subinstallation has no effect", []testbuilders.Option{testbuilders.Sub, testbuilders.Requested("reconcile")}, decide.Dismiss, itself},
		{"an owner of another group makes no subinstallation", []testbuilders.Option{testbuilders.Strange, testbuilders.Requested("reconcile")}, decide.Admit, itself},
		{"a subinstallation starts when its parent hands over a job", []testbuilders.Option{testbuilders.Sub, testbuilders.Jobs("a", "", "")}, decide.Begin, itself},
		{"a handed over job starts although the last phase is final", []testbuilders.Option{testbuilders.Jobs("b", "a", "Succeeded")}, decide.Begin, itself},
		{"from a phase that nobody knows the job begins again", []testbuilders.Option{testbuilders.Finalized, testbuilders.Jobs("a", "", "Dancing")}, decide.Begin, itself},
		{"an admission that was cut short is ended", []testbuilders.Option{testbuilders.Jobs("a", "", "Init")}, decide.Accept, itself},
		{"also when the children are written, and wait for that", []testbuilders.Option{testbuilders.Jobs("a", "", "Progressing")}, decide.Accept, itself},
		{"not before the job is stored", []testbuilders.Option{testbuilders.Requested("reconcile"), testbuilders.Jobs("b", "a", "Init"), func(s *decide.Situation) { s.Asked = v1alpha1.TriggeredByReconcile }}, decide.Look, itself},
		{"the request for the job does not interrupt it", []testbuilders.Option{testbuilders.Requested("force-reconcile"), testbuilders.Jobs("b", "a", "Init"), func(s *decide.Situation) { s.Asked = v1alpha1.TriggeredByReconcile }}, decide.Look, itself},
		{"first the inputs are read", []testbuilders.Option{testbuilders.Finalized, testbuilders.Jobs("a", "", "Init")}, decide.Look, itself},
		{"children are written", []testbuilders.Option{testbuilders.Finalized, testbuilders.Jobs("a", "", "Init"), testbuilders.Looked(nil)}, decide.BringUp, itself},
		{"a phase of the public system that we skip", []testbuilders.Option{testbuilders.Finalized, testbuilders.Jobs("a", "", "ObjectsCreated"), testbuilders.Looked(nil)}, decide.BringUp, itself},
		{"what is not valid ends the job", []testbuilders.Option{testbuilders.Finalized, testbuilders.Jobs("a", "", "Init"), testbuilders.Looked(func(in *decide.Inputs) { in.Invalid = field.ErrorList{field.Required(nil, "x")} })}, decide.Fail, itself},
		{"an import of no use ends the job", []testbuilders.Option{testbuilders.Finalized, testbuilders.Jobs("a", "", "Init"), testbuilders.Looked(func(in *decide.Inputs) { in.Broken = errors.New("x") })}, decide.Fail, itself},
		{"the default Context is made by the server", []testbuilders.Option{testbuilders.Finalized, testbuilders.Jobs("a", "", "Init"), testbuilders.Looked(func(in *decide.Inputs) { in.Landscape = nil })}, decide.Await, "Context default"},
		{"any other Context is up to the user", []testbuilders.Option{testbuilders.Finalized, testbuilders.Jobs("a", "", "Init"), testbuilders.OfContext("mine"), testbuilders.Looked(func(in *decide.Inputs) { in.Landscape = nil })}, decide.Fail, itself},
		{"an import that nobody brings ends the job", []testbuilders.Option{testbuilders.Finalized, testbuilders.Jobs("a", "", "Init"), testbuilders.Looked(func(in *decide.Inputs) { in.Missing = testbuilders.Missing("db") })}, decide.Fail, itself},
		{"an import that somebody brings is waited for", []testbuilders.Option{testbuilders.Finalized, testbuilders.Jobs("a", "", "Init"), testbuilders.Looked(func(in *decide.Inputs) {
			in.Missing, in.Exporters = testbuilders.Missing("db"), []siblings.Exporter{{Name: "sibling", Kind: dataflow.KindDataObject, Object: "db", UnderWay: true}}
		})}, decide.Await, "Installation sibling"},
		{"no children, nothing to wait for", []testbuilders.Option{testbuilders.Finalized, testbuilders.Jobs("a", "", "Progressing")}, decide.Complete, itself},
		{"the Execution is not in the cache yet", []testbuilders.Option{testbuilders.Finalized, testbuilders.AwaitingExecution, testbuilders.Jobs("a", "", "Progressing")}, decide.Confirm, itself},
		{"the API server has no Execution either: another client has removed it", []testbuilders.Option{testbuilders.Finalized, testbuilders.AwaitingExecution, testbuilders.Asked, testbuilders.Jobs("a", "", "Progressing")}, decide.Fail, itself},
		{"the other children end before the job does", []testbuilders.Option{testbuilders.Finalized, testbuilders.InPhase(time.Second), testbuilders.AwaitingExecution, testbuilders.Asked, testbuilders.Written("b"), testbuilders.WithSub("b", "a", "", "Progressing"), testbuilders.Jobs("a", "", "Progressing")}, decide.Rest, "Installation b, the time 2030-01-02T12:00:04Z"},
		{"and the cause is shown meanwhile", []testbuilders.Option{testbuilders.Finalized, testbuilders.InPhase(time.Minute), testbuilders.AwaitingExecution, testbuilders.Asked, testbuilders.Written("b"), testbuilders.WithSub("b", "a", "", "Progressing"), testbuilders.Jobs("a", "", "Progressing")}, decide.Show, itself},
		{"as with a subinstallation that does not exist any more", []testbuilders.Option{testbuilders.Finalized, testbuilders.InPhase(time.Minute), testbuilders.Written("b", "c"), testbuilders.WithSub("b", "a", "", "Progressing"), testbuilders.Jobs("a", "", "Progressing")}, decide.Show, itself},
		{"the Execution has an older job", []testbuilders.Option{testbuilders.Finalized, testbuilders.WithExecution("z", "z", "Succeeded"), testbuilders.Jobs("a", "", "Progressing")}, decide.Rest, "Execution x"},
		{"the Execution works", []testbuilders.Option{testbuilders.Finalized, testbuilders.WithExecution("a", "z", "Progressing"), testbuilders.Jobs("a", "", "Progressing")}, decide.Rest, "Execution x"},
		{"the Execution has succeeded", []testbuilders.Option{testbuilders.Finalized, testbuilders.WithExecution("a", "a", "Succeeded"), testbuilders.Jobs("a", "", "Progressing")}, decide.Complete, itself},
		{"the Execution has failed", []testbuilders.Option{testbuilders.Finalized, testbuilders.WithExecution("a", "a", "Failed"), testbuilders.Jobs("a", "", "Progressing")}, decide.Fail, itself},
		{"results are still to be collected", []testbuilders.Option{testbuilders.Finalized, testbuilders.Jobs("a", "", "Completing")}, decide.Complete, itself},
		{"results of another specification are none", []testbuilders.Option{testbuilders.Finalized, testbuilders.Jobs("a", "", "Completing"), testbuilders.Generations(2, 1)}, decide.Fail, itself},

		{"not as long as it may go before them", []testbuilders.Option{testbuilders.Below("a", "", "Progressing"), func(s *decide.Situation) { s.Parent.Finalizers = nil }, testbuilders.Finalized}, decide.Rest, "Installation parent"},
		{"a parent hands its job over when all children are written", []testbuilders.Option{testbuilders.Below("a", "", "Progressing"), testbuilders.Finalized}, decide.Adopt, itself},
		{"and not before", []testbuilders.Option{testbuilders.Below("a", "", "Init"), testbuilders.Finalized}, decide.Rest, "Installation parent"},
		{"nor while what is no longer wanted goes", []testbuilders.Option{testbuilders.Below("a", "", "CleanupOrphaned"), testbuilders.Finalized}, decide.Rest, "Installation parent"},
		{"a job is handed over once", []testbuilders.Option{testbuilders.Below("a", "", "Progressing"), testbuilders.Finalized, testbuilders.Jobs("a", "a", "Succeeded")}, decide.Rest, settled},
		{"a job that has ended is not handed over", []testbuilders.Option{testbuilders.Below("b", "b", "Progressing"), testbuilders.Finalized, testbuilders.Jobs("a", "a", "Succeeded")}, decide.Rest, settled},
		{"the job before has to end", []testbuilders.Option{testbuilders.Below("b", "", "Progressing"), testbuilders.Finalized, testbuilders.WithExecution("a", "z", "Progressing"), testbuilders.Jobs("a", "", "Progressing")}, decide.Rest, "Execution x"},
		{"an interruption is for the job that comes", []testbuilders.Option{testbuilders.Below("a", "", "Progressing"), testbuilders.Requested("interrupt"), testbuilders.Finalized}, decide.Adopt, itself},
		{"also one that comes before the job does", []testbuilders.Option{testbuilders.Below("a", "", "Init"), testbuilders.Requested("interrupt"), testbuilders.Finalized}, decide.Rest, "Installation parent"},
		{"and an abort, of one that has ended an earlier job", []testbuilders.Option{testbuilders.Below("b", "a", "CleanupOrphaned"), testbuilders.Requested("abort"), testbuilders.Finalized, testbuilders.Jobs("a", "a", "Succeeded")}, decide.Rest, "Installation parent"},
		{"the job that was to come has ended without it", []testbuilders.Option{testbuilders.Below("b", "b", "Failed"), testbuilders.Requested("interrupt"), testbuilders.Finalized, testbuilders.Jobs("a", "a", "Succeeded")}, decide.Interrupt, itself},
		{"a sibling has to be done before", []testbuilders.Option{testbuilders.Below("a", "", "Progressing"), testbuilders.Finalized, testbuilders.Jobs("a", "", "Init"), testbuilders.Looked(func(in *decide.Inputs) { in.Turn.Waits = []string{"b", "c"} })}, decide.Await, "Installation b, Installation c"},
		{"a sibling will never be done", []testbuilders.Option{testbuilders.Below("a", "", "Progressing"), testbuilders.Finalized, testbuilders.Jobs("a", "", "Init"), testbuilders.Looked(func(in *decide.Inputs) { in.Turn.Never = errors.New("x"); in.Turn.Waits = []string{"c"} })}, decide.Fail, itself},
		{"a subinstallation works", []testbuilders.Option{testbuilders.Finalized, testbuilders.Written("b", "c"), testbuilders.WithSub("b", "a", "a", "Succeeded"), testbuilders.WithSub("c", "a", "z", "Progressing"), testbuilders.Jobs("a", "", "Progressing")}, decide.Rest, "Installation c"},
		{"a subinstallation has not got the job yet", []testbuilders.Option{testbuilders.Finalized, testbuilders.Written("b"), testbuilders.WithSub("b", "z", "z", "Failed"), testbuilders.Jobs("a", "", "Progressing")}, decide.Rest, "Installation b"},
		{"all end, also if one has failed", []testbuilders.Option{testbuilders.Finalized, testbuilders.Written("b", "c"), testbuilders.WithSub("b", "a", "a", "Failed"), testbuilders.WithSub("c", "a", "", "Init"), testbuilders.Jobs("a", "", "Progressing")}, decide.Rest, "Installation c"},
		{"the Execution still works", []testbuilders.Option{testbuilders.Finalized, testbuilders.Written("b"), testbuilders.WithSub("b", "a", "a", "Succeeded"), testbuilders.WithExecution("a", "z", "Progressing"), testbuilders.Jobs("a", "", "Progressing")}, decide.Rest, "Execution x"},
		{"all children have succeeded", []testbuilders.Option{testbuilders.Finalized, testbuilders.Written("b"), testbuilders.WithSub("b", "a", "a", "Succeeded"), testbuilders.WithExecution("a", "a", "Succeeded"), testbuilders.Jobs("a", "", "Progressing")}, decide.Complete, itself},
		{"a subinstallation has failed", []testbuilders.Option{testbuilders.Finalized, testbuilders.Written("b"), testbuilders.WithSub("b", "a", "a", "Failed"), testbuilders.WithExecution("a", "a", "Succeeded"), testbuilders.Jobs("a", "", "Progressing")}, decide.Trace, itself},
		{"a subinstallation has failed, and nothing below it", []testbuilders.Option{testbuilders.Finalized, testbuilders.Written("b"), testbuilders.WithSub("b", "a", "a", "Failed"), testbuilders.WithExecution("a", "a", "Succeeded"), testbuilders.Jobs("a", "", "Progressing"), testbuilders.Traced}, decide.Fail, itself},
		{"somebody has deleted a subinstallation", []testbuilders.Option{testbuilders.Finalized, testbuilders.Written("b"), testbuilders.Jobs("a", "", "Progressing")}, decide.Fail, itself},
		{"what somebody has deleted goes before anything is rendered", []testbuilders.Option{testbuilders.Finalized, testbuilders.WithSub("(b)", "z", "z", "Succeeded"), testbuilders.Jobs("a", "", "Init")}, decide.Clear, itself},
		{"it goes with the job", []testbuilders.Option{testbuilders.Finalized, testbuilders.WithSub("(b)", "a", "z", "Deleting"), testbuilders.Jobs("a", "", "CleanupOrphaned")}, decide.Rest, "Installation b"},
		{"so does an Execution", []testbuilders.Option{testbuilders.Finalized, testbuilders.WithExecution("z", "z", "Succeeded"), testbuilders.ExecutionDeleted, testbuilders.Jobs("a", "", "Init")}, decide.Clear, itself},
		{"it is deleted with the job", []testbuilders.Option{testbuilders.Finalized, testbuilders.WithExecution("a", "z", "Deleting"), testbuilders.ExecutionDeleted, testbuilders.Jobs("a", "", "CleanupOrphaned")}, decide.Rest, "Execution x"},
		{"the cache shows none any more", []testbuilders.Option{testbuilders.Finalized, testbuilders.AwaitingExecution, testbuilders.Jobs("a", "", "CleanupOrphaned")}, decide.Confirm, itself},
		{"nor does another job begin without that question", []testbuilders.Option{testbuilders.Finalized, testbuilders.AwaitingExecution, testbuilders.Jobs("a", "z", "Init")}, decide.Confirm, itself},
		{"it is not there any more", []testbuilders.Option{testbuilders.Finalized, testbuilders.AwaitingExecution, testbuilders.Asked, testbuilders.Jobs("a", "", "CleanupOrphaned")}, decide.Look, itself},
		{"it could not be deleted", []testbuilders.Option{testbuilders.Finalized, testbuilders.WithExecution("a", "a", "DeleteFailed"), testbuilders.ExecutionDeleted, testbuilders.Jobs("a", "", "CleanupOrphaned")}, decide.Fail, itself},
		{"an interruption reaches it", []testbuilders.Option{testbuilders.Finalized, testbuilders.Requested("interrupt"), testbuilders.WithExecution("a", "z", "Deleting"), testbuilders.ExecutionDeleted, testbuilders.Jobs("a", "", "CleanupOrphaned")}, decide.Interrupt, itself},
		{"it is gone, and nothing was rendered yet", []testbuilders.Option{testbuilders.Finalized, testbuilders.Jobs("a", "", "CleanupOrphaned")}, decide.Look, itself},
		{"it is gone, and all others are written", []testbuilders.Option{testbuilders.Finalized, testbuilders.Written("c"), testbuilders.WithSub("c", "z", "z", "Succeeded"), testbuilders.Jobs("a", "", "CleanupOrphaned")}, decide.HandOver, itself},
		{"it is gone, and the public system has written the others: it has no plan for exports", []testbuilders.Option{testbuilders.Finalized, testbuilders.ExportsSomething, testbuilders.Written("c"), testbuilders.WithSub("c", "z", "z", "Succeeded"), testbuilders.Jobs("a", "", "CleanupOrphaned")}, decide.Look, itself},
		{"it does not go", []testbuilders.Option{testbuilders.Finalized, testbuilders.Written(), testbuilders.WithSub("(b)", "a", "a", "DeleteFailed"), testbuilders.Jobs("a", "", "CleanupOrphaned")}, decide.Trace, itself},
		{"it does not go, and nothing below it", []testbuilders.Option{testbuilders.Finalized, testbuilders.Written(), testbuilders.WithSub("(b)", "a", "a", "DeleteFailed"), testbuilders.Jobs("a", "", "CleanupOrphaned"), testbuilders.Traced}, decide.Fail, itself},
		{"a deletion waits for what goes already", []testbuilders.Option{testbuilders.Deleting, testbuilders.Finalized, testbuilders.Written(), testbuilders.WithSub("(b)", "a", "", "Deleting"), testbuilders.Jobs("a", "", "CleanupOrphaned")}, decide.Rest, "Installation b"},
		{"and abandons the job then", []testbuilders.Option{testbuilders.Deleting, testbuilders.Finalized, testbuilders.Written(), testbuilders.Jobs("a", "", "CleanupOrphaned")}, decide.Fail, itself},

		{"what the job had stored for its end goes", []testbuilders.Option{testbuilders.Finalized, testbuilders.Left, testbuilders.Jobs("a", "a", "Succeeded")}, decide.Tidy, itself},
		{"another job may begin before", []testbuilders.Option{testbuilders.Finalized, testbuilders.Left, testbuilders.Requested("reconcile"), testbuilders.Jobs("a", "a", "Failed")}, decide.Admit, itself},
		{"what is stored is needed as long as the job runs", []testbuilders.Option{testbuilders.Finalized, testbuilders.Left, testbuilders.WithExecution("a", "z", "Progressing"), testbuilders.Jobs("a", "", "Progressing")}, decide.Rest, "Execution x"},
		{"what could not be deleted is tried again later", []testbuilders.Option{testbuilders.Finalized, testbuilders.Left, testbuilders.Untidy, testbuilders.Jobs("a", "a", "Succeeded")}, decide.Rest, job.Wake{}.By(testbuilders.Noon).String()},

		{"a retry has its time", []testbuilders.Option{testbuilders.Finalized, testbuilders.Jobs("a", "a", "Failed"), testbuilders.Every("2m", "", 4), testbuilders.FinishedBefore(time.Minute)}, decide.Rest, job.Wake{}.By(testbuilders.Noon.Add(time.Minute)).String()},
		{"and starts then", []testbuilders.Option{testbuilders.Finalized, testbuilders.Jobs("a", "a", "Failed"), testbuilders.Every("2m", "", 4), testbuilders.FinishedBefore(2 * time.Minute)}, decide.Repeat, itself},
		{"a request goes before a retry", []testbuilders.Option{testbuilders.Finalized, testbuilders.Requested("reconcile"), testbuilders.Jobs("a", "a", "Failed"), testbuilders.Every("2m", "", 4), testbuilders.FinishedBefore(time.Hour)}, decide.Admit, itself},
		{"a success is repeated", []testbuilders.Option{testbuilders.Finalized, testbuilders.Jobs("a", "a", "Succeeded"), testbuilders.Every("", "1h", 0), testbuilders.FinishedBefore(time.Hour)}, decide.Repeat, itself},
		{"a stored plan does not hide the next job", []testbuilders.Option{testbuilders.Finalized, testbuilders.Left, testbuilders.Untidy, testbuilders.Jobs("a", "a", "Succeeded"), testbuilders.Every("", "1h", 0), testbuilders.FinishedBefore(2 * time.Hour)}, decide.Repeat, itself},
		{"what comes first wakes first", []testbuilders.Option{testbuilders.Finalized, testbuilders.Left, func(s *decide.Situation) { s.TidyAt = testbuilders.Noon.Add(time.Second) }, testbuilders.Jobs("a", "a", "Succeeded"), testbuilders.Every("", "1h", 0), testbuilders.FinishedBefore(0)}, decide.Rest, job.Wake{}.By(testbuilders.Noon.Add(time.Second)).String()},

		{"dependents are asked for a job", []testbuilders.Option{testbuilders.Finalized, testbuilders.Tells("d", "e"), testbuilders.Jobs("a", "a", "Succeeded")}, decide.Tell, itself},
		{"before the plan goes, which nobody needs", []testbuilders.Option{testbuilders.Finalized, testbuilders.Left, testbuilders.Tells("d"), testbuilders.Jobs("a", "a", "Succeeded")}, decide.Tell, itself},
		{"who works is asked when it has ended", []testbuilders.Option{testbuilders.Finalized, testbuilders.Tells("d", "e"), testbuilders.Told("e"), testbuilders.Jobs("a", "a", "Succeeded")}, decide.Rest, "Installation e"},
		{"an own job comes first", []testbuilders.Option{testbuilders.Finalized, testbuilders.Tells("d"), testbuilders.Requested("reconcile"), testbuilders.Jobs("a", "a", "Succeeded")}, decide.Admit, itself},
		{"and a job that runs", []testbuilders.Option{testbuilders.Finalized, testbuilders.Tells("d"), testbuilders.WithExecution("a", "z", "Progressing"), testbuilders.Jobs("b", "a", "Progressing")}, decide.Rest, "Execution x"},
		{"a failure asks those who were not asked before", []testbuilders.Option{testbuilders.Finalized, testbuilders.Tells("d"), testbuilders.Jobs("a", "a", "Failed")}, decide.Tell, itself},
		{"parts of a whole ask nobody", []testbuilders.Option{testbuilders.Finalized, testbuilders.Sub, testbuilders.Tells("d"), testbuilders.Jobs("a", "a", "Succeeded")}, decide.Rest, settled},
		{"what did not work is tried again", []testbuilders.Option{testbuilders.Finalized, testbuilders.Tells("d"), testbuilders.Told("d"), func(s *decide.Situation) { s.TellAt = testbuilders.Noon }, testbuilders.Jobs("a", "a", "Succeeded")}, decide.Rest, job.OnChange("Installation", "d").By(testbuilders.Noon).String()},

		{"the administrator wants a job for each changed spec", []testbuilders.Option{testbuilders.Generations(2, 1), testbuilders.Triggered(predicates.Triggers{OnSpecChange: true}), testbuilders.Jobs("a", "a", "Failed")}, decide.Admit, itself},
		{"and for whatever is new", []testbuilders.Option{testbuilders.Generations(1, 0), testbuilders.Triggered(predicates.Triggers{OnSpecChange: true})}, decide.Admit, itself},
		{"once", []testbuilders.Option{testbuilders.Generations(2, 2), testbuilders.Triggered(predicates.Triggers{OnSpecChange: true}), testbuilders.Jobs("a", "a", "Failed")}, decide.Rest, settled},
		{"not for parts of a whole", []testbuilders.Option{testbuilders.Sub, testbuilders.Generations(2, 1), testbuilders.Triggered(predicates.Triggers{OnSpecChange: true})}, decide.Rest, settled},
		{"nor for what users want to be skipped", []testbuilders.Option{testbuilders.Generations(2, 1), testbuilders.Annotated(v1alpha1.SkipAnnotation, "true"), testbuilders.Triggered(predicates.Triggers{OnSpecChange: true})}, decide.Rest, settled},
		{"the administrator wants a job for changed imports", []testbuilders.Option{testbuilders.Triggered(predicates.Triggers{OnImportChange: true}), testbuilders.Jobs("a", "a", "Failed")}, decide.Compare, itself},
		{"they have changed", []testbuilders.Option{testbuilders.Triggered(predicates.Triggers{OnImportChange: true}), testbuilders.Importing("old", "new"), testbuilders.Jobs("a", "a", "Failed")}, decide.Follow, itself},
		{"they are the same", []testbuilders.Option{testbuilders.Triggered(predicates.Triggers{OnImportChange: true}), testbuilders.Importing("old", "old"), testbuilders.Jobs("a", "a", "Failed")}, decide.Rest, settled},
		{"nobody can read them", []testbuilders.Option{testbuilders.Triggered(predicates.Triggers{OnImportChange: true}), testbuilders.Importing("old", ""), testbuilders.Jobs("a", "a", "Failed")}, decide.Rest, settled},
		{"what has never run is not started by its imports", []testbuilders.Option{testbuilders.Triggered(predicates.Triggers{OnImportChange: true})}, decide.Rest, settled},
		{"nor what users want to be skipped", []testbuilders.Option{testbuilders.Triggered(predicates.Triggers{OnImportChange: true}), testbuilders.Annotated(v1alpha1.SkipAnnotation, "true"), testbuilders.Jobs("a", "a", "Failed")}, decide.Rest, settled},

		{"a deletion starts without a request", []testbuilders.Option{testbuilders.Deleting, testbuilders.Finalized, testbuilders.Jobs("a", "a", "Succeeded")}, decide.Admit, itself},
		{"a deletion starts although nothing ever ran", []testbuilders.Option{testbuilders.Deleting, testbuilders.Finalized}, decide.Admit, itself},
		{"without our finalizer there is nothing to clean up", []testbuilders.Option{testbuilders.Deleting}, decide.Rest, settled},
		{"a job that has not reached a child is abandoned for the deletion", []testbuilders.Option{testbuilders.Deleting, testbuilders.Finalized, testbuilders.Jobs("a", "", "Init")}, decide.Fail, itself},
		{"a job that has reached children ends first", []testbuilders.Option{testbuilders.Deleting, testbuilders.Finalized, testbuilders.WithExecution("a", "", "Progressing"), testbuilders.Jobs("a", "", "Progressing")}, decide.Rest, "Execution x"},
		{"children are deleted", []testbuilders.Option{testbuilders.Deleting, testbuilders.Finalized, testbuilders.WithExecution("z", "z", "Succeeded"), testbuilders.Jobs("a", "z", "InitDelete")}, decide.Remove, itself},
		{"there never was a child", []testbuilders.Option{testbuilders.Deleting, testbuilders.Finalized, testbuilders.Jobs("a", "z", "InitDelete")}, decide.Release, itself},
		{"a child that the cache does not show may be there", []testbuilders.Option{testbuilders.Deleting, testbuilders.Finalized, testbuilders.AwaitingExecution, testbuilders.Jobs("a", "z", "InitDelete")}, decide.Remove, itself},
		{"the Execution is being deleted", []testbuilders.Option{testbuilders.Deleting, testbuilders.Finalized, testbuilders.Condemned, testbuilders.WithExecution("a", "z", "Deleting"), testbuilders.Jobs("a", "z", "Deleting")}, decide.Rest, "Execution x"},
		{"the cache shows the Execution only now", []testbuilders.Option{testbuilders.Deleting, testbuilders.Finalized, testbuilders.WithExecution("", "", ""), testbuilders.Jobs("a", "z", "Deleting")}, decide.Remove, itself},
		{"the cache does not show yet that the Execution was deleted", []testbuilders.Option{testbuilders.Deleting, testbuilders.Finalized, testbuilders.Condemned, testbuilders.WithExecution("", "", ""), testbuilders.Jobs("a", "z", "Deleting")}, decide.Rest, "Execution x"},
		{"the cache says that the Execution is gone", []testbuilders.Option{testbuilders.Deleting, testbuilders.Finalized, testbuilders.AwaitingExecution, testbuilders.Jobs("a", "z", "Deleting")}, decide.Confirm, itself},
		{"the API server says so, too", []testbuilders.Option{testbuilders.Deleting, testbuilders.Finalized, testbuilders.AwaitingExecution, testbuilders.Asked, testbuilders.Jobs("a", "z", "Deleting")}, decide.Release, itself},
		{"the API server knows better", []testbuilders.Option{testbuilders.Deleting, testbuilders.Finalized, testbuilders.WithExecution("a", "z", "Succeeded"), testbuilders.Asked, testbuilders.Jobs("b", "a", "Deleting")}, decide.Remove, itself},
		{"who exports looks for importers first", []testbuilders.Option{testbuilders.Deleting, testbuilders.Finalized, testbuilders.ExportsSomething, testbuilders.Jobs("a", "z", "InitDelete")}, decide.Survey, itself},
		{"unless nobody wants that", []testbuilders.Option{testbuilders.Deleting, testbuilders.Finalized, testbuilders.ExportsSomething, testbuilders.Annotated(v1alpha1.DeleteIgnoreSuccessorsAnnotation, "true"), testbuilders.Jobs("a", "z", "InitDelete")}, decide.Release, itself},
		{"importers go first", []testbuilders.Option{testbuilders.Deleting, testbuilders.Finalized, testbuilders.ExportsSomething, testbuilders.Surveyed("b"), testbuilders.Jobs("a", "z", "InitDelete")}, decide.Await, "Installation b"},
		{"no importer is left", []testbuilders.Option{testbuilders.Deleting, testbuilders.Finalized, testbuilders.ExportsSomething, testbuilders.Surveyed(), testbuilders.Jobs("a", "z", "InitDelete")}, decide.Release, itself},
		{"an importer does not go", []testbuilders.Option{testbuilders.Deleting, testbuilders.Finalized, testbuilders.ExportsSomething, testbuilders.Hopeless, testbuilders.Jobs("a", "z", "InitDelete")}, decide.Fail, itself},
		{"subinstallations are deleted", []testbuilders.Option{testbuilders.Deleting, testbuilders.Finalized, testbuilders.WithSub("b", "z", "z", "Succeeded"), testbuilders.Jobs("a", "z", "InitDelete")}, decide.Remove, itself},
		{"one was not reached", []testbuilders.Option{testbuilders.Deleting, testbuilders.Finalized, testbuilders.WithSub("(b)", "z", "z", "Succeeded"), testbuilders.WithSub("c", "z", "z", "Succeeded"), testbuilders.Jobs("a", "z", "Deleting")}, decide.Remove, itself},
		{"one is being deleted", []testbuilders.Option{testbuilders.Deleting, testbuilders.Finalized, testbuilders.WithSub("(b)", "a", "z", "Deleting"), testbuilders.Jobs("a", "z", "Deleting")}, decide.Rest, "Installation b"},
		{"one could not be deleted, another one still goes", []testbuilders.Option{testbuilders.Deleting, testbuilders.Finalized, testbuilders.WithSub("(b)", "a", "a", "DeleteFailed"), testbuilders.WithSub("(c)", "a", "z", "Deleting"), testbuilders.Jobs("a", "z", "Deleting")}, decide.Rest, "Installation c"},
		{"one could not be deleted", []testbuilders.Option{testbuilders.Deleting, testbuilders.Finalized, testbuilders.WithSub("(b)", "a", "a", "DeleteFailed"), testbuilders.Jobs("a", "z", "Deleting")}, decide.Trace, itself},
		{"one could not be deleted, and nothing below it", []testbuilders.Option{testbuilders.Deleting, testbuilders.Finalized, testbuilders.WithSub("(b)", "a", "a", "DeleteFailed"), testbuilders.Jobs("a", "z", "Deleting"), testbuilders.Traced}, decide.Fail, itself},
		{"the Execution still goes", []testbuilders.Option{testbuilders.Deleting, testbuilders.Finalized, testbuilders.Condemned, testbuilders.WithSub("(b)", "a", "a", "DeleteFailed"), testbuilders.WithExecution("a", "z", "Deleting"), testbuilders.Jobs("a", "z", "Deleting")}, decide.Rest, "Execution x"},
		{"a subinstallation is deleted with its parent", []testbuilders.Option{testbuilders.Below("b", "a", "Deleting"), testbuilders.Deleting, testbuilders.Finalized, testbuilders.Jobs("a", "a", "Succeeded")}, decide.Adopt, itself},
		{"when the parent has deleted all", []testbuilders.Option{testbuilders.Below("b", "a", "InitDelete"), testbuilders.Deleting, testbuilders.Finalized, testbuilders.Jobs("a", "a", "Succeeded")}, decide.Rest, "Installation parent"},
		{"one that is no longer wanted goes before the others", []testbuilders.Option{testbuilders.Below("b", "a", "CleanupOrphaned"), testbuilders.Deleting, testbuilders.Finalized, testbuilders.Jobs("a", "a", "Succeeded")}, decide.Adopt, itself},
		{"one that a user deletes waits for a job of the parent, and says so", []testbuilders.Option{testbuilders.Below("a", "a", "Succeeded"), testbuilders.Deleting, testbuilders.Finalized, testbuilders.Jobs("a", "a", "Succeeded")}, decide.Explain, itself},
		{"once", []testbuilders.Option{testbuilders.Below("a", "a", "Succeeded"), testbuilders.Deleting, testbuilders.Finalized, testbuilders.Jobs("a", "a", "Succeeded"), testbuilders.SaidSo}, decide.Rest, settled},
		{"not if its deletion has failed, which it says instead", []testbuilders.Option{testbuilders.Below("a", "a", "DeleteFailed"), testbuilders.Deleting, testbuilders.Finalized, testbuilders.Jobs("a", "a", "DeleteFailed")}, decide.Rest, settled},
		{"nor if nothing holds it", []testbuilders.Option{testbuilders.Below("a", "a", "Succeeded"), testbuilders.Deleting, testbuilders.Jobs("a", "a", "Succeeded")}, decide.Rest, settled},
		{"without its parent it deletes itself", []testbuilders.Option{testbuilders.WithoutParent, testbuilders.Deleting, testbuilders.Finalized, testbuilders.Jobs("a", "a", "Succeeded")}, decide.Admit, itself},
		{"once", []testbuilders.Option{testbuilders.WithoutParent, testbuilders.Deleting, testbuilders.Finalized, testbuilders.Jobs("a", "a", "DeleteFailed")}, decide.Rest, settled},
		{"and again on request", []testbuilders.Option{testbuilders.WithoutParent, testbuilders.Requested("reconcile"), testbuilders.Deleting, testbuilders.Finalized, testbuilders.Jobs("a", "a", "DeleteFailed")}, decide.Admit, itself},

		{"the Execution could not be deleted", []testbuilders.Option{testbuilders.Deleting, testbuilders.Finalized, testbuilders.Condemned, testbuilders.WithExecution("a", "a", "DeleteFailed"), testbuilders.Jobs("a", "z", "Deleting")}, decide.Fail, itself},
		{"a failed deletion waits for a request", []testbuilders.Option{testbuilders.Deleting, testbuilders.Finalized, testbuilders.Jobs("a", "a", "DeleteFailed")}, decide.Rest, settled},
		{"a failed deletion starts again on request", []testbuilders.Option{testbuilders.Deleting, testbuilders.Finalized, testbuilders.Requested("reconcile"), testbuilders.Jobs("a", "a", "DeleteFailed")}, decide.Admit, itself},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			got := decide.Next(testbuilders.Situation(test.options...))
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
		option testbuilders.Option
		ends   bool
	}{
		{"a job that has not reached its children", testbuilders.Jobs("a", "", "Init"), true},
		{"a job whose children are at work ends with them", testbuilders.Jobs("a", "", "Progressing"), false},
		{"no job", testbuilders.Jobs("a", "a", "Succeeded"), false},
		{"a job that nobody has begun with", testbuilders.Jobs("b", "a", "Succeeded"), true},
		{"a deletion that waits for siblings", func(s *decide.Situation) { testbuilders.Jobs("a", "", "InitDelete")(s); testbuilders.Deleting(s) }, true},
		{"a deletion that has reached children", func(s *decide.Situation) { testbuilders.Jobs("a", "", "Deleting")(s); testbuilders.Deleting(s) }, false},
		{"subinstallations that go end first", func(s *decide.Situation) {
			testbuilders.Jobs("a", "", "CleanupOrphaned")(s)
			testbuilders.WithSub("(b)", "a", "", "Deleting")(s)
		}, false},
		{"none goes any more", testbuilders.Jobs("a", "", "CleanupOrphaned"), true},
	} {
		t.Run(test.reason, func(t *testing.T) {
			got := decide.Next(testbuilders.Situation(testbuilders.Requested("interrupt"), test.option))
			if got.Do != decide.Interrupt || (job.OutcomeOf(got.Err) == job.Terminal) != test.ends {
				t.Errorf("%+v", got)
			}
		})
	}
}
