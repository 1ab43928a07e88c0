// Package itemorder judges the items of one Execution: which of them may start, which wait for which
// others, and what that means for the job. All of it follows from objects that the caller has read;
// the package must never read or write one itself, and knows no steps of a job.
package itemorder
