package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// LsHealthCheckStatus is the result of a health check.
type LsHealthCheckStatus string

const (
	// LsHealthCheckStatusInit means that there was no check yet.
	LsHealthCheckStatusInit LsHealthCheckStatus = "Init"
	// LsHealthCheckStatusOk means that all watched Deployments are available.
	LsHealthCheckStatusOk LsHealthCheckStatus = "Ok"
	// LsHealthCheckStatusFailed means that a watched Deployment is not available.
	LsHealthCheckStatusFailed LsHealthCheckStatus = "Failed"
)

// LsHealthCheck tells whether the Deployments of Landscaper are available.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:scope=Namespaced,path=lshealthchecks,singular=lshealthcheck,shortName=lshc
// +kubebuilder:printcolumn:name=Status,type=string,JSONPath=`.status`
// +kubebuilder:printcolumn:name=LastUpdateTime,type=date,JSONPath=`.lastUpdateTime`
type LsHealthCheck struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Status is Init, Ok or Failed.
	// +required
	Status LsHealthCheckStatus `json:"status"`
	// LastUpdateTime is when the last check was made.
	// +required
	LastUpdateTime metav1.Time `json:"lastUpdateTime"`
	// Description is "ok" or the first problem.
	// +required
	Description string `json:"description"`
}

// LsHealthCheckList is a list of LsHealthChecks.
//
// +kubebuilder:object:root=true
type LsHealthCheckList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// Items are the LsHealthChecks.
	Items []LsHealthCheck `json:"items"`
}

// CriticalProblems collects failures of Landscaper itself.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:scope=Namespaced,path=criticalproblems,singular=criticalproblems,shortName=cps
// +kubebuilder:subresource:status
type CriticalProblems struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec lists the problems.
	// +optional
	Spec CriticalProblemsSpec `json:"spec"`
	// Status is empty.
	// +optional
	Status CriticalProblemsStatus `json:"status"`
}

// CriticalProblemsList is a list of CriticalProblems objects.
//
// +kubebuilder:object:root=true
type CriticalProblemsList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// Items are the objects.
	Items []CriticalProblems `json:"items"`
}

// CriticalProblemsSpec lists failures of Landscaper itself.
type CriticalProblemsSpec struct {
	// CriticalProblems are the newest failures.
	// +optional
	CriticalProblems []CriticalProblem `json:"criticalProblem,omitempty"`
}

// CriticalProblem is a failure of Landscaper itself.
type CriticalProblem struct {
	// PodName is the pod in which it happened.
	// +optional
	PodName string `json:"podName,omitempty"`
	// CreationTime is when it happened.
	// +optional
	CreationTime metav1.Time `json:"creationTime,omitzero"`
	// Description tells what happened.
	// +optional
	Description string `json:"description,omitempty"`
}

// CriticalProblemsStatus is empty.
type CriticalProblemsStatus struct{}

// SyncObject is the lock that releases with several replicas used.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:scope=Namespaced,path=syncobjects,singular=syncobject,shortName=so
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name=PodName,type=string,JSONPath=`.spec.podName`
// +kubebuilder:printcolumn:name=Kind,type=string,JSONPath=`.spec.kind`
// +kubebuilder:printcolumn:name=Name,type=string,JSONPath=`.spec.name`
type SyncObject struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec names the locked object and the holder of the lock.
	// +optional
	Spec SyncObjectSpec `json:"spec"`
	// Status is empty.
	// +optional
	Status SyncObjectStatus `json:"status"`
}

// SyncObjectList is a list of SyncObjects.
//
// +kubebuilder:object:root=true
type SyncObjectList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// Items are the SyncObjects.
	Items []SyncObject `json:"items"`
}

// SyncObjectSpec names the locked object and the holder of the lock.
type SyncObjectSpec struct {
	// PodName is the pod that holds the lock; empty when the lock is free.
	// +required
	PodName string `json:"podName"`
	// Kind is the kind of the locked object.
	// +required
	Kind string `json:"kind"`
	// Name is the name of the locked object.
	// +required
	Name string `json:"name"`
	// LastUpdateTime is when the lock changed last.
	// +required
	LastUpdateTime metav1.Time `json:"lastUpdateTime"`
	// Prefix names the controller that locks.
	// +required
	Prefix string `json:"prefix"`
}

// SyncObjectStatus is empty.
type SyncObjectStatus struct{}
