package channel

import "go.landscaper.dev/internal/runtime/engine"

// situation is everything that a decision depends on.
type situation struct {
	deleted, invalid, suspended bool
	// current says that there is a poll for the Channel as it is now, busy that there is any poll.
	current, busy bool
	// due says that a poll has to begin now.
	due bool
	// reported says that the status has what needs no poll.
	reported bool
}

// step is what to do next.
type step string

const (
	// rest means that there is nothing to do until the next poll is due.
	rest step = engine.Rest
	// cancel cancels a poll that is no longer needed.
	cancel step = "cancel"
	// report writes what needs no poll: the number of followers, and why there are no polls.
	report step = "report"
	// ask begins a poll, or takes the outcome of one that has ended.
	ask step = "ask"
)

// decide chooses the next step.
func decide(s situation) step {
	still := s.deleted || s.invalid || s.suspended
	switch {
	case s.busy && (still || !s.current):
		return cancel
	case s.deleted:
		return rest
	case !s.reported:
		return report
	case still:
		return rest
	case s.current || s.due:
		return ask
	}
	return rest
}
