package deployer

import (
	"bytes"
	"encoding/json"

	"go.landscaper.dev/api/v1alpha1"
)

// ReadinessMode chooses the rules of the default readiness check.
type ReadinessMode string

const (
	// ReadinessModeLegacy applies the published rules: workloads must be rolled
	// out, everything else must exist.
	ReadinessModeLegacy ReadinessMode = "legacy"
	// ReadinessModeKstatus applies the kstatus rules to every kind.
	ReadinessModeKstatus ReadinessMode = "kstatus"
)

// Known reports whether a mode exists; none is the default one.
func (m ReadinessMode) Known() bool {
	return m == "" || m == ReadinessModeLegacy || m == ReadinessModeKstatus
}

// SkipReadinessAnnotation on a deployed object leaves it out of the default check of
// mode kstatus with the value "true", for example a PersistentVolumeClaim that is not
// bound before a Pod uses it.
const SkipReadinessAnnotation = "readiness.landscaper.gardener.cloud/skip"

// ReadinessCheckConfiguration says when deployed objects count as ready.
type ReadinessCheckConfiguration struct {
	// DisableDefault switches the default check off.
	// +optional
	DisableDefault bool `json:"disableDefault,omitempty"`
	// Mode chooses the rules of the default check, by default legacy.
	// +optional
	Mode ReadinessMode `json:"mode,omitempty"`
	// CustomReadinessChecks are made after the default check, in order.
	// +optional
	CustomReadinessChecks []CustomReadinessCheckConfiguration `json:"custom,omitempty"`
}

// CustomReadinessCheckConfiguration checks chosen objects.
type CustomReadinessCheckConfiguration struct {
	// Name is the name of the check.
	// +required
	Name string `json:"name"`
	// Disabled switches the check off.
	// +optional
	Disabled bool `json:"disabled,omitempty"`
	// TargetName names another Target of the namespace to look at.
	// +optional
	TargetName *string `json:"targetName,omitempty"`
	// Timeout limits the wait for this check inside the time of the item.
	// +optional
	Timeout *v1alpha1.Duration `json:"timeout,omitempty"`
	// Resource names objects.
	// +optional
	Resource ResourceSelector `json:"resourceSelector,omitempty"`
	// LabelSelector finds objects by label.
	// +optional
	LabelSelector *LabelSelectorSpec `json:"labelSelector,omitempty"`
	// Requirements must all hold for every object.
	// +optional
	Requirements []RequirementSpec `json:"requirements,omitempty"`
	// Expressions are CEL conditions on every object.
	// +optional
	Expressions *ReadinessExpressions `json:"expressions,omitempty"`
}

// ReadinessExpressions are CEL conditions on an object. They are looked at in the
// order inProgress, failed, current.
type ReadinessExpressions struct {
	// Current is true when the object is ready.
	// +required
	Current string `json:"current"`
	// InProgress is true while work on the object is under way.
	// +optional
	InProgress string `json:"inProgress,omitempty"`
	// Failed is true when the object will not become ready.
	// +optional
	Failed string `json:"failed,omitempty"`
}

// ResourceSelector is a list of references to objects.
type ResourceSelector []TypedObjectReference

// UnmarshalJSON reads a list, or one reference alone.
func (s *ResourceSelector) UnmarshalJSON(data []byte) error {
	if trimmed := bytes.TrimSpace(data); len(trimmed) > 0 && trimmed[0] == '{' {
		*s = make(ResourceSelector, 1)
		return json.Unmarshal(data, &(*s)[0])
	}
	return json.Unmarshal(data, (*[]TypedObjectReference)(s))
}

// TypedObjectReference names an object on a target cluster.
type TypedObjectReference struct {
	// APIVersion is the group and version of the object.
	// +required
	APIVersion string `json:"apiVersion"`
	// Kind is the kind of the object.
	// +required
	Kind string `json:"kind"`
	// Name is the name of the object.
	// +required
	Name string `json:"name"`
	// Namespace is the namespace of the object; empty for cluster-scoped kinds.
	// +optional
	Namespace string `json:"namespace,omitempty"`
}

// LabelSelectorSpec finds objects of a kind by label.
type LabelSelectorSpec struct {
	// APIVersion is the group and version of the objects.
	// +required
	APIVersion string `json:"apiVersion"`
	// Kind is the kind of the objects.
	// +required
	Kind string `json:"kind"`
	// Namespace limits the search; without it all namespaces are searched.
	// +optional
	Namespace string `json:"namespace,omitempty"`
	// Labels must all be present.
	// +required
	Labels map[string]string `json:"matchLabels"`
}

// RequirementSpec is a condition on a field of an object.
type RequirementSpec struct {
	// JSONPath is the path of the field.
	// +required
	JSONPath string `json:"jsonPath"`
	// Operator is one of exists, !, =, ==, in, != and notin.
	// +required
	Operator string `json:"operator"`
	// Values are compared with the field.
	// +optional
	Values []RequirementValue `json:"values,omitempty"`
}

// RequirementValue wraps a value of any type.
type RequirementValue struct {
	// Value is the value.
	// +required
	Value v1alpha1.AnyJSON `json:"value"`
}
