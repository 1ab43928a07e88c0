// Package dependents finds the roots that may get a job because another one has exported something
// new to them, and requests their jobs, once. The list of them is stored with the end of the job
// and removed when all were requested, so that a crash in between requests jobs again, and loses
// none. The package changes nothing itself: the caller passes the function that requests a job.
package dependents
