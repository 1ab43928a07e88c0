package channel

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/Masterminds/semver/v3"

	fleetv1alpha1 "go.landscaper.dev/api/fleet/v1alpha1"
)

// Defaults of a Channel that an API server without its defaults has stored.
const (
	defaultInterval = 10 * time.Minute
	shortest        = 30 * time.Second
	longest         = 168 * time.Hour
	defaultKeep     = 10
	mostKept        = 50
)

// anyPrerelease stands for all pre-releases.
const anyPrerelease = "*"

// Rules are those of a Channel, in a form that can judge versions.
type Rules struct {
	// Interval is how often the registry is asked.
	Interval time.Duration
	// Keep is how many versions are offered.
	Keep int
	// Refused is how many refused versions are kept: behind as many, older versions are not looked at.
	Refused int

	constraints *semver.Constraints
	// named are the releases of which the range names a pre-release.
	named map[string]bool
	// identifiers are those of pre-releases that fit.
	identifiers []string
}

// prerelease finds pre-releases that a range names.
var prerelease = regexp.MustCompile(`v?([0-9]+\.[0-9]+\.[0-9]+)-[0-9A-Za-z]`)

// Read reads the rules of a Channel. An error says which field is wrong.
func Read(spec *fleetv1alpha1.ChannelSpec) (Rules, error) {
	r := Rules{Interval: defaultInterval, Keep: cmp.Or(int(spec.Keep), defaultKeep), Refused: maxRefused, named: map[string]bool{}}
	if spec.Versions != "" {
		constraints, err := semver.NewConstraint(spec.Versions)
		if err != nil {
			return r, fmt.Errorf("spec.versions: %q is not a range of versions: write one such as \">=1.2.0 <2.0.0\" or \"1.x\"", spec.Versions)
		}
		// Which pre-releases fit is said by spec.prereleases alone.
		constraints.IncludePrerelease = true
		r.constraints = constraints
		for _, match := range prerelease.FindAllStringSubmatch(spec.Versions, -1) {
			r.named[match[1]] = true
		}
	}
	if spec.Prereleases != nil {
		r.identifiers = spec.Prereleases.Identifiers
	}
	if spec.Interval != "" {
		interval, err := time.ParseDuration(spec.Interval)
		if err != nil || interval < shortest || interval > longest {
			return r, fmt.Errorf("spec.interval: %q is not a time from %s to 168h: write one such as 10m", spec.Interval, shortest)
		}
		r.Interval = interval
	}
	if r.Keep < 1 || r.Keep > mostKept {
		return r, fmt.Errorf("spec.keep: %d is not a number from 1 to %d", r.Keep, mostKept)
	}
	return r, nil
}

// Fits reports whether a version is one that the Channel looks for.
func (r Rules) Fits(version string) bool {
	parsed, err := parse(version)
	return err == nil && r.fits(parsed)
}

// parse reads a version with all of its three numbers: a tag such as 1.2 is moved to each version 1.2.x.
func parse(version string) (*semver.Version, error) {
	if _, err := semver.StrictNewVersion(strings.TrimPrefix(version, "v")); err != nil {
		return nil, err // the caller says which one
	}
	return semver.NewVersion(version) // keeps the v
}

func (r Rules) fits(version *semver.Version) bool {
	if version.Prerelease() == "" {
		return r.constraints == nil || r.constraints.Check(version)
	}
	if !r.admits(version.Prerelease()) {
		return false
	}
	if r.constraints == nil {
		return true
	}
	if !r.constraints.Check(version) {
		return false
	}
	// 2.0.0-rc.1 is less than 2.0.0, and not what is meant by "below 2.0.0": unless the range names
	// pre-releases of 2.0.0 itself, their release has to fit, too.
	release, err := version.SetPrerelease("")
	return err == nil && (r.constraints.Check(&release) || r.named[fmt.Sprintf("%d.%d.%d", version.Major(), version.Minor(), version.Patch())])
}

// admits reports whether a pre-release is one of those that the Channel takes.
func (r Rules) admits(prerelease string) bool {
	first, _, _ := strings.Cut(prerelease, ".")
	return slices.ContainsFunc(r.identifiers, func(identifier string) bool {
		return identifier == anyPrerelease || identifier == first || identifier == strings.TrimRight(first, "0123456789")
	})
}

// Judgement is what a list of versions has.
type Judgement struct {
	// Fitting are the versions that fit, the newest first.
	Fitting []string
	// Versions is how many there are, and Prereleases how many of them are pre-releases that the Channel
	// does not take.
	Versions, Prereleases int
}

// Judge finds the versions that fit among those of a list. Other texts are passed over: signatures
// and attestations of other tools have tags, too.
func (r Rules) Judge(list []string) Judgement {
	var found Judgement
	parsed := map[string]*semver.Version{}
	for _, version := range list {
		number, err := parse(version)
		if err != nil || parsed[version] != nil {
			continue
		}
		parsed[version] = number
		found.Versions++
		switch {
		case r.fits(number):
			found.Fitting = append(found.Fitting, version)
		case number.Prerelease() != "" && !r.admits(number.Prerelease()):
			found.Prereleases++
		}
	}
	slices.SortFunc(found.Fitting, func(a, b string) int { return compare(parsed[b], parsed[a]) })
	return found
}

// compare orders versions. What semantic versions leave open is ordered by the text, so that every poll
// has the same order: build metadata, and a v in front.
func compare(a, b *semver.Version) int {
	return cmp.Or(a.Compare(b), strings.Compare(a.Metadata(), b.Metadata()), strings.Compare(a.Original(), b.Original()))
}

// Newer reports whether a version is newer than another one. Both have to be semantic versions.
func Newer(version, than string) (bool, error) {
	a, err := parse(version)
	if err != nil {
		return false, fmt.Errorf("%q is not a semantic version", version)
	}
	b, err := parse(than)
	if err != nil {
		return false, fmt.Errorf("%q is not a semantic version", than)
	}
	return compare(a, b) > 0, nil
}
