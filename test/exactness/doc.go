// Package exactness measures how exact the plans of landscaper-cli are: landscapes on real
// clusters get seeded random changes, and what a plan names before a job is compared with
// what the job has changed.
package exactness
