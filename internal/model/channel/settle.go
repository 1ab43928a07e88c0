package channel

import (
	"fmt"
	"slices"
	"time"

	"github.com/Masterminds/semver/v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	fleetv1alpha1 "go.landscaper.dev/api/fleet/v1alpha1"
	"go.landscaper.dev/internal/runtime/job/reasons"
)

const (
	// maxRefused is how many refused versions are kept: a thousand versions that were published without a
	// signature do not make a poll look at all of them.
	maxRefused = 20
	// maxExamined is how many versions one poll looks at.
	maxExamined = 5
	// maxMessage is the length of the message about a version in characters, as the API server has it.
	maxMessage = 1024
)

// Known is what was found earlier.
type Known struct {
	Versions []fleetv1alpha1.ChannelVersion
	Refused  []fleetv1alpha1.RefusedVersion
	// Digests are what tags led to when they were first found, by version. They count for as long as the
	// Channel exists: a version stands for one content.
	Digests map[string]string
	// Void says that what is known about versions was found by other rules, or with other keys: all of
	// them are looked at again.
	Void bool
}

// Finding is what was found out about a version.
type Finding struct {
	// Digest is what its tag leads to.
	Digest string
	// Reason is why it is refused; empty if it is not.
	Reason  reasons.Reason
	Message string
}

// Unexamined returns the versions that the next poll has to look at, and whether there are more of them
// than one poll takes. Refused versions that are newer than the offered one are looked at each time: a
// signature may come after its version. A look again also takes in the version that is offered: its tag
// may have been moved.
func (r Rules) Unexamined(fitting []string, known Known, again bool) (examine []string, more bool) {
	var new, repeated []string
	offered, refused := 0, 0
	for _, version := range fitting {
		if offered == r.Keep || refused == r.Refused {
			break
		}
		isOffered, refusal := known.of(version)
		switch {
		case isOffered:
			if again && offered == 0 {
				repeated = append(repeated, version)
			}
			offered++
		case refusal == nil || refusal.Reason == string(reasons.VersionWithdrawn):
			new = append(new, version)
		default:
			if offered == 0 {
				repeated = append(repeated, version)
			}
			refused++
		}
	}
	if len(new) > maxExamined {
		return new[:maxExamined], true
	}
	return append(new, repeated[:min(len(repeated), maxExamined-len(new))]...), false
}

// of returns what is known of a version.
func (k Known) of(version string) (offered bool, refusal *fleetv1alpha1.RefusedVersion) {
	if k.Void {
		return false, nil
	}
	for i := range k.Refused {
		if k.Refused[i].Version == version {
			return false, &k.Refused[i]
		}
	}
	return slices.ContainsFunc(k.Versions, func(v fleetv1alpha1.ChannelVersion) bool { return v.Version == version }), nil
}

// Settled is what a Channel offers after a poll.
type Settled struct {
	Versions []fleetv1alpha1.ChannelVersion
	Refused  []fleetv1alpha1.RefusedVersion
	Digests  map[string]string
}

// Settle returns what a Channel offers, with what was found out about some versions. A version without a
// finding stays what it was; one that was never looked at is in no list.
func (r Rules) Settle(fitting []string, known Known, findings map[string]Finding, now time.Time) Settled {
	s := Settled{Digests: map[string]string{}}
	for _, version := range fitting {
		if len(s.Versions) == r.Keep || len(s.Refused) == r.Refused {
			break
		}
		r.settle(&s, version, known, findings, now)
	}
	r.withdraw(&s, fitting, known)
	return s
}

// settle sorts a version into one of the lists.
func (r Rules) settle(s *Settled, version string, known Known, findings map[string]Finding, now time.Time) {
	first := known.Digests[version]
	if first != "" {
		s.Digests[version] = first
	}
	finding, examined := findings[version]
	if !examined {
		offered, refusal := known.of(version)
		switch {
		case refusal != nil:
			s.Refused = append(s.Refused, *refusal)
		case offered:
			s.Versions = append(s.Versions, fleetv1alpha1.ChannelVersion{Version: version, Digest: first, Found: known.found(version, now)})
		}
		return
	}
	if first != "" && finding.Digest != "" && finding.Digest != first {
		finding.Reason = reasons.DigestChanged
		finding.Message = fmt.Sprintf("its tag led to %s when it was found, and leads to %s now: let the tag lead there again, or publish the content as another version", first, finding.Digest)
	}
	if finding.Reason != "" {
		s.Refused = append(s.Refused, fleetv1alpha1.RefusedVersion{Version: version, Reason: string(finding.Reason), Message: shortened(finding.Message), Digest: first})
		return
	}
	s.Digests[version] = finding.Digest
	s.Versions = append(s.Versions, fleetv1alpha1.ChannelVersion{Version: version, Digest: finding.Digest, Found: known.found(version, now)})
}

// withdraw keeps the digests of versions that were offered and that the registry does not list any more:
// they may come back as something else.
func (r Rules) withdraw(s *Settled, fitting []string, known Known) {
	var missing []string
	for version := range known.Digests {
		if r.Fits(version) && !slices.Contains(fitting, version) {
			missing = append(missing, version)
		}
	}
	slices.SortFunc(missing, newestFirst)
	for _, version := range missing[:min(len(missing), r.Refused)] {
		s.Digests[version] = known.Digests[version]
		s.Refused = append(s.Refused, fleetv1alpha1.RefusedVersion{
			Version: version, Reason: string(reasons.VersionWithdrawn), Digest: known.Digests[version],
			Message: "the registry does not list it any more",
		})
	}
	slices.SortStableFunc(s.Refused, func(a, b fleetv1alpha1.RefusedVersion) int { return newestFirst(a.Version, b.Version) })
	s.Refused = s.Refused[:min(len(s.Refused), r.Refused)]
}

// newestFirst orders versions that fit.
func newestFirst(a, b string) int { return compare(numberOf(b), numberOf(a)) }

// numberOf returns the number of a version that fits.
func numberOf(version string) *semver.Version {
	number, err := parse(version)
	if err != nil {
		return &semver.Version{}
	}
	return number
}

// found is when a version was found.
func (k Known) found(version string, now time.Time) metav1.Time {
	for i := range k.Versions {
		if k.Versions[i].Version == version {
			return k.Versions[i].Found
		}
	}
	return metav1.NewTime(now).Rfc3339Copy()
}

func shortened(message string) string {
	if runes := []rune(message); len(runes) > maxMessage {
		return string(runes[:maxMessage-1]) + "…"
	}
	return message
}

// Remember returns what a status says about versions.
func Remember(status *fleetv1alpha1.ChannelStatus) Known {
	known := Known{Versions: status.Versions, Refused: status.Refused, Digests: map[string]string{}}
	for _, version := range status.Versions {
		known.Digests[version.Version] = version.Digest
	}
	for _, version := range status.Refused {
		if version.Digest != "" {
			known.Digests[version.Version] = version.Digest
		}
	}
	return known
}
