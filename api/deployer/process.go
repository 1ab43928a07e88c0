package deployer

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/api/v1alpha1"
)

// ProcessConfiguration holds the settings that all deployer processes share.
type ProcessConfiguration struct {
	// Identity names the process in the status of its items.
	// +optional
	Identity string `json:"identity,omitempty"`
	// TargetSelector limits the Targets that the process serves. One entry must
	// match; without entries all Targets match.
	// +optional
	TargetSelector []v1alpha1.TargetSelector `json:"targetSelector,omitempty"`
	// HPA is accepted: replicas share the work without it.
	// +optional
	HPA *HPAConfiguration `json:"hpa,omitempty"`
	// Controller tunes the controller.
	// +optional
	Controller *ControllerConfiguration `json:"controller,omitempty"`
}

// HPAConfiguration announces the number of replicas.
type HPAConfiguration struct {
	// MaxReplicas is the largest number of replicas.
	// +optional
	MaxReplicas int32 `json:"maxReplicas,omitempty"`
}

// ControllerConfiguration tunes a controller.
type ControllerConfiguration struct {
	// Workers is the number of items in work at the same time.
	// +optional
	Workers int `json:"workers,omitempty"`
	// CacheSyncTimeout limits the time for filling the caches.
	// +optional
	CacheSyncTimeout *metav1.Duration `json:"cacheSyncTimeout,omitempty"`
}

// ExportConfiguration is accepted and has no effect.
type ExportConfiguration struct {
	// DefaultTimeout is accepted and has no effect.
	// +optional
	DefaultTimeout *v1alpha1.Duration `json:"defaultTimeout,omitempty"`
}

// OCIConfiguration tells how to reach OCI registries.
type OCIConfiguration struct {
	// ConfigFiles are files with credentials in the format of docker.
	// +optional
	ConfigFiles []string `json:"configFiles,omitempty"`
	// AllowPlainHTTP permits registries without TLS.
	// +optional
	AllowPlainHTTP bool `json:"allowPlainHttp,omitempty"`
	// InsecureSkipVerify permits registries with an unverified certificate.
	// +optional
	InsecureSkipVerify bool `json:"insecureSkipVerify,omitempty"`
	// Cache says where downloads are kept.
	// +optional
	Cache *OCICacheConfiguration `json:"cache,omitempty"`
}

// OCICacheConfiguration says where downloads are kept.
type OCICacheConfiguration struct {
	// UseInMemoryOverlay keeps downloads in memory, too.
	// +optional
	UseInMemoryOverlay bool `json:"useInMemoryOverlay,omitempty"`
	// Path is the directory for downloads.
	// +optional
	Path string `json:"path,omitempty"`
}
