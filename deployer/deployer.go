package deployer

import (
	"context"
	"errors"
	"strings"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/cluster"
)

// Deployer carries out DeployItems of one type.
type Deployer interface {
	// Reconcile deploys what an item asks for, or continues to.
	Reconcile(ctx context.Context, item *Item) (Result, error)
	// Delete removes what an item has deployed, or continues to. Once it is done,
	// the item disappears.
	Delete(ctx context.Context, item *Item) (Result, error)
}

// Result tells how far a deployer came when nothing went wrong.
type Result struct {
	// WaitingFor names what has to happen first, the most telling first. Empty means
	// that the job is done. Whatever ends the wait calls Item.Wake.
	WaitingFor []string
}

// Done says that there is nothing left to do.
func Done() Result { return Result{} }

// WaitFor says what has to happen before the work can continue.
func WaitFor(things ...string) Result { return Result{WaitingFor: things} }

// ErrInterrupted says that somebody else has ended the job, so that nothing may
// be done or written any more.
var ErrInterrupted = errors.New("the job was interrupted")

// Clusters are the connections to target clusters.
type Clusters = cluster.Pool

// Connection is the access to a target cluster.
type Connection = cluster.Connection

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
	// share them; by default a deployer has its own.
	Clusters *Clusters
	// MaxConcurrent is the number of items in work at the same time, by default 30.
	MaxConcurrent int
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
