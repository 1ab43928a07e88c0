// Package syncplan computes what a TargetSync has to do: which Targets and Secrets to write, which
// credentials to request, and what to delete now or only after a second look. The plan follows from
// a list of the source, from what exists and from the time, without clients.
package syncplan
