// Package job holds what all controllers have in common: the protocol of job
// IDs, errors and what follows from them, conditions, and the question whether a
// cached object is new enough to act on.
package job
