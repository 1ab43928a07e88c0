// Package targetsync makes Targets from the shoots of a Gardener project or from
// Secrets of another cluster, and keeps them up to date.
//
// What is to be done is worked out in plan, which knows no clients. A run (run.go)
// asks the source away from the workers of the controller, for sources are slow or
// down, and carries the plan out. What a run has seen and written is remembered
// (memory.go), so that a run in which nothing is due costs one list of the source and
// no write.
package targetsync
