// Package targetsync makes Targets from the shoots of a Gardener project or from
// Secrets of another cluster, and keeps them up to date.
//
// Package syncplan computes the plan, without clients. A run (run.go) reads the source outside the
// workers of the controller, because sources may be slow or down, and carries the plan out. The
// memory (memory.go) has what a run has seen and written, so that a run in which nothing is due
// costs one list of the source and no write.
package targetsync
