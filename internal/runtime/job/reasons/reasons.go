// Package reasons is the table of the reasons that statuses, conditions and events have. Dashboards
// and scripts of users compare them, so that a reason stays as it is on the wire, whatever the code
// is called that writes it. Package published has the names of operations, which stand beside the
// reasons in status.lastError.
//
// A reason says something to people, and decides nothing. Whether an error waits is a property of
// the error; what follows from the reason of an object that was read is derived in wire.go alone.
package reasons

import "go.landscaper.dev/api/v1alpha1"

// Reason is a short word for a cause. Deployers of third parties have further reasons of their own.
type Reason string

// Jobs of every kind: status.lastError.reason, or the reason of the condition Reconciling.
const (
	Aborted            Reason = v1alpha1.AbortedReason
	ChildrenBlocked    Reason = "ChildrenBlocked"
	Deleted            Reason = "Deleted"
	InterruptOperation Reason = "InterruptOperation"
	Panic              Reason = "Panic"
	Retrying           Reason = "Retrying"
	ServerEnded        Reason = "ServerEnded"
	Waiting            Reason = "Waiting"
)

// Installations: imports, children and exports.
const (
	AllOrphanedSubinstallationsFailed Reason = "AllOrphanedSubinstallationsFailed"
	AllPredecessorsFinished           Reason = "AllPredecessorsFinished"
	AllPredecessorsSucceeded          Reason = "AllPredecessorsSucceeded"
	CalculateContext                  Reason = "CalculateContext"
	CheckObservedGeneration           Reason = "CheckObservedGeneration"
	ChildrenFailed                    Reason = "children failed"
	CleanupContext                    Reason = "CleanupContext"
	CleanupExports                    Reason = "CleanupExports"
	ComputeDependents                 Reason = "ComputeDependents"
	ConstructExports                  Reason = "ConstructExports"
	CreateDataObjects                 Reason = "CreateDataObjects"
	CreateImportsAndSubobjects        Reason = "CreateImportsAndSubobjects"
	CreateOrUpdateExports             Reason = "CreateOrUpdateExports"
	CreateTargets                     Reason = "CreateTargets"
	DeleteExecution                   Reason = "DeleteExecution"
	ExtractVerifyInfo                 Reason = "ExtractVerifyInfo"
	FetchPredecessors                 Reason = "FetchPredecessors"
	GetComponentVersion               Reason = "GetComponentVersion"
	HashImports                       Reason = "HashImports"
	ImportsSatisfied                  Reason = "ImportsSatisfied"
	OutOfMemory                       Reason = "OutOfMemory"
	ReconcileExecution                Reason = "ReconcileExecution"
	ResolveBlueprint                  Reason = "ResolveBlueprint"
	SetupRegistries                   Reason = "SetupRegistries"
	SiblingDeleteError                Reason = "SiblingDeleteError"
	SiblingImport                     Reason = "SiblingImport"
	UndeletedSubobjects               Reason = "UndeletedSubobjects"
	ValidateInstallation              Reason = "ValidateInstallation"
	VerifySignature                   Reason = "VerifySignature"
)

// Executions and their deploy items.
const (
	HandlePhaseCompleting  Reason = "handlePhaseCompleting"
	HandlePhaseDeleting    Reason = "handlePhaseDeleting"
	HandlePhaseInit        Reason = "handlePhaseInit"
	HandlePhaseProgressing Reason = "handlePhaseProgressing"
	PickupTimeout          Reason = "PickupTimeout"
)

// DeployItems, whatever their type.
const (
	AddFinalizer                 Reason = "AddFinalizer"
	Bequeath                     Reason = "Bequeath"
	CreateOrUpdateSecret         Reason = "CreateOrUpdateSecret"
	DeleteWithUninstall          Reason = "DeleteWithUninstall"
	ForeignSecret                Reason = "ForeignSecret"
	GetLandscaperContext         Reason = "GetLandscaperContext"
	InvalidConfiguration         Reason = "InvalidConfiguration"
	InvalidDeployItem            Reason = "InvalidDeployItem"
	MarshalExportData            Reason = "MarshalExportData"
	NoTargetFound                Reason = "NoTargetFound"
	ProgressingTimeout           Reason = "ProgressingTimeout"
	ProviderConfigurationMissing Reason = "ProviderConfigurationMissing"
	ProviderStatus               Reason = "ProviderStatus"
	Reconcile                    Reason = "Reconcile"
	RemoveFinalizer              Reason = "RemoveFinalizer"
	TargetNotGiven               Reason = "TargetNotGiven"
	TargetNotSelected            Reason = "TargetNotSelected"
)

// Targets and the clusters that they lead to.
const (
	AnswerNotReadable     Reason = "AnswerNotReadable"
	AnswerTooLarge        Reason = "AnswerTooLarge"
	CertificateNotTrusted Reason = "CertificateNotTrusted"
	ClusterUnreachable    Reason = "ClusterUnreachable"
	ConnectionNotAllowed  Reason = "ConnectionNotAllowed"
	ConnectionRefused     Reason = "ConnectionRefused"
	ReadSecret            Reason = "ReadSecret"
	SecretKeyNotFound     Reason = "SecretKeyNotFound"
	SecretNotFound        Reason = "SecretNotFound"
	TokenRequestFailed    Reason = "TokenRequestFailed"
	TooManyLargeAnswers   Reason = "TooManyLargeAnswers"
	Unauthorized          Reason = "Unauthorized"
	ValidateTarget        Reason = "ValidateTarget"
)

// The deployers for manifests, Helm and Kustomize, and the mock.
const (
	ApplyNewObject                   Reason = "ApplyNewObject"
	Build                            Reason = "Build"
	CleanupOrphanedResourcesInGroups Reason = "cleanupOrphanedResourcesInGroups"
	Conflict                         Reason = "Conflict"
	ConstructExportFromValues        Reason = "ConstructExportFromValues"
	DecodeHelmTemplatedObjects       Reason = "DecodeHelmTemplatedObjects"
	GetAPIResource                   Reason = "GetApiResource"
	GetAPIResourceList               Reason = "GetApiResourceList"
	GetHelmChart                     Reason = "GetHelmChart"
	GetRelease                       Reason = "GetRelease"
	GetSource                        Reason = "GetSource"
	Install                          Reason = "Install"
	MockFailed                       Reason = "MockFailed"
	ObjectFailed                     Reason = "ObjectFailed"
	ParseHelmValues                  Reason = "ParseHelmValues"
	ParseProviderConfiguration       Reason = "ParseProviderConfiguration"
	ParseProviderStatus              Reason = "ParseProviderStatus"
	ParsingAuths                     Reason = "ParsingAuths"
	PatchAfterDeployment             Reason = "PatchAfterDeployment"
	PrepareHelmValues                Reason = "PrepareHelmValues"
	ReadExportValues                 Reason = "ReadExportValues"
	ReadKeyring                      Reason = "ReadKeyring"
	RenderHelmValues                 Reason = "RenderHelmValues"
	Uninstall                        Reason = "Uninstall"
	Update                           Reason = "Update"
	ValidateProviderConfiguration    Reason = "ValidateProviderConfiguration"
)

// TargetSyncs: the reasons of their conditions and events.
const (
	InvalidSpec           Reason = "InvalidSpec"
	ItemsFailed           Reason = "ItemsFailed"
	Listed                Reason = "Listed"
	NoAccessToSource      Reason = "NoAccessToSource"
	RemovalHeld           Reason = "RemovalHeld"
	ResourceClusterFailed Reason = "ResourceClusterFailed"
	RunEnded              Reason = "RunEnded"
	SeveralTargetSyncs    Reason = "SeveralTargetSyncs"
	SourceNotListed       Reason = "SourceNotListed"
	Synchronized          Reason = "Synchronized"
	TargetsCreated        Reason = "TargetsCreated"
	TargetsRemoved        Reason = "TargetsRemoved"
	TokenNotRotated       Reason = "TokenNotRotated"
	TokenRotated          Reason = "TokenRotated"
)

// Further conditions of Installations, Executions and DeployItems.
const (
	ChangedByOthers            Reason = "ChangedByOthers"
	CreateOrUpdateExecution    Reason = "CreateOrUpdateExecution"
	DataObjectsCreated         Reason = "DataObjectsCreated"
	DuplicateItems             Reason = "DuplicateItems"
	ExecutionDeployed          Reason = "ExecutionDeployed"
	ExportsPending             Reason = "ExportsPending"
	FailedUnmarshal            Reason = "FailedUnmarshal"
	FoundOverwrite             Reason = "FoundOverwrite"
	ImportValidationFailed     Reason = "ImportValidationFailed"
	InstallationCreatingFailed Reason = "InstallationCreatingFailed"
	InstallationsInstalled     Reason = "InstallationsInstalled"
	InStep                     Reason = "InStep"
	Kept                       Reason = "Kept"
	NoOverwriteDefined         Reason = "No overwrite defined"
	NotCompared                Reason = "NotCompared"
	NotWanted                  Reason = "NotWanted"
	Removing                   Reason = "Removing"
	SuccessfullValidation      Reason = "SuccessfullValidation"
	TemplatingFailed           Reason = "TemplatingFailed"
	WarningsBelow              Reason = "WarningsBelow"
)

// Warnings and events.
const (
	BlueprintWarnings         Reason = "BlueprintWarnings"
	ChartWarning              Reason = "ChartWarning"
	ClusterChanged            Reason = "ClusterChanged"
	ContextWarnings           Reason = "ContextWarnings"
	Drifted                   Reason = "Drifted"
	DuplicateSubinstallations Reason = "DuplicateSubinstallations"
	Error                     Reason = "Error"
	ExportsChanged            Reason = "ExportsChanged"
	ExportWarnings            Reason = "ExportWarnings"
	ImportWarnings            Reason = "ImportWarnings"
	JobRequested              Reason = "JobRequested"
	JobStarted                Reason = "JobStarted"
	Moved                     Reason = "Moved"
	ObjectOfAnotherItem       Reason = "ObjectOfAnotherItem"
	ReleaseChanged            Reason = "ReleaseChanged"
	RequestIgnored            Reason = "RequestIgnored"
	SubinstallationWarnings   Reason = "SubinstallationWarnings"
	Succeeded                 Reason = "Succeeded"
	UnknownFields             Reason = "UnknownFields"
	ValuesWarning             Reason = "ValuesWarning"
)

// DeliveryPolicies: their conditions, the condition Deferred of Installations, and events.
const (
	ApprovalRequired Reason = "ApprovalRequired"
	Approved         Reason = "Approved"
	Frozen           Reason = "Frozen"
	InvalidPolicy    Reason = "InvalidPolicy"
	NotApproved      Reason = "NotApproved"
	Open             Reason = "Open"
	OutsideWindow    Reason = "OutsideWindow"
	Overridden       Reason = "Overridden"
	Paused           Reason = "Paused"
	PlanFailed       Reason = "PlanFailed"
	PlanPending      Reason = "PlanPending"
	PlanRefused      Reason = "PlanRefused"
	Valid            Reason = "Valid"
)

// Channels: their condition Ready, refused versions, and events, also of those who follow.
const (
	ComponentNotListed  Reason = "ComponentNotListed"
	DigestChanged       Reason = "DigestChanged"
	NotFollowed         Reason = "NotFollowed"
	NoVersion           Reason = "NoVersion"
	PollFailed          Reason = "PollFailed"
	RegistryDenied      Reason = "RegistryDenied"
	RegistryUnreachable Reason = "RegistryUnreachable"
	SignatureRefused    Reason = "SignatureRefused"
	Suspended           Reason = "Suspended"
	VersionFollowed     Reason = "VersionFollowed"
	VersionFound        Reason = "VersionFound"
	VersionNotReadable  Reason = "VersionNotReadable"
	VersionWithdrawn    Reason = "VersionWithdrawn"
)

// Earlier specifications: the condition RolledBack of Installations, and events.
const (
	NotRolledBack   Reason = "NotRolledBack"
	RevisionNotKept Reason = "RevisionNotKept"
	RolledBack      Reason = "RolledBack"
)

// Fleets: their conditions and events.
const (
	Adopted         Reason = "Adopted"
	Blocked         Reason = "Blocked"
	Removed         Reason = "Removed"
	RolledOut       Reason = "RolledOut"
	RollingOut      Reason = "RollingOut"
	RolloutStarted  Reason = "RolloutStarted"
	RolloutStopped  Reason = "RolloutStopped"
	TargetsMissing  Reason = "TargetsMissing"
	TooManyRemovals Reason = "TooManyRemovals"
	TooManyTargets  Reason = "TooManyTargets"
	WaveDone        Reason = "WaveDone"
	WentBack        Reason = "WentBack"
)

// Shoots with Flux: the conditions of Extensions, and their events.
const (
	BootstrapFinished        Reason = "BootstrapFinished"
	BootstrapPending         Reason = "BootstrapPending"
	BootstrapSuccessful      Reason = "BootstrapSuccessful"
	CreateFailed             Reason = "CreateFailed"
	CredentialsIncomplete    Reason = "CredentialsIncomplete"
	DeleteFailed             Reason = "DeleteFailed"
	HealthCheckSuccessful    Reason = "HealthCheckSuccessful"
	Hibernated               Reason = "Hibernated"
	MigrateFailed            Reason = "MigrateFailed"
	Missing                  Reason = "Missing"
	NotApplied               Reason = "NotApplied"
	NotHealthy               Reason = "NotHealthy"
	NothingConfigured        Reason = "NothingConfigured"
	NotManaged               Reason = "NotManaged"
	NotReady                 Reason = "NotReady"
	Pending                  Reason = "Pending"
	Ready                    Reason = "Ready"
	ReconcileFailed          Reason = "ReconcileFailed"
	RequestHandled           Reason = "RequestHandled"
	RestoreFailed            Reason = "RestoreFailed"
	SSHKeyGenerated          Reason = "SSHKeyGenerated"
	SSHKeyNotRotated         Reason = "SSHKeyNotRotated"
	UpToDate                 Reason = "UpToDate"
	VersionPinnedByBootstrap Reason = "VersionPinnedByBootstrap"
)
