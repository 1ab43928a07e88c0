package reporter

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/job/reasons"
)

// Status points to the fields of a job in the status of an object.
// All kinds with jobs have them, each in a type of its own.
type Status struct {
	Phase               *string
	JobID               *string
	JobIDFinished       *string
	ObservedGeneration  *int64
	Conditions          *[]v1alpha1.Condition
	LastError           **v1alpha1.Error
	PhaseTransitionTime **metav1.Time
	TransitionTimes     **v1alpha1.TransitionTimes
	// Ended adds to the write that ends a job; nil adds nothing.
	Ended func()
}

// Subject is an object whose job is worked on.
type Subject struct {
	Object client.Object
	Status Status
	// Objects counts what a job has changed on clusters; nil if that is not counted.
	Objects func(jobID string) *v1alpha1.ObjectCounts
	// warnings are emitted with the next transition.
	warnings []warning
}

// warning is what is probably not meant, all of one kind.
type warning struct {
	reason   reasons.Reason
	messages []string
}

// Installation returns the subject of an Installation.
func Installation(inst *v1alpha1.Installation) *Subject {
	s := &inst.Status
	return &Subject{Object: inst, Status: Status{
		Phase: (*string)(&s.InstallationPhase), JobID: &s.JobID, JobIDFinished: &s.JobIDFinished,
		ObservedGeneration: &s.ObservedGeneration, Conditions: &s.Conditions, LastError: &s.LastError,
		PhaseTransitionTime: &s.PhaseTransitionTime, TransitionTimes: &s.TransitionTimes,
	}}
}

// Execution returns the subject of an Execution.
func Execution(exec *v1alpha1.Execution) *Subject {
	s := &exec.Status
	return &Subject{Object: exec, Status: Status{
		Phase: (*string)(&s.ExecutionPhase), JobID: &s.JobID, JobIDFinished: &s.JobIDFinished,
		ObservedGeneration: &s.ObservedGeneration, Conditions: &s.Conditions, LastError: &s.LastError,
		PhaseTransitionTime: &s.PhaseTransitionTime, TransitionTimes: &s.TransitionTimes,
	}}
}

// DeployItem returns the subject of a DeployItem.
func DeployItem(item *v1alpha1.DeployItem) *Subject {
	s := &item.Status
	return &Subject{Object: item, Status: Status{
		Phase: (*string)(&s.Phase), JobID: &s.JobID, JobIDFinished: &s.JobIDFinished,
		ObservedGeneration: &s.ObservedGeneration, Conditions: &s.Conditions, LastError: &s.LastError,
		PhaseTransitionTime: &s.PhaseTransitionTime, TransitionTimes: &s.TransitionTimes,
	}}
}

// backup returns what puts the status back to what it is now.
//
// A copy of the whole status, because Ended and the history change fields that Status does
// not point to.
func (s *Subject) backup() (undo func()) {
	switch object := s.Object.(type) {
	case *v1alpha1.Installation:
		before := object.Status.DeepCopy()
		return func() { object.Status = *before }
	case *v1alpha1.Execution:
		before := object.Status.DeepCopy()
		return func() { object.Status = *before }
	case *v1alpha1.DeployItem:
		before := object.Status.DeepCopy()
		return func() { object.Status = *before }
	}
	return func() {}
}

// Unfinished reports whether a job was assigned and has not ended yet.
func (s Status) Unfinished() bool { return job.Unfinished(*s.JobID, *s.JobIDFinished) }

// Trigger assigns a job. The phase stays, which shows that no work has begun yet.
//
// A reader meanwhile sees a final phase with a job that is not finished: see job.Starting.
func (s Status) Trigger(jobID string, now metav1.Time) {
	*s.JobID, *s.TransitionTimes = jobID, job.Triggered(now)
}

// Begin notes that the work on the job has begun.
func (s Status) Begin(generation int64, now metav1.Time) {
	s.times(now).InitTime = &now
	*s.ObservedGeneration = generation
	job.DropCondition(s.Conditions, v1alpha1.WarningsCondition)
	job.DropCondition(s.Conditions, v1alpha1.ChildWarningsCondition)
}

// Resume notes that the work on the removal round of the job has begun: what the job has found
// before stays.
func (s Status) Resume(now metav1.Time) { s.times(now).InitTime, s.times(now).WaitTime = &now, &now }

// Wait notes that the job now waits for its children.
func (s Status) Wait(now metav1.Time) { s.times(now).WaitTime = &now }

// times returns the times of the job. A tool that assigns a job may not have set them.
func (s Status) times(now metav1.Time) *v1alpha1.TransitionTimes {
	if *s.TransitionTimes == nil {
		*s.TransitionTimes = job.Triggered(now)
	}
	return *s.TransitionTimes
}

// Enter enters a phase and writes down what follows from it: the error of the last
// step, the times, the end of the job, and the summary conditions.
//
// JobIDFinished, the final phase and FinishedTime are set together and stored in one write,
// so that no reader ever sees a job that has ended without its result.
func (s Status) Enter(phase string, err error, now metav1.Time) {
	if *s.Phase != phase {
		*s.Phase, *s.PhaseTransitionTime = phase, &now
	}
	*s.LastError = job.StatusError(err, *s.LastError, now)
	if v1alpha1.InstallationPhase(phase).IsFinal() && s.Unfinished() {
		*s.JobIDFinished = *s.JobID
		s.times(now).FinishedTime = &now
		if s.Ended != nil {
			s.Ended()
		}
	}
	job.Summarize(s.Conditions, job.Summary{Phase: phase, Generation: *s.ObservedGeneration, Err: err}, now)
}

// failedPhase returns the final phase of the job if it fails now. Before a job has
// begun, the phase is still that of the job before.
func (s *Subject) failedPhase() string {
	deletion := v1alpha1.InstallationPhase(*s.Status.Phase).IsDeletion()
	if job.Starting(*s.Status.JobID, *s.Status.JobIDFinished, *s.Status.Phase) {
		deletion = s.Object.GetDeletionTimestamp() != nil
	}
	if deletion {
		return v1alpha1.PhaseStringDeleteFailed
	}
	return v1alpha1.PhaseStringFailed
}

// firstPhase returns the phase of a job that has not got far yet.
func (s *Subject) firstPhase() string {
	if s.Object.GetDeletionTimestamp() != nil {
		return v1alpha1.PhaseStringInitDelete
	}
	return v1alpha1.PhaseStringInit
}

// SetTrue notes in a condition that something has succeeded. The next write of the status
// stores it.
func (s Status) SetTrue(conditionType v1alpha1.ConditionType, reason reasons.Reason, message string, now metav1.Time) {
	job.SetCondition(s.Conditions, v1alpha1.Condition{Type: conditionType, Status: v1alpha1.ConditionTrue, Reason: string(reason), Message: message}, now)
}

// SetFalse notes in a condition what went wrong, where users look first.
func (s Status) SetFalse(conditionType v1alpha1.ConditionType, reason reasons.Reason, message string, now metav1.Time) {
	job.SetCondition(s.Conditions, v1alpha1.Condition{Type: conditionType, Status: v1alpha1.ConditionFalse, Reason: string(reason), Message: message}, now)
}

// Warn notes warnings of one kind in the status, which keeps them until the next job. An
// event also reports them, once in a job with its next transition; repeated attempts emit
// nothing.
func (s *Subject) Warn(reason reasons.Reason, messages []string) {
	if len(messages) > 0 {
		s.warnings = append(s.warnings, warning{reason, messages})
		job.AddWarnings(s.Status.Conditions, reason, messages, *s.Status.ObservedGeneration, metav1.Now())
	}
}

// MergeFrom takes over what was noted on a copy of the subject: conditions and warnings.
//
// It is used where work was done on a copy of an object: away from the worker, the object
// itself could be changed meanwhile.
func (s *Subject) MergeFrom(noted *Subject) {
	*s.Status.Conditions = *noted.Status.Conditions
	s.warnings = append(s.warnings, noted.warnings...)
}

// snapshot returns a copy of what a report may change.
func (s Status) snapshot() v1alpha1.InstallationStatus {
	last := v1alpha1.InstallationStatus{
		InstallationPhase: v1alpha1.InstallationPhase(*s.Phase), JobID: *s.JobID, JobIDFinished: *s.JobIDFinished,
		ObservedGeneration: *s.ObservedGeneration, Conditions: *s.Conditions, LastError: *s.LastError,
		PhaseTransitionTime: *s.PhaseTransitionTime, TransitionTimes: *s.TransitionTimes,
	}
	return *last.DeepCopy()
}
