// Package job is what all controllers have in common: the protocol of job IDs, owners and
// parents, errors and what follows from them, what triggers the next reconcile of a waiting
// job, and how a panic of a step ends. Package reporter reports jobs, and package ancestor
// reads their parents. Package job itself needs no client, so that code that only judges
// objects has none.
package job
