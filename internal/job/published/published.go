// Package published is the table of the names that status.lastError.operation has. They
// say which step has failed. Dashboards and scripts of users compare them, so that a name
// stays as it is on the wire, whatever the function is called that does the step here:
// most are names of functions of the public system. It must never hold anything else.
package published

// The names, by what they say on the wire.
const (
	AbortOperation                        = "AbortOperation"
	ApplyObjects                          = "ApplyObjects"
	BuildErrorIfFailedChild               = "buildErrorIfFailedChild"
	CheckSuccessorSibling                 = "CheckSuccessorSibling"
	DeleteHelmRelease                     = "DeleteHelmRelease"
	DeleteItem                            = "delete"
	Export                                = "Export"
	GetAPIResource                        = "GetApiResource"
	GetHelmRelease                        = "GetHelmRelease"
	HandlePhaseCleanupOrphaned            = "handlePhaseCleanupOrphaned"
	HandlePhaseCompleting                 = "handlePhaseCompleting"
	HandlePhaseDeleting                   = "handlePhaseDeleting"
	HandlePhaseInit                       = "handlePhaseInit"
	HandlePhaseInitDelete                 = "handlePhaseInitDelete"
	HandleReconcilePhase                  = "handleReconcilePhase"
	Init                                  = "init"
	InitHelmOperation                     = "InitHelmOperation"
	InitManifestOperation                 = "InitManifestOperation"
	InitMockOperation                     = "InitMockOperation"
	InitPrerequisites                     = "InitPrerequisites"
	InstallHelmRelease                    = "InstallHelmRelease"
	InterruptOperation                    = "InterruptOperation"
	NewHelmChartRepoClient                = "NewHelmChartRepoClient"
	Reconcile                             = "Reconcile"
	ReconcileItem                         = "reconcile"
	ReconcileManifests                    = "ReconcileManifests"
	ReconcilePrivate                      = "reconcilePrivate"
	StandardTimeoutCheckerTimeoutExceeded = "StandardTimeoutChecker.TimeoutExceeded"
	TemplateChart                         = "TemplateChart"
	WaitForObjectsReady                   = "WaitForObjectsReady"
	WaitingForPickup                      = "WaitingForPickup"
	BuildKustomization                    = "BuildKustomization"
	ContactCluster                        = "ContactCluster"
	CreateExports                         = "CreateExports"
	InitKustomizeOperation                = "InitKustomizeOperation"
	ResolveTarget                         = "ResolveTarget"
	UpgradeHelmRelease                    = "UpgradeHelmRelease"
	WaitingForDeployer                    = "WaitingForDeployer"
)
