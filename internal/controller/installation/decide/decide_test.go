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
		{"an Installation without a request rests", nil, decide.Rest, settled},
		{"a change of the spec alone starts nothing", []testbuilders.Option{testbuilders.Generations(2, 1)}, decide.Rest, settled},
		{"a request starts a job", []testbuilders.Option{testbuilders.Requested("reconcile")}, decide.Admit, itself},
		{"a request starts a further job", []testbuilders.Option{testbuilders.Requested("reconcile"), testbuilders.Finalized, testbuilders.Jobs("a", "a", "Succeeded")}, decide.Admit, itself},
		{"a request waits for the running job", []testbuilders.Option{testbuilders.Requested("reconcile"), testbuilders.Finalized, testbuilders.WithExecution("a", "z", "Progressing"), testbuilders.Jobs("a", "", "Progressing")}, decide.Rest, "Execution x"},
		{"force-reconcile starts a job like reconcile", []testbuilders.Option{testbuilders.Requested("force-reconcile"), testbuilders.Jobs("a", "a", "Failed")}, decide.Admit, itself},
		{"force-reconcile does not wait for the running job", []testbuilders.Option{testbuilders.Requested("force-reconcile"), testbuilders.Finalized, testbuilders.AwaitingExecution, testbuilders.Jobs("a", "", "Progressing")}, decide.Interrupt, itself},
		{"force-reconcile on a subinstallation has no effect", []testbuilders.Option{testbuilders.Sub, testbuilders.Requested("force-reconcile"), testbuilders.Jobs("a", "", "Progressing")}, decide.Dismiss, itself},
		{"a first job that was picked up begins, also after a crash", []testbuilders.Option{testbuilders.Finalized, testbuilders.Annotated(v1alpha1.AdmittedAnnotation, "u")}, decide.Admit, itself},
		{"an interruption that came later is for a first job that was picked up", []testbuilders.Option{testbuilders.Finalized, testbuilders.Annotated(v1alpha1.AdmittedAnnotation, "u"), testbuilders.Requested("interrupt")}, decide.Admit, itself},
		{"a deletion replaces a first job that was picked up", []testbuilders.Option{testbuilders.Finalized, testbuilders.Deleting, testbuilders.Annotated(v1alpha1.AdmittedAnnotation, "u")}, decide.Admit, itself},
		{"a copied note that the original was picked up has no effect", []testbuilders.Option{testbuilders.Finalized, testbuilders.Annotated(v1alpha1.AdmittedAnnotation, "of-another")}, decide.Rest, settled},
		{"a note that a first job was picked up has no effect after a job", []testbuilders.Option{testbuilders.Finalized, testbuilders.Annotated(v1alpha1.AdmittedAnnotation, "u"), testbuilders.Jobs("a", "a", "Succeeded")}, decide.Rest, settled},
		{"a note that a first job was picked up has no effect on a subinstallation", []testbuilders.Option{testbuilders.Sub, testbuilders.Finalized, testbuilders.Annotated(v1alpha1.AdmittedAnnotation, "u")}, decide.Rest, settled},
		{"an unknown operation starts nothing", []testbuilders.Option{testbuilders.Requested("dance")}, decide.Rest, settled},
		{"a changed spec starts a job if the user wants that", []testbuilders.Option{testbuilders.Annotated(v1alpha1.ReconcileIfChangedAnnotation, "true"), testbuilders.Generations(2, 1)}, decide.Admit, itself},
		{"an unchanged spec starts nothing", []testbuilders.Option{testbuilders.Annotated(v1alpha1.ReconcileIfChangedAnnotation, "true"), testbuilders.Generations(2, 2)}, decide.Rest, settled},
		{"skip wins over automatic jobs", []testbuilders.Option{testbuilders.Annotated(v1alpha1.ReconcileIfChangedAnnotation, "true"), testbuilders.Annotated(v1alpha1.SkipAnnotation, "true"), testbuilders.Generations(2, 1)}, decide.Rest, settled},
		{"skip does not hold back a request", []testbuilders.Option{testbuilders.Annotated(v1alpha1.SkipAnnotation, "true"), testbuilders.Requested("reconcile")}, decide.Admit, itself},
		{"the old name of skip counts, too", []testbuilders.Option{testbuilders.Annotated(v1alpha1.ReconcileIfChangedAnnotation, "true"), testbuilders.Annotated(v1alpha1.IgnoreAnnotation, "true"), testbuilders.Generations(2, 1)}, decide.Rest, settled},
		{"an interruption comes first", []testbuilders.Option{testbuilders.Requested("interrupt"), testbuilders.Jobs("a", "", "Progressing")}, decide.Interrupt, itself},
		{"an abort is passed to the children", []testbuilders.Option{testbuilders.Requested("abort"), testbuilders.Jobs("a", "", "Progressing")}, decide.Interrupt, itself},
		{"a request on a subinstallation has no effect", []testbuilders.Option{testbuilders.Sub, testbuilders.Requested("reconcile")}, decide.Dismiss, itself},
		{"an owner of another group makes no subinstallation", []testbuilders.Option{testbuilders.ForeignOwner, testbuilders.Requested("reconcile")}, decide.Admit, itself},
		{"a subinstallation starts when its parent assigns a job", []testbuilders.Option{testbuilders.Sub, testbuilders.Jobs("a", "", "")}, decide.Begin, itself},
		{"an assigned job starts although the last phase is final", []testbuilders.Option{testbuilders.Jobs("b", "a", "Succeeded")}, decide.Begin, itself},
		{"a job in an unknown phase begins again", []testbuilders.Option{testbuilders.Finalized, testbuilders.Jobs("a", "", "Dancing")}, decide.Begin, itself},
		{"an admission that was cut short is ended", []testbuilders.Option{testbuilders.Jobs("a", "", "Init")}, decide.Accept, itself},
		{"an admission that was cut short is ended when the children are written and wait for that", []testbuilders.Option{testbuilders.Jobs("a", "", "Progressing")}, decide.Accept, itself},
		{"an admission is not ended before the job is stored", []testbuilders.Option{testbuilders.Requested("reconcile"), testbuilders.Jobs("b", "a", "Init"), func(s *decide.Situation) { s.PendingTrigger = v1alpha1.TriggeredByReconcile }}, decide.ReadInputs, itself},
		{"the request for a job does not interrupt that job", []testbuilders.Option{testbuilders.Requested("force-reconcile"), testbuilders.Jobs("b", "a", "Init"), func(s *decide.Situation) { s.PendingTrigger = v1alpha1.TriggeredByReconcile }}, decide.ReadInputs, itself},
		{"the inputs are read before the children are written", []testbuilders.Option{testbuilders.Finalized, testbuilders.Jobs("a", "", "Init")}, decide.ReadInputs, itself},
		{"children are written when the inputs are read", []testbuilders.Option{testbuilders.Finalized, testbuilders.Jobs("a", "", "Init"), testbuilders.InputsRead(nil)}, decide.WriteChildren, itself},
		{"a job in a phase of upstream that we skip writes the children", []testbuilders.Option{testbuilders.Finalized, testbuilders.Jobs("a", "", "ObjectsCreated"), testbuilders.InputsRead(nil)}, decide.WriteChildren, itself},
		{"an Installation that is not valid ends the job", []testbuilders.Option{testbuilders.Finalized, testbuilders.Jobs("a", "", "Init"), testbuilders.InputsRead(func(in *decide.Inputs) { in.Invalid = field.ErrorList{field.Required(nil, "x")} })}, decide.Fail, itself},
		{"an import that cannot be used ends the job", []testbuilders.Option{testbuilders.Finalized, testbuilders.Jobs("a", "", "Init"), testbuilders.InputsRead(func(in *decide.Inputs) { in.ImportsErr = errors.New("x") })}, decide.Fail, itself},
		{"a missing default Context is made by the server", []testbuilders.Option{testbuilders.Finalized, testbuilders.Jobs("a", "", "Init"), testbuilders.InputsRead(func(in *decide.Inputs) { in.Context = nil })}, decide.Await, "Context default"},
		{"any other missing Context ends the job", []testbuilders.Option{testbuilders.Finalized, testbuilders.Jobs("a", "", "Init"), testbuilders.OfContext("mine"), testbuilders.InputsRead(func(in *decide.Inputs) { in.Context = nil })}, decide.Fail, itself},
		{"an import that no sibling exports ends the job", []testbuilders.Option{testbuilders.Finalized, testbuilders.Jobs("a", "", "Init"), testbuilders.InputsRead(func(in *decide.Inputs) { in.Missing = testbuilders.Missing("db") })}, decide.Fail, itself},
		{"a job waits for an import that a sibling is about to export", []testbuilders.Option{testbuilders.Finalized, testbuilders.Jobs("a", "", "Init"), testbuilders.InputsRead(func(in *decide.Inputs) {
			in.Missing, in.Exporters = testbuilders.Missing("db"), []siblings.Exporter{{Name: "sibling", Kind: dataflow.KindDataObject, Object: "db", Active: true}}
		})}, decide.Await, "Installation sibling"},
		{"a job without children completes at once", []testbuilders.Option{testbuilders.Finalized, testbuilders.Jobs("a", "", "Progressing")}, decide.Complete, itself},
		{"the Execution is not in the cache yet", []testbuilders.Option{testbuilders.Finalized, testbuilders.AwaitingExecution, testbuilders.Jobs("a", "", "Progressing")}, decide.Confirm, itself},
		{"the API server has no Execution either: another client has removed it", []testbuilders.Option{testbuilders.Finalized, testbuilders.AwaitingExecution, testbuilders.ExecutionAbsent, testbuilders.Jobs("a", "", "Progressing")}, decide.Fail, itself},
		{"the other children end before a job whose Execution was removed", []testbuilders.Option{testbuilders.Finalized, testbuilders.InPhase(time.Second), testbuilders.AwaitingExecution, testbuilders.ExecutionAbsent, testbuilders.Written("b"), testbuilders.WithSub("b", "a", "", "Progressing"), testbuilders.Jobs("a", "", "Progressing")}, decide.Rest, "Installation b, the time 2030-01-02T12:00:04Z"},
		{"the cause is shown while other children of a job without Execution are at work", []testbuilders.Option{testbuilders.Finalized, testbuilders.InPhase(time.Minute), testbuilders.AwaitingExecution, testbuilders.ExecutionAbsent, testbuilders.Written("b"), testbuilders.WithSub("b", "a", "", "Progressing"), testbuilders.Jobs("a", "", "Progressing")}, decide.Show, itself},
		{"the cause is shown while other children of a job with a missing subinstallation are at work", []testbuilders.Option{testbuilders.Finalized, testbuilders.InPhase(time.Minute), testbuilders.Written("b", "c"), testbuilders.WithSub("b", "a", "", "Progressing"), testbuilders.Jobs("a", "", "Progressing")}, decide.Show, itself},
		{"the Execution has an older job", []testbuilders.Option{testbuilders.Finalized, testbuilders.WithExecution("z", "z", "Succeeded"), testbuilders.Jobs("a", "", "Progressing")}, decide.Rest, "Execution x"},
		{"the Execution is at work", []testbuilders.Option{testbuilders.Finalized, testbuilders.WithExecution("a", "z", "Progressing"), testbuilders.Jobs("a", "", "Progressing")}, decide.Rest, "Execution x"},
		{"the Execution has succeeded", []testbuilders.Option{testbuilders.Finalized, testbuilders.WithExecution("a", "a", "Succeeded"), testbuilders.Jobs("a", "", "Progressing")}, decide.Complete, itself},
		{"the Execution has failed", []testbuilders.Option{testbuilders.Finalized, testbuilders.WithExecution("a", "a", "Failed"), testbuilders.Jobs("a", "", "Progressing")}, decide.Fail, itself},
		{"results are still to be collected", []testbuilders.Option{testbuilders.Finalized, testbuilders.Jobs("a", "", "Completing")}, decide.Complete, itself},
		{"a job that another release has begun may have no plan for its exports", []testbuilders.Option{testbuilders.Finalized, testbuilders.ExportsSomething, testbuilders.Jobs("a", "", "Completing")}, decide.FindPlan, itself},
		{"a job of ours has its plan, or may not get another one", []testbuilders.Option{testbuilders.Finalized, testbuilders.ExportsSomething, testbuilders.Jobs("a", "", "Completing"), testbuilders.ExportsPending}, decide.Complete, itself},
		{"a stored plan is used, also one of another process", []testbuilders.Option{testbuilders.Finalized, testbuilders.ExportsSomething, testbuilders.Jobs("a", "", "Completing"), testbuilders.PlanMissing(false)}, decide.Complete, itself},
		{"without a plan the inputs are read", []testbuilders.Option{testbuilders.Finalized, testbuilders.ExportsSomething, testbuilders.Jobs("a", "", "Completing"), testbuilders.PlanMissing(true)}, decide.ReadInputs, itself},
		{"a plan is made from the present inputs", []testbuilders.Option{testbuilders.Finalized, testbuilders.ExportsSomething, testbuilders.Jobs("a", "", "Completing"), testbuilders.PlanMissing(true), testbuilders.InputsRead(nil)}, decide.Inherit, itself},
		{"inputs that no longer exist end the job", []testbuilders.Option{testbuilders.Finalized, testbuilders.ExportsSomething, testbuilders.Jobs("a", "", "Completing"), testbuilders.PlanMissing(true), testbuilders.InputsRead(func(in *decide.Inputs) { in.Missing = testbuilders.Missing("db") })}, decide.Fail, itself},
		{"inputs that are about to come are waited for", []testbuilders.Option{testbuilders.Finalized, testbuilders.ExportsSomething, testbuilders.Jobs("a", "", "Completing"), testbuilders.PlanMissing(true), testbuilders.InputsRead(func(in *decide.Inputs) { in.Context = nil })}, decide.Await, "Context default"},
		{"a data update that keeps the children does not begin again", []testbuilders.Option{testbuilders.Finalized, testbuilders.ExportsSomething, testbuilders.Jobs("a", "", "Completing"), testbuilders.PlanMissing(true), testbuilders.Updating(true, "x"), testbuilders.ImportsHashed("h", "h")}, decide.Complete, itself},
		{"results of another specification do not count", []testbuilders.Option{testbuilders.Finalized, testbuilders.Jobs("a", "", "Completing"), testbuilders.Generations(2, 1)}, decide.Fail, itself},

		{"a parent without a finalizer assigns no job: it may be deleted before its children", []testbuilders.Option{testbuilders.Below("a", "", "Progressing"), func(s *decide.Situation) { s.Parent.Finalizers = nil }, testbuilders.Finalized}, decide.Rest, "Installation parent"},
		{"a parent assigns its job when all children are written", []testbuilders.Option{testbuilders.Below("a", "", "Progressing"), testbuilders.Finalized}, decide.Adopt, itself},
		{"a parent assigns no job before all children are written", []testbuilders.Option{testbuilders.Below("a", "", "Init"), testbuilders.Finalized}, decide.Rest, "Installation parent"},
		{"a parent assigns no job while unwanted children are being deleted", []testbuilders.Option{testbuilders.Below("a", "", "CleanupOrphaned"), testbuilders.Finalized}, decide.Rest, "Installation parent"},
		{"a job is assigned once", []testbuilders.Option{testbuilders.Below("a", "", "Progressing"), testbuilders.Finalized, testbuilders.Jobs("a", "a", "Succeeded")}, decide.Rest, settled},
		{"a job that has ended is not assigned", []testbuilders.Option{testbuilders.Below("b", "b", "Progressing"), testbuilders.Finalized, testbuilders.Jobs("a", "a", "Succeeded")}, decide.Rest, settled},
		{"the job before has to end before the next one is taken", []testbuilders.Option{testbuilders.Below("b", "", "Progressing"), testbuilders.Finalized, testbuilders.WithExecution("a", "z", "Progressing"), testbuilders.Jobs("a", "", "Progressing")}, decide.Rest, "Execution x"},
		{"an interruption is for the job that is about to be taken", []testbuilders.Option{testbuilders.Below("a", "", "Progressing"), testbuilders.Requested("interrupt"), testbuilders.Finalized}, decide.Adopt, itself},
		{"an interruption that comes before its job waits for the job", []testbuilders.Option{testbuilders.Below("a", "", "Init"), testbuilders.Requested("interrupt"), testbuilders.Finalized}, decide.Rest, "Installation parent"},
		{"an abort that comes before its job waits for the job after an earlier one", []testbuilders.Option{testbuilders.Below("b", "a", "CleanupOrphaned"), testbuilders.Requested("abort"), testbuilders.Finalized, testbuilders.Jobs("a", "a", "Succeeded")}, decide.Rest, "Installation parent"},
		{"an interruption is met when its job has ended without the subinstallation", []testbuilders.Option{testbuilders.Below("b", "b", "Failed"), testbuilders.Requested("interrupt"), testbuilders.Finalized, testbuilders.Jobs("a", "a", "Succeeded")}, decide.Interrupt, itself},
		{"a sibling has to finish first", []testbuilders.Option{testbuilders.Below("a", "", "Progressing"), testbuilders.Finalized, testbuilders.Jobs("a", "", "Init"), testbuilders.InputsRead(func(in *decide.Inputs) { in.Turn.WaitsFor = []string{"b", "c"} })}, decide.Await, "Installation b, Installation c"},
		{"a sibling will never succeed", []testbuilders.Option{testbuilders.Below("a", "", "Progressing"), testbuilders.Finalized, testbuilders.Jobs("a", "", "Init"), testbuilders.InputsRead(func(in *decide.Inputs) { in.Turn.Err = errors.New("x"); in.Turn.WaitsFor = []string{"c"} })}, decide.Fail, itself},
		{"a subinstallation is at work", []testbuilders.Option{testbuilders.Finalized, testbuilders.Written("b", "c"), testbuilders.WithSub("b", "a", "a", "Succeeded"), testbuilders.WithSub("c", "a", "z", "Progressing"), testbuilders.Jobs("a", "", "Progressing")}, decide.Rest, "Installation c"},
		{"a subinstallation has not got the job yet", []testbuilders.Option{testbuilders.Finalized, testbuilders.Written("b"), testbuilders.WithSub("b", "z", "z", "Failed"), testbuilders.Jobs("a", "", "Progressing")}, decide.Rest, "Installation b"},
		{"all subinstallations end, also if one has failed", []testbuilders.Option{testbuilders.Finalized, testbuilders.Written("b", "c"), testbuilders.WithSub("b", "a", "a", "Failed"), testbuilders.WithSub("c", "a", "", "Init"), testbuilders.Jobs("a", "", "Progressing")}, decide.Rest, "Installation c"},
		{"the Execution is at work after all subinstallations", []testbuilders.Option{testbuilders.Finalized, testbuilders.Written("b"), testbuilders.WithSub("b", "a", "a", "Succeeded"), testbuilders.WithExecution("a", "z", "Progressing"), testbuilders.Jobs("a", "", "Progressing")}, decide.Rest, "Execution x"},
		{"all children have succeeded", []testbuilders.Option{testbuilders.Finalized, testbuilders.Written("b"), testbuilders.WithSub("b", "a", "a", "Succeeded"), testbuilders.WithExecution("a", "a", "Succeeded"), testbuilders.Jobs("a", "", "Progressing")}, decide.Complete, itself},
		{"a subinstallation has failed", []testbuilders.Option{testbuilders.Finalized, testbuilders.Written("b"), testbuilders.WithSub("b", "a", "a", "Failed"), testbuilders.WithExecution("a", "a", "Succeeded"), testbuilders.Jobs("a", "", "Progressing")}, decide.Trace, itself},
		{"a subinstallation has failed, and no cause is below it", []testbuilders.Option{testbuilders.Finalized, testbuilders.Written("b"), testbuilders.WithSub("b", "a", "a", "Failed"), testbuilders.WithExecution("a", "a", "Succeeded"), testbuilders.Jobs("a", "", "Progressing"), testbuilders.Traced}, decide.Fail, itself},
		{"another client has removed a subinstallation", []testbuilders.Option{testbuilders.Finalized, testbuilders.Written("b"), testbuilders.Jobs("a", "", "Progressing")}, decide.Fail, itself},
		{"a subinstallation that another client has deleted is cleared before anything is rendered", []testbuilders.Option{testbuilders.Finalized, testbuilders.WithSub("(b)", "z", "z", "Succeeded"), testbuilders.Jobs("a", "", "Init")}, decide.Clear, itself},
		{"a subinstallation that another client has deleted is deleted with the job", []testbuilders.Option{testbuilders.Finalized, testbuilders.WithSub("(b)", "a", "z", "Deleting"), testbuilders.Jobs("a", "", "CleanupOrphaned")}, decide.Rest, "Installation b"},
		{"an Execution that another client has deleted is cleared before anything is rendered", []testbuilders.Option{testbuilders.Finalized, testbuilders.WithExecution("z", "z", "Succeeded"), testbuilders.ExecutionDeleted, testbuilders.Jobs("a", "", "Init")}, decide.Clear, itself},
		{"an Execution that another client has deleted is deleted with the job", []testbuilders.Option{testbuilders.Finalized, testbuilders.WithExecution("a", "z", "Deleting"), testbuilders.ExecutionDeleted, testbuilders.Jobs("a", "", "CleanupOrphaned")}, decide.Rest, "Execution x"},
		{"a deleted Execution that no cache shows is confirmed", []testbuilders.Option{testbuilders.Finalized, testbuilders.AwaitingExecution, testbuilders.Jobs("a", "", "CleanupOrphaned")}, decide.Confirm, itself},
		{"another job confirms a deleted Execution that no cache shows", []testbuilders.Option{testbuilders.Finalized, testbuilders.AwaitingExecution, testbuilders.Jobs("a", "z", "Init")}, decide.Confirm, itself},
		{"the job continues when the API server has no Execution", []testbuilders.Option{testbuilders.Finalized, testbuilders.AwaitingExecution, testbuilders.ExecutionAbsent, testbuilders.Jobs("a", "", "CleanupOrphaned")}, decide.ReadInputs, itself},
		{"a deleted Execution whose deletion has failed ends the job", []testbuilders.Option{testbuilders.Finalized, testbuilders.WithExecution("a", "a", "DeleteFailed"), testbuilders.ExecutionDeleted, testbuilders.Jobs("a", "", "CleanupOrphaned")}, decide.Fail, itself},
		{"an interruption reaches an Execution that is being deleted", []testbuilders.Option{testbuilders.Finalized, testbuilders.Requested("interrupt"), testbuilders.WithExecution("a", "z", "Deleting"), testbuilders.ExecutionDeleted, testbuilders.Jobs("a", "", "CleanupOrphaned")}, decide.Interrupt, itself},
		{"after the deletion of a child, a job that has rendered nothing continues", []testbuilders.Option{testbuilders.Finalized, testbuilders.Jobs("a", "", "CleanupOrphaned")}, decide.ReadInputs, itself},
		{"after the deletion of a child, a job that has written all others passes the job", []testbuilders.Option{testbuilders.Finalized, testbuilders.Written("c"), testbuilders.WithSub("c", "z", "z", "Succeeded"), testbuilders.Jobs("a", "", "CleanupOrphaned")}, decide.Propagate, itself},
		{"after the deletion of a child, a job of upstream has no plan for exports and begins again", []testbuilders.Option{testbuilders.Finalized, testbuilders.ExportsSomething, testbuilders.Written("c"), testbuilders.WithSub("c", "z", "z", "Succeeded"), testbuilders.Jobs("a", "", "CleanupOrphaned")}, decide.ReadInputs, itself},
		{"an unwanted subinstallation whose deletion has failed is traced", []testbuilders.Option{testbuilders.Finalized, testbuilders.Written(), testbuilders.WithSub("(b)", "a", "a", "DeleteFailed"), testbuilders.Jobs("a", "", "CleanupOrphaned")}, decide.Trace, itself},
		{"an unwanted subinstallation whose deletion has failed without a cause below ends the job", []testbuilders.Option{testbuilders.Finalized, testbuilders.Written(), testbuilders.WithSub("(b)", "a", "a", "DeleteFailed"), testbuilders.Jobs("a", "", "CleanupOrphaned"), testbuilders.Traced}, decide.Fail, itself},
		{"a deletion waits for children that are being deleted already", []testbuilders.Option{testbuilders.Deleting, testbuilders.Finalized, testbuilders.Written(), testbuilders.WithSub("(b)", "a", "", "Deleting"), testbuilders.Jobs("a", "", "CleanupOrphaned")}, decide.Rest, "Installation b"},
		{"a deletion abandons a job whose unwanted children are deleted", []testbuilders.Option{testbuilders.Deleting, testbuilders.Finalized, testbuilders.Written(), testbuilders.Jobs("a", "", "CleanupOrphaned")}, decide.Fail, itself},

		{"the stored plan of a job that has ended is deleted", []testbuilders.Option{testbuilders.Finalized, testbuilders.PlanStored, testbuilders.Jobs("a", "a", "Succeeded")}, decide.CleanUp, itself},
		{"another job may begin before the stored plan is deleted", []testbuilders.Option{testbuilders.Finalized, testbuilders.PlanStored, testbuilders.Requested("reconcile"), testbuilders.Jobs("a", "a", "Failed")}, decide.Admit, itself},
		{"the stored plan is needed as long as the job runs", []testbuilders.Option{testbuilders.Finalized, testbuilders.PlanStored, testbuilders.WithExecution("a", "z", "Progressing"), testbuilders.Jobs("a", "", "Progressing")}, decide.Rest, "Execution x"},
		{"a stored plan that could not be deleted is retried later", []testbuilders.Option{testbuilders.Finalized, testbuilders.PlanStored, testbuilders.CleanUpFailed, testbuilders.Jobs("a", "a", "Succeeded")}, decide.Rest, job.Wake{}.By(testbuilders.Noon).String()},

		{"a retry waits for its time", []testbuilders.Option{testbuilders.Finalized, testbuilders.Jobs("a", "a", "Failed"), testbuilders.Every("2m", "", 4), testbuilders.FinishedBefore(time.Minute)}, decide.Rest, job.Wake{}.By(testbuilders.Noon.Add(time.Minute)).String()},
		{"a retry starts at its time", []testbuilders.Option{testbuilders.Finalized, testbuilders.Jobs("a", "a", "Failed"), testbuilders.Every("2m", "", 4), testbuilders.FinishedBefore(2 * time.Minute)}, decide.Repeat, itself},
		{"a request comes before a retry", []testbuilders.Option{testbuilders.Finalized, testbuilders.Requested("reconcile"), testbuilders.Jobs("a", "a", "Failed"), testbuilders.Every("2m", "", 4), testbuilders.FinishedBefore(time.Hour)}, decide.Admit, itself},
		{"a success is repeated", []testbuilders.Option{testbuilders.Finalized, testbuilders.Jobs("a", "a", "Succeeded"), testbuilders.Every("", "1h", 0), testbuilders.FinishedBefore(time.Hour)}, decide.Repeat, itself},
		{"a stored plan does not hide the next job", []testbuilders.Option{testbuilders.Finalized, testbuilders.PlanStored, testbuilders.CleanUpFailed, testbuilders.Jobs("a", "a", "Succeeded"), testbuilders.Every("", "1h", 0), testbuilders.FinishedBefore(2 * time.Hour)}, decide.Repeat, itself},
		{"the earliest of several times triggers the next reconcile", []testbuilders.Option{testbuilders.Finalized, testbuilders.PlanStored, func(s *decide.Situation) { s.CleanUpAt = testbuilders.Noon.Add(time.Second) }, testbuilders.Jobs("a", "a", "Succeeded"), testbuilders.Every("", "1h", 0), testbuilders.FinishedBefore(0)}, decide.Rest, job.Wake{}.By(testbuilders.Noon.Add(time.Second)).String()},

		{"dependents are triggered after a success", []testbuilders.Option{testbuilders.Finalized, testbuilders.WithDependents("d", "e"), testbuilders.Jobs("a", "a", "Succeeded")}, decide.TriggerDependents, itself},
		{"dependents are triggered before the stored plan is deleted", []testbuilders.Option{testbuilders.Finalized, testbuilders.PlanStored, testbuilders.WithDependents("d"), testbuilders.Jobs("a", "a", "Succeeded")}, decide.TriggerDependents, itself},
		{"a dependent at work is triggered when it has ended", []testbuilders.Option{testbuilders.Finalized, testbuilders.WithDependents("d", "e"), testbuilders.WithUntriggered("e"), testbuilders.Jobs("a", "a", "Succeeded")}, decide.Rest, "Installation e"},
		{"a request for a job comes before dependents", []testbuilders.Option{testbuilders.Finalized, testbuilders.WithDependents("d"), testbuilders.Requested("reconcile"), testbuilders.Jobs("a", "a", "Succeeded")}, decide.Admit, itself},
		{"a running job comes before dependents", []testbuilders.Option{testbuilders.Finalized, testbuilders.WithDependents("d"), testbuilders.WithExecution("a", "z", "Progressing"), testbuilders.Jobs("b", "a", "Progressing")}, decide.Rest, "Execution x"},
		{"after a failure, dependents that are still noted are triggered", []testbuilders.Option{testbuilders.Finalized, testbuilders.WithDependents("d"), testbuilders.Jobs("a", "a", "Failed")}, decide.TriggerDependents, itself},
		{"a subinstallation triggers no dependents", []testbuilders.Option{testbuilders.Finalized, testbuilders.Sub, testbuilders.WithDependents("d"), testbuilders.Jobs("a", "a", "Succeeded")}, decide.Rest, settled},
		{"a trigger of a dependent that has failed is retried", []testbuilders.Option{testbuilders.Finalized, testbuilders.WithDependents("d"), testbuilders.WithUntriggered("d"), func(s *decide.Situation) { s.TriggerAt = testbuilders.Noon }, testbuilders.Jobs("a", "a", "Succeeded")}, decide.Rest, job.OnChange("Installation", "d").By(testbuilders.Noon).String()},

		{"the administrator wants a job for each changed spec", []testbuilders.Option{testbuilders.Generations(2, 1), testbuilders.Triggered(predicates.Triggers{OnSpecChange: true}), testbuilders.Jobs("a", "a", "Failed")}, decide.Admit, itself},
		{"the administrator wants a job for each new Installation", []testbuilders.Option{testbuilders.Generations(1, 0), testbuilders.Triggered(predicates.Triggers{OnSpecChange: true})}, decide.Admit, itself},
		{"a changed spec has had its job already", []testbuilders.Option{testbuilders.Generations(2, 2), testbuilders.Triggered(predicates.Triggers{OnSpecChange: true}), testbuilders.Jobs("a", "a", "Failed")}, decide.Rest, settled},
		{"a changed spec of a subinstallation starts nothing", []testbuilders.Option{testbuilders.Sub, testbuilders.Generations(2, 1), testbuilders.Triggered(predicates.Triggers{OnSpecChange: true})}, decide.Rest, settled},
		{"skip suppresses the job for a changed spec", []testbuilders.Option{testbuilders.Generations(2, 1), testbuilders.Annotated(v1alpha1.SkipAnnotation, "true"), testbuilders.Triggered(predicates.Triggers{OnSpecChange: true})}, decide.Rest, settled},
		{"the administrator wants a job for changed imports", []testbuilders.Option{testbuilders.Triggered(predicates.Triggers{OnImportChange: true}), testbuilders.Jobs("a", "a", "Failed")}, decide.Compare, itself},
		{"changed imports start a job", []testbuilders.Option{testbuilders.Triggered(predicates.Triggers{OnImportChange: true}), testbuilders.Importing("old", "new"), testbuilders.Jobs("a", "a", "Failed")}, decide.Follow, itself},
		{"unchanged imports start nothing", []testbuilders.Option{testbuilders.Triggered(predicates.Triggers{OnImportChange: true}), testbuilders.Importing("old", "old"), testbuilders.Jobs("a", "a", "Failed")}, decide.Rest, settled},
		{"unreadable imports start nothing", []testbuilders.Option{testbuilders.Triggered(predicates.Triggers{OnImportChange: true}), testbuilders.Importing("old", ""), testbuilders.Jobs("a", "a", "Failed")}, decide.Rest, settled},
		{"imports do not start a first job", []testbuilders.Option{testbuilders.Triggered(predicates.Triggers{OnImportChange: true})}, decide.Rest, settled},
		{"skip suppresses the job for changed imports", []testbuilders.Option{testbuilders.Triggered(predicates.Triggers{OnImportChange: true}), testbuilders.Annotated(v1alpha1.SkipAnnotation, "true"), testbuilders.Jobs("a", "a", "Failed")}, decide.Rest, settled},

		{"a deletion starts without a request", []testbuilders.Option{testbuilders.Deleting, testbuilders.Finalized, testbuilders.Jobs("a", "a", "Succeeded")}, decide.Admit, itself},
		{"a deletion starts although nothing ever ran", []testbuilders.Option{testbuilders.Deleting, testbuilders.Finalized}, decide.Admit, itself},
		{"without our finalizer there is nothing to clean up", []testbuilders.Option{testbuilders.Deleting}, decide.Rest, settled},
		{"a job that has not reached a child is abandoned for the deletion", []testbuilders.Option{testbuilders.Deleting, testbuilders.Finalized, testbuilders.Jobs("a", "", "Init")}, decide.Fail, itself},
		{"a job that has reached children ends first", []testbuilders.Option{testbuilders.Deleting, testbuilders.Finalized, testbuilders.WithExecution("a", "", "Progressing"), testbuilders.Jobs("a", "", "Progressing")}, decide.Rest, "Execution x"},
		{"children are deleted", []testbuilders.Option{testbuilders.Deleting, testbuilders.Finalized, testbuilders.WithExecution("z", "z", "Succeeded"), testbuilders.Jobs("a", "z", "InitDelete")}, decide.Remove, itself},
		{"a deletion without children releases the Installation", []testbuilders.Option{testbuilders.Deleting, testbuilders.Finalized, testbuilders.Jobs("a", "z", "InitDelete")}, decide.Release, itself},
		{"a child that the cache does not show may exist", []testbuilders.Option{testbuilders.Deleting, testbuilders.Finalized, testbuilders.AwaitingExecution, testbuilders.Jobs("a", "z", "InitDelete")}, decide.Remove, itself},
		{"the Execution is being deleted", []testbuilders.Option{testbuilders.Deleting, testbuilders.Finalized, testbuilders.ExecutionDeletedByUs, testbuilders.WithExecution("a", "z", "Deleting"), testbuilders.Jobs("a", "z", "Deleting")}, decide.Rest, "Execution x"},
		{"the cache shows the Execution only now", []testbuilders.Option{testbuilders.Deleting, testbuilders.Finalized, testbuilders.WithExecution("", "", ""), testbuilders.Jobs("a", "z", "Deleting")}, decide.Remove, itself},
		{"the cache does not show yet that the Execution was deleted", []testbuilders.Option{testbuilders.Deleting, testbuilders.Finalized, testbuilders.ExecutionDeletedByUs, testbuilders.WithExecution("", "", ""), testbuilders.Jobs("a", "z", "Deleting")}, decide.Rest, "Execution x"},
		{"the cache does not show the Execution any more", []testbuilders.Option{testbuilders.Deleting, testbuilders.Finalized, testbuilders.AwaitingExecution, testbuilders.Jobs("a", "z", "Deleting")}, decide.Confirm, itself},
		{"the API server does not have the Execution any more", []testbuilders.Option{testbuilders.Deleting, testbuilders.Finalized, testbuilders.AwaitingExecution, testbuilders.ExecutionAbsent, testbuilders.Jobs("a", "z", "Deleting")}, decide.Release, itself},
		{"an Execution that appears after its absence was confirmed is deleted", []testbuilders.Option{testbuilders.Deleting, testbuilders.Finalized, testbuilders.WithExecution("a", "z", "Succeeded"), testbuilders.ExecutionAbsent, testbuilders.Jobs("b", "a", "Deleting")}, decide.Remove, itself},
		{"an exporter looks for importers before its deletion", []testbuilders.Option{testbuilders.Deleting, testbuilders.Finalized, testbuilders.ExportsSomething, testbuilders.Jobs("a", "z", "InitDelete")}, decide.CheckSiblings, itself},
		{"an exporter ignores importers if the user wants that", []testbuilders.Option{testbuilders.Deleting, testbuilders.Finalized, testbuilders.ExportsSomething, testbuilders.Annotated(v1alpha1.DeleteIgnoreSuccessorsAnnotation, "true"), testbuilders.Jobs("a", "z", "InitDelete")}, decide.Release, itself},
		{"importers are deleted first", []testbuilders.Option{testbuilders.Deleting, testbuilders.Finalized, testbuilders.ExportsSomething, testbuilders.SiblingsChecked("b"), testbuilders.Jobs("a", "z", "InitDelete")}, decide.Await, "Installation b"},
		{"no importer is left", []testbuilders.Option{testbuilders.Deleting, testbuilders.Finalized, testbuilders.ExportsSomething, testbuilders.SiblingsChecked(), testbuilders.Jobs("a", "z", "InitDelete")}, decide.Release, itself},
		{"an importer cannot be deleted", []testbuilders.Option{testbuilders.Deleting, testbuilders.Finalized, testbuilders.ExportsSomething, testbuilders.NeverReady, testbuilders.Jobs("a", "z", "InitDelete")}, decide.Fail, itself},
		{"subinstallations are deleted", []testbuilders.Option{testbuilders.Deleting, testbuilders.Finalized, testbuilders.WithSub("b", "z", "z", "Succeeded"), testbuilders.Jobs("a", "z", "InitDelete")}, decide.Remove, itself},
		{"a subinstallation that was not deleted yet is deleted", []testbuilders.Option{testbuilders.Deleting, testbuilders.Finalized, testbuilders.WithSub("(b)", "z", "z", "Succeeded"), testbuilders.WithSub("c", "z", "z", "Succeeded"), testbuilders.Jobs("a", "z", "Deleting")}, decide.Remove, itself},
		{"a subinstallation is being deleted", []testbuilders.Option{testbuilders.Deleting, testbuilders.Finalized, testbuilders.WithSub("(b)", "a", "z", "Deleting"), testbuilders.Jobs("a", "z", "Deleting")}, decide.Rest, "Installation b"},
		{"a subinstallation could not be deleted while another one is being deleted", []testbuilders.Option{testbuilders.Deleting, testbuilders.Finalized, testbuilders.WithSub("(b)", "a", "a", "DeleteFailed"), testbuilders.WithSub("(c)", "a", "z", "Deleting"), testbuilders.Jobs("a", "z", "Deleting")}, decide.Rest, "Installation c"},
		{"a subinstallation could not be deleted", []testbuilders.Option{testbuilders.Deleting, testbuilders.Finalized, testbuilders.WithSub("(b)", "a", "a", "DeleteFailed"), testbuilders.Jobs("a", "z", "Deleting")}, decide.Trace, itself},
		{"a subinstallation could not be deleted, and no cause is below it", []testbuilders.Option{testbuilders.Deleting, testbuilders.Finalized, testbuilders.WithSub("(b)", "a", "a", "DeleteFailed"), testbuilders.Jobs("a", "z", "Deleting"), testbuilders.Traced}, decide.Fail, itself},
		{"the Execution is being deleted after a subinstallation could not be deleted", []testbuilders.Option{testbuilders.Deleting, testbuilders.Finalized, testbuilders.ExecutionDeletedByUs, testbuilders.WithSub("(b)", "a", "a", "DeleteFailed"), testbuilders.WithExecution("a", "z", "Deleting"), testbuilders.Jobs("a", "z", "Deleting")}, decide.Rest, "Execution x"},
		{"a subinstallation is deleted with its parent", []testbuilders.Option{testbuilders.Below("b", "a", "Deleting"), testbuilders.Deleting, testbuilders.Finalized, testbuilders.Jobs("a", "a", "Succeeded")}, decide.Adopt, itself},
		{"a subinstallation waits until the parent deletes all", []testbuilders.Option{testbuilders.Below("b", "a", "InitDelete"), testbuilders.Deleting, testbuilders.Finalized, testbuilders.Jobs("a", "a", "Succeeded")}, decide.Rest, "Installation parent"},
		{"a subinstallation that is no longer wanted is deleted before the others get the job", []testbuilders.Option{testbuilders.Below("b", "a", "CleanupOrphaned"), testbuilders.Deleting, testbuilders.Finalized, testbuilders.Jobs("a", "a", "Succeeded")}, decide.Adopt, itself},
		{"a subinstallation that a user deletes waits for a job of the parent, and says so", []testbuilders.Option{testbuilders.Below("a", "a", "Succeeded"), testbuilders.Deleting, testbuilders.Finalized, testbuilders.Jobs("a", "a", "Succeeded")}, decide.Explain, itself},
		{"a subinstallation that a user deletes says once that it waits", []testbuilders.Option{testbuilders.Below("a", "a", "Succeeded"), testbuilders.Deleting, testbuilders.Finalized, testbuilders.Jobs("a", "a", "Succeeded"), testbuilders.DeletionReported}, decide.Rest, settled},
		{"a subinstallation whose deletion has failed says that instead", []testbuilders.Option{testbuilders.Below("a", "a", "DeleteFailed"), testbuilders.Deleting, testbuilders.Finalized, testbuilders.Jobs("a", "a", "DeleteFailed")}, decide.Rest, settled},
		{"a subinstallation without our finalizer does not wait", []testbuilders.Option{testbuilders.Below("a", "a", "Succeeded"), testbuilders.Deleting, testbuilders.Jobs("a", "a", "Succeeded")}, decide.Rest, settled},
		{"a subinstallation without its parent deletes itself", []testbuilders.Option{testbuilders.WithoutParent, testbuilders.Deleting, testbuilders.Finalized, testbuilders.Jobs("a", "a", "Succeeded")}, decide.Admit, itself},
		{"a subinstallation without its parent deletes itself once", []testbuilders.Option{testbuilders.WithoutParent, testbuilders.Deleting, testbuilders.Finalized, testbuilders.Jobs("a", "a", "DeleteFailed")}, decide.Rest, settled},
		{"a subinstallation without its parent deletes itself again on request", []testbuilders.Option{testbuilders.WithoutParent, testbuilders.Requested("reconcile"), testbuilders.Deleting, testbuilders.Finalized, testbuilders.Jobs("a", "a", "DeleteFailed")}, decide.Admit, itself},

		{"the Execution could not be deleted", []testbuilders.Option{testbuilders.Deleting, testbuilders.Finalized, testbuilders.ExecutionDeletedByUs, testbuilders.WithExecution("a", "a", "DeleteFailed"), testbuilders.Jobs("a", "z", "Deleting")}, decide.Fail, itself},
		{"a failed deletion waits for a request", []testbuilders.Option{testbuilders.Deleting, testbuilders.Finalized, testbuilders.Jobs("a", "a", "DeleteFailed")}, decide.Rest, settled},
		{"a failed deletion starts again on request", []testbuilders.Option{testbuilders.Deleting, testbuilders.Finalized, testbuilders.Requested("reconcile"), testbuilders.Jobs("a", "a", "DeleteFailed")}, decide.Admit, itself},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			got := decide.Next(testbuilders.Situation(test.options...))
			if got.Do != test.want || got.Wake.String() != test.wake {
				t.Errorf("%s and waits for %s, want %s and %s", got.Do, got.Wake, test.want, test.wake)
			}
		})
	}
}

// TestInterruption: what ends with an interruption, and with which message.
func TestInterruption(t *testing.T) {
	for _, test := range []struct {
		reason string
		option testbuilders.Option
		ends   bool
	}{
		{"a job that has not reached its children", testbuilders.Jobs("a", "", "Init"), true},
		{"a job whose children are at work ends with them", testbuilders.Jobs("a", "", "Progressing"), false},
		{"no job", testbuilders.Jobs("a", "a", "Succeeded"), false},
		{"a job that has not begun", testbuilders.Jobs("b", "a", "Succeeded"), true},
		{"a deletion that waits for siblings ends", func(s *decide.Situation) { testbuilders.Jobs("a", "", "InitDelete")(s); testbuilders.Deleting(s) }, true},
		{"a deletion that has reached children", func(s *decide.Situation) { testbuilders.Jobs("a", "", "Deleting")(s); testbuilders.Deleting(s) }, false},
		{"subinstallations that are being deleted end first", func(s *decide.Situation) {
			testbuilders.Jobs("a", "", "CleanupOrphaned")(s)
			testbuilders.WithSub("(b)", "a", "", "Deleting")(s)
		}, false},
		{"no subinstallation is being deleted any more", testbuilders.Jobs("a", "", "CleanupOrphaned"), true},
	} {
		t.Run(test.reason, func(t *testing.T) {
			got := decide.Next(testbuilders.Situation(testbuilders.Requested("interrupt"), test.option))
			if got.Do != decide.Interrupt || (job.OutcomeOf(got.Err) == job.Terminal) != test.ends {
				t.Errorf("%+v", got)
			}
		})
	}
}
