package channels

import (
	"slices"
	"strings"
	"testing"

	"go.landscaper.dev/internal/cli/connection/connectiontest"
	"go.landscaper.dev/internal/cli/terminal/terminaltest"
)

const (
	stable = `{apiVersion: fleet.landscaper.dev/v1alpha1, kind: Channel, metadata: {name: stable}, spec: {component: example.org/shop, versions: 1.x, signatures: [release]}, status: {version: 1.2.0, followers: 3,
conditions: [{type: Ready, status: "True", reason: VersionFound, message: 1.2.0 is the newest version that fits}],
versions: [{version: 1.2.0, digest: "sha256:aa", found: "2030-01-02T12:00:00Z"}, {version: 1.1.0, digest: "sha256:bb", found: "2030-01-01T12:00:00Z"}],
refused: [{version: 1.3.0, reason: SignatureRefused, message: "signature \"release\" not found\u001b[31m"}]}}`
	unseen    = `{apiVersion: fleet.landscaper.dev/v1alpha1, kind: Channel, metadata: {name: unseen}, spec: {component: example.org/shop}}`
	suspended = `{apiVersion: fleet.landscaper.dev/v1alpha1, kind: Channel, metadata: {name: unseen}, spec: {component: example.org/shop, suspended: true}}`
	path      = "/apis/fleet.landscaper.dev/v1alpha1/namespaces/default/channels/"
)

// TestChannels: what the commands show, and what they change.
func TestChannels(t *testing.T) {
	for _, test := range []struct {
		reason  string
		objects []string
		args    string
		code    int
		out     string
		err     string
		writes  []string
	}{
		{"all Channels", []string{stable, unseen}, "list", 0, "NAME    COMPONENT         VERSIONS  VERSION  FOLLOWERS  STATE\nstable  example.org/shop  1.x       1.2.0    3          VersionFound\nunseen  example.org/shop  *         -        0          Unseen\n", "", nil},
		{"for programs", []string{stable}, "list -o json", 0, `"version": "1.2.0"`, "", nil},
		{"one, with what it refuses, and nothing that a terminal obeys", []string{stable}, "show stable", 0, "1.x of example.org/shop: 1.2.0 is the newest version that fits\nSignatures: release\nFollowers: 3\n\nVERSION  DIGEST     FOUND\n1.2.0    sha256:aa  2030-01-02 12:00 UTC\n1.1.0    sha256:bb  2030-01-01 12:00 UTC\n\nRefused:\n  1.3.0: SignatureRefused: signature \"release\" not found", "", nil},
		{"one that no server has seen", []string{unseen}, "show unseen", 0, "every version of example.org/shop: the server has not looked at it yet: check that the feature Fleets is on\nFollowers: 0\n", "", nil},
		{"as YAML", []string{stable}, "show stable -o yaml", 0, "component: example.org/shop", "", nil},
		{"another form", []string{stable}, "show stable -o xml", 64, "", "Error: invalid option for '--output'/'-o' flag", nil},
		{"no name", []string{stable}, "show", 64, "", "Error: NAME is missing: name the Channel", nil},
		{"no such Channel", []string{stable}, "show none", 3, "", "Error: ", nil},
		{"a poll", []string{stable}, "poll stable", 0, "Channel stable asks its registry now\n", "", []string{"PATCH " + path + "stable"}},
		{"a Channel that does not ask", []string{suspended}, "poll unseen", 1, "", "Error: the Channel unseen is suspended: remove spec.suspended first", nil},
	} {
		t.Run(test.reason, func(t *testing.T) {
			s, c := connectiontest.New(t, test.objects...), &terminaltest.Console{}
			code := s.Run(t, c, NewCommand, terminaltest.Fields(test.args)...)
			if code != test.code || !strings.Contains(c.Out.String(), test.out) || !strings.HasPrefix(c.Err.String(), test.err) || strings.Contains(c.Out.String(), "\x1b") {
				t.Errorf("code %d, %q, %q", code, c.Out.String(), c.Err.String())
			}
			if !slices.Equal(s.Writes(), test.writes) {
				t.Errorf("it writes %v", s.Writes())
			}
			if text := s.Object(path + "stable"); (len(test.writes) > 0) != strings.Contains(text, "fleet.landscaper.dev/poll") {
				t.Errorf("%s", text)
			}
		})
	}
}
