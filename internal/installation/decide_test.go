package installation

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/api/v1alpha1"
)

type option func(*snapshot)

func annotated(key, value string) option {
	return func(s *snapshot) {
		if s.inst.Annotations == nil {
			s.inst.Annotations = map[string]string{}
		}
		s.inst.Annotations[key] = value
	}
}

func requested(operation v1alpha1.Operation) option {
	return annotated(v1alpha1.OperationAnnotation, string(operation))
}

func jobs(id, finished string, phase v1alpha1.InstallationPhase) option {
	return func(s *snapshot) {
		s.inst.Status.JobID, s.inst.Status.JobIDFinished, s.inst.Status.InstallationPhase = id, finished, phase
	}
}

func deleting(s *snapshot) {
	now := metav1.NewTime(time.Unix(1, 0))
	s.inst.DeletionTimestamp = &now
}

func finalized(s *snapshot) { s.inst.Finalizers = []string{v1alpha1.Finalizer} }

func sub(s *snapshot) {
	s.inst.OwnerReferences = []metav1.OwnerReference{{APIVersion: v1alpha1.GroupVersion.String(), Kind: "Installation", Name: "parent"}}
}

func generations(spec, observed int64) option {
	return func(s *snapshot) { s.inst.Generation, s.inst.Status.ObservedGeneration = spec, observed }
}

func withExecution(id, finished string, phase v1alpha1.ExecutionPhase) option {
	return func(s *snapshot) {
		s.inst.Status.ExecutionReference = &v1alpha1.ObjectReference{Name: "x"}
		s.exec = &v1alpha1.Execution{Status: v1alpha1.ExecutionStatus{JobID: id, JobIDFinished: finished, ExecutionPhase: phase}}
	}
}

func awaitingExecution(s *snapshot) {
	s.inst.Status.ExecutionReference = &v1alpha1.ObjectReference{Name: "x"}
}

func TestDecide(t *testing.T) {
	tests := []struct {
		reason  string
		options []option
		want    step
	}{
		{"nobody asked for anything", nil, rest},
		{"a change of the spec alone starts nothing", []option{generations(2, 1)}, rest},
		{"a request starts a job", []option{requested("reconcile")}, admit},
		{"a request starts a further job", []option{requested("reconcile"), finalized, jobs("a", "a", "Succeeded")}, admit},
		{"a request waits for the running job", []option{requested("reconcile"), finalized, awaitingExecution, jobs("a", "", "Progressing")}, rest},
		{"force-reconcile starts a job like reconcile", []option{requested("force-reconcile"), jobs("a", "a", "Failed")}, admit},
		{"an unknown operation starts nothing", []option{requested("dance")}, rest},
		{"a changed spec starts a job if the user wants that", []option{annotated(v1alpha1.ReconcileIfChangedAnnotation, "true"), generations(2, 1)}, admit},
		{"an unchanged spec starts nothing", []option{annotated(v1alpha1.ReconcileIfChangedAnnotation, "true"), generations(2, 2)}, rest},
		{"skip wins over automatic jobs", []option{annotated(v1alpha1.ReconcileIfChangedAnnotation, "true"), annotated(v1alpha1.SkipAnnotation, "true"), generations(2, 1)}, rest},
		{"skip does not hold back a request", []option{annotated(v1alpha1.SkipAnnotation, "true"), requested("reconcile")}, admit},
		{"the old name of skip counts, too", []option{annotated(v1alpha1.ReconcileIfChangedAnnotation, "true"), annotated(v1alpha1.IgnoreAnnotation, "true"), generations(2, 1)}, rest},
		{"an interruption comes first", []option{requested("interrupt"), jobs("a", "", "Progressing")}, interrupt},
		{"a request on a subinstallation has no effect", []option{sub, requested("reconcile")}, dismiss},
		{"a subinstallation starts when its parent hands over a job", []option{sub, jobs("a", "", "")}, begin},
		{"a handed over job starts although the last phase is final", []option{jobs("b", "a", "Succeeded")}, begin},
		{"an admission that was cut short is ended", []option{jobs("a", "", "Init")}, accept},
		{"children are written", []option{finalized, jobs("a", "", "Init")}, bringUp},
		{"a phase of the public system that we skip", []option{finalized, jobs("a", "", "ObjectsCreated")}, bringUp},
		{"no children, nothing to wait for", []option{finalized, jobs("a", "", "Progressing")}, complete},
		{"the Execution is not in the cache yet", []option{finalized, awaitingExecution, jobs("a", "", "Progressing")}, rest},
		{"the Execution has an older job", []option{finalized, withExecution("z", "z", "Succeeded"), jobs("a", "", "Progressing")}, rest},
		{"the Execution works", []option{finalized, withExecution("a", "z", "Progressing"), jobs("a", "", "Progressing")}, rest},
		{"the Execution has succeeded", []option{finalized, withExecution("a", "a", "Succeeded"), jobs("a", "", "Progressing")}, complete},
		{"the Execution has failed", []option{finalized, withExecution("a", "a", "Failed"), jobs("a", "", "Progressing")}, fail},
		{"results are still to be collected", []option{finalized, jobs("a", "", "Completing")}, complete},

		{"a deletion starts without a request", []option{deleting, finalized, jobs("a", "a", "Succeeded")}, admit},
		{"a deletion starts although nothing ever ran", []option{deleting, finalized}, admit},
		{"without our finalizer there is nothing to clean up", []option{deleting}, rest},
		{"a job that has not reached a child is abandoned for the deletion", []option{deleting, finalized, jobs("a", "", "Init")}, abandon},
		{"a job that has reached children ends first", []option{deleting, finalized, withExecution("a", "", "Progressing"), jobs("a", "", "Progressing")}, rest},
		{"children are deleted", []option{deleting, finalized, withExecution("z", "z", "Succeeded"), jobs("a", "z", "InitDelete")}, remove},
		{"the Execution is being deleted", []option{deleting, finalized, withExecution("a", "z", "Deleting"), jobs("a", "z", "Deleting")}, rest},
		{"the Execution is gone", []option{deleting, finalized, jobs("a", "z", "Deleting")}, release},
		{"the Execution could not be deleted", []option{deleting, finalized, withExecution("a", "a", "DeleteFailed"), jobs("a", "z", "Deleting")}, failDelete},
		{"a failed deletion waits for a request", []option{deleting, finalized, jobs("a", "a", "DeleteFailed")}, rest},
		{"a failed deletion starts again on request", []option{deleting, finalized, requested("reconcile"), jobs("a", "a", "DeleteFailed")}, admit},
	}
	for _, test := range tests {
		s := snapshot{inst: &v1alpha1.Installation{}}
		for _, option := range test.options {
			option(&s)
		}
		if got := decide(s); got != test.want {
			t.Errorf("%s: %s, want %s", test.reason, got, test.want)
		}
	}
}
