package channel

import (
	"slices"
	"strings"
	"testing"
	"time"

	fleetv1alpha1 "go.landscaper.dev/api/fleet/v1alpha1"
)

func spec(versions string, identifiers ...string) *fleetv1alpha1.ChannelSpec {
	s := &fleetv1alpha1.ChannelSpec{Component: "example.org/shop", Versions: versions}
	if len(identifiers) > 0 {
		s.Prereleases = &fleetv1alpha1.PrereleaseRule{Identifiers: identifiers}
	}
	return s
}

// TestJudge: which versions fit, the newest first.
func TestJudge(t *testing.T) {
	for _, test := range []struct {
		reason, versions string
		identifiers      []string
		list, want       []string
	}{
		{"numbers are compared as numbers", "", nil, []string{"1.9.0", "1.10.0", "1.2.0"}, []string{"1.10.0", "1.9.0", "1.2.0"}},
		{"what is above the range does not fit", ">=1.2.0 <2.0.0", nil, []string{"1.1.9", "1.2.0", "1.9.9", "2.0.0"}, []string{"1.9.9", "1.2.0"}},
		{"a wildcard", "1.x", nil, []string{"0.9.0", "1.0.0", "2.0.0"}, []string{"1.0.0"}},
		{"one of two ranges is enough", "1.2.x || >=3.0.0", nil, []string{"1.2.7", "2.0.0", "3.1.0"}, []string{"3.1.0", "1.2.7"}},
		{"tags that move with each release are passed over", "", nil, []string{"1", "1.2", "v1", "latest", "sha256-0a1b.sig", "1.2.3"}, []string{"1.2.3"}},
		{"a v in front is a part of the version", "", nil, []string{"v1.2.3", "1.2.2"}, []string{"v1.2.3", "1.2.2"}},
		{"build metadata stay, and have an order that does not change", "", nil, []string{"1.0.0+b", "1.0.0", "1.0.0+a"}, []string{"1.0.0+b", "1.0.0+a", "1.0.0"}},
		{"a registry may list a tag twice", "", nil, []string{"1.0.0", "1.0.0"}, []string{"1.0.0"}},

		{"no pre-release fits by default", ">=1.0.0", nil, []string{"1.0.0", "1.1.0-rc.1"}, []string{"1.0.0"}},
		{"not even one that the range names", ">=1.0.0-rc.1", nil, []string{"1.0.0-rc.2"}, nil},
		{"pre-releases with the identifier", "", []string{"rc"}, []string{"1.1.0-rc.1", "1.1.0-beta.2", "1.0.0"}, []string{"1.1.0-rc.1", "1.0.0"}},
		{"a number without a dot belongs to the identifier", "", []string{"rc"}, []string{"1.1.0-rc2", "1.1.0-rcx"}, []string{"1.1.0-rc2"}},
		{"all pre-releases", "", []string{"*"}, []string{"1.1.0-0", "1.1.0-alpha", "1.0.0"}, []string{"1.1.0-alpha", "1.1.0-0", "1.0.0"}},
		{"a release is newer than its pre-releases", "", []string{"*"}, []string{"1.1.0-rc.9", "1.1.0"}, []string{"1.1.0", "1.1.0-rc.9"}},
		{"below 2.0.0 means no pre-release of it either", ">=1.0.0 <2.0.0", []string{"*"}, []string{"1.5.0-rc.1", "2.0.0-rc.1", "1.4.0"}, []string{"1.5.0-rc.1", "1.4.0"}},
		{"and a lower bound with a pre-release changes nothing about that", ">=1.0.0-0 <2.0.0", []string{"*"}, []string{"1.0.0-rc.1", "2.0.0-rc.1"}, []string{"1.0.0-rc.1"}},
		{"unless the range names a pre-release of 2.0.0", ">=1.0.0 <2.0.0-rc.3", []string{"rc"}, []string{"2.0.0-rc.2", "2.0.0-rc.3", "1.4.0"}, []string{"2.0.0-rc.2", "1.4.0"}},
		{"one pre-release exactly", "=2.0.0-rc.1", []string{"rc"}, []string{"2.0.0-rc.1", "2.0.0-rc.2", "2.0.0"}, []string{"2.0.0-rc.1"}},
		{"a pre-release of the lower bound is below it", ">=1.2.0", []string{"*"}, []string{"1.2.0-rc.1", "1.3.0-rc.1"}, []string{"1.3.0-rc.1"}},
	} {
		t.Run(test.reason, func(t *testing.T) {
			rules, err := Read(spec(test.versions, test.identifiers...))
			if err != nil {
				t.Fatal(err)
			}
			got := rules.Judge(test.list).Fitting
			if !slices.Equal(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
			for _, version := range test.list {
				if rules.Fits(version) != slices.Contains(test.want, version) {
					t.Errorf("%s is judged otherwise alone", version)
				}
			}
		})
	}
}

// TestRead: what is wrong with a specification is said with its field.
func TestRead(t *testing.T) {
	for _, test := range []struct {
		reason string
		change func(*fleetv1alpha1.ChannelSpec)
		err    string
	}{
		{"defaults", func(*fleetv1alpha1.ChannelSpec) {}, ""},
		{"no range", func(s *fleetv1alpha1.ChannelSpec) { s.Versions = "newest" }, `spec.versions: "newest" is not a range`},
		{"half a range", func(s *fleetv1alpha1.ChannelSpec) { s.Versions = ">=1.0.0 <" }, "spec.versions"},
		{"too often", func(s *fleetv1alpha1.ChannelSpec) { s.Interval = "1s" }, "spec.interval"},
		{"no time", func(s *fleetv1alpha1.ChannelSpec) { s.Interval = "often" }, "spec.interval"},
		{"more than the status holds", func(s *fleetv1alpha1.ChannelSpec) { s.Keep = mostKept + 1 }, "spec.keep"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			s := spec("1.x")
			test.change(s)
			rules, err := Read(s)
			if (err != nil) != (test.err != "") || err != nil && !strings.Contains(err.Error(), test.err) {
				t.Errorf("%v", err)
			}
			if err == nil && (rules.Interval != 10*time.Minute || rules.Keep != 10) {
				t.Errorf("%+v", rules)
			}
		})
	}
}

// TestNewer: who follows a Channel never goes back.
func TestNewer(t *testing.T) {
	for _, test := range []struct {
		version, than string
		newer, fails  bool
	}{
		{"1.10.0", "1.9.0", true, false},
		{"1.9.0", "1.10.0", false, false},
		{"1.0.0", "1.0.0", false, false},
		{"1.0.0", "1.0.0-rc.1", true, false},
		{"v1.1.0", "1.0.0", true, false},
		{"1.0.0", "main", false, true},
		{"", "1.0.0", false, true},
	} {
		t.Run(test.version+" after "+test.than, func(t *testing.T) {
			if newer, err := Newer(test.version, test.than); newer != test.newer || (err != nil) != test.fails {
				t.Errorf("%t, %v", newer, err)
			}
		})
	}
}

func FuzzJudge(f *testing.F) {
	f.Add(">=1.0.0 <2.0.0", "1.2.3-rc.1+build")
	f.Fuzz(func(t *testing.T, versions, version string) {
		rules, err := Read(spec(versions, "*"))
		if err != nil {
			return
		}
		if fits := len(rules.Judge([]string{version}).Fitting) == 1; fits != rules.Fits(version) {
			t.Errorf("%q in %q: %t", version, versions, fits)
		}
	})
}
