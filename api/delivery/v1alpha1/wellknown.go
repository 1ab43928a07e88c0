package v1alpha1

const (
	// OverrideAnnotation on an Installation names a DeliveryPolicy that does not count for its next
	// job. Who may set it is said by the verb OverrideVerb on that policy. It is removed with the
	// request for the job.
	OverrideAnnotation = GroupName + "/override"
	// OverriddenAnnotation on an Installation is the last job that has begun with an override, and the
	// name of the policy.
	OverriddenAnnotation = GroupName + "/overridden"
	// DeferredCondition of an Installation says that a job may not begin yet.
	DeferredCondition = "Deferred"
	// OverrideVerb is the verb of the right to override a DeliveryPolicy.
	OverrideVerb = "override"
)
