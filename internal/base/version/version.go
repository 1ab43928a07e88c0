// Package version holds the version of the programs.
package version

import "runtime/debug"

// release is set by the linker when a release is built.
var release = ""

// String returns the version of the running program: that of a release, or the
// revision that it was built from.
func String() string {
	if release != "" {
		return release
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "development"
	}
	for _, setting := range info.Settings {
		if setting.Key == "vcs.revision" && len(setting.Value) >= 12 {
			return "development-" + setting.Value[:12]
		}
	}
	return "development"
}
