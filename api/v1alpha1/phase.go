package v1alpha1

// The phases that Installations, Executions and DeployItems share.
const (
	// PhaseStringInit is the text of the phase in which a job begins.
	PhaseStringInit = "Init"
	// PhaseStringCleanupOrphaned is the text of the phase in which an Installation
	// waits for children that are no longer wanted.
	PhaseStringCleanupOrphaned = "CleanupOrphaned"
	// PhaseStringObjectsCreated is the text of the phase in which an Installation
	// has written its children and hands them their job.
	PhaseStringObjectsCreated = "ObjectsCreated"
	// PhaseStringProgressing is the text of the phase in which work is under way.
	PhaseStringProgressing = "Progressing"
	// PhaseStringCompleting is the text of the phase in which results are collected.
	PhaseStringCompleting = "Completing"
	// PhaseStringSucceeded is the text of the final phase of a good job.
	PhaseStringSucceeded = "Succeeded"
	// PhaseStringFailed is the text of the final phase of a failed job.
	PhaseStringFailed = "Failed"
	// PhaseStringInitDelete is the text of the phase in which a deletion begins.
	PhaseStringInitDelete = "InitDelete"
	// PhaseStringTriggerDelete is the text of the phase in which children get their
	// deletion job.
	PhaseStringTriggerDelete = "TriggerDelete"
	// PhaseStringDeleting is the text of the phase in which a deletion is under way.
	PhaseStringDeleting = "Deleting"
	// PhaseStringDeleteFailed is the text of the final phase of a failed deletion.
	PhaseStringDeleteFailed = "DeleteFailed"
)

// phase answers the questions that all phase types have in common.
type phase string

func (p phase) final() bool {
	return p == PhaseStringSucceeded || p == PhaseStringFailed || p == PhaseStringDeleteFailed
}

func (p phase) deletion() bool {
	return p == PhaseStringInitDelete || p == PhaseStringTriggerDelete || p == PhaseStringDeleting || p == PhaseStringDeleteFailed
}

func (p phase) failed() bool {
	return p == PhaseStringFailed || p == PhaseStringDeleteFailed
}

// current returns the phase of today for a phase that releases before 0.36
// wrote.
func (p phase) current() phase {
	switch p {
	case "Pending", "PendingDependencies":
		return PhaseStringInit
	case "Completed":
		return PhaseStringSucceeded
	case "Aborted":
		return PhaseStringFailed
	}
	return p
}

// InstallationPhase is the stage of an Installation's job.
type InstallationPhase string

// String returns the text of the phase.
func (p InstallationPhase) String() string { return string(p) }

// IsFinal reports whether the job has ended.
func (p InstallationPhase) IsFinal() bool { return phase(p).final() }

// IsDeletion reports whether the phase belongs to a deletion.
func (p InstallationPhase) IsDeletion() bool { return phase(p).deletion() }

// IsFailed reports whether the job has ended badly.
func (p InstallationPhase) IsFailed() bool { return phase(p).failed() }

// IsEmpty reports whether there was no job yet.
func (p InstallationPhase) IsEmpty() bool { return p == "" }

// Current returns the phase of today for one that an old release wrote.
func (p InstallationPhase) Current() InstallationPhase { return InstallationPhase(phase(p).current()) }

// ExecutionPhase is the stage of an Execution's job.
type ExecutionPhase string

// String returns the text of the phase.
func (p ExecutionPhase) String() string { return string(p) }

// IsFinal reports whether the job has ended.
func (p ExecutionPhase) IsFinal() bool { return phase(p).final() }

// IsDeletion reports whether the phase belongs to a deletion.
func (p ExecutionPhase) IsDeletion() bool { return phase(p).deletion() }

// IsFailed reports whether the job has ended badly.
func (p ExecutionPhase) IsFailed() bool { return phase(p).failed() }

// IsEmpty reports whether there was no job yet.
func (p ExecutionPhase) IsEmpty() bool { return p == "" }

// Current returns the phase of today for one that an old release wrote.
func (p ExecutionPhase) Current() ExecutionPhase { return ExecutionPhase(phase(p).current()) }

// DeployItemPhase is the stage of a DeployItem's job.
type DeployItemPhase string

// String returns the text of the phase.
func (p DeployItemPhase) String() string { return string(p) }

// IsFinal reports whether the job has ended.
func (p DeployItemPhase) IsFinal() bool { return phase(p).final() }

// IsDeletion reports whether the phase belongs to a deletion.
func (p DeployItemPhase) IsDeletion() bool { return phase(p).deletion() }

// IsFailed reports whether the job has ended badly.
func (p DeployItemPhase) IsFailed() bool { return phase(p).failed() }

// IsEmpty reports whether there was no job yet.
func (p DeployItemPhase) IsEmpty() bool { return p == "" }

// Current returns the phase of today for one that an old release wrote.
func (p DeployItemPhase) Current() DeployItemPhase { return DeployItemPhase(phase(p).current()) }
