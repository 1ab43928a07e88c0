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

// codes says what kind of error it is, in the words of Gardener. Those that the owner of
// the shoot or of the project can change are told as such. After one that is not worth
// another attempt Gardener gives the Shoot up until its specification changes, and so do
// we: only what is wrong there may be told as that.
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

// pause is what has to happen before it goes on.
type pause struct {
	// why is told to people; progress is in percent.
	why      string
	progress int32
	// again is when to look, if nothing wakes us before.
	again time.Duration
	// code is what it is if it takes too long.
	code gardener.ErrorCode
}

const (
	// patience is how long a shoot may take to come up.
	patience = 10 * time.Minute
	// lookAgain is for what the resource manager does: it tells when it is done, and
	// this is in case we miss it.
	lookAgain = time.Minute
	// lookAtShoot is for what happens in a shoot, where we watch nothing.
	lookAtShoot = 5 * time.Second
)

// notBefore is when to look at a shoot again that took a time to answer: one that answers
// slowly, perhaps on purpose, must not hold up those who work for others.
func notBefore(again, took time.Duration) time.Duration {
	const share = 10
	return max(again, share*took)
}

// wait says since when a shoot waits, and how long it may wait on. Another configuration
// gets all the time anew, and so does a time to come: the seed that the shoot comes from
// may have had a wrong clock, and nobody would hear of a shoot that waits until then.
func wait(remembered *state.State, checksum string, now time.Time) (since time.Time, left time.Duration) {
	if remembered.WaitingSince == nil || remembered.WaitingSince.After(now) || remembered.ConfigChecksum != checksum {
		moment := now.UTC()
		remembered.WaitingSince, remembered.ConfigChecksum = &moment, checksum
	}
	return *remembered.WaitingSince, patience - now.Sub(*remembered.WaitingSince)
}

// expired is the error of a pause that takes too long. What was written stays: the shoot
// may come up at any time.
func (p *pause) expired(since time.Time) error {
	err := errors.New(p.why + "; this takes since " + since.UTC().Format(time.RFC3339) + ". Nothing is removed, and it goes on by itself when that is over")
	if p.code == "" {
		return err
	}
	return withCode(err, p.code)
}
