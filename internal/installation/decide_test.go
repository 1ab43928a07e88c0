package installation

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/dataflow"
	"go.landscaper.dev/internal/installation/decide"
	"go.landscaper.dev/internal/installation/facts"
	"go.landscaper.dev/internal/installation/kin"
	"go.landscaper.dev/internal/job"
)

type option func(*decide.Situation)

func annotated(key, value string) option {
	return func(s *decide.Situation) {
		if s.Inst.Annotations == nil {
			s.Inst.Annotations = map[string]string{}
		}
		s.Inst.Annotations[key] = value
	}
}

func requested(operation v1alpha1.Operation) option {
	return annotated(v1alpha1.OperationAnnotation, string(operation))
}

func jobs(id, finished string, phase v1alpha1.InstallationPhase) option {
	return func(s *decide.Situation) {
		s.Inst.Status.JobID, s.Inst.Status.JobIDFinished, s.Inst.Status.InstallationPhase = id, finished, phase
	}
}

func deleting(s *decide.Situation) {
	now := metav1.NewTime(time.Unix(1, 0))
	s.Inst.DeletionTimestamp = &now
}

func finalized(s *decide.Situation) { s.Inst.Finalizers = []string{v1alpha1.Finalizer} }

func sub(s *decide.Situation) {
	s.Inst.OwnerReferences = []metav1.OwnerReference{{APIVersion: v1alpha1.GroupVersion.String(), Kind: "Installation", Name: "parent"}}
}

// below makes it a subinstallation of a parent with a job, if that is not empty.
func below(parentJob, finished string, phase v1alpha1.InstallationPhase) option {
	return func(s *decide.Situation) {
		sub(s)
		s.Parent = &v1alpha1.Installation{}
		s.Parent.Name, s.Parent.Finalizers = "parent", []string{v1alpha1.Finalizer}
		s.Parent.Status.JobID, s.Parent.Status.JobIDFinished, s.Parent.Status.InstallationPhase = parentJob, finished, phase
	}
}

// saidSo lets the status tell what a deletion waits for.
func saidSo(s *decide.Situation) {
	s.Inst.Status.Conditions = append(s.Inst.Status.Conditions, kin.Explanation(s.Family))
}

func withoutParent(s *decide.Situation) { sub(s); s.Orphaned = true }

// withSub adds a subinstallation; one that is written like (this) is being deleted.
func withSub(name, id, finished string, phase v1alpha1.InstallationPhase) option {
	return func(s *decide.Situation) {
		child := &v1alpha1.Installation{}
		if child.Name = strings.Trim(name, "()"); child.Name != name {
			child.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)}
		}
		child.Status.JobID, child.Status.JobIDFinished, child.Status.InstallationPhase = id, finished, phase
		s.Subs = append(s.Subs, child)
	}
}

// written notes in the status which subinstallations the job has written.
func written(names ...string) option {
	return func(s *decide.Situation) {
		s.Inst.Status.SubInstCache = &v1alpha1.SubInstCache{}
		for _, name := range names {
			s.Inst.Status.SubInstCache.ActiveSubs = append(s.Inst.Status.SubInstCache.ActiveSubs, v1alpha1.SubNamePair{SpecName: name, ObjectName: name})
		}
	}
}

func exportsSomething(s *decide.Situation) {
	s.Inst.Spec.Exports.Data = []v1alpha1.DataExport{{Name: "x", DataRef: "x"}}
}

func triggered(by facts.Triggers) option { return func(s *decide.Situation) { s.Triggers = by } }

// importing has had some imports in its last job, and others now.
func importing(before, now string) option {
	return func(s *decide.Situation) { s.Inst.Status.ImportsHash, s.Current = before, &now }
}

// tells has dependents that are to be asked for a job; told are those that could not.
func tells(names ...string) option {
	return func(s *decide.Situation) {
		for _, name := range names {
			s.Inst.Status.DependentsToTrigger = append(s.Inst.Status.DependentsToTrigger, v1alpha1.DependentToTrigger{Name: name})
		}
	}
}

func told(names ...string) option { return func(s *decide.Situation) { s.Told = names } }

func surveyed(waits ...string) option {
	return func(s *decide.Situation) { s.Turn = &kin.Turn{Waits: waits} }
}

func hopeless(s *decide.Situation) { s.Turn = &kin.Turn{Never: errors.New("x")} }

func strange(s *decide.Situation) {
	s.Inst.OwnerReferences = []metav1.OwnerReference{{APIVersion: "other.example.org/v1", Kind: "Installation", Name: "parent"}}
}

func generations(spec, observed int64) option {
	return func(s *decide.Situation) { s.Inst.Generation, s.Inst.Status.ObservedGeneration = spec, observed }
}

func withExecution(id, finished string, phase v1alpha1.ExecutionPhase) option {
	return func(s *decide.Situation) {
		s.Inst.Status.ExecutionReference = &v1alpha1.ObjectReference{Name: "x"}
		s.Exec = &v1alpha1.Execution{Status: v1alpha1.ExecutionStatus{JobID: id, JobIDFinished: finished, ExecutionPhase: phase}}
		s.Exec.Name = "x"
	}
}

func withoutReference(s *decide.Situation) { s.Inst.Status.ExecutionReference = nil }

func awaitingExecution(s *decide.Situation) {
	s.Inst.Status.ExecutionReference = &v1alpha1.ObjectReference{Name: "x"}
}

func asked(s *decide.Situation) { s.Gone = true }

func condemned(s *decide.Situation) { s.Condemned = true }

func left(s *decide.Situation) { s.Leftover = true }

func untidy(s *decide.Situation) { s.TidyAt = noon }

func looked(change func(*decide.Inputs)) option {
	return func(s *decide.Situation) {
		s.Inputs = &decide.Inputs{Landscape: &v1alpha1.Context{}}
		if change != nil {
			change(s.Inputs)
		}
	}
}

func ofContext(name string) option { return func(s *decide.Situation) { s.Inst.Spec.Context = name } }

func missing(names ...string) []*dataflow.MissingError {
	var list []*dataflow.MissingError
	for _, name := range names {
		list = append(list, &dataflow.MissingError{Path: "spec.imports.data[0].dataRef", Import: name, Object: dataflow.Object{Kind: dataflow.KindDataObject, Name: "hash-of-" + name, Written: name, Namespace: "n"}})
	}
	return list
}

func situationWith(options ...option) decide.Situation {
	s := decide.Situation{Now: noon, Family: kin.Family{Inst: &v1alpha1.Installation{ObjectMeta: metav1.ObjectMeta{Name: "x", Namespace: "n", UID: "u"}}}}
	for _, option := range options {
		option(&s)
	}
	return s
}

// alter applies options to an Installation.
func alter(inst *v1alpha1.Installation, options ...option) {
	s := decide.Situation{Family: kin.Family{Inst: inst}}
	for _, option := range options {
		option(&s)
	}
}

func TestDecide(t *testing.T) {
	const settled, itself = "nothing, the job has ended", "the step itself"
	tests := []struct {
		reason  string
		options []option
		want    decide.Step
		wake    string
	}{
		{"nobody asked for anything", nil, decide.Rest, settled},
		{"a change of the spec alone starts nothing", []option{generations(2, 1)}, decide.Rest, settled},
		{"a request starts a job", []option{requested("reconcile")}, decide.Admit, itself},
		{"a request starts a further job", []option{requested("reconcile"), finalized, jobs("a", "a", "Succeeded")}, decide.Admit, itself},
		{"a request waits for the running job", []option{requested("reconcile"), finalized, awaitingExecution, jobs("a", "", "Progressing")}, decide.Rest, "Execution x"},
		{"force-reconcile starts a job like reconcile", []option{requested("force-reconcile"), jobs("a", "a", "Failed")}, decide.Admit, itself},
		{"force-reconcile does not wait for the running job", []option{requested("force-reconcile"), finalized, awaitingExecution, jobs("a", "", "Progressing")}, decide.Interrupt, itself},
		{"on a subinstallation it has no effect", []option{sub, requested("force-reconcile"), jobs("a", "", "Progressing")}, decide.Dismiss, itself},
		{"a first job that was taken up begins, also after a crash", []option{finalized, annotated(v1alpha1.AdmittedAnnotation, "u")}, decide.Admit, itself},
		{"an interruption that came later is for it", []option{finalized, annotated(v1alpha1.AdmittedAnnotation, "u"), requested("interrupt")}, decide.Admit, itself},
		{"a deletion takes its place", []option{finalized, deleting, annotated(v1alpha1.AdmittedAnnotation, "u")}, decide.Admit, itself},
		{"that the original of a copy was taken up says nothing", []option{finalized, annotated(v1alpha1.AdmittedAnnotation, "of-another")}, decide.Rest, settled},
		{"nor does it when there was a job", []option{finalized, annotated(v1alpha1.AdmittedAnnotation, "u"), jobs("a", "a", "Succeeded")}, decide.Rest, settled},
		{"a subinstallation is not taken up", []option{sub, finalized, annotated(v1alpha1.AdmittedAnnotation, "u")}, decide.Rest, settled},
		{"an unknown operation starts nothing", []option{requested("dance")}, decide.Rest, settled},
		{"a changed spec starts a job if the user wants that", []option{annotated(v1alpha1.ReconcileIfChangedAnnotation, "true"), generations(2, 1)}, decide.Admit, itself},
		{"an unchanged spec starts nothing", []option{annotated(v1alpha1.ReconcileIfChangedAnnotation, "true"), generations(2, 2)}, decide.Rest, settled},
		{"skip wins over automatic jobs", []option{annotated(v1alpha1.ReconcileIfChangedAnnotation, "true"), annotated(v1alpha1.SkipAnnotation, "true"), generations(2, 1)}, decide.Rest, settled},
		{"skip does not hold back a request", []option{annotated(v1alpha1.SkipAnnotation, "true"), requested("reconcile")}, decide.Admit, itself},
		{"the old name of skip counts, too", []option{annotated(v1alpha1.ReconcileIfChangedAnnotation, "true"), annotated(v1alpha1.IgnoreAnnotation, "true"), generations(2, 1)}, decide.Rest, settled},
		{"an interruption comes first", []option{requested("interrupt"), jobs("a", "", "Progressing")}, decide.Interrupt, itself},
		{"an abort is handed down", []option{requested("abort"), jobs("a", "", "Progressing")}, decide.Interrupt, itself},
		{"a request on a subinstallation has no effect", []option{sub, requested("reconcile")}, decide.Dismiss, itself},
		{"an owner of another group makes no subinstallation", []option{strange, requested("reconcile")}, decide.Admit, itself},
		{"a subinstallation starts when its parent hands over a job", []option{sub, jobs("a", "", "")}, decide.Begin, itself},
		{"a handed over job starts although the last phase is final", []option{jobs("b", "a", "Succeeded")}, decide.Begin, itself},
		{"from a phase that nobody knows the job begins again", []option{finalized, jobs("a", "", "Dancing")}, decide.Begin, itself},
		{"an admission that was cut short is ended", []option{jobs("a", "", "Init")}, decide.Accept, itself},
		{"also when the children are written, and wait for that", []option{jobs("a", "", "Progressing")}, decide.Accept, itself},
		{"not before the job is stored", []option{requested("reconcile"), jobs("b", "a", "Init"), func(s *decide.Situation) { s.Asked = v1alpha1.TriggeredByReconcile }}, decide.Look, itself},
		{"the request for the job does not interrupt it", []option{requested("force-reconcile"), jobs("b", "a", "Init"), func(s *decide.Situation) { s.Asked = v1alpha1.TriggeredByReconcile }}, decide.Look, itself},
		{"first the inputs are read", []option{finalized, jobs("a", "", "Init")}, decide.Look, itself},
		{"children are written", []option{finalized, jobs("a", "", "Init"), looked(nil)}, decide.BringUp, itself},
		{"a phase of the public system that we skip", []option{finalized, jobs("a", "", "ObjectsCreated"), looked(nil)}, decide.BringUp, itself},
		{"what is not valid ends the job", []option{finalized, jobs("a", "", "Init"), looked(func(in *decide.Inputs) { in.Invalid = field.ErrorList{field.Required(nil, "x")} })}, decide.Fail, itself},
		{"an import of no use ends the job", []option{finalized, jobs("a", "", "Init"), looked(func(in *decide.Inputs) { in.Broken = errors.New("x") })}, decide.Fail, itself},
		{"the default Context is made by the server", []option{finalized, jobs("a", "", "Init"), looked(func(in *decide.Inputs) { in.Landscape = nil })}, decide.Await, "Context default"},
		{"any other Context is up to the user", []option{finalized, jobs("a", "", "Init"), ofContext("mine"), looked(func(in *decide.Inputs) { in.Landscape = nil })}, decide.Fail, itself},
		{"an import that nobody brings ends the job", []option{finalized, jobs("a", "", "Init"), looked(func(in *decide.Inputs) { in.Missing = missing("db") })}, decide.Fail, itself},
		{"an import that somebody brings is waited for", []option{finalized, jobs("a", "", "Init"), looked(func(in *decide.Inputs) {
			in.Missing, in.Exporters = missing("db"), []kin.Exporter{{Name: "sibling", Kind: dataflow.KindDataObject, Object: "db", UnderWay: true}}
		})}, decide.Await, "Installation sibling"},
		{"no children, nothing to wait for", []option{finalized, jobs("a", "", "Progressing")}, decide.Complete, itself},
		{"the Execution is not in the cache yet", []option{finalized, awaitingExecution, jobs("a", "", "Progressing")}, decide.Rest, "Execution x"},
		{"the Execution has an older job", []option{finalized, withExecution("z", "z", "Succeeded"), jobs("a", "", "Progressing")}, decide.Rest, "Execution x"},
		{"the Execution works", []option{finalized, withExecution("a", "z", "Progressing"), jobs("a", "", "Progressing")}, decide.Rest, "Execution x"},
		{"the Execution has succeeded", []option{finalized, withExecution("a", "a", "Succeeded"), jobs("a", "", "Progressing")}, decide.Complete, itself},
		{"the Execution has failed", []option{finalized, withExecution("a", "a", "Failed"), jobs("a", "", "Progressing")}, decide.Fail, itself},
		{"results are still to be collected", []option{finalized, jobs("a", "", "Completing")}, decide.Complete, itself},
		{"results of another specification are none", []option{finalized, jobs("a", "", "Completing"), generations(2, 1)}, decide.Fail, itself},

		{"not as long as it may go before them", []option{below("a", "", "Progressing"), func(s *decide.Situation) { s.Parent.Finalizers = nil }, finalized}, decide.Rest, "Installation parent"},
		{"a parent hands its job over when all children are written", []option{below("a", "", "Progressing"), finalized}, decide.Adopt, itself},
		{"and not before", []option{below("a", "", "Init"), finalized}, decide.Rest, "Installation parent"},
		{"nor while what is no longer wanted goes", []option{below("a", "", "CleanupOrphaned"), finalized}, decide.Rest, "Installation parent"},
		{"a job is handed over once", []option{below("a", "", "Progressing"), finalized, jobs("a", "a", "Succeeded")}, decide.Rest, settled},
		{"a job that has ended is not handed over", []option{below("b", "b", "Progressing"), finalized, jobs("a", "a", "Succeeded")}, decide.Rest, settled},
		{"the job before has to end", []option{below("b", "", "Progressing"), finalized, awaitingExecution, jobs("a", "", "Progressing")}, decide.Rest, "Execution x"},
		{"an interruption is for the job that comes", []option{below("a", "", "Progressing"), requested("interrupt"), finalized}, decide.Adopt, itself},
		{"also one that comes before the job does", []option{below("a", "", "Init"), requested("interrupt"), finalized}, decide.Rest, "Installation parent"},
		{"and an abort, of one that has ended an earlier job", []option{below("b", "a", "CleanupOrphaned"), requested("abort"), finalized, jobs("a", "a", "Succeeded")}, decide.Rest, "Installation parent"},
		{"the job that was to come has ended without it", []option{below("b", "b", "Failed"), requested("interrupt"), finalized, jobs("a", "a", "Succeeded")}, decide.Interrupt, itself},
		{"a sibling has to be done before", []option{below("a", "", "Progressing"), finalized, jobs("a", "", "Init"), looked(func(in *decide.Inputs) { in.Turn.Waits = []string{"b", "c"} })}, decide.Await, "Installation b, Installation c"},
		{"a sibling will never be done", []option{below("a", "", "Progressing"), finalized, jobs("a", "", "Init"), looked(func(in *decide.Inputs) { in.Turn.Never = errors.New("x"); in.Turn.Waits = []string{"c"} })}, decide.Fail, itself},
		{"a subinstallation works", []option{finalized, written("b", "c"), withSub("b", "a", "a", "Succeeded"), withSub("c", "a", "z", "Progressing"), jobs("a", "", "Progressing")}, decide.Rest, "Installation c"},
		{"a subinstallation has not got the job yet", []option{finalized, written("b"), withSub("b", "z", "z", "Failed"), jobs("a", "", "Progressing")}, decide.Rest, "Installation b"},
		{"all end, also if one has failed", []option{finalized, written("b", "c"), withSub("b", "a", "a", "Failed"), withSub("c", "a", "", "Init"), jobs("a", "", "Progressing")}, decide.Rest, "Installation c"},
		{"the Execution still works", []option{finalized, written("b"), withSub("b", "a", "a", "Succeeded"), withExecution("a", "z", "Progressing"), jobs("a", "", "Progressing")}, decide.Rest, "Execution x"},
		{"all children have succeeded", []option{finalized, written("b"), withSub("b", "a", "a", "Succeeded"), withExecution("a", "a", "Succeeded"), jobs("a", "", "Progressing")}, decide.Complete, itself},
		{"a subinstallation has failed", []option{finalized, written("b"), withSub("b", "a", "a", "Failed"), withExecution("a", "a", "Succeeded"), jobs("a", "", "Progressing")}, decide.Fail, itself},
		{"somebody has deleted a subinstallation", []option{finalized, written("b"), jobs("a", "", "Progressing")}, decide.Fail, itself},
		{"what somebody has deleted goes before anything is rendered", []option{finalized, withSub("(b)", "z", "z", "Succeeded"), jobs("a", "", "Init")}, decide.Clear, itself},
		{"it goes with the job", []option{finalized, withSub("(b)", "a", "z", "Deleting"), jobs("a", "", "CleanupOrphaned")}, decide.Rest, "Installation b"},
		{"it is gone, and nothing was rendered yet", []option{finalized, jobs("a", "", "CleanupOrphaned")}, decide.Look, itself},
		{"it is gone, and all others are written", []option{finalized, written("c"), withSub("c", "z", "z", "Succeeded"), jobs("a", "", "CleanupOrphaned")}, decide.HandOver, itself},
		{"it is gone, and the public system has written the others: it has no plan for exports", []option{finalized, exportsSomething, written("c"), withSub("c", "z", "z", "Succeeded"), jobs("a", "", "CleanupOrphaned")}, decide.Look, itself},
		{"it does not go", []option{finalized, written(), withSub("(b)", "a", "a", "DeleteFailed"), jobs("a", "", "CleanupOrphaned")}, decide.Fail, itself},
		{"a deletion waits for what goes already", []option{deleting, finalized, written(), withSub("(b)", "a", "", "Deleting"), jobs("a", "", "CleanupOrphaned")}, decide.Rest, "Installation b"},
		{"and abandons the job then", []option{deleting, finalized, written(), jobs("a", "", "CleanupOrphaned")}, decide.Fail, itself},

		{"what the job had stored for its end goes", []option{finalized, left, jobs("a", "a", "Succeeded")}, decide.Tidy, itself},
		{"another job may begin before", []option{finalized, left, requested("reconcile"), jobs("a", "a", "Failed")}, decide.Admit, itself},
		{"what is stored is needed as long as the job runs", []option{finalized, left, withExecution("a", "z", "Progressing"), jobs("a", "", "Progressing")}, decide.Rest, "Execution x"},
		{"what could not be deleted is tried again later", []option{finalized, left, untidy, jobs("a", "a", "Succeeded")}, decide.Rest, job.Wake{}.By(noon).String()},

		{"a retry has its time", []option{finalized, jobs("a", "a", "Failed"), every("2m", "", 4), finishedBefore(time.Minute)}, decide.Rest, job.Wake{}.By(noon.Add(time.Minute)).String()},
		{"and starts then", []option{finalized, jobs("a", "a", "Failed"), every("2m", "", 4), finishedBefore(2 * time.Minute)}, decide.Repeat, itself},
		{"a request goes before a retry", []option{finalized, requested("reconcile"), jobs("a", "a", "Failed"), every("2m", "", 4), finishedBefore(time.Hour)}, decide.Admit, itself},
		{"a success is repeated", []option{finalized, jobs("a", "a", "Succeeded"), every("", "1h", 0), finishedBefore(time.Hour)}, decide.Repeat, itself},
		{"a stored plan does not hide the next job", []option{finalized, left, untidy, jobs("a", "a", "Succeeded"), every("", "1h", 0), finishedBefore(2 * time.Hour)}, decide.Repeat, itself},
		{"what comes first wakes first", []option{finalized, left, func(s *decide.Situation) { s.TidyAt = noon.Add(time.Second) }, jobs("a", "a", "Succeeded"), every("", "1h", 0), finishedBefore(0)}, decide.Rest, job.Wake{}.By(noon.Add(time.Second)).String()},

		{"dependents are asked for a job", []option{finalized, tells("d", "e"), jobs("a", "a", "Succeeded")}, decide.Tell, itself},
		{"before the plan goes, which nobody needs", []option{finalized, left, tells("d"), jobs("a", "a", "Succeeded")}, decide.Tell, itself},
		{"who works is asked when it has ended", []option{finalized, tells("d", "e"), told("e"), jobs("a", "a", "Succeeded")}, decide.Rest, "Installation e"},
		{"an own job comes first", []option{finalized, tells("d"), requested("reconcile"), jobs("a", "a", "Succeeded")}, decide.Admit, itself},
		{"and a job that runs", []option{finalized, tells("d"), awaitingExecution, jobs("b", "a", "Progressing")}, decide.Rest, "Execution x"},
		{"a failure asks those who were not asked before", []option{finalized, tells("d"), jobs("a", "a", "Failed")}, decide.Tell, itself},
		{"parts of a whole ask nobody", []option{finalized, sub, tells("d"), jobs("a", "a", "Succeeded")}, decide.Rest, settled},
		{"what did not work is tried again", []option{finalized, tells("d"), told("d"), func(s *decide.Situation) { s.TellAt = noon }, jobs("a", "a", "Succeeded")}, decide.Rest, job.OnChange("Installation", "d").By(noon).String()},

		{"the administrator wants a job for each changed spec", []option{generations(2, 1), triggered(facts.Triggers{OnSpecChange: true}), jobs("a", "a", "Failed")}, decide.Admit, itself},
		{"and for whatever is new", []option{generations(1, 0), triggered(facts.Triggers{OnSpecChange: true})}, decide.Admit, itself},
		{"once", []option{generations(2, 2), triggered(facts.Triggers{OnSpecChange: true}), jobs("a", "a", "Failed")}, decide.Rest, settled},
		{"not for parts of a whole", []option{sub, generations(2, 1), triggered(facts.Triggers{OnSpecChange: true})}, decide.Rest, settled},
		{"nor for what users want to be skipped", []option{generations(2, 1), annotated(v1alpha1.SkipAnnotation, "true"), triggered(facts.Triggers{OnSpecChange: true})}, decide.Rest, settled},
		{"the administrator wants a job for changed imports", []option{triggered(facts.Triggers{OnImportChange: true}), jobs("a", "a", "Failed")}, decide.Compare, itself},
		{"they have changed", []option{triggered(facts.Triggers{OnImportChange: true}), importing("old", "new"), jobs("a", "a", "Failed")}, decide.Follow, itself},
		{"they are the same", []option{triggered(facts.Triggers{OnImportChange: true}), importing("old", "old"), jobs("a", "a", "Failed")}, decide.Rest, settled},
		{"nobody can read them", []option{triggered(facts.Triggers{OnImportChange: true}), importing("old", ""), jobs("a", "a", "Failed")}, decide.Rest, settled},
		{"what has never run is not started by its imports", []option{triggered(facts.Triggers{OnImportChange: true})}, decide.Rest, settled},
		{"nor what users want to be skipped", []option{triggered(facts.Triggers{OnImportChange: true}), annotated(v1alpha1.SkipAnnotation, "true"), jobs("a", "a", "Failed")}, decide.Rest, settled},

		{"a deletion starts without a request", []option{deleting, finalized, jobs("a", "a", "Succeeded")}, decide.Admit, itself},
		{"a deletion starts although nothing ever ran", []option{deleting, finalized}, decide.Admit, itself},
		{"without our finalizer there is nothing to clean up", []option{deleting}, decide.Rest, settled},
		{"a job that has not reached a child is abandoned for the deletion", []option{deleting, finalized, jobs("a", "", "Init")}, decide.Fail, itself},
		{"a job that has reached children ends first", []option{deleting, finalized, withExecution("a", "", "Progressing"), jobs("a", "", "Progressing")}, decide.Rest, "Execution x"},
		{"children are deleted", []option{deleting, finalized, withExecution("z", "z", "Succeeded"), jobs("a", "z", "InitDelete")}, decide.Remove, itself},
		{"there never was a child", []option{deleting, finalized, jobs("a", "z", "InitDelete")}, decide.Release, itself},
		{"a child that the cache does not show may be there", []option{deleting, finalized, awaitingExecution, jobs("a", "z", "InitDelete")}, decide.Remove, itself},
		{"the Execution is being deleted", []option{deleting, finalized, condemned, withExecution("a", "z", "Deleting"), jobs("a", "z", "Deleting")}, decide.Rest, "Execution x"},
		{"the cache shows the Execution only now", []option{deleting, finalized, withExecution("", "", ""), jobs("a", "z", "Deleting")}, decide.Remove, itself},
		{"the cache does not show yet that the Execution was deleted", []option{deleting, finalized, condemned, withExecution("", "", ""), jobs("a", "z", "Deleting")}, decide.Rest, "Execution x"},
		{"the cache says that the Execution is gone", []option{deleting, finalized, awaitingExecution, jobs("a", "z", "Deleting")}, decide.Confirm, itself},
		{"the API server says so, too", []option{deleting, finalized, awaitingExecution, asked, jobs("a", "z", "Deleting")}, decide.Release, itself},
		{"the API server knows better", []option{deleting, finalized, withExecution("a", "z", "Succeeded"), asked, jobs("b", "a", "Deleting")}, decide.Remove, itself},
		{"who exports looks for importers first", []option{deleting, finalized, exportsSomething, jobs("a", "z", "InitDelete")}, decide.Survey, itself},
		{"unless nobody wants that", []option{deleting, finalized, exportsSomething, annotated(v1alpha1.DeleteIgnoreSuccessorsAnnotation, "true"), jobs("a", "z", "InitDelete")}, decide.Release, itself},
		{"importers go first", []option{deleting, finalized, exportsSomething, surveyed("b"), jobs("a", "z", "InitDelete")}, decide.Await, "Installation b"},
		{"no importer is left", []option{deleting, finalized, exportsSomething, surveyed(), jobs("a", "z", "InitDelete")}, decide.Release, itself},
		{"an importer does not go", []option{deleting, finalized, exportsSomething, hopeless, jobs("a", "z", "InitDelete")}, decide.Fail, itself},
		{"subinstallations are deleted", []option{deleting, finalized, withSub("b", "z", "z", "Succeeded"), jobs("a", "z", "InitDelete")}, decide.Remove, itself},
		{"one was not reached", []option{deleting, finalized, withSub("(b)", "z", "z", "Succeeded"), withSub("c", "z", "z", "Succeeded"), jobs("a", "z", "Deleting")}, decide.Remove, itself},
		{"one is being deleted", []option{deleting, finalized, withSub("(b)", "a", "z", "Deleting"), jobs("a", "z", "Deleting")}, decide.Rest, "Installation b"},
		{"one could not be deleted, another one still goes", []option{deleting, finalized, withSub("(b)", "a", "a", "DeleteFailed"), withSub("(c)", "a", "z", "Deleting"), jobs("a", "z", "Deleting")}, decide.Rest, "Installation c"},
		{"one could not be deleted", []option{deleting, finalized, withSub("(b)", "a", "a", "DeleteFailed"), jobs("a", "z", "Deleting")}, decide.Fail, itself},
		{"the Execution still goes", []option{deleting, finalized, condemned, withSub("(b)", "a", "a", "DeleteFailed"), withExecution("a", "z", "Deleting"), jobs("a", "z", "Deleting")}, decide.Rest, "Execution x"},
		{"a subinstallation is deleted with its parent", []option{below("b", "a", "Deleting"), deleting, finalized, jobs("a", "a", "Succeeded")}, decide.Adopt, itself},
		{"when the parent has deleted all", []option{below("b", "a", "InitDelete"), deleting, finalized, jobs("a", "a", "Succeeded")}, decide.Rest, "Installation parent"},
		{"one that is no longer wanted goes before the others", []option{below("b", "a", "CleanupOrphaned"), deleting, finalized, jobs("a", "a", "Succeeded")}, decide.Adopt, itself},
		{"one that a user deletes waits for a job of the parent, and says so", []option{below("a", "a", "Succeeded"), deleting, finalized, jobs("a", "a", "Succeeded")}, decide.Explain, itself},
		{"once", []option{below("a", "a", "Succeeded"), deleting, finalized, jobs("a", "a", "Succeeded"), saidSo}, decide.Rest, settled},
		{"not if its deletion has failed, which it says instead", []option{below("a", "a", "DeleteFailed"), deleting, finalized, jobs("a", "a", "DeleteFailed")}, decide.Rest, settled},
		{"nor if nothing holds it", []option{below("a", "a", "Succeeded"), deleting, jobs("a", "a", "Succeeded")}, decide.Rest, settled},
		{"without its parent it deletes itself", []option{withoutParent, deleting, finalized, jobs("a", "a", "Succeeded")}, decide.Admit, itself},
		{"once", []option{withoutParent, deleting, finalized, jobs("a", "a", "DeleteFailed")}, decide.Rest, settled},
		{"and again on request", []option{withoutParent, requested("reconcile"), deleting, finalized, jobs("a", "a", "DeleteFailed")}, decide.Admit, itself},

		{"the Execution could not be deleted", []option{deleting, finalized, condemned, withExecution("a", "a", "DeleteFailed"), jobs("a", "z", "Deleting")}, decide.Fail, itself},
		{"a failed deletion waits for a request", []option{deleting, finalized, jobs("a", "a", "DeleteFailed")}, decide.Rest, settled},
		{"a failed deletion starts again on request", []option{deleting, finalized, requested("reconcile"), jobs("a", "a", "DeleteFailed")}, decide.Admit, itself},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			got := decide.Next(situationWith(test.options...))
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
		option option
		ends   bool
	}{
		{"a job that has not reached its children", jobs("a", "", "Init"), true},
		{"a job whose children are at work ends with them", jobs("a", "", "Progressing"), false},
		{"no job", jobs("a", "a", "Succeeded"), false},
		{"a job that nobody has begun with", jobs("b", "a", "Succeeded"), true},
		{"a deletion that waits for siblings", func(s *decide.Situation) { jobs("a", "", "InitDelete")(s); deleting(s) }, true},
		{"a deletion that has reached children", func(s *decide.Situation) { jobs("a", "", "Deleting")(s); deleting(s) }, false},
		{"subinstallations that go end first", func(s *decide.Situation) {
			jobs("a", "", "CleanupOrphaned")(s)
			withSub("(b)", "a", "", "Deleting")(s)
		}, false},
		{"none goes any more", jobs("a", "", "CleanupOrphaned"), true},
	} {
		t.Run(test.reason, func(t *testing.T) {
			got := decide.Next(situationWith(requested("interrupt"), test.option))
			if got.Do != decide.Interrupt || (job.OutcomeOf(got.Err) == job.Terminal) != test.ends {
				t.Errorf("%+v", got)
			}
		})
	}
}

// TestDecideMissing: an import is waited for as long as somebody is about to bring it.
func TestDecideMissing(t *testing.T) {
	for _, test := range []struct {
		reason    string
		missing   []*dataflow.MissingError
		exporters []kin.Exporter
		want      decide.Step
		wake      string
		message   string
	}{
		{"nobody exports it", missing("db"), nil, decide.Fail, "the step itself", `there is no DataObject "db"`},
		{"who exports it is under way", missing("db"), []kin.Exporter{{Name: "a", Kind: dataflow.KindDataObject, Object: "db", UnderWay: true}}, decide.Await, "Installation a", "waiting for Installations a"},
		{"who exports it has ended without", missing("db"), []kin.Exporter{{Name: "a", Kind: dataflow.KindDataObject, Object: "db"}}, decide.Fail, "the step itself", `there is no DataObject "db"`},
		{"two bring it", missing("db"), []kin.Exporter{{Name: "a", Kind: dataflow.KindDataObject, Object: "db", UnderWay: true}, {Name: "b", Kind: dataflow.KindDataObject, Object: "db", UnderWay: true}}, decide.Await, "Installation a, Installation b", "a, b"},
		{"each is brought by another", missing("db", "dns"), []kin.Exporter{{Name: "a", Kind: dataflow.KindDataObject, Object: "db", UnderWay: true}, {Name: "b", Kind: dataflow.KindDataObject, Object: "dns", UnderWay: true}}, decide.Await, "Installation a, Installation b", `"dns"`},
		{"one of two comes from nobody", missing("db", "dns"), []kin.Exporter{{Name: "a", Kind: dataflow.KindDataObject, Object: "db", UnderWay: true}}, decide.Fail, "the step itself", `"dns"`},
		{"a Target of the name is something else", missing("db"), []kin.Exporter{{Name: "a", Kind: dataflow.KindTarget, Object: "db", UnderWay: true}}, decide.Fail, "the step itself", `"db"`},
	} {
		t.Run(test.reason, func(t *testing.T) {
			got := decide.ByMissing(nil, test.missing, test.exporters)
			if got.Do != test.want || got.Wake.String() != test.wake || !strings.Contains(got.Err.Error(), test.message) {
				t.Errorf("%s by %s: %v", got.Do, got.Wake, got.Err)
			}
		})
	}
}

// TestExports: who is under way.
func TestExports(t *testing.T) {
	for _, test := range []struct {
		reason   string
		options  []option
		underWay bool
	}{
		{"nobody has asked it for anything", nil, false},
		{"it is triggered", []option{requested("reconcile")}, true},
		{"it is running", []option{jobs("b", "a", "Progressing")}, true},
		{"it has ended", []option{jobs("a", "a", "Failed")}, false},
		{"it is being deleted", []option{deleting, finalized, jobs("b", "a", "InitDelete")}, false},
		{"it is about to be deleted", []option{deleting, finalized, jobs("a", "a", "Succeeded")}, false},
		{"a deletion of it has been handed over", []option{deleting, finalized, jobs("b", "a", "Succeeded")}, false},
		{"its job ends before it is deleted", []option{deleting, finalized, jobs("b", "a", "Progressing")}, true},
	} {
		t.Run(test.reason, func(t *testing.T) {
			inst := situationWith(test.options...).Inst
			inst.Spec.Exports.Data = []v1alpha1.DataExport{{Name: "x", DataRef: "db"}}
			inst.Spec.Exports.Targets = []v1alpha1.TargetExport{{Name: "y", Target: "cluster"}}
			want := []kin.Exporter{{Name: "x", Kind: dataflow.KindDataObject, Object: "db", UnderWay: test.underWay}, {Name: "x", Kind: dataflow.KindTarget, Object: "cluster", UnderWay: test.underWay}}
			if got := kin.Exports(inst, facts.Triggers{}); !slices.Equal(got, want) {
				t.Errorf("%+v", got)
			}
		})
	}
}
