package lint

import "strconv"

// Severity is how bad a finding is.
type Severity string

// The severities.
const (
	// Error means that the blueprint cannot work.
	Error Severity = "error"
	// Warning means that something is probably not meant.
	Warning Severity = "warning"
	// Note means that something could not be checked.
	Note Severity = "note"
)

// Finding is something that is wrong with a blueprint.
type Finding struct {
	Severity Severity `json:"severity"`
	// File is the file of the blueprint.
	File string `json:"file,omitempty"`
	// Line is where the field begins, or what is around it if it is not written in
	// lines of its own; 0 if that is not known.
	Line int `json:"line,omitempty"`
	// Field is the field in the file.
	Field   string `json:"field,omitempty"`
	Message string `json:"message"`
}

// String shows the finding as compilers do it: file:line: severity: field: message.
func (f Finding) String() string {
	text := string(f.Severity) + ": "
	switch {
	case f.File != "" && f.Line > 0:
		text = f.File + ":" + strconv.Itoa(f.Line) + ": " + text
	case f.File != "":
		text = f.File + ": " + text
	}
	if f.Field != "" {
		text += f.Field + ": "
	}
	return text + f.Message
}
