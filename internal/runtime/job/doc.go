// Package job is what all controllers have in common: the protocol of job IDs and
// who belongs to whom, errors and what follows from them, what wakes a job that does
// not go on by itself, and what a step that breaks down becomes. How jobs are reported is
// in report, what is read of their parents in ancestor; this room needs no client, so that
// whoever only judges objects has none.
package job
