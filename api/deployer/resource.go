package deployer

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"go.landscaper.dev/api/v1alpha1"
)

// UpdateStrategy says how an object that exists is changed.
type UpdateStrategy string

const (
	// UpdateStrategyUpdate replaces the object.
	UpdateStrategyUpdate UpdateStrategy = "update"
	// UpdateStrategyPatch applies a merge patch.
	UpdateStrategyPatch UpdateStrategy = "patch"
	// UpdateStrategyMerge adds what is missing and keeps what is there.
	UpdateStrategyMerge UpdateStrategy = "merge"
	// UpdateStrategyMergeOverwrite adds what is missing and overwrites what differs.
	UpdateStrategyMergeOverwrite UpdateStrategy = "mergeOverwrite"
	// UpdateStrategyApply lets the API server merge by field ownership.
	UpdateStrategyApply UpdateStrategy = "apply"
)

// ManifestPolicy says what a deployer may do with an object.
type ManifestPolicy string

const (
	// ManagePolicy creates, updates and deletes the object.
	ManagePolicy ManifestPolicy = "manage"
	// FallbackPolicy manages the object unless it belongs to another owner.
	FallbackPolicy ManifestPolicy = "fallback"
	// KeepPolicy creates and updates the object but never deletes it.
	KeepPolicy ManifestPolicy = "keep"
	// IgnorePolicy leaves the object alone.
	IgnorePolicy ManifestPolicy = "ignore"
	// ImmutablePolicy creates and deletes the object but never updates it.
	ImmutablePolicy ManifestPolicy = "immutable"
)

// ManagedResourceStatusList records what was deployed.
type ManagedResourceStatusList []ManagedResourceStatus

// ManagedResourceStatus records a deployed object.
type ManagedResourceStatus struct {
	// Policy is the policy under which the object was deployed.
	// +optional
	Policy ManifestPolicy `json:"policy,omitempty"`
	// AnnotateBeforeDelete are annotations to set before the deletion.
	// +optional
	AnnotateBeforeDelete map[string]string `json:"annotateBeforeDelete,omitempty"`
	// PatchBeforeDelete is merged into the object before the deletion.
	// +optional
	PatchBeforeDelete *runtime.RawExtension `json:"patchBeforeDelete,omitempty"`
	// Resource names the object.
	// +required
	Resource corev1.ObjectReference `json:"resource"`
}

// ContinuousReconcileSpec repeats the deployment of a finished item: on exactly
// one of both schedules.
type ContinuousReconcileSpec struct {
	// Cron is a schedule with five fields, or a word such as @daily.
	// +optional
	Cron string `json:"cron,omitempty"`
	// Every is the time between two deployments.
	// +optional
	Every *v1alpha1.Duration `json:"every,omitempty"`
	// Drift says what to do instead of a deployment: to compare, and to report or to
	// correct what others have changed.
	// +optional
	Drift DriftPolicy `json:"drift,omitempty"`
}

// DriftPolicy says what to do about changes that others have made.
type DriftPolicy string

const (
	// DriftReport reports changes and leaves them.
	DriftReport DriftPolicy = "report"
	// DriftCorrect reports changes and deploys again if there are any.
	DriftCorrect DriftPolicy = "correct"
)
