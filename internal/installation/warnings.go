package installation

import "go.landscaper.dev/api/v1alpha1"

// Reasons of the events about what was found on the way to the children.
const (
	importWarnings = "ImportWarnings"
	exportWarnings = "ExportWarnings"

	subinstallationWarnings = "SubinstallationWarnings"
	// duplicateSubinstallations is about several with the name of one template.
	duplicateSubinstallations = "DuplicateSubinstallations"
)

// Reasons of the events about jobs that nobody has asked for, and about requests.
const (
	jobStarted     = "JobStarted"
	jobRequested   = "JobRequested"
	requestIgnored = "RequestIgnored"
)

// unaskedJobs is why a job begins that nobody has asked for.
var unaskedJobs = map[v1alpha1.JobTrigger]string{
	v1alpha1.TriggeredByChange:   "the specification is new or has changed",
	v1alpha1.TriggeredBySchedule: "it is time for it by spec.automaticReconcile",
	v1alpha1.TriggeredByImports:  "something that is imported has changed",
	v1alpha1.TriggeredByExports:  "something that its deploy items have exported has changed",
}

// withoutFirst returns what a list has after the entries that another begins with.
func withoutFirst(list, first []string) []string { return list[min(len(first), len(list)):] }
