package lifecycle

import (
	"errors"
	"time"

	"go.landscaper.dev/internal/controller/shootflux/config"
	"go.landscaper.dev/internal/controller/shootflux/gardener"
	"go.landscaper.dev/internal/controller/shootflux/install"
	"go.landscaper.dev/internal/controller/shootflux/state"
)

// coded is an error with codes of Gardener.
type coded struct {
	error
	code gardener.ErrorCode
}

func (c coded) Unwrap() error { return c.error }

func withCode(err error, code gardener.ErrorCode) error {
	if err == nil {
		return nil
	}
	return coded{err, code}
}

// codes returns Gardener's codes of an error. Errors that the owner of the shoot or of the project
// can fix get a code for that. After a final error, Gardener and this controller do not retry until
// the specification of the Shoot changes: only an error in the specification may have such a code.
func codes(err error) []gardener.ErrorCode {
	var known coded
	if errors.As(err, &known) {
		return []gardener.ErrorCode{known.code}
	}
	var invalid *config.Invalid
	switch {
	case errors.As(err, &invalid) && invalid.OfShoot():
		return []gardener.ErrorCode{gardener.ConfigurationProblem}
	case invalid != nil, errors.Is(err, config.ErrNotConfigured), errors.Is(err, install.ErrVersion):
		return []gardener.ErrorCode{gardener.RetryableConfigurationProblem}
	}
	return nil
}

// pause is a reason to wait.
type pause struct {
	// why is for the status; progress is in percent.
	why      string
	progress int32
	// again is when to reconcile, if no event triggers it before.
	again time.Duration
	// code is the error code if the wait takes too long.
	code gardener.ErrorCode
}

const (
	// bringUpTimeout is how long a shoot may take to come up.
	bringUpTimeout = 10 * time.Minute
	// lookAgain is for work of the resource manager: its result triggers a reconcile, and this is
	// for a missed event.
	lookAgain = time.Minute
	// lookAtShoot is for changes in a shoot, which is not watched.
	lookAtShoot = 5 * time.Second
)

// notBefore is when to read from a shoot again that took a time to answer: a shoot that answers
// slowly, perhaps on purpose, must not block the workers.
func notBefore(again, took time.Duration) time.Duration {
	const share = 10
	return max(again, share*took)
}

// wait returns since when a shoot waits, and how long it may still wait. Another configuration
// restarts the time, and so does a begin in the future: the seed that the shoot comes from may have
// had a wrong clock, and the shoot would wait until then without an error.
func wait(remembered *state.State, checksum string, now time.Time) (since time.Time, left time.Duration) {
	if remembered.WaitingSince == nil || remembered.WaitingSince.After(now) || remembered.ConfigChecksum != checksum {
		moment := now.UTC()
		remembered.WaitingSince, remembered.ConfigChecksum = &moment, checksum
	}
	return *remembered.WaitingSince, bringUpTimeout - now.Sub(*remembered.WaitingSince)
}

// expired returns the error of a pause that takes too long. The written objects stay: the shoot may
// come up at any time.
func (p *pause) expired(since time.Time) error {
	err := errors.New(p.why + "; this takes since " + since.UTC().Format(time.RFC3339) + ". Nothing is removed, and it goes on by itself when that is over")
	if p.code == "" {
		return err
	}
	return withCode(err, p.code)
}
