package installation

// Reasons of the events about what was found on the way to the children.
const (
	contextWarnings   = "ContextWarnings"
	blueprintWarnings = "BlueprintWarnings"
	importWarnings    = "ImportWarnings"
	exportWarnings    = "ExportWarnings"

	subinstallationWarnings = "SubinstallationWarnings"
)

// withoutFirst returns what a list has after the entries that another begins with.
func withoutFirst(list, first []string) []string { return list[min(len(first), len(list)):] }
