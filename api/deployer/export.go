package deployer

import "go.landscaper.dev/api/v1alpha1"

// Exports says which values of deployed objects are exported.
type Exports struct {
	// DefaultTimeout limits the wait for each value inside the time of the item.
	// +optional
	DefaultTimeout *v1alpha1.Duration `json:"defaultTimeout,omitempty"`
	// Watch keeps watching the values after the item has finished, and propagates
	// their changes.
	// +optional
	Watch bool `json:"watch,omitempty"`
	// Exports are the values.
	// +optional
	Exports []Export `json:"exports,omitempty"`
}

// Export is one value.
type Export struct {
	// Key is the path of the value in the exported map.
	// +required
	Key string `json:"key"`
	// JSONPath is the path of the value in its source.
	// +required
	JSONPath string `json:"jsonPath"`
	// FromResource names the object that holds the value.
	// +optional
	FromResource *TypedObjectReference `json:"fromResource,omitempty"`
	// FromObjectReference reads the value from a further object, whose name is at
	// the path in the first one.
	// +optional
	FromObjectReference *FromObjectReference `json:"fromObjectRef,omitempty"`
	// TargetName names another Target of the namespace to read from.
	// +optional
	TargetName *string `json:"targetName,omitempty"`
	// Timeout limits the wait for this value inside the time of the item.
	// +optional
	Timeout *v1alpha1.Duration `json:"timeout,omitempty"`
}

// FromObjectReference says how to read a value from a further object.
type FromObjectReference struct {
	// APIVersion is the group and version of the further object.
	// +required
	APIVersion string `json:"apiVersion"`
	// Kind is the kind of the further object.
	// +required
	Kind string `json:"kind"`
	// JSONPath is the path of the value in the further object.
	// +required
	JSONPath string `json:"jsonPath"`
}
