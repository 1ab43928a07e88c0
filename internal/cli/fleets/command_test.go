package fleets

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"go.landscaper.dev/internal/cli/connection/connectiontest"
	"go.landscaper.dev/internal/cli/terminal/terminaltest"
)

const (
	path   = "/apis/fleet.landscaper.dev/v1alpha1/namespaces/default/fleets/shop"
	status = `observedGeneration: 1, revision: shop-b, lastRevision: shop-a, version: 2.0.0, wave: first, counts: {targets: 4, updated: 2, succeeded: 1, failed: 1},
waves: [{name: first, state: %s, counts: {targets: 2, updated: 2, succeeded: 1, failed: 1}, message: "1 of 2 have failed: \u001b[31m"}, {name: rest, state: Waiting, counts: {targets: 2, updated: 0, succeeded: 0}}]`
	rolling  = `conditions: [{type: Ready, status: "False", reason: RollingOut, message: on its way}]`
	halted   = `conditions: [{type: Ready, status: "False", reason: RolloutStopped, message: "wave first: 1 of 2 have failed"}]`
	finished = `conditions: [{type: Ready, status: "True", reason: UpToDate, message: 4 Targets have revision shop-b}]`
)

func fleetOf(spec, state, conditions string) string {
	return fmt.Sprintf(`{apiVersion: fleet.landscaper.dev/v1alpha1, kind: Fleet, metadata: {name: shop, uid: u, generation: 1}, spec: {targets: {all: true}, template: {targetImport: cluster, spec: {blueprint: {ref: {resourceName: b}}}}, %s}, status: {%s, %s}}`, spec, fmt.Sprintf(status, state), conditions)
}

func installation(name, wave, revision, phase string) string {
	return fmt.Sprintf(`{apiVersion: landscaper.gardener.cloud/v1alpha1, kind: Installation, metadata: {name: %s, labels: {fleet.landscaper.dev/wave: %s}, annotations: {fleet.landscaper.dev/fleet-uid: u, fleet.landscaper.dev/revision: %s}}, spec: {blueprint: {ref: {resourceName: b}}}, status: {phase: %s}}`, name, wave, revision, phase)
}

// TestFleets: what the commands show, and what they change.
func TestFleets(t *testing.T) {
	channel := "version: {channel: stable}"
	paused := "rollout: {paused: {reason: audit}}"
	for _, test := range []struct {
		reason string
		fleet  string
		args   string
		code   int
		out    string
		err    string
		writes []string
		// has is what the Fleet has afterwards.
		has string
	}{
		{"all Fleets", fleetOf(channel, "Running", rolling), "list", 0, "NAME  VERSION  WAVE   TARGETS  UPDATED  SUCCEEDED  FAILED  BLOCKED  STATE\nshop  2.0.0    first  4        2        1          1       0        RollingOut\n", "", nil, ""},
		{"for programs", fleetOf(channel, "Running", rolling), "list -o json", 0, `"wave": "first"`, "", nil, ""},
		{"one by wave, with what holds it up, and nothing that a terminal obeys", fleetOf(channel, "Stopped", halted), "show shop", 0, "RolloutStopped: wave first: 1 of 2 have failed\nRevision shop-b, version 2.0.0; all Targets had shop-a last\n\nWAVE   STATE    TARGETS  UPDATED  SUCCEEDED  RUNNING  FAILED  BLOCKED\nfirst  Stopped  2        2        1          0        1       0\nrest   Waiting  2        0        0          0        0       0\n\nfirst\n├─ 1 of 2 have failed:", "", nil, ""},
		{"with its Installations", fleetOf(channel, "Stopped", halted), "show shop", 0, "└─ shop-x: Failed\n\nrest\n└─ shop-z: Succeeded, revision shop-a\n", "", nil, ""},
		{"those that have succeeded, too", fleetOf(channel, "Stopped", halted), "show shop --all", 0, "├─ shop-x: Failed\n└─ shop-y: Succeeded\n", "", nil, ""},
		{"no name", fleetOf(channel, "Running", rolling), "show", 64, "", "Error: NAME is missing", nil, ""},
		{"no such Fleet", fleetOf(channel, "Running", rolling), "show none", 3, "", "Error: ", nil, ""},
		{"a roll-out that has ended", fleetOf(channel, "Done", finished), "watch shop", 0, "UpToDate: first Done 1/2, rest Waiting 0/2\n", "", nil, ""},
		{"a roll-out that has stopped", fleetOf(channel, "Stopped", halted), "watch shop", 1, "RolloutStopped: ", "Error: the roll-out has stopped: wave first: 1 of 2 have failed", nil, ""},
		{"a promotion", fleetOf(channel, "Gated", rolling), "promote shop", 0, "wave first of Fleet shop is promoted for revision shop-b\n", "", []string{"PATCH " + path}, `"shop-b/first"`},
		{"a pause", fleetOf(channel, "Running", rolling), "pause shop --reason audit", 0, "Fleet shop begins no further Installation; jobs that run go on\n", "", []string{"PATCH " + path}, `"reason":"audit"`},
		{"the end of a pause", fleetOf(paused, "Running", rolling), "resume shop", 0, "Fleet shop goes on\n", "", []string{"PATCH " + path}, `"rollout":{}`},
		{"no pause that could end", fleetOf(channel, "Running", rolling), "resume shop", 1, "", "Error: the Fleet shop is not paused", nil, ""},
		{"the way back to what all had last", fleetOf(channel, "Stopped", halted), "go-back shop", 0, "Fleet shop rolls revision shop-a out, with version 1.0.0\nit does not follow its Channel any more", "", []string{"PUT " + path}, `"version":"1.0.0"}`},
		{"the way back to any that is kept", fleetOf(channel, "Stopped", halted), "go-back shop --to shop-0", 0, "Fleet shop rolls revision shop-0 out, with version 0.9.0\n", "", []string{"PUT " + path}, `"version":"0.9.0"}`},
		{"a revision of another Fleet", fleetOf(channel, "Stopped", halted), "go-back shop --to other", 1, "", "Error: the Fleet shop has no such revision", nil, ""},
	} {
		t.Run(test.reason, func(t *testing.T) {
			objects := []string{test.fleet, installation("shop-x", "first", "shop-b", "Failed"), installation("shop-y", "first", "shop-b", "Succeeded"), installation("shop-z", "rest", "shop-a", "Succeeded")}
			for name, version := range map[string]string{"shop-a": "1.0.0", "shop-b": "2.0.0", "shop-0": "0.9.0", "other": "7.0.0"} {
				owner := "u"
				if name == "other" {
					owner = "v"
				}
				objects = append(objects, fmt.Sprintf(`{apiVersion: apps/v1, kind: ControllerRevision, metadata: {name: %s, labels: {fleet.landscaper.dev/fleet: shop}, ownerReferences: [{apiVersion: fleet.landscaper.dev/v1alpha1, kind: Fleet, name: shop, uid: %s, controller: true}]}, revision: 1, data: {version: %s, template: {targetImport: cluster, spec: {blueprint: {ref: {resourceName: b}}}}}}`, name, owner, version))
			}
			s, c := connectiontest.New(t, objects...), &terminaltest.Console{}
			code := s.Run(t, c, NewCommand, terminaltest.Fields(test.args)...)
			if code != test.code || !strings.Contains(c.Out.String(), test.out) || !strings.HasPrefix(c.Err.String(), test.err) || strings.Contains(c.Out.String(), "\x1b") {
				t.Errorf("code %d, %q, %q", code, c.Out.String(), c.Err.String())
			}
			if !slices.Equal(s.Writes(), test.writes) {
				t.Errorf("it writes %v", s.Writes())
			}
			if text := s.Object(path); !strings.Contains(text, test.has) {
				t.Errorf("%s", text)
			}
		})
	}
}
