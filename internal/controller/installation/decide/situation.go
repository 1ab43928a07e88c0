package decide

import (
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"

	deliveryv1alpha1 "go.landscaper.dev/api/delivery/v1alpha1"
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/model/dataflow"
	"go.landscaper.dev/internal/model/delivery"
	"go.landscaper.dev/internal/model/predicates"
	"go.landscaper.dev/internal/model/siblings"
)

// Situation is everything that a decision depends on.
type Situation struct {
	siblings.Family
	// ExecutionAbsent says that the Execution does not exist in the API server either, not only in the cache.
	ExecutionAbsent bool
	// Unsettled says that the history of the API server was rewound a moment ago: a child that
	// is missing may have been seen in a cache that was not rewound yet.
	Unsettled bool
	// ExecutionDeleted says that this process has deleted the Execution, whatever the cache shows.
	ExecutionDeleted bool
	// Below is what is below the children; nil until it was read.
	Below *siblings.Tree
	// Turn says whether siblings have to be deleted first; nil until they were read.
	Turn *siblings.Turn
	// Inputs are what the children are made from; nil until they were read.
	Inputs *Inputs
	// PlanMissing says that no plan for the exports is stored; nil until it was looked for.
	PlanMissing *bool
	// CurrentImports identifies the present imports; it is empty if they are unknown, and nil until they
	// were read.
	CurrentImports *string
	// leftovers are what remains to do after the last job.
	leftovers
	// PendingTrigger is why a job of our own begins that is not stored yet: the request still exists.
	PendingTrigger v1alpha1.JobTrigger
	// PickedUp says that this process has picked up the first job, also if another client has replaced
	// all annotations since.
	PickedUp bool
	// Policies are the DeliveryPolicies of the namespace of a root; none where the feature is off.
	Policies []*deliveryv1alpha1.DeliveryPolicy
	// OwnApproval is which approvals a root asks for itself; empty where the feature is off.
	OwnApproval string
	// Planned is the plan of the next job, nil without one; Plans and Approvals are those of the namespace.
	Planned   *delivery.Planned
	Plans     []*deliveryv1alpha1.DeliveryPlan
	Approvals []*deliveryv1alpha1.DeliveryApproval
	// Now is the time of the decision.
	Now time.Time
	// Triggers are the settings of the server about what starts jobs.
	Triggers predicates.Triggers
}

// leftovers are what remains to do after a job has ended.
type leftovers struct {
	// PlanStored says that the plan of the job is still stored; CleanUpAt is when to retry its deletion,
	// if that has failed.
	PlanStored bool
	CleanUpAt  time.Time
	// Untriggered are the dependents that cannot be triggered yet; nil until one was triggered.
	Untriggered []string
	// TriggerAt is when to retry that after an error.
	TriggerAt time.Time
}

// Inputs are what the children of an Installation are made from, as far as it is in
// the resource cluster.
type Inputs struct {
	// Invalid is what is wrong with the Installation itself.
	Invalid field.ErrorList
	// Turn says whether siblings have to finish first; only then the rest is read.
	Turn siblings.Turn
	// Context is the Context, or nil if it does not exist.
	Context *v1alpha1.Context
	// Imports are the imports that were read, Broken is why they cannot be used.
	Imports    dataflow.Imports
	ImportsErr error
	// Hash identifies the imports.
	Hash string
	// Missing are the imports that refer to objects which do not exist, exporters the siblings that
	// may export them.
	Missing   []*dataflow.MissingError
	Exporters []siblings.Exporter
	// Syncs are the TargetSyncs of the namespace. They are read if a Target is missing that no
	// sibling is about to export.
	Syncs []*v1alpha1.TargetSync
}
