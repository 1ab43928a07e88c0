package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// InstallationPhases are the phases of an Installation.
var InstallationPhases = struct {
	Init, CleanupOrphaned, ObjectsCreated, Progressing, Completing, Succeeded, Failed,
	InitDelete, TriggerDelete, Deleting, DeleteFailed InstallationPhase
}{
	PhaseStringInit, PhaseStringCleanupOrphaned, PhaseStringObjectsCreated, PhaseStringProgressing, PhaseStringCompleting, PhaseStringSucceeded, PhaseStringFailed,
	PhaseStringInitDelete, PhaseStringTriggerDelete, PhaseStringDeleting, PhaseStringDeleteFailed,
}

// The conditions that an Installation reports beside Ready, Reconciling and
// Stalled.
const (
	// EnsureSubInstallationsCondition tells whether the subinstallations were
	// written.
	EnsureSubInstallationsCondition ConditionType = "EnsureSubInstallations"
	// ReconcileExecutionCondition tells whether the Execution was written.
	ReconcileExecutionCondition ConditionType = "ReconcileExecution"
	// ValidateImportsCondition tells whether the imports fit the blueprint.
	ValidateImportsCondition ConditionType = "ValidateImports"
	// CreateImportsCondition tells whether the imports were stored.
	CreateImportsCondition ConditionType = "CreateImports"
	// CreateExportsCondition tells whether the exports were stored.
	CreateExportsCondition ConditionType = "CreateExports"
	// EnsureExecutionsCondition is kept for readers of old objects.
	EnsureExecutionsCondition ConditionType = "EnsureExecutions"
	// ValidateExportCondition tells whether the exports fit the blueprint.
	ValidateExportCondition ConditionType = "ValidateExport"
	// ComponentReferenceOverwriteCondition tells whether the component reference
	// was replaced.
	ComponentReferenceOverwriteCondition ConditionType = "ComponentReferenceOverwrite"
)

// InstallationStatus tells how far the last job came.
type InstallationStatus struct {
	// ObservedGeneration is the generation that the last job worked on.
	// +required
	ObservedGeneration int64 `json:"observedGeneration"`
	// Conditions are the current observations.
	// +optional
	Conditions []Condition `json:"conditions,omitempty"`
	// LastError is the error of the last step; absent when it went well.
	// +optional
	LastError *Error `json:"lastError,omitempty"`
	// SubInstCache lists the subinstallations.
	// +optional
	// +structType=atomic
	SubInstCache *SubInstCache `json:"subInstCache,omitempty"`
	// ExecutionReference names the Execution that holds the deploy items.
	// +optional
	// +structType=atomic
	ExecutionReference *ObjectReference `json:"executionRef,omitempty"`
	// JobID identifies the current or last job. Without it there never was one.
	// +optional
	JobID string `json:"jobID,omitempty"`
	// JobIDFinished identifies the last job that has ended.
	// +optional
	JobIDFinished string `json:"jobIDFinished,omitempty"`
	// InstallationPhase is the stage of the job.
	// +optional
	InstallationPhase InstallationPhase `json:"phase,omitempty"`
	// PhaseTransitionTime is when the phase changed last.
	// +optional
	PhaseTransitionTime *metav1.Time `json:"phaseTransitionTime,omitempty"`
	// ImportsHash identifies the import values of the last job.
	// +optional
	ImportsHash string `json:"importsHash,omitempty"`
	// DataUpdate describes the current or last job if the job propagates changed values,
	// and is absent for all others.
	// +optional
	DataUpdate *DataUpdate `json:"dataUpdate,omitempty"`
	// ApprovedPlan is the plan that the current or last job of a root may carry out, if a
	// DeliveryPolicy has asked for an approval, and is absent for all others.
	// +optional
	ApprovedPlan *ApprovedPlan `json:"approvedPlan,omitempty"`
	// AutomaticReconcileStatus counts the jobs that were started automatically.
	// +optional
	AutomaticReconcileStatus *AutomaticReconcileStatus `json:"automaticReconcileStatus,omitempty"`
	// DependentsToTrigger are siblings that still have to be triggered because this job
	// has ended.
	// +optional
	DependentsToTrigger []DependentToTrigger `json:"dependentsToTrigger,omitempty"`
	// TransitionTimes tells when the job entered its stages.
	// +optional
	// +structType=atomic
	TransitionTimes *TransitionTimes `json:"transitionTimes,omitempty"`

	// History are the current or last job and those before, the newest first: at most
	// ten, and fewer where the rest of the status is large.
	// +optional
	History []JobRecord `json:"history,omitempty"`

	// ConfigGeneration identifies the exported values of the last job.
	// +optional
	ConfigGeneration string `json:"configGeneration,omitempty"`
	// Imports tells which version of each import the last job used.
	// +optional
	Imports []ImportStatus `json:"imports,omitempty"`
	// InstallationReferences names the subinstallations, for tools of old releases.
	// +optional
	InstallationReferences []NamedObjectReference `json:"installationRefs,omitempty"`
}

// DataUpdate describes a job that propagates values which have changed after an earlier
// job.
type DataUpdate struct {
	// Installations are those whose items export other values, and those that they are a
	// part of.
	// +optional
	Installations []string `json:"installations,omitempty"`
	// Unchanged says that the Installation is deployed as it would be now: its last job
	// has succeeded, with the same specification and imports.
	// +optional
	Unchanged bool `json:"unchanged,omitempty"`
}

// ApprovedPlan is a plan that a job may carry out, and nothing beside it.
type ApprovedPlan struct {
	// JobID identifies the job.
	// +required
	JobID string `json:"jobID"`
	// Name is the name of the DeliveryPlan.
	// +required
	Name string `json:"name"`
	// Digest is the digest of the plan.
	// +required
	Digest string `json:"digest"`
	// ApprovedBy are the users who have approved it; absent if it needed no approval.
	// +optional
	ApprovedBy []string `json:"approvedBy,omitempty"`
}

// JobRecord records a job.
type JobRecord struct {
	// JobID identifies the job.
	// +required
	JobID string `json:"jobID"`
	// Trigger is what started it; empty if that is not known.
	// +optional
	Trigger JobTrigger `json:"trigger,omitempty"`
	// RequestedBy is the client that has asked for the job by an operation, by the name that
	// it has given itself: its field manager. The API server does not prove it.
	// +optional
	RequestedBy string `json:"requestedBy,omitempty"`
	// Overridden is the DeliveryPolicy that would have deferred the job, if an override has left
	// it out.
	// +optional
	Overridden *OverriddenPolicy `json:"overridden,omitempty"`
	// Phase is how the job has ended; empty as long as it has not.
	// +optional
	Phase InstallationPhase `json:"phase,omitempty"`
	// Reason is that of the error with which the job has ended.
	// +optional
	Reason string `json:"reason,omitempty"`
	// Generation is that of the specification.
	// +optional
	Generation int64 `json:"generation,omitempty"`
	// Component is the component that the specification refers to, with its version.
	// +optional
	Component string `json:"component,omitempty"`
	// ImportsHash is the beginning of status.importsHash.
	// +optional
	ImportsHash string `json:"importsHash,omitempty"`
	// Imports tell the values of imports apart. They are absent where a later job of the
	// history has the same importsHash, and so the same imports.
	// +optional
	Imports []ImportFingerprint `json:"imports,omitempty"`
	// Objects counts the objects of target clusters that the deployers of the server have changed
	// in the job. It is absent as long as the job has not ended, for a subinstallation, and if the
	// server was restarted in the job.
	// +optional
	Objects *ObjectCounts `json:"objects,omitempty"`
	// Start is when the job was assigned; empty as long as it has not ended.
	// +optional
	Start *metav1.Time `json:"start,omitempty"`
	// Queued is how long the job waited for its first work; like the other spans absent
	// if it was less than a second.
	// +optional
	Queued *Duration `json:"queued,omitempty"`
	// Preparing is how long it took until the children were written.
	// +optional
	Preparing *Duration `json:"preparing,omitempty"`
	// Running is how long it took from then on until the end.
	// +optional
	Running *Duration `json:"running,omitempty"`
}

// OverriddenPolicy is a DeliveryPolicy that was left out for a job.
type OverriddenPolicy struct {
	// Policy is the name of the DeliveryPolicy.
	// +required
	Policy string `json:"policy"`
	// By is the client that has set the override, by the name that it has given itself: its
	// field manager. The API server does not prove it.
	// +optional
	By string `json:"by,omitempty"`
}

// ObjectCounts counts objects of target clusters.
type ObjectCounts struct {
	// Created counts those that were created.
	// +optional
	Created int32 `json:"created,omitempty"`
	// Changed counts those that existed and were changed.
	// +optional
	Changed int32 `json:"changed,omitempty"`
	// Deleted counts those that were deleted.
	// +optional
	Deleted int32 `json:"deleted,omitempty"`
}

// ImportFingerprint tells whether two values of an import are the same.
type ImportFingerprint struct {
	// Name is the logical name of the import.
	// +required
	Name string `json:"name"`
	// Fingerprint is the beginning of a digest; that of a value from a Secret has a salt.
	// +required
	Fingerprint string `json:"fingerprint"`
}

// JobTrigger is what started a job.
type JobTrigger string

const (
	// TriggeredByReconcile is the operation "reconcile".
	TriggeredByReconcile JobTrigger = "reconcile"
	// TriggeredByForceReconcile is the operation "force-reconcile".
	TriggeredByForceReconcile JobTrigger = "force-reconcile"
	// TriggeredByChange is a new specification, of an Installation that asks for a job
	// then.
	TriggeredByChange JobTrigger = "change"
	// TriggeredBySchedule is spec.automaticReconcile.
	TriggeredBySchedule JobTrigger = "schedule"
	// TriggeredByImports is a change of imported data, where the administrator lets it
	// start jobs.
	TriggeredByImports JobTrigger = "imports"
	// TriggeredByExporter is the success of a root that exports what this one imports.
	TriggeredByExporter JobTrigger = "exporter"
	// TriggeredByExports is a change of what deploy items have exported.
	TriggeredByExports JobTrigger = "exports"
	// TriggeredByRollback is an earlier specification that the Installation has again: a
	// user has gone back to it, or the server after a failure.
	TriggeredByRollback JobTrigger = "rollback"
	// TriggeredByDeletion is the deletion of the Installation.
	TriggeredByDeletion JobTrigger = "deletion"
	// TriggeredByParent is the job of the Installation that this one is a part of.
	TriggeredByParent JobTrigger = "parent"
)

// SubInstCache lists the subinstallations of an Installation.
type SubInstCache struct {
	// ActiveSubs are the subinstallations that the blueprint asks for.
	// +optional
	ActiveSubs []SubNamePair `json:"activeSubs,omitempty"`
	// OrphanedSubs are the names of subinstallations that are no longer wanted.
	// +optional
	OrphanedSubs []string `json:"orphanedSubs,omitempty"`
}

// SubNamePair connects the name of a template with the object made from it.
type SubNamePair struct {
	// SpecName is the name in the blueprint.
	// +required
	SpecName string `json:"specName"`
	// ObjectName is the name of the subinstallation.
	// +required
	ObjectName string `json:"objectName"`
	// Written is set in a job with a plan that may need an approval: the subinstallation runs only
	// as it was written then.
	// +optional
	Written *WrittenSub `json:"written,omitempty"`
}

// WrittenSub identifies the specification of a subinstallation: each change of it has another
// generation.
type WrittenSub struct {
	// UID is that of the subinstallation.
	// +required
	UID types.UID `json:"uid"`
	// Generation is the generation of its specification.
	// +optional
	Generation int64 `json:"generation,omitempty"`
}

// DependentToTrigger names a sibling.
type DependentToTrigger struct {
	// Name is the name of the sibling.
	// +optional
	Name string `json:"name,omitempty"`
}

// AutomaticReconcileStatus counts the jobs that were started automatically.
type AutomaticReconcileStatus struct {
	// Generation is the generation that the counter belongs to.
	// +optional
	Generation int64 `json:"generation,omitempty"`
	// NumberOfReconciles counts the jobs.
	// +optional
	// +kubebuilder:validation:Format=int32
	NumberOfReconciles int `json:"numberOfReconciles,omitempty"`
	// LastReconcileTime is when the last job was started.
	// +optional
	LastReconcileTime metav1.Time `json:"lastReconcileTime,omitzero"`
	// OnFailed tells that the counted jobs are retries of a failed one.
	// +optional
	OnFailed bool `json:"onFailed,omitempty"`
}

// ImportStatus tells which version of an import a job used.
type ImportStatus struct {
	// Name is the logical name of the import.
	// +required
	Name string `json:"name"`
	// Type is dataobject or target.
	// +required
	Type string `json:"type"`
	// DataRef is the DataObject that was read.
	// +optional
	DataRef string `json:"dataRef,omitempty"`
	// Target is the Target that was read.
	// +optional
	Target string `json:"target,omitempty"`
	// SecretRef is the Secret that was read.
	// +optional
	SecretRef string `json:"secretRef,omitempty"`
	// ConfigMapRef is the ConfigMap that was read.
	// +optional
	ConfigMapRef string `json:"configMapRef,omitempty"`
	// SourceRef names the Installation that exported the value.
	// +optional
	SourceRef *ObjectReference `json:"sourceRef,omitempty"`
	// ConfigGeneration identifies the value.
	// +optional
	ConfigGeneration string `json:"configGeneration,omitempty"`
}
