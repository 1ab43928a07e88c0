// Package resourceversion compares the versions of objects. No other package does.
package resourceversion

import "k8s.io/apimachinery/pkg/util/resourceversion"

// Older reports whether a version is older than another one of the same kind. An object that is not
// there has no version, and is older than any.
//
// Of two versions that cannot be compared none is older: a conflict stops a write that is too late.
func Older(version, than string) bool {
	if version == "" {
		return than != ""
	}
	order, err := resourceversion.CompareResourceVersion(version, than)
	return err == nil && order < 0
}

// AtLeast reports whether a version is certainly as new as another one. Versions that cannot be
// compared must be equal.
func AtLeast(version, than string) bool {
	if than == "" || version == than {
		return true
	}
	order, err := resourceversion.CompareResourceVersion(version, than)
	return err == nil && order >= 0
}
