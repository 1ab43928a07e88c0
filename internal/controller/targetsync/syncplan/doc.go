// Package syncplan works out what a TargetSync has to do: which Targets and Secrets are to be
// written, which credentials are to be asked for, what has to go and what is only
// suspected to. All that follows from a list of the source, from what exists and from the
// time; nothing here knows clients.
package syncplan
