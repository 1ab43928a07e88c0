package release

import (
	"time"

	"helm.sh/helm/v4/pkg/release/common"

	"go.landscaper.dev/internal/deploy/helm/storage"
)

// Action is what is to be done with a release.
type Action string

const (
	// Install deploys what was never deployed completely.
	Install Action = "install"
	// Upgrade deploys again.
	Upgrade Action = "upgrade"
	// Nothing means that everything is deployed as it should be.
	Nothing Action = "nothing"
	// Await means that another client is changing the release.
	Await Action = "await"
	// Refuse means that the release belongs to another item now.
	Refuse Action = "refuse"
)

// foreignTimeout is how long an operation of another client may write nothing before it counts as
// given up.
const foreignTimeout = 5 * time.Minute

// Situation is all that a decision depends on.
type Situation struct {
	// Last is the status of the newest revision; empty without a revision.
	Last common.Status
	// Deployed says that one of the revisions was deployed completely.
	Deployed bool
	// Ours says that we have written the newest revision, Others that another item has.
	Ours, Others bool
	// OwnerTerminating says that the other item is being deleted.
	OwnerTerminating bool
	// Known says that this item has deployed the release before.
	Known bool
	// Age is how long ago the newest revision was written.
	Age time.Duration
	// Same says that the newest revision deploys what is wanted.
	Same bool
	// Asked says that it is to be deployed even if nothing has changed.
	Asked bool
}

// Decide chooses what to do.
func Decide(s Situation) Action {
	underway := s.Last.IsPending() || s.Last == common.StatusUninstalling
	switch {
	case s.Last == "" || s.Last == common.StatusUninstalled:
		return Install
	case s.Others && s.Known && !s.OwnerTerminating:
		// The last item has it. Two items that take it from each other would never end.
		return Refuse
	case underway && !s.Ours && s.Age < foreignTimeout:
		return Await
	case !s.Deployed:
		// Its objects may exist in part, and its hooks for the installation did not all run.
		return Install
	case s.Last == common.StatusDeployed && s.Same && !s.Asked:
		return Nothing
	}
	return Upgrade
}

// ForeignTimeoutLeft is how long another client's operation is still waited for.
func ForeignTimeoutLeft(record *storage.Record, now time.Time) time.Duration {
	return max(foreignTimeout-now.Sub(record.Written), time.Second)
}
