package predicates

import (
	"slices"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/runtime/job"
)

// IsRoot reports whether an Installation is a part of no other one.
func IsRoot(inst *v1alpha1.Installation) bool {
	_, ok := job.OwnerOf(inst, "Installation")
	return !ok
}

// BeingDeleted reports whether an Installation is terminating.
func BeingDeleted(inst *v1alpha1.Installation) bool { return inst.DeletionTimestamp != nil }

// HasFinalizer reports whether an Installation has our finalizer.
func HasFinalizer(inst *v1alpha1.Installation) bool {
	return slices.Contains(inst.Finalizers, v1alpha1.Finalizer)
}

// AutomationDisabled reports whether the user has switched automatic jobs off.
func AutomationDisabled(inst *v1alpha1.Installation) bool {
	return inst.Annotations[v1alpha1.SkipAnnotation] == "true" || inst.Annotations[v1alpha1.IgnoreAnnotation] == "true"
}

// ContextOf returns the name of the Context of an Installation.
func ContextOf(inst *v1alpha1.Installation) string {
	if inst.Spec.Context == "" {
		return v1alpha1.DefaultContextName
	}
	return inst.Spec.Context
}
