package decide

import (
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/model/dataflow"
	"go.landscaper.dev/internal/model/predicates"
	"go.landscaper.dev/internal/model/siblings"
)

// Situation is everything that a decision depends on.
type Situation struct {
	siblings.Family
	// Gone says that the API server has no Execution either, so that it is not only
	// missing in the cache.
	Gone bool
	// Unsettled says that the history of the API server was rewound a moment ago: a child that
	// is missing may have been seen in a cache that was not rewound yet.
	Unsettled bool
	// Condemned says that this process has deleted the Execution, whatever the cache shows.
	Condemned bool
	// Below is what is below the children; nil as long as nobody looked.
	Below *siblings.Tree
	// Turn says whether siblings have to go first; nil as long as nobody looked.
	Turn *siblings.Turn
	// Inputs are what the children are made from; nil as long as nobody looked.
	Inputs *Inputs
	// Current identifies what is imported now; it is empty if nobody knows, and nil as
	// long as nobody looked.
	Current *string
	// leftovers are what the last job has left to do.
	leftovers
	// Asked is why a job of our own begins that is not stored yet: what asks for it is
	// still there.
	Asked v1alpha1.JobTrigger
	// Taken says that this process has taken the first job up, also if somebody has
	// replaced all annotations since.
	Taken bool
	// Now is the time of the decision.
	Now time.Time
	// Triggers are the settings of the server about what starts jobs.
	Triggers predicates.Triggers
}

// leftovers are what a job that has ended leaves to do.
type leftovers struct {
	// Leftover says that the plan of the job is still stored; TidyAt is when to try again
	// to delete it, if that was tried.
	Leftover bool
	TidyAt   time.Time
	// Told are the dependents that cannot be asked for a job yet; nil as long as none
	// was asked.
	Told []string
	// TellAt is when to try that again, if something went wrong.
	TellAt time.Time
}

// Inputs are what the children of an Installation are made from, as far as it is in
// the resource cluster.
type Inputs struct {
	// Invalid is what is wrong with the Installation itself.
	Invalid field.ErrorList
	// Turn says whether siblings have to be done before; only then the rest is read.
	Turn siblings.Turn
	// Landscape is the Context, or nil if there is none.
	Landscape *v1alpha1.Context
	// Imports are what was read, Broken is why it cannot be used.
	Imports dataflow.Imports
	Broken  error
	// Hash identifies the imports.
	Hash string
	// Missing are the imports that refer to objects which do not exist, exporters the
	// siblings that may bring them.
	Missing   []*dataflow.MissingError
	Exporters []siblings.Exporter
	// Syncs are the TargetSyncs of the namespace. They are read if a Target is missing
	// that nothing is about to bring.
	Syncs []*v1alpha1.TargetSync
}
