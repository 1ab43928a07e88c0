package sandbox

import (
	"errors"
	"fmt"
	"time"
)

// ExceededError says that a work took more than it may. Another attempt would end the same way.
type ExceededError struct {
	// Work says what was carried out.
	Work string
	// What was exceeded, with the bound.
	What string
}

// Error implements error.
func (e *ExceededError) Error() string {
	return fmt.Sprintf("%s took more than %s, and was ended: make less of it, or distribute it over several Installations", e.Work, e.What)
}

// memory and timeLimit say what was exceeded.
func memoryLimit(bytes uint64) string { return fmt.Sprintf("%d MiB of memory", bytes>>20) }
func timeLimit(limit time.Duration) string {
	return limit.String() + " of time"
}

// EndedError says that a process ended for a reason that is not known. Another attempt may succeed.
type EndedError struct{ Work, How string }

// Error implements error.
func (e *EndedError) Error() string {
	return fmt.Sprintf("the process for %s ended (%s)", e.Work, e.How)
}

// errClosed: the pool is closed.
var errClosed = errors.New("the server ends")
