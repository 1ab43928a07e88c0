package delivery

import (
	deliveryv1alpha1 "go.landscaper.dev/api/delivery/v1alpha1"
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/runtime/job"
)

// Deferral returns the condition that says that a job is deferred; nil without one.
func Deferral(conditions []v1alpha1.Condition) *v1alpha1.Condition {
	return job.GetCondition(conditions, deliveryv1alpha1.DeferredCondition)
}

// DeferralMessage is what that condition says; empty without one.
func DeferralMessage(conditions []v1alpha1.Condition) string {
	if deferral := Deferral(conditions); deferral != nil {
		return deferral.Message
	}
	return ""
}
