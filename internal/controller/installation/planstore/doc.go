// Package planstore stores what a job of an Installation needs again, in Secrets: the plan for
// the exports, until the job has ended, and what executors store, from job to job. It
// remembers plans, so that only a restart reads them; it must never make one.
package planstore
