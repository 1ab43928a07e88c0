package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"go.landscaper.dev/api/deployer"
	core "go.landscaper.dev/api/v1alpha1"
)

// Configuration configures a mock deployer process.
//
// +kubebuilder:object:root=true
// +kubebuilder:skip
type Configuration struct {
	metav1.TypeMeta               `json:",inline"`
	deployer.ProcessConfiguration `json:",inline"`
}

// ProviderConfiguration says how a DeployItem without any effect behaves.
//
// +kubebuilder:object:root=true
// +kubebuilder:skip
type ProviderConfiguration struct {
	metav1.TypeMeta `json:",inline"`
	// InitialPhase is the phase that the item gets at the beginning.
	// +optional
	InitialPhase *core.DeployItemPhase `json:"initialPhase,omitempty"`
	// Phase is the phase that the item gets at the end of each run.
	// +optional
	Phase *core.DeployItemPhase `json:"phase,omitempty"`
	// ProviderStatus becomes the provider status of the item.
	// +optional
	ProviderStatus *runtime.RawExtension `json:"providerStatus,omitempty"`
	// Export is the value that is exported.
	// +optional
	Export *core.AnyJSON `json:"export,omitempty"`
	// ContinuousReconcile repeats the run.
	// +optional
	ContinuousReconcile *deployer.ContinuousReconcileSpec `json:"continuousReconcile,omitempty"`
}
