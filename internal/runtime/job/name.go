package job

import (
	"crypto/sha256"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/types"
)

const (
	// maxNameLength is the length of the longest name that fits into a label.
	maxNameLength = 63
	// suffixLength and suffixLetters are those of generateName: no vowels, so that
	// no words appear.
	suffixLength  = 5
	suffixLetters = "bcdfghjklmnpqrstvwxz2456789"
)

// ChildName returns the name of a child of an object. It looks like one that
// generateName made, but the same child gets the same name again, so that a
// create that is repeated is recognised. A salt above 0 gives another name, for
// the case that something else has taken the first one.
//
// Five letters of 27 are 14 million names. Two children of one parent with the same base
// differ in their names of templates, so that a salt is needed only where others have taken
// the name.
func ChildName(parent types.UID, base string, salt int) string {
	sum := sha256.Sum256([]byte(string(parent) + "/" + base + "/" + strconv.Itoa(salt)))
	var suffix strings.Builder
	for _, b := range sum[:suffixLength] {
		suffix.WriteByte(suffixLetters[int(b)%len(suffixLetters)])
	}
	// A cut behind a dot would leave a part that begins with a dash.
	base = strings.TrimRight(base[:min(len(base), maxNameLength-suffixLength-1)], ".")
	return base + "-" + suffix.String()
}
