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
		quiet.Field = withoutKey(quiet.Field, known)
		shown[i] = &quiet
	}
	return shown
}

// allKnown reports whether all names of a cycle are known; a single name counts as one.
func allKnown(names string, known func(string) bool) bool {
	for name := range strings.SplitSeq(names, " -> ") {
		if !known(name) {
			return false
		}
	}
	return true
}

// withoutKey hides the key of a map in a path unless it is known; positions in lists
// stay.
//
// A key is whatever a template has made, also brackets, dots and digits, so that its form does not
// show where it ends or whether it is a position. But no rule here reaches below a key: a key ends
// with the last bracket, and the one map that has keys is known by its name.
func withoutKey(path string, known func(string) bool) string {
	begin := len(path)
	if at := keyed.FindStringIndex(path); at != nil {
		begin = at[1]
	}
	if other := unnumbered.FindStringIndex(path); other != nil {
		begin = min(begin, other[0]+1)
	}
	end := strings.LastIndexByte(path, ']')
	if begin > end || known(path[begin:end]) {
		return path
	}
	return path[:begin] + "..." + path[end:]
}

var (
	// keyed is before each key of a map, and before no position.
	keyed = regexp.MustCompile(`\.targetMap\[`)
	// unnumbered matches a text that begins like a position but is not one.
	unnumbered = regexp.MustCompile(`\[(\d*[^\d\]]|\])`)
)
