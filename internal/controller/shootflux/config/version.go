package config

import (
	"strings"

	"github.com/Masterminds/semver/v3"
)

// The API groups of Flux's objects.
const (
	sourceGroup    = "source.toolkit.fluxcd.io"
	kustomizeGroup = "kustomize.toolkit.fluxcd.io"
)

// The kinds of objects in a configuration.
const (
	kindGitRepository = "GitRepository"
	kindOCIRepository = "OCIRepository"
	kindKustomization = "Kustomization"
)

// latest is an alias of the default version. The newest release is never looked up: it would change
// over time.
const latest = "latest"

// checkVersion returns a release in canonical form, "" for the default.
func checkVersion(text, field string, p *problems) string {
	if text == "" || text == latest {
		return ""
	}
	version := parseVersion(text)
	switch {
	case version == nil:
		p.add(field, "is no release of Flux: write it like v2.4.0, or leave it out for the default")
		return ""
	case version.Major() == 0 && (version.Minor() < 28 || version.Minor() > 41), version.Major() == 1, version.Major() > 2:
		p.add(field, "is a release that is not supported: choose one of v0.28 to v0.41, or of v2")
		return ""
	}
	return text
}

// parseVersion returns nil for an invalid release.
func parseVersion(text string) *semver.Version {
	number, prefixed := strings.CutPrefix(text, "v")
	version, err := semver.StrictNewVersion(number)
	if err != nil || !prefixed || version.Metadata() != "" {
		return nil
	}
	return version
}

// atLeast compares without regard to release candidates: they have the APIs of their release.
func atLeast(version *semver.Version, major, minor uint64) bool {
	return version.Major() > major || version.Major() == major && version.Minor() >= minor
}

// apiVersion returns the version of the API in which a release of Flux has a kind; "" if it does
// not have the kind.
func apiVersion(kind string, flux *semver.Version) string {
	switch kind {
	case kindOCIRepository:
		switch {
		case atLeast(flux, 2, 6):
			return sourceGroup + "/v1"
		case atLeast(flux, 0, 32):
			return sourceGroup + "/v1beta2"
		}
		return ""
	case kindKustomization:
		return kustomizeGroup + "/" + sinceTwo(flux)
	}
	return sourceGroup + "/" + sinceTwo(flux)
}

func sinceTwo(flux *semver.Version) string {
	if atLeast(flux, 2, 0) {
		return "v1"
	}
	return "v1beta2"
}
