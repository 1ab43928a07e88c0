package repositories

import (
	"strings"
)

// Split divides the form REPOSITORY//REFERENCE. The reference is empty if the
// text is a repository only; the slashes of a scheme divide nothing.
func Split(text string) (repository, reference string) {
	at := strings.LastIndex(text, "//")
	if at <= 0 || text[at-1] == ':' {
		return text, ""
	}
	return text[:at], text[at+2:]
}

// SplitComponent divides the form REPOSITORY//NAME:VERSION. What lacks a part is
// something else, such as a directory or an address.
func SplitComponent(text string) (repository, name, version string, ok bool) {
	repository, reference := Split(text)
	name, version, _ = strings.Cut(reference, ":")
	if name == "" || version == "" {
		return "", "", "", false
	}
	return repository, name, version, true
}
