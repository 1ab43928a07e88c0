// Package reporter reports the progress of jobs: in the status of their objects (phase,
// conditions, error, history), by events, and in the list of critical problems after a panic.
// What follows for the queue, such as the pause until the next attempt, is here too.
package reporter
