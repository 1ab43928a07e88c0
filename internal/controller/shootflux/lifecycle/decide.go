package lifecycle

import (
	"go.landscaper.dev/internal/controller/shootflux/gardener"
	"go.landscaper.dev/internal/runtime/engine"
)

// snapshot is everything that a decision depends on.
type snapshot struct {
	e *gardener.Extension
	// kind is the operation that Gardener asks for.
	kind gardener.OperationType
	// shoot is nil if it does not exist, and absence says why.
	shoot   *gardener.Shoot
	absence error
	// unread says why nothing is known about the shoot.
	unread error
}

// step is what to do next.
type step string

const (
	// rest means that there is nothing to do until something changes.
	rest step = engine.Rest
	// fail reports that the shoot cannot be read.
	fail step = "fail"
	// bring creates, reconciles or restores the contents of the shoot.
	bring step = "bring"
	// remove removes the contents of the shoot, or leaves them there.
	remove step = "remove"
	// migrate leaves the shoot to another seed.
	migrate step = "migrate"
)

// concerns reports whether an Extension has work for this controller.
func concerns(e *gardener.Extension, kind gardener.OperationType) bool {
	return ours(e) && !left(e, kind)
}

// decide chooses the next step, and says which error it reports.
func decide(s snapshot) (step, error) {
	leaving := s.kind == gardener.Delete || s.kind == gardener.Migrate
	switch {
	case !concerns(s.e, s.kind):
		return rest, nil
	case s.unread != nil:
		return fail, s.unread
	case s.shoot == nil && !leaving:
		return fail, s.absence
	case s.shoot != nil && s.shoot.HasFailed():
		return rest, nil
	case s.kind == gardener.Migrate:
		return migrate, nil
	case s.kind == gardener.Delete:
		return remove, nil
	}
	return bring, nil
}
