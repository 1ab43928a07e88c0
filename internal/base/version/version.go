// Package version holds the version of the programs.
package version

import "runtime/debug"

// All are set by the linker when a release is built.
var release, commit, registry = "", "", ""

// Registry returns where the images of the release are; "" for a program that is not of a release.
func Registry() string { return registry }

// String returns the version of the running program: that of a release, or the
// revision that it was built from.
func String() string {
	if release != "" {
		return release
	}
	if revision := Commit(); len(revision) >= 12 {
		return "development-" + revision[:12]
	}
	return "development"
}

// Commit returns the commit that the running program was built from; "" if it is not known.
func Commit() string {
	if commit != "" {
		return commit
	}
	return setting("vcs.revision")
}

// Clean reports whether the program was built from exactly its commit, and whether that is known.
// A release that names a commit was built from it.
func Clean() (clean, known bool) {
	modified := setting("vcs.modified")
	return commit != "" || modified == "false", commit != "" || modified != ""
}

func setting(key string) string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, setting := range info.Settings {
		if setting.Key == key {
			return setting.Value
		}
	}
	return ""
}
