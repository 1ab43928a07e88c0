package cluster

import "errors"

// incomplete marks the wait for a Secret that a Target refers to, or for a key of it.
type incomplete struct{ error }

// Unwrap returns the wait.
func (i incomplete) Unwrap() error { return i.error }

// IsIncomplete reports whether an error is the wait for the Secret of a Target.
func IsIncomplete(err error) bool { return errors.As(err, &incomplete{}) }

// invalid marks an error about what a Target says.
type invalid struct{ error }

// Unwrap returns the error.
func (i invalid) Unwrap() error { return i.error }

// IsInvalidTarget reports whether an error is about what a Target says.
func IsInvalidTarget(err error) bool { return errors.As(err, &invalid{}) }
