package fleet

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"go.landscaper.dev/api/v1alpha1"
)

// maxLabel is the length of the longest value of a label.
const maxLabel = 63

// InstallationName is the name of the Installation of a Target. It does not depend on anything else, so
// that it stays, and a person can find it.
func InstallationName(fleet, target string) string {
	return shortened(fleet+"-"+target, v1alpha1.InstallationNameMaxLength)
}

// LabelValue is a name as the value of a label.
func LabelValue(name string) string { return shortened(name, maxLabel) }

// shortened replaces the end of a name that is too long by a hash of the whole name.
func shortened(name string, length int) string {
	if len(name) <= length {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	end := hex.EncodeToString(sum[:5])
	return strings.TrimRight(name[:length-len(end)-1], "-.") + "-" + end
}
