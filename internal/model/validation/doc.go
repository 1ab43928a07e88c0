// Package validation checks objects and the files of blueprints. The controllers
// and the command line use it; an API server applies the part that it can express
// by itself (see internal/model/admission).
//
// Paths and messages use the names that a user writes, and no message contains a
// value that may be a credential.
package validation

// ControllerRule documents a rule that no API server can apply.
type ControllerRule struct {
	// Resource is the plural name of the kind, or the file kind.
	Resource string
	// Path is the field of the rule.
	Path string
	// Problem says what is wrong and what to do.
	Problem string
}

// ControllerRules are the rules that only the controllers and the command line
// apply.
var ControllerRules = []ControllerRule{
	{"installations", "spec.context", "names a Context that does not exist in the namespace"},
	{"installations", "spec.automaticReconcile.*.cronSpec", "has a range that runs backwards, a step of zero or an unknown time zone"},
	{"executions", "spec.deployItemsCompressed", "is not the compressed form of a list of deploy items"},
	{"executions", "spec.deployItems[].dependsOn", "is part of a cycle"},
	{"executions", "spec.deployItemsCompressed", "violates a rule for spec.deployItems: an API server cannot read the compressed form"},
	{"deployitems", "spec.config", "is missing or is not what the deployer understands"},
	{"targets", "spec.config", "is not a kubeconfig, or holds something that would run a program or read a file of the controller"},
	{"targetsyncs", "spec", "is not the only TargetSync of its namespace"},
	{"targetsyncs", "spec.secretNameExpression, shootNameExpression", "is not a regular expression (RE2), or both are given"},
	{"Blueprint", "imports, exports", "has a type that does not exist, or a type without its schema or targetType"},
	{"Blueprint", "deployExecutions, importExecutions, exportExecutions, subinstallationExecutions", "has no type, or one that does not exist"},
	{"Blueprint", "subinstallations", "has both a file and a template, or neither"},
	{"InstallationTemplate", "name", "is not made of at most 52 lower-case letters, digits and -, or is used twice"},
	{"InstallationTemplate", "blueprint", "must have ref or filesystem; filesystem wins"},
	{"InstallationTemplate", "imports.data[]", "must have a dataRef: Secrets and ConfigMaps can only be imported at a root"},
	{"InstallationTemplate", "imports", "refers to nothing: the name must be an import of the blueprint or an export of another subinstallation"},
	{"InstallationTemplate", "exports", "has the name of an import of the blueprint, or is exported twice"},
	{"InstallationTemplate", "imports, exports", "makes subinstallations wait for each other in a cycle"},
}
