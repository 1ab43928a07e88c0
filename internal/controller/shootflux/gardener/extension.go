package gardener

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// The annotations that gardenlet sets for extensions.
const (
	// OperationAnnotation is the operation that gardenlet requests.
	OperationAnnotation = "gardener.cloud/operation"
	// TimestampAnnotation is the time of gardenlet's last write.
	TimestampAnnotation = "gardener.cloud/timestamp"
	// ForceDeletionAnnotation is on a Shoot that is deleted by force.
	ForceDeletionAnnotation = "confirmation.gardener.cloud/force-deletion"
)

// The values of OperationAnnotation.
const (
	OperationReconcile = "reconcile"
	OperationMigrate   = "migrate"
	OperationRestore   = "restore"
	// OperationWaitForState is on objects whose state gardenlet has yet to write.
	OperationWaitForState = "wait-for-state"
)

// ClassShoot is the class of extensions of shoots, and the default.
const ClassShoot = "shoot"

// Extension asks an extension to look after a shoot.
//
// +kubebuilder:object:root=true
type Extension struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   ExtensionSpec   `json:"spec"`
	Status ExtensionStatus `json:"status,omitempty"`
}

// ExtensionSpec is what gardenlet writes.
type ExtensionSpec struct {
	Type string `json:"type"`
	// Class is empty for shoots.
	Class *string `json:"class,omitempty"`
	// ProviderConfig is what the owner of the shoot wrote for this extension.
	ProviderConfig *runtime.RawExtension `json:"providerConfig,omitempty"`
}

// ExtensionStatus is what the extension answers.
type ExtensionStatus struct {
	LastOperation      *LastOperation `json:"lastOperation,omitempty"`
	LastError          *LastError     `json:"lastError,omitempty"`
	ObservedGeneration int64          `json:"observedGeneration,omitempty"`
	Conditions         []Condition    `json:"conditions,omitempty"`
	// State moves with the shoot to another seed.
	State *runtime.RawExtension `json:"state,omitempty"`
	// Resources are objects beside this one that move with the shoot to another seed.
	Resources []NamedResource `json:"resources,omitempty"`
	// ProviderStatus stays on this seed.
	ProviderStatus *runtime.RawExtension `json:"providerStatus,omitempty"`
}

// OperationType is what an extension does.
type OperationType string

// The operations.
const (
	Create    OperationType = "Create"
	Reconcile OperationType = "Reconcile"
	Delete    OperationType = "Delete"
	Migrate   OperationType = "Migrate"
	Restore   OperationType = "Restore"
)

// OperationState is the state of an operation.
type OperationState string

// The states.
const (
	Processing OperationState = "Processing"
	Succeeded  OperationState = "Succeeded"
	Error      OperationState = "Error"
	// Failed is for Shoots: Gardener does not retry.
	Failed OperationState = "Failed"
)

// LastOperation is the last operation.
type LastOperation struct {
	Description    string         `json:"description"`
	LastUpdateTime metav1.Time    `json:"lastUpdateTime"`
	Progress       int32          `json:"progress"`
	State          OperationState `json:"state"`
	Type           OperationType  `json:"type"`
}

// ErrorCode tells Gardener and people what kind of error it is.
type ErrorCode string

// The codes that this repository uses.
const (
	// ConfigurationProblem is for errors that the owner of the Shoot must fix in it; Gardener does
	// not retry before that.
	ConfigurationProblem ErrorCode = "ERR_CONFIGURATION_PROBLEM"
	// RetryableConfigurationProblem is for errors that the user must fix in another object.
	RetryableConfigurationProblem ErrorCode = "ERR_RETRYABLE_CONFIGURATION_PROBLEM"
	// CleanupProblem is for objects in the shoot that are not deleted.
	CleanupProblem ErrorCode = "ERR_CLEANUP_CLUSTER_RESOURCES"
)

// LastError is the reason why the last operation has not succeeded.
type LastError struct {
	Description    string       `json:"description"`
	TaskID         *string      `json:"taskID,omitempty"`
	Codes          []ErrorCode  `json:"codes,omitempty"`
	LastUpdateTime *metav1.Time `json:"lastUpdateTime,omitempty"`
}

// ConditionStatus is True, False, Unknown or Progressing.
type ConditionStatus string

// The values.
const (
	ConditionTrue        ConditionStatus = "True"
	ConditionFalse       ConditionStatus = "False"
	ConditionUnknown     ConditionStatus = "Unknown"
	ConditionProgressing ConditionStatus = "Progressing"
)

// Condition is a condition as Gardener writes them.
type Condition struct {
	Type               string          `json:"type"`
	Status             ConditionStatus `json:"status"`
	LastTransitionTime metav1.Time     `json:"lastTransitionTime"`
	LastUpdateTime     metav1.Time     `json:"lastUpdateTime"`
	Reason             string          `json:"reason"`
	Message            string          `json:"message"`
	Codes              []ErrorCode     `json:"codes,omitempty"`
}

// FindCondition returns the condition of a type, or nil.
func FindCondition(conditions []Condition, kind string) *Condition {
	for i := range conditions {
		if conditions[i].Type == kind {
			return &conditions[i]
		}
	}
	return nil
}

// SetCondition returns the conditions with this one set. Times change only with other fields.
func SetCondition(conditions []Condition, set Condition, now metav1.Time) []Condition {
	set.LastTransitionTime, set.LastUpdateTime = now, now
	changed := make([]Condition, 0, len(conditions)+1)
	found := false
	for _, condition := range conditions {
		if condition.Type != set.Type {
			changed = append(changed, condition)
			continue
		}
		found = true
		if condition.Status == set.Status {
			set.LastTransitionTime = condition.LastTransitionTime
			if condition.Reason == set.Reason && condition.Message == set.Message {
				set = condition
			}
		}
		changed = append(changed, set)
	}
	if !found {
		changed = append(changed, set)
	}
	return changed
}

// NamedResource is an object by a name that the extension gives it.
type NamedResource struct {
	Name        string         `json:"name"`
	ResourceRef CrossReference `json:"resourceRef"`
}

// CrossReference names an object of the same namespace.
type CrossReference struct {
	APIVersion string `json:"apiVersion,omitempty"`
	Kind       string `json:"kind"`
	Name       string `json:"name"`
}

// ExtensionList is a list of Extensions.
//
// +kubebuilder:object:root=true
type ExtensionList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Extension `json:"items"`
}
