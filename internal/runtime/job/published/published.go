// Package published is the table of the names that status.lastError.operation has. They
// say which step has failed. Dashboards and scripts of users compare them, so that a name
// stays as it is on the wire, whatever the function is called that does the step here.
// Each group of the table says whose names it has. It must never hold anything else.
package published

// Recorded: names of upstream, as recorded in objects that it worked on.
const (
	ApplyObjects                          = "ApplyObjects"
	BuildErrorIfFailedChild               = "buildErrorIfFailedChild"
	CheckSuccessorSibling                 = "CheckSuccessorSibling"
	DeleteItem                            = "delete"
	HandlePhaseCleanupOrphaned            = "handlePhaseCleanupOrphaned"
	HandlePhaseCompleting                 = "handlePhaseCompleting"
	HandlePhaseInit                       = "handlePhaseInit"
	HandleReconcilePhase                  = "handleReconcilePhase"
	Init                                  = "init"
	InterruptOperation                    = "InterruptOperation"
	Reconcile                             = "Reconcile"
	ReconcilePrivate                      = "reconcilePrivate"
	StandardTimeoutCheckerTimeoutExceeded = "StandardTimeoutChecker.TimeoutExceeded"
)

// Described: names of upstream, for failures of which no object was recorded.
const (
	CreateExports          = "CreateExports"
	DeleteHelmRelease      = "DeleteHelmRelease"
	Export                 = "Export"
	GetAPIResource         = "GetApiResource"
	GetHelmRelease         = "GetHelmRelease"
	InitHelmOperation      = "InitHelmOperation"
	InitManifestOperation  = "InitManifestOperation"
	InitPrerequisites      = "InitPrerequisites"
	InstallHelmRelease     = "InstallHelmRelease"
	NewHelmChartRepoClient = "NewHelmChartRepoClient"
	ReconcileItem          = "reconcile"
	ReconcileManifests     = "ReconcileManifests"
	TemplateChart          = "TemplateChart"
	UpgradeHelmRelease     = "UpgradeHelmRelease"
	WaitForObjectsReady    = "WaitForObjectsReady"
	WaitingForPickup       = "WaitingForPickup"
)

// Own: names of ours, for steps that upstream does not have, or whose name there is not
// known. No client of upstream compares them.
const (
	AbortOperation         = "AbortOperation"
	BuildKustomization     = "BuildKustomization"
	ContactCluster         = "ContactCluster"
	HandlePhaseInitDelete  = "handlePhaseInitDelete"
	InitKustomizeOperation = "InitKustomizeOperation"
	InitMockOperation      = "InitMockOperation"
	ResolveTarget          = "ResolveTarget"
	WaitingForDeployer     = "WaitingForDeployer"
)
