// Package siblings judges what the relatives of an Installation mean for it: its parent and its
// children, the siblings that it imports from, and those that import from it. All of it follows
// from objects that the caller has read; the package must never read or write one itself, and knows
// no steps of a job.
package siblings
