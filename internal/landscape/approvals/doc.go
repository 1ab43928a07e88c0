// Package approvals reads the plans of jobs that wait, with the rights of a user, and approves them. The
// command line and the pages of the console share it.
package approvals
