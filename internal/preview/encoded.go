package preview

import (
	"encoding/base64"
	"regexp"
)

// maxUnpacked is how many layers of base64 are taken off: the data of a machine holds files in base64, and
// is in base64 itself.
const maxUnpacked = 3

// packedRun is what may be base64 with a secret in it.
var packedRun = regexp.MustCompile(`[A-Za-z0-9+/]{12,}`)

// unpacked are the texts that a text has in base64. The digits are those of the standard.
func unpacked(text string) []string {
	var found []string
	for _, run := range packedRun.FindAllString(text, -1) {
		// What follows an incomplete group says nothing.
		decoded, err := base64.RawStdEncoding.DecodeString(run[:len(run)-oddDigits(len(run))])
		if err == nil {
			// A secret may be beside bytes that are not a text.
			found = append(found, string(decoded))
		}
	}
	return found
}

// oddDigits is how many digits are too many for base64: a group of one says nothing.
func oddDigits(length int) int {
	if length%4 == 1 {
		return 1
	}
	return 0
}
