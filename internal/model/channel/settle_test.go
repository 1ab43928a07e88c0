package channel

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	fleetv1alpha1 "go.landscaper.dev/api/fleet/v1alpha1"
	"go.landscaper.dev/internal/runtime/job/reasons"
)

var (
	noon    = time.Date(2030, 1, 2, 12, 0, 0, 0, time.UTC)
	earlier = noon.Add(-time.Hour)
)

// known is what was found earlier: offered as VERSION=DIGEST, refused as VERSION=REASON or
// VERSION=REASON=DIGEST.
func known(offered string, refused string) Known {
	status := &fleetv1alpha1.ChannelStatus{}
	for _, text := range strings.Fields(offered) {
		version, digest, _ := strings.Cut(text, "=")
		status.Versions = append(status.Versions, fleetv1alpha1.ChannelVersion{Version: version, Digest: digest, Found: metav1.NewTime(earlier)})
	}
	for _, text := range strings.Fields(refused) {
		parts := append(strings.Split(text, "="), "", "")
		status.Refused = append(status.Refused, fleetv1alpha1.RefusedVersion{Version: parts[0], Reason: parts[1], Digest: parts[2]})
	}
	return Remember(status)
}

func rules(t *testing.T, keep int32, versions string) Rules {
	t.Helper()
	s := spec(versions)
	s.Keep = keep
	r, err := Read(s)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestUnexamined: a poll looks at what it does not know, and not at everything.
func TestUnexamined(t *testing.T) {
	void := known("1.2.0=a 1.1.0=b", "")
	void.Void = true
	for _, test := range []struct {
		reason  string
		fitting string
		known   Known
		again   bool
		want    string
		more    bool
	}{
		{"a new version", "1.2.0 1.1.0", known("1.1.0=a", ""), false, "1.2.0", false},
		{"nothing new", "1.2.0 1.1.0", known("1.2.0=a 1.1.0=b", ""), false, "", false},
		{"a look again takes in the version that is offered", "1.2.0 1.1.0", known("1.2.0=a 1.1.0=b", ""), true, "1.2.0", false},
		{"a signature may come after its version", "1.3.0 1.2.0", known("1.2.0=a", "1.3.0=SignatureRefused"), false, "1.3.0", false},
		{"what is older than the offered version is of no use", "1.3.0 1.2.0", known("1.3.0=a", "1.2.0=SignatureRefused"), false, "", false},
		{"a version that is back", "1.3.0 1.2.0", known("1.3.0=a", "1.2.0=VersionWithdrawn=b"), false, "1.2.0", false},
		{"more than one poll takes, the newest first", "1.7.0 1.6.0 1.5.0 1.4.0 1.3.0 1.2.0", known("", ""), false, "1.7.0 1.6.0 1.5.0 1.4.0 1.3.0", true},
		{"refused ones do not begin another poll, however many", "1.7.0 1.6.0 1.5.0 1.4.0 1.3.0 1.2.0", known("", "1.7.0=x 1.6.0=x 1.5.0=x 1.4.0=x 1.3.0=x 1.2.0=x"), false, "1.7.0 1.6.0 1.5.0 1.4.0 1.3.0", false},
		{"behind the versions that are kept, nothing is looked at", "1.4.0 1.3.0 1.2.0 1.1.0", known("1.4.0=a 1.3.0=b 1.2.0=c", ""), false, "", false},
		{"other rules or other keys make all of them unknown", "1.2.0 1.1.0", void, false, "1.2.0 1.1.0", false},
	} {
		t.Run(test.reason, func(t *testing.T) {
			got, more := rules(t, 3, "").Unexamined(strings.Fields(test.fitting), test.known, test.again)
			if strings.Join(got, " ") != test.want || more != test.more {
				t.Errorf("%q, more %t", got, more)
			}
		})
	}
}

// TestRefusedWithoutEnd: a thousand versions without signatures cost a poll what twenty of them do.
func TestRefusedWithoutEnd(t *testing.T) {
	var fitting []string
	for minor := range 1000 {
		fitting = append(fitting, fmt.Sprintf("1.%d.0", 1000-minor))
	}
	r, have, looked := rules(t, 10, ""), known("", ""), 0
	for range 100 {
		examine, more := r.Unexamined(fitting, have, false)
		findings := map[string]Finding{}
		for _, version := range examine {
			findings[version] = Finding{Digest: "d", Reason: reasons.SignatureRefused}
		}
		looked += len(examine)
		settled := r.Settle(fitting, have, findings, noon)
		have.Versions, have.Refused, have.Digests = settled.Versions, settled.Refused, settled.Digests
		if !more {
			break
		}
	}
	if looked > maxRefused+maxExamined || len(have.Refused) != maxRefused {
		t.Errorf("%d versions were looked at, %d are refused", looked, len(have.Refused))
	}
}

// TestSettle: what is offered after a poll.
func TestSettle(t *testing.T) {
	void := known("1.2.0=a 1.1.0=b", "")
	void.Void = true
	for _, test := range []struct {
		reason           string
		fitting          string
		known            Known
		findings         map[string]Finding
		offered, refused string
		digests          string
	}{
		{"a new version", "1.2.0 1.1.0", known("1.1.0=a", ""), map[string]Finding{"1.2.0": {Digest: "b"}}, "1.2.0=b 1.1.0=a", "", "1.1.0=a 1.2.0=b"},
		{"a version that was not looked at yet is in no list", "1.2.0 1.1.0", known("1.1.0=a", ""), nil, "1.1.0=a", "", "1.1.0=a"},
		{"the oldest is left out", "1.4.0 1.3.0 1.2.0 1.1.0", known("1.3.0=a 1.2.0=b 1.1.0=c", ""), map[string]Finding{"1.4.0": {Digest: "d"}}, "1.4.0=d 1.3.0=a 1.2.0=b", "", "1.2.0=b 1.3.0=a 1.4.0=d"},
		{"a version without a signature", "1.2.0", known("", ""), map[string]Finding{"1.2.0": {Digest: "a", Reason: reasons.SignatureRefused}}, "", "1.2.0=SignatureRefused=", ""},
		{"its signature came later", "1.2.0", known("", "1.2.0=SignatureRefused"), map[string]Finding{"1.2.0": {Digest: "b"}}, "1.2.0=b", "", "1.2.0=b"},
		{"a tag that was moved: the digest that was found stays", "1.2.0 1.1.0", known("1.2.0=a 1.1.0=b", ""), map[string]Finding{"1.2.0": {Digest: "evil"}}, "1.1.0=b", "1.2.0=DigestChanged=a", "1.1.0=b 1.2.0=a"},
		{"a tag that was moved stays refused", "1.2.0 1.1.0", known("1.1.0=b", "1.2.0=DigestChanged=a"), map[string]Finding{"1.2.0": {Digest: "evil"}}, "1.1.0=b", "1.2.0=DigestChanged=a", "1.1.0=b 1.2.0=a"},
		{"until it leads there again", "1.2.0 1.1.0", known("1.1.0=b", "1.2.0=DigestChanged=a"), map[string]Finding{"1.2.0": {Digest: "a"}}, "1.2.0=a 1.1.0=b", "", "1.1.0=b 1.2.0=a"},
		{"a tag that was moved to something without a signature is moved in the first place", "1.2.0", known("1.2.0=a", ""), map[string]Finding{"1.2.0": {Digest: "evil", Reason: reasons.SignatureRefused}}, "", "1.2.0=DigestChanged=a", "1.2.0=a"},
		{"a version that the registry hides keeps its digest", "1.1.0", known("1.2.0=a 1.1.0=b", ""), nil, "1.1.0=b", "1.2.0=VersionWithdrawn=a", "1.1.0=b 1.2.0=a"},
		{"and may not come back as something else", "1.2.0 1.1.0", known("1.1.0=b", "1.2.0=VersionWithdrawn=a"), map[string]Finding{"1.2.0": {Digest: "evil"}}, "1.1.0=b", "1.2.0=DigestChanged=a", "1.1.0=b 1.2.0=a"},
		{"what does not fit any more is forgotten", "1.1.0", known("2.0.0=a 1.1.0=b", ""), nil, "1.1.0=b", "", "1.1.0=b"},
		{"with other keys, only what was looked at again is offered, and digests still count", "1.2.0 1.1.0", void, map[string]Finding{"1.2.0": {Digest: "evil"}}, "", "1.2.0=DigestChanged=a", "1.1.0=b 1.2.0=a"},
		{"an empty list", "", known("", ""), nil, "", "", ""},
	} {
		t.Run(test.reason, func(t *testing.T) {
			s := rules(t, 3, "1.x").Settle(strings.Fields(test.fitting), test.known, test.findings, noon)
			var offered, refused, digests []string
			for _, v := range s.Versions {
				offered = append(offered, v.Version+"="+v.Digest)
				if _, isNew := test.findings[v.Version]; !isNew && !v.Found.Time.Equal(earlier) {
					t.Errorf("%s was found at %s", v.Version, v.Found)
				}
			}
			for _, v := range s.Refused {
				refused = append(refused, v.Version+"="+v.Reason+"="+v.Digest)
			}
			for _, version := range slices.Sorted(maps.Keys(s.Digests)) {
				digests = append(digests, version+"="+s.Digests[version])
			}
			if strings.Join(offered, " ") != test.offered || strings.Join(refused, " ") != test.refused || strings.Join(digests, " ") != test.digests {
				t.Errorf("offered %q, refused %q, digests %q", offered, refused, digests)
			}
		})
	}
}

// TestReady: the condition says which version there is, or why it has no version.
func TestReady(t *testing.T) {
	for _, test := range []struct {
		reason string
		spec   *fleetv1alpha1.ChannelSpec
		j      Judgement
		known  Known
		ready  bool
		says   string
	}{
		{"a version", spec("1.x"), Judgement{Versions: 3}, known("1.2.0=a", ""), true, "1.2.0 is the newest version that fits"},
		{"a newer one is refused", spec("1.x"), Judgement{Versions: 3}, known("1.2.0=a", "1.3.0=SignatureRefused 1.1.0=SignatureRefused"), true, "1.2.0 is the newest version that fits; 1 newer ones are refused, status.refused says why"},
		{"all are refused", spec("1.x"), Judgement{Versions: 3}, known("", "1.2.0=x 1.1.0=x"), false, "all 2 versions that fit and were looked at are refused: status.refused says why"},
		{"nothing fits the range", spec("3.x"), Judgement{Versions: 7, Prereleases: 2}, known("", ""), false, `none of the 7 versions of component example.org/shop fits "3.x"; 2 are pre-releases, which spec.prereleases does not take in`},
		{"pre-releases alone", spec(""), Judgement{Versions: 2, Prereleases: 2}, known("", ""), false, "component example.org/shop has pre-releases alone: publish a release, or take them in with spec.prereleases"},
		{"no version at all", spec(""), Judgement{}, known("", ""), false, "component example.org/shop has no version yet: publish one"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			got := Ready(test.spec, test.j, Settled{Versions: test.known.Versions, Refused: test.known.Refused})
			if (got.Status == metav1.ConditionTrue) != test.ready || got.Message != test.says {
				t.Errorf("%+v", got)
			}
		})
	}
}
