package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// ConditionStatus tells whether a condition holds.
type ConditionStatus string

const (
	// ConditionTrue means that the condition holds.
	ConditionTrue ConditionStatus = "True"
	// ConditionFalse means that the condition does not hold.
	ConditionFalse ConditionStatus = "False"
	// ConditionUnknown means that the state is not known yet.
	ConditionUnknown ConditionStatus = "Unknown"
	// ConditionProgressing means that work on the condition is under way.
	ConditionProgressing ConditionStatus = "Progressing"
)

// ConditionType names a condition.
type ConditionType string

const (
	// ReadyCondition is true when the object reached what its current inputs ask
	// for. Its message names the blocker when it is false.
	ReadyCondition ConditionType = "Ready"
	// ReconcilingCondition is true while a job runs.
	ReconcilingCondition ConditionType = "Reconciling"
	// StalledCondition is true when nothing more happens until a user changes something.
	StalledCondition ConditionType = "Stalled"
	// WarningsCondition is true when the last job has found what is probably not meant, such
	// as a field that does not exist and has no effect. It is there only while it is true.
	WarningsCondition ConditionType = "Warnings"
	// ChildWarningsCondition is true when objects below have WarningsCondition; its message
	// names them. It is there only while it is true.
	ChildWarningsCondition ConditionType = "ChildWarnings"
	// PendingRemovalsCondition is true when an object keeps something that it does not want
	// any more, because another part of the same tree may take it over in the job that runs.
	// The reason Kept means that something is kept below, NotWanted that the object is kept
	// itself although its parent does not want it any more, and Removing, on a root, that objects
	// which no part has taken over are being removed. The condition exists only while it is true.
	PendingRemovalsCondition ConditionType = "PendingRemovals"
)

// Condition is one observation about an object.
type Condition struct {
	// Type names the condition.
	// +required
	Type ConditionType `json:"type"`
	// Status is True, False, Unknown or Progressing.
	// +required
	Status ConditionStatus `json:"status"`
	// LastTransitionTime is when the status changed last.
	// +required
	LastTransitionTime metav1.Time `json:"lastTransitionTime"`
	// LastUpdateTime is when anything else in the condition changed last.
	// +required
	LastUpdateTime metav1.Time `json:"lastUpdateTime"`
	// Reason is a short word for the cause.
	// +required
	Reason string `json:"reason"`
	// Message explains the condition to a human.
	// +required
	Message string `json:"message"`
	// Codes classify the problem behind the condition.
	// +optional
	Codes []ErrorCode `json:"codes,omitempty"`
	// ObservedGeneration is the generation of the object that the condition
	// speaks of.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
}

// ErrorCode classifies an error, so that programs can act on it.
type ErrorCode string

const (
	// ErrorUnauthorized means that a cluster refused the credentials.
	ErrorUnauthorized ErrorCode = "ERR_UNAUTHORIZED"
	// ErrorCleanupResources means that resources could not be removed.
	ErrorCleanupResources ErrorCode = "ERR_CLEANUP"
	// ErrorConfigurationProblem means that the user's configuration is wrong.
	ErrorConfigurationProblem ErrorCode = "ERR_CONFIGURATION_PROBLEM"
	// ErrorInternalProblem means that Landscaper itself failed.
	ErrorInternalProblem ErrorCode = "ERR_INTERNAL_PROBLEM"
	// ErrorTimeout means that a time limit was exceeded.
	ErrorTimeout ErrorCode = "ERR_TIMEOUT"
	// ErrorCyclicDependencies means that objects depend on each other in a cycle.
	ErrorCyclicDependencies ErrorCode = "ERR_CYCLIC_DEPENDENCIES"
	// ErrorWebhook means that an admission webhook could not be called.
	ErrorWebhook ErrorCode = "ERR_WEBHOOK"
	// ErrorUnfinished means that something is still running; it is no failure.
	ErrorUnfinished ErrorCode = "ERR_UNFINISHED"
	// ErrorForInfoOnly means that the entry informs about a state; it is no failure.
	ErrorForInfoOnly ErrorCode = "ERR_FOR_INFO_ONLY"
	// ErrorNoRetry means that an event, not a timer, continues the work.
	ErrorNoRetry ErrorCode = "ERR_NO_RETRY"
)

// Unrecoverable reports whether an error with this code ends the job of a
// DeployItem at once, because another attempt would end the same way.
func (c ErrorCode) Unrecoverable() bool {
	switch c {
	case ErrorConfigurationProblem, ErrorInternalProblem, ErrorTimeout, ErrorUnauthorized, ErrorCyclicDependencies:
		return true
	}
	return false
}

// Error describes the failure of a step.
type Error struct {
	// Operation is the step that failed.
	// +required
	Operation string `json:"operation"`
	// LastTransitionTime is when the failing step changed last.
	// +required
	LastTransitionTime metav1.Time `json:"lastTransitionTime"`
	// LastUpdateTime is when anything in the error changed last.
	// +required
	LastUpdateTime metav1.Time `json:"lastUpdateTime"`
	// Reason is a short word for the cause.
	// +required
	Reason string `json:"reason"`
	// Message tells what was being done, on which object, and what to do.
	// +required
	Message string `json:"message"`
	// Codes classify the error.
	// +optional
	Codes []ErrorCode `json:"codes,omitempty"`
}

// TransitionTimes tells when a job entered its stages. A new job replaces all of
// them.
type TransitionTimes struct {
	// TriggerTime is when the job was assigned.
	// +optional
	TriggerTime *metav1.Time `json:"triggerTime,omitempty"`
	// InitTime is when work on the job began.
	// +optional
	InitTime *metav1.Time `json:"initTime,omitempty"`
	// WaitTime is when the job began to wait for others.
	// +optional
	WaitTime *metav1.Time `json:"waitTime,omitempty"`
	// FinishedTime is when the job ended.
	// +optional
	FinishedTime *metav1.Time `json:"finishedTime,omitempty"`
}
