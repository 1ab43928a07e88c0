package v1alpha1

// Finalizer keeps an object until its controller has cleaned up behind it.
const Finalizer = "finalizer." + GroupName

// ServerLease is the name of the lease by which the replicas of a server agree which of
// them works.
const ServerLease = "landscaper." + GroupName

// Annotations that users set to steer Landscaper.
const (
	// OperationAnnotation asks for an operation.
	OperationAnnotation = GroupName + "/operation"
	// AbortTimeAnnotation tells children when an abort was asked for.
	AbortTimeAnnotation = GroupName + "/abort-time"
	// ReconcileReasonAnnotation tells why a reconcile was asked for.
	ReconcileReasonAnnotation = GroupName + "/reconcile-reason"
	// ChangedExportsAnnotation names the Installation whose items export other values than
	// in their last job, and those that it is a part of, separated by commas.
	ChangedExportsAnnotation = GroupName + "/changed-exports"
	// ReconcileReasonRetry is the reason of a job that follows from
	// spec.automaticReconcile.
	ReconcileReasonRetry = "retry"
	// ReconcileReasonExporter is the reason of a job that follows from the success of a root
	// that it imports from.
	ReconcileReasonExporter = "exporter"
	// ReconcileIfChangedAnnotation starts a job whenever the spec changes.
	ReconcileIfChangedAnnotation = GroupName + "/reconcile-if-changed"
	// SkipAnnotation suppresses automatic jobs.
	SkipAnnotation = GroupName + "/skip"
	// IgnoreAnnotation is the name that old releases gave to SkipAnnotation.
	IgnoreAnnotation = GroupName + "/ignore"
	// DeleteWithoutUninstallAnnotation deletes objects but leaves what was deployed.
	DeleteWithoutUninstallAnnotation = GroupName + "/delete-without-uninstall"
	// ReleasedByAnnotation is on an object on a target cluster that its DeployItem, named in
	// the value, does not want any more and has kept for the moment: another DeployItem of
	// the same tree may take the object over. Otherwise it is removed at the end of the job.
	ReleasedByAnnotation = GroupName + "/released-by"
	// RemoveFirstAnnotation with the value "true" on an Installation lets deploy items and
	// subinstallations that are no longer wanted go before everything else is deployed, so
	// that nothing of them can be taken over.
	RemoveFirstAnnotation = GroupName + "/remove-first"
	// LeaveEarlierClusterAnnotation lets a DeployItem leave what it has deployed on the
	// earlier cluster that the value names: an id or an address in its provider status.
	LeaveEarlierClusterAnnotation = GroupName + "/leave-earlier-cluster"
	// DeleteIgnoreSuccessorsAnnotation deletes an Installation although siblings
	// import its exports.
	DeleteIgnoreSuccessorsAnnotation = GroupName + "/delete-ignore-successors"
	// CacheHelmChartsAnnotation lets the Helm deployer cache charts.
	CacheHelmChartsAnnotation = GroupName + "/cache-helm-charts"
	// RotateTokenAnnotation forces a token rotation of a TargetSync.
	RotateTokenAnnotation = GroupName + "/rotate-token"
	// ContinuousReconcileActiveAnnotation pauses continuous reconciliation of a
	// DeployItem with the value "false".
	ContinuousReconcileActiveAnnotation = "continuousreconcile.extensions." + GroupName + "/active"
)

// Annotations that Landscaper sets.
const (
	// InheritedAnnotation lists, in JSON, objects that other DeployItems have left to a DeployItem with
	// their end, because it has something in them: a Namespace, or the definition of a kind. The
	// DeployItem records them with its next job, and removes them when nothing is in them any more.
	InheritedAnnotation = GroupName + "/inherited"
	// GivenAnnotation is what the Installation gives to a DeployItem, in JSON: see Given.
	GivenAnnotation = GroupName + "/given"
	// AdmittedAnnotation says that the first job of an Installation was asked for, until
	// its status shows the job. The value is the UID of the Installation.
	AdmittedAnnotation = GroupName + "/admitted"
	// TouchAnnotation is toggled to raise an event.
	TouchAnnotation = GroupName + "/touch"
	// ReconcileTimeAnnotation tells when a DeployItem was written.
	ReconcileTimeAnnotation = GroupName + "/reconcile-time"
	// DeployerTypeAnnotation is a copy of a DeployItem's type.
	DeployerTypeAnnotation = GroupName + "/deployer-type"
	// DeployerTargetNameAnnotation is a copy of a DeployItem's target name.
	DeployerTargetNameAnnotation = GroupName + "/deployer-target-name"
	// ClusterNameAnnotation is the shoot behind a DeployItem's Target.
	ClusterNameAnnotation = GroupName + "/clustername"
	// SubinstallationNameAnnotation is the template name of a subinstallation.
	SubinstallationNameAnnotation = GroupName + "/subinstallation-name"
	// ExecutionDependsOnAnnotation lists the items that a DeployItem depends on.
	ExecutionDependsOnAnnotation = "execution." + GroupName + "/dependsOn"
	// ExecutionTemplateLabelsAnnotation lists the labels that a DeployItem has from its
	// template.
	ExecutionTemplateLabelsAnnotation = "execution." + GroupName + "/template-labels"
	// DataObjectHashAnnotation identifies the value of a DataObject or Target.
	DataObjectHashAnnotation = "data." + GroupName + "/hash"
	// DataObjectSecretAnnotation names the Secret that holds the value of a DataObject,
	// because it came from a Secret.
	DataObjectSecretAnnotation = "data." + GroupName + "/secret"
	// LastTargetSyncAnnotation tells when a Target was synchronised.
	LastTargetSyncAnnotation = GroupName + "/lasttargetsync"
	// TargetSyncNameAnnotation is the TargetSync that made a Target or its Secret.
	TargetSyncNameAnnotation = GroupName + "/targetsync-name"
	// ShootNameAnnotation is the shoot behind a Target, or behind its Secret.
	ShootNameAnnotation = GroupName + "/shoot-name"
	// ShootNamespaceAnnotation is the namespace of that shoot in the garden.
	ShootNamespaceAnnotation = GroupName + "/shoot-namespace"
	// ShootUIDAnnotation tells that shoot from a later one with the same name.
	ShootUIDAnnotation = GroupName + "/shoot-uid"
	// ShootAuthoritiesAnnotation tells how far the rotation of the shoot's certificate
	// authorities was when its credentials were requested.
	ShootAuthoritiesAnnotation = GroupName + "/shoot-authorities"
	// KubeconfigIssuedAnnotation is when the credentials in a Secret were requested.
	KubeconfigIssuedAnnotation = GroupName + "/kubeconfig-issued"
	// KubeconfigExpirationAnnotation is when they end.
	KubeconfigExpirationAnnotation = GroupName + "/kubeconfig-expiration"
	// TokenRotatedAnnotation is when the token in the Secret of a TargetSync was
	// renewed. It is written together with the token.
	TokenRotatedAnnotation = GroupName + "/token-rotated"
)

// NoTargetNameValue is the value of DeployerTargetNameAnnotation on items
// without a target.
const NoTargetNameValue = ".noTargetName"

// Labels.
const (
	// EncompassedByLabel is the parent of a subinstallation.
	EncompassedByLabel = GroupName + "/encompassed-by"
	// ExecutionManagedByLabel is the Execution of a DeployItem.
	ExecutionManagedByLabel = "execution." + GroupName + "/managed-by"
	// ExecutionManagedNameLabel is the name of a DeployItem in its Execution.
	ExecutionManagedNameLabel = "execution." + GroupName + "/name"
	// DataObjectContextLabel is the scope of a DataObject or Target.
	DataObjectContextLabel = "data." + GroupName + "/context"
	// DataObjectSourceTypeLabel tells whether it was imported or exported.
	DataObjectSourceTypeLabel = "data." + GroupName + "/sourceType"
	// DataObjectSourceLabel is the object that wrote it.
	DataObjectSourceLabel = "data." + GroupName + "/source"
	// DataObjectKeyLabel is its name in its scope.
	DataObjectKeyLabel = "data." + GroupName + "/key"
	// DataObjectIndexLabel is its place in a target list.
	DataObjectIndexLabel = "data." + GroupName + "/index"
	// DataObjectTargetMapKeyLabel is its key in a target map.
	DataObjectTargetMapKeyLabel = "data." + GroupName + "/targetmapkey"
	// DataObjectJobIDLabel is the job that wrote it.
	DataObjectJobIDLabel = "data." + GroupName + "/jobid"
	// TargetSyncLabel marks what a TargetSync made, with TargetSyncLabelValue.
	TargetSyncLabel = GroupName + "/targetsync"
	// SkipValidationLabel switches admission off for an object.
	SkipValidationLabel = "validation." + GroupName + "/skip-validation"
	// ComponentDescriptorLabel is the label of a component reference that holds a
	// nested component descriptor.
	ComponentDescriptorLabel = GroupName + "/component-descriptor"
)

// TargetSyncLabelValue is the value of TargetSyncLabel.
const TargetSyncLabelValue = "ok"

// Operation is a value of OperationAnnotation.
type Operation string

const (
	// ReconcileOperation starts a job.
	ReconcileOperation Operation = "reconcile"
	// ForceReconcileOperation starts a job although another one runs.
	ForceReconcileOperation Operation = "force-reconcile"
	// DataUpdateOperation starts a job that propagates the new exports of the items of some
	// Installations: only objects that import another value than before are deployed. A
	// deployer asks for it, and names the Installations in ChangedExportsAnnotation.
	DataUpdateOperation Operation = "data-update"
	// InterruptOperation fails what is not finished.
	InterruptOperation Operation = "interrupt"
	// AbortOperation starts nothing new and waits for what runs.
	AbortOperation Operation = "abort"
	// AbortedReason is the reason of the failure that follows from it.
	AbortedReason = "Aborted"
	// TestReconcileOperation starts a job of a single DeployItem.
	TestReconcileOperation Operation = "test-reconcile"
)

// Limits on the names of Installations: the label of their data must have space
// for the name and a prefix.
const (
	// InstallationNameMaxLength limits metadata.name.
	InstallationNameMaxLength = 63 - len(InstallationPrefix)
	// InstallationGenerateNameMaxLength limits metadata.generateName.
	InstallationGenerateNameMaxLength = InstallationNameMaxLength - 5
)
