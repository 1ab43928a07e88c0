// Package job is what all controllers have in common: the protocol of job IDs and
// who belongs to whom, errors and what follows from them, what wakes a job that does
// not go on by itself, how a job is reported (phase, conditions, error, events, and
// the pause until the next attempt), and what happens when we break down.
package job
