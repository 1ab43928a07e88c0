package targetsync

import (
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/runtime/engine"
)

// situation is everything that a decision depends on.
type situation struct {
	sync *v1alpha1.TargetSync
	// several says that there is another TargetSync in the namespace.
	several bool
	// current says that there is a run for the TargetSync as it is now, busy that there is any run.
	current, busy bool
	// due says that a run has to begin now.
	due bool
}

// step is what to do next.
type step string

const (
	// rest means that there is nothing to do until the next run is due.
	rest step = engine.Rest
	// cancel cancels a run that is no longer needed. Nothing else is done as long as it goes on.
	cancel step = "cancel"
	// remove removes what the TargetSync has made, and its finalizer.
	remove step = "remove"
	// accept sets the finalizer.
	accept step = "accept"
	// refuse reports that a namespace has one TargetSync at most.
	refuse step = "refuse"
	// begin begins a run.
	begin step = "begin"
	// collect takes the outcome of a run, if it has ended.
	collect step = "collect"
)

// decide chooses the next step.
func decide(s situation) step {
	deleted := s.sync.DeletionTimestamp != nil
	switch accepted := controllerutil.ContainsFinalizer(s.sync, v1alpha1.Finalizer); {
	case s.busy && (deleted || accepted && (s.several || !s.current)):
		return cancel
	case deleted && accepted:
		return remove
	case deleted:
		return rest
	case !accepted:
		return accept
	case s.several:
		return refuse
	case s.current:
		return collect
	case s.due:
		return begin
	}
	return rest
}
