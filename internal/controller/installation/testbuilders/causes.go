package testbuilders

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/controller/installation/decide"
	"go.landscaper.dev/internal/model/siblings"
	"go.landscaper.dev/internal/runtime/job"
)

// Traced has looked below the children, where nothing is.
func Traced(s *decide.Situation) {
	below := siblings.Shallow(s.Family)
	s.Below = &below
}

// WithStuck adds a subinstallation at work in job a that has shown an obstacle for a time.
func WithStuck(name, reason, message string, lasting time.Duration) Option {
	return func(s *decide.Situation) {
		WithSub(name, "a", "", "Progressing")(s)
		Stuck(s.Subs[len(s.Subs)-1], reason, message, lasting)
	}
}

// Stuck lets an Installation show an obstacle for a time.
func Stuck(inst *v1alpha1.Installation, reason, message string, lasting time.Duration) {
	since := metav1.NewTime(Noon.Add(-lasting))
	inst.Status.PhaseTransitionTime = &since
	inst.Status.Conditions = []v1alpha1.Condition{{Type: v1alpha1.ReconcilingCondition, Status: v1alpha1.ConditionTrue, Reason: reason, Message: message}}
}

// InPhase has been in its phase for a time, and shows nothing of its children.
func InPhase(lasting time.Duration) Option {
	return func(s *decide.Situation) {
		since := metav1.NewTime(Noon.Add(-lasting))
		s.Inst.Status.PhaseTransitionTime = &since
		job.Summarize(&s.Inst.Status.Conditions, job.Summary{Phase: string(s.Inst.Status.InstallationPhase)}, since)
	}
}

// Shown has shown a message about its children some time ago.
func Shown(message string, ago time.Duration) Option {
	return func(s *decide.Situation) {
		status := &s.Inst.Status
		job.ShowingOf(&status.Conditions, string(status.InstallationPhase), 0, status.PhaseTransitionTime).Write(message, metav1.NewTime(Noon.Add(-ago)))
	}
}
