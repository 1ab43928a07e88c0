package v1alpha1

const (
	// OverrideAnnotation on an Installation names a DeliveryPolicy that does not count for its next
	// job. Who may set it is said by the verb OverrideVerb on that policy. It is removed with the
	// request for the job.
	OverrideAnnotation = GroupName + "/override"
	// OverriddenAnnotation on an Installation is the last job that has begun with an override, and the
	// name of the policy.
	OverriddenAnnotation = GroupName + "/overridden"
	// ApprovalAnnotation on a root lets its owner ask for approvals of its jobs as a DeliveryPolicy does:
	// Always, or Deletions. Users who may change the Installation may remove it.
	ApprovalAnnotation = GroupName + "/approval"
	// DeferredCondition of an Installation says that a job may not begin yet.
	DeferredCondition = "Deferred"
	// WentBackAnnotation on an Installation says that its generation has the specification of an earlier
	// one again: the generation before, the one whose specification it is, and Requested or OnFailure,
	// separated by spaces. It counts for the generation after the first one alone. The server believes
	// it for what it records, not for what it does.
	WentBackAnnotation = GroupName + "/went-back"
	// StoppedAnnotation on an Installation is the last job that a user has interrupted, where the server
	// would go back after a failure: it does not then.
	StoppedAnnotation = GroupName + "/stopped"
	// RolledBackCondition of an Installation says that the server has gone back to an earlier
	// specification, or why it has not.
	RolledBackCondition = "RolledBack"
	// InstallationUIDLabel on a DeliveryRevision is the UID of its Installation.
	InstallationUIDLabel = GroupName + "/installation-uid"
	// OverrideVerb is the verb of the right to override a DeliveryPolicy.
	OverrideVerb = "override"
)
