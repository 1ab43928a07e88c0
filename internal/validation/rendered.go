package validation

import (
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Rendered returns errors about something that a template has made without the values
// that they quote: anything in it may come from a Secret. The field and the reason
// stay, and names that are known: those that the template says literally.
func Rendered(errs field.ErrorList, known func(text string) bool) field.ErrorList {
	shown := make(field.ErrorList, len(errs))
	for i, err := range errs {
		quiet := *err
		if text, isText := err.BadValue.(string); !isText || !allKnown(text, known) {
			quiet.BadValue = field.OmitValueType{}
		}
		quiet.Field = keyed.ReplaceAllStringFunc(quiet.Field, func(key string) string {
			if known(strings.Trim(key, "[]")) {
				return key
			}
			return "[...]"
		})
		shown[i] = &quiet
	}
	return shown
}

// allKnown reports whether all names of a circle are known; a single name is one, too.
func allKnown(names string, known func(string) bool) bool {
	for name := range strings.SplitSeq(names, " -> ") {
		if !known(name) {
			return false
		}
	}
	return true
}

// keyed is a key of a map in a path; positions in lists stay.
var keyed = regexp.MustCompile(`\[[^\]]*[^\]\d][^\]]*\]`)
