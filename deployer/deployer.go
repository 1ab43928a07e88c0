package deployer

import (
	"context"
	"errors"
	"strings"
	"time"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/deployer/internal/status"
	"go.landscaper.dev/internal/runtime/dispatch"
	"go.landscaper.dev/internal/runtime/job"
)

// Deployer carries out DeployItems of one type.
type Deployer interface {
	// Reconcile deploys what an item asks for, or continues to.
	Reconcile(ctx context.Context, item *Item) (Result, error)
	// Delete removes what an item has deployed, or continues to. Once it is done,
	// the item disappears.
	Delete(ctx context.Context, item *Item) (Result, error)
}

// Result says how far a deployer came without an error.
type Result struct {
	// WaitingFor names what has to happen first, the most important first. Empty means that the job
	// is done. The watch that ends the wait calls Item.Requeue.
	WaitingFor []string
}

// Done says that there is nothing left to do.
func Done() Result { return Result{} }

// WaitFor says what has to happen before the work can continue.
func WaitFor(things ...string) Result { return Result{WaitingFor: things} }

// ErrInterrupted is what Item.Checkpoint returns if another client has ended the job, so that nothing may
// be done or written any more. The attempt ends without a report then, whatever the deployer makes of the
// error.
var ErrInterrupted = errors.New("the job was interrupted")

// Options say what a deployer is and which items it takes.
type Options struct {
	// Type is the type of the items.
	Type v1alpha1.DeployItemType
	// Name names the kind of deployer in the status of its items and in events.
	Name string
	// Version is the version of the deployer.
	Version string
	// Identity names the running process in the status of its items; by default it
	// is made from the name and the time of the start.
	Identity string
	// TargetSelectors limit the Targets that this process serves. One must match;
	// without any, all Targets match.
	TargetSelectors []v1alpha1.TargetSelector
	// Clusters are the connections to target clusters. Deployers of one process
	// share them; by default a deployer has its own, with the default policy.
	Clusters Clusters
	// MaxConcurrent is the number of items in work at the same time, by default 30; one namespace
	// gets half of them at most. An item that takes more than half a second, because its cluster
	// answers late, leaves its place to others: besides, four times as many may go on like this, of
	// one namespace as many as MaxConcurrent.
	MaxConcurrent int
	// Attempts notes attempts before they begin, so that one that ends the process does not end it
	// again and again. It is for the server of Landscaper; nil notes nothing.
	Attempts Attempts
	// Order and Dispatcher are for the server of Landscaper, whose Executions are in the same
	// process. Other programs leave them out: then a deployer has an order of its own, and
	// all jobs come in the status of items.
	Order      Order
	Dispatcher Dispatcher
	// Deferred reports whether an item must not be deployed again at present without a job of its
	// Execution: drift is looked for, and not corrected. It is for the server of Landscaper; nil defers
	// nothing.
	Deferred func(ctx context.Context, item *v1alpha1.DeployItem) (bool, error)
	// Changes counts what jobs change on clusters. It is for the server of Landscaper; nil counts nothing.
	Changes Changes
	// RecordProblem, if it is set, records for administrators that a deployer panicked. The
	// description holds no values.
	RecordProblem func(ctx context.Context, description string) error
	// Deployer does the work.
	Deployer Deployer
}

// listing returns the first things of a list and how many more there are.
func listing(things []string) string {
	const most = 3
	if len(things) <= most {
		return strings.Join(things, ", ")
	}
	return strings.Join(things[:most], ", ") + " and others"
}

// AssignJob gives an item a job in its status and returns the ID of the job. It is for Executions,
// for tests of deployers, and for tools; the caller stores the status.
func AssignJob(item *v1alpha1.DeployItem, now time.Time) (jobID string) {
	dispatch.AssignJob(item, job.NewID(), status.Stamp(now))
	return item.Status.JobID
}
