package testbuilders

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/controller/installation/decide"
)

// Annotated has an annotation.
func Annotated(key, value string) Option {
	return func(s *decide.Situation) {
		if s.Inst.Annotations == nil {
			s.Inst.Annotations = map[string]string{}
		}
		s.Inst.Annotations[key] = value
	}
}

// Requested requests an operation.
func Requested(operation v1alpha1.Operation) Option {
	return Annotated(v1alpha1.OperationAnnotation, string(operation))
}

// Jobs are the job of an Installation and the last one that has ended.
func Jobs(id, finished string, phase v1alpha1.InstallationPhase) Option {
	return func(s *decide.Situation) {
		s.Inst.Status.JobID, s.Inst.Status.JobIDFinished, s.Inst.Status.InstallationPhase = id, finished, phase
	}
}

// Deleting says that it is being deleted.
func Deleting(s *decide.Situation) {
	now := metav1.NewTime(time.Unix(1, 0))
	s.Inst.DeletionTimestamp = &now
}

// Finalized has our finalizer.
func Finalized(s *decide.Situation) { s.Inst.Finalizers = []string{v1alpha1.Finalizer} }

// Sub makes it a subinstallation.
func Sub(s *decide.Situation) {
	s.Inst.OwnerReferences = []metav1.OwnerReference{{APIVersion: v1alpha1.GroupVersion.String(), Kind: "Installation", Name: "parent"}}
}

// ExportsSomething exports data.
func ExportsSomething(s *decide.Situation) {
	s.Inst.Spec.Exports.Data = []v1alpha1.DataExport{{Name: "x", DataRef: "x"}}
}

// WithDependents has dependents that are to be triggered.
func WithDependents(names ...string) Option {
	return func(s *decide.Situation) {
		for _, name := range names {
			s.Inst.Status.DependentsToTrigger = append(s.Inst.Status.DependentsToTrigger, v1alpha1.DependentToTrigger{Name: name})
		}
	}
}

// ForeignOwner has an owner of another system.
func ForeignOwner(s *decide.Situation) {
	s.Inst.OwnerReferences = []metav1.OwnerReference{{APIVersion: "other.example.org/v1", Kind: "Installation", Name: "parent"}}
}

// Generations are that of the specification and the one that a job has seen.
func Generations(spec, observed int64) Option {
	return func(s *decide.Situation) { s.Inst.Generation, s.Inst.Status.ObservedGeneration = spec, observed }
}

// OfContext names a Context.
func OfContext(name string) Option { return func(s *decide.Situation) { s.Inst.Spec.Context = name } }

// Every makes an Installation repeat its job.
func Every(failed, succeeded string, times int) Option {
	return func(s *decide.Situation) {
		s.Inst.Spec.AutomaticReconcile = &v1alpha1.AutomaticReconcile{}
		if failed != "" {
			s.Inst.Spec.AutomaticReconcile.FailedReconcile = &v1alpha1.FailedReconcile{Interval: durationOf(failed), NumberOfReconciles: &times}
		}
		if succeeded != "" {
			s.Inst.Spec.AutomaticReconcile.SucceededReconcile = &v1alpha1.SucceededReconcile{Interval: durationOf(succeeded)}
		}
	}
}

func durationOf(text string) *v1alpha1.Duration {
	value := &v1alpha1.Duration{}
	if err := value.UnmarshalJSON([]byte(`"` + text + `"`)); err != nil {
		panic(err)
	}
	return value
}

// Schedules repeat the job by cron expressions.
func Schedules(failed, succeeded string) Option {
	return func(s *decide.Situation) {
		s.Inst.Spec.AutomaticReconcile = &v1alpha1.AutomaticReconcile{
			FailedReconcile: &v1alpha1.FailedReconcile{CronSpec: failed}, SucceededReconcile: &v1alpha1.SucceededReconcile{CronSpec: succeeded},
		}
	}
}

// Counted is the counter of automatic jobs of a generation; the last one was a time
// before noon.
func Counted(generation int64, count int, onFailed bool, before time.Duration) Option {
	return func(s *decide.Situation) {
		s.Inst.Status.AutomaticReconcileStatus = &v1alpha1.AutomaticReconcileStatus{
			Generation: generation, NumberOfReconciles: count, OnFailed: onFailed, LastReconcileTime: metav1.NewTime(Noon.Add(-before)),
		}
	}
}

// FinishedBefore is the end of the last job, a time before noon.
func FinishedBefore(before time.Duration) Option {
	return func(s *decide.Situation) {
		at := metav1.NewTime(Noon.Add(-before))
		s.Inst.Status.TransitionTimes = &v1alpha1.TransitionTimes{FinishedTime: &at}
	}
}

// Observed is a specification that a job has seen.
func Observed(generation int64) Option { return Generations(generation, generation) }
