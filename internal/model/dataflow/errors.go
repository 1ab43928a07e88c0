package dataflow

// Reason classifies what is wrong with a value.
type Reason string

// The reasons.
const (
	// ImportNotFound: a required import is not given.
	ImportNotFound Reason = "ImportNotFound"
	// InvalidDefaultValue: the default of a blueprint cannot be read.
	InvalidDefaultValue Reason = "InvalidDefaultValue"
	// SchemaValidationFailed: a value is not what its definition says, or the
	// definition cannot be used.
	SchemaValidationFailed Reason = "SchemaValidationFailed"
	// ExportNotDefined: nothing produced an export that the Installation publishes.
	ExportNotDefined Reason = "ExportNotDefined"
	// InvalidExport: an export cannot be published in this form or under this name.
	InvalidExport Reason = "InvalidExport"
)

// Error says what is wrong with one import or export. It never shows a value.
type Error struct {
	// Path names the import or export.
	Path string
	// Reason classifies the problem.
	Reason Reason
	// Problem is its text.
	Problem string
	// Cause is the underlying error, or nil.
	Cause error
	// Remedy says what to do, if the problem does not.
	Remedy string
}

// Error implements error.
func (e *Error) Error() string {
	text := e.Path + ": " + e.Problem
	if e.Cause != nil {
		text += ": " + e.Cause.Error()
	}
	if e.Remedy != "" {
		text += ": " + e.Remedy
	}
	return text
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }
