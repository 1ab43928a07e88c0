// Package outcome is how the evaluation of a node ends: with a failure that other
// expressions can catch, with a wait for another node, or with the end of everything.
// It also words the report of all nodes that got no value.
package outcome

import (
	"errors"
	"fmt"

	"go.landscaper.dev/internal/content/template/spiff/value"
)

// Class says how a node of an error report failed.
type Class byte

// The classes of the report.
const (
	Local    Class = '*' // failed here
	Waiting  Class = '@' // waits for something that never settles
	Follower Class = '-' // waits for a failed node
)

// Issue is the reason why a node has no value.
type Issue struct {
	Message string
	Nested  []Issue
}

// Failure is an ordinary error of an expression; "||" and catch see it.
type Failure struct{ Issue Issue }

// Error implements error.
func (f *Failure) Error() string { return f.Issue.Message }

// Pending says that a value is not there yet. It passes through every
// operator, so a node that ends up pending can never be evaluated.
type Pending struct {
	Class Class
	Issue Issue
	// Deferred names a node that has to be evaluated first, because the chain
	// of evaluations got too long. The expression is then evaluated again.
	Deferred *value.Node
	// tried marks an evaluation that was given up and may be tried again.
	tried bool
}

// Error implements error.
func (p *Pending) Error() string { return p.Issue.Message }

// Abort ends the whole evaluation.
type Abort struct{ Err error }

// Error implements error.
func (a *Abort) Error() string { return a.Err.Error() }

// Unwrap gives the reason.
func (a *Abort) Unwrap() error { return a.Err }

// Fail returns a Failure.
func Fail(format string, args ...any) error {
	return &Failure{Issue: Issue{Message: fmt.Sprintf(format, args...)}}
}

// AsFailure returns err as a Failure, or nil if it is pending or an abort.
func AsFailure(err error) *Failure {
	if err == nil { // the usual case allocates nothing
		return nil
	}
	var f *Failure
	var p *Pending
	var a *Abort
	switch {
	case errors.As(err, &a), errors.As(err, &p):
		return nil
	case errors.As(err, &f):
		if direct, ok := err.(*Failure); ok {
			return direct
		}
		return &Failure{Issue: Issue{Message: err.Error(), Nested: f.Issue.Nested}}
	}
	return &Failure{Issue: Issue{Message: err.Error()}}
}

// Clean reduces an error chain to one of the three outcomes.
func Clean(err error) error {
	switch err.(type) {
	case nil, *Failure, *Pending, *Abort:
		return err
	}
	var a *Abort
	if errors.As(err, &a) {
		return a
	}
	var p *Pending
	if errors.As(err, &p) {
		return p
	}
	return AsFailure(err)
}

// DeferredNode returns the node that a pending outcome waits for, or nil.
func DeferredNode(err error) *value.Node {
	if p, ok := err.(*Pending); ok {
		return p.Deferred
	}
	return nil
}

// Aborted reports whether the whole evaluation has ended.
func Aborted(err error) bool {
	_, ok := err.(*Abort)
	return ok
}

// Dependent turns the outcome of a node into the outcome of its dependant.
func Dependent(err error, format string, args ...any) error {
	switch err := err.(type) {
	case *Abort:
		return err
	case *Pending:
		if err.Deferred != nil || err.tried {
			return err
		}
		return &Pending{Class: err.Class, Issue: Issue{Message: fmt.Sprintf(format, args...)}}
	}
	return &Pending{Class: Follower, Issue: Issue{Message: fmt.Sprintf(format, args...)}}
}

// ErrRunning is the outcome of a node that is being evaluated further up.
var ErrRunning = &Pending{Class: Waiting, Issue: Issue{Message: "waits for itself"}}

// ErrTried is the same during an evaluation that may be given up.
var ErrTried = &Pending{Class: Waiting, Issue: Issue{Message: "waits for itself"}, tried: true}

// Again reports whether the node has to be evaluated again.
func Again(err error) bool {
	p, ok := err.(*Pending)
	return ok && (p.Deferred != nil || p.tried)
}

// OrFail is an error that is there already, or else a failure.
func OrFail(err error, format string, args ...any) error {
	if err != nil {
		return err
	}
	return Fail(format, args...)
}
