package jobs

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"go.landscaper.dev/internal/cli/connection/connectiontest"
	"go.landscaper.dev/internal/cli/terminal"
	"go.landscaper.dev/internal/cli/terminal/terminaltest"
)

// landscape is a root with a part, whose third job runs. The name of the client is the client's own.
var landscape = []string{`
apiVersion: landscaper.gardener.cloud/v1alpha1
kind: Installation
metadata: {name: shop, uid: u1, generation: 2}
spec: {componentDescriptor: {ref: {componentName: example.org/shop, version: 1.1.0}}, blueprint: {ref: {resourceName: blueprint}}}
status:
  phase: Progressing
  jobID: 9e6d3725-152b-44cd-b0d2-aac9f3b65c50
  jobIDFinished: 57f02bd1-152b-44cd-b0d2-aac9f3b65c50
  observedGeneration: 2
  transitionTimes: {triggerTime: "2026-01-01T12:00:00Z"}
  history:
  - {jobID: 9e6d3725-152b-44cd-b0d2-aac9f3b65c50, trigger: schedule}
  - jobID: 57f02bd1-152b-44cd-b0d2-aac9f3b65c50
    trigger: reconcile
    requestedBy: "me\x1b[2J"
    phase: Failed
    reason: Timeout
    generation: 2
    component: example.org/shop:1.1.0
    importsHash: bbbbbbbbbbbb
    objects: {created: 1, changed: 12}
    imports: [{name: host, fingerprint: h1}, {name: size, fingerprint: s2}]
    start: "2026-01-01T11:00:00Z"
    preparing: 2s
    running: 1m5s
  - jobID: 57f0aaaa-152b-44cd-b0d2-aac9f3b65c50
    trigger: change
    overridden: {policy: freeze, by: ops}
    phase: Succeeded
    generation: 1
    component: example.org/shop:1.0.0
    importsHash: aaaaaaaaaaaa
    imports: [{name: host, fingerprint: h1}, {name: size, fingerprint: s1}]
    start: "2026-01-01T10:00:00Z"
    running: 20s
  - {jobID: 11111111-152b-44cd-b0d2-aac9f3b65c50, phase: Succeeded, generation: 1, importsHash: aaaaaaaaaaaa}
`, `
apiVersion: landscaper.gardener.cloud/v1alpha1
kind: Installation
metadata:
  name: shop-web
  uid: u2
  labels: {landscaper.gardener.cloud/encompassed-by: shop}
  annotations: {landscaper.gardener.cloud/subinstallation-name: web}
  ownerReferences: [{apiVersion: landscaper.gardener.cloud/v1alpha1, kind: Installation, name: shop, uid: u1, controller: true}]
spec: {blueprint: {ref: {resourceName: web}}}
status:
  history:
  - {jobID: 57f02bd1-152b-44cd-b0d2-aac9f3b65c50, trigger: parent, phase: Failed, reason: Timeout, running: 1m}
  - {jobID: 57f0aaaa-152b-44cd-b0d2-aac9f3b65c50, trigger: parent, phase: Succeeded, running: 10s}
`, `
apiVersion: landscaper.gardener.cloud/v1alpha1
kind: Installation
metadata: {name: fresh, uid: u3}
spec: {blueprint: {ref: {resourceName: web}}}
`}

const newest = `JOB        STARTED                BY                     GENERATION   COMPONENT                IMPORTS        OBJECTS     QUEUED   PREPARING   RUNNING   RESULT
9e6d3725   2026-01-01T12:00:00Z   schedule               -            -                        -              -           -        -           -         running
57f02bd1   2026-01-01T11:00:00Z   reconcile, by me?[2J   2            example.org/shop:1.1.0   bbbbbbbbbbbb   +1 ~12 -0   0s       2s          1m5s      Failed (Timeout)
`

const difference = `  JOB           57f0aaaa                           57f02bd1
~ result        Succeeded                          Failed (Timeout)
~ generation    1                                  2
~ component     example.org/shop:1.0.0             example.org/shop:1.1.0
  objects       -                                  +1 ~12 -0
  import host   h1                                 h1
~ import size   s1                                 s2
  by            change; overrides freeze, by ops   reconcile, by me?[2J
  started       2026-01-01T10:00:00Z               2026-01-01T11:00:00Z
  queued        0s                                 0s
  preparing     0s                                 2s
  running       20s                                1m5s
~ in web        Succeeded in 10s                   Failed (Timeout) in 1m0s   phase reason
`

// TestCommands: what each command prints and ends with.
func TestCommands(t *testing.T) {
	for _, test := range []struct {
		reason    string
		command   func(terminal.Streams) *cobra.Command
		args      string
		code      int
		out, errs string
	}{
		{"the newest jobs", NewHistoryCommand, "shop --limit 2", 0, newest + "2 older ones are not shown.\n", ""},
		{"no job yet", NewHistoryCommand, "fresh", 0, "The Installation fresh has had no job.\n", ""},
		{"an Installation that does not exist", NewHistoryCommand, "none", 3, "", "Error: there is no Installation none"},
		{"no name", NewHistoryCommand, "", 64, "", "Error: installationName was not defined"},
		{"a limit below nothing", NewHistoryCommand, "shop --limit -1", 64, "", "Error: invalid option for '--limit' flag"},
		{"a form that does not exist", NewHistoryCommand, "shop -o wide", 64, "", `Error: invalid option for '--output'/'-o' flag: "wide"`},
		{"two jobs in any order, by beginnings of their IDs", NewDiffCommand, "shop 57f02 57f0aaaa", 0, difference, ""},
		{"a job and the one before", NewDiffCommand, "shop 57f02", 0, difference, ""},
		{"a beginning of two", NewDiffCommand, "shop 57f0", 1, "", `Error: several jobs begin with "57f0"`},
		{"a job that is not recorded", NewDiffCommand, "shop 57f02 abcd", 1, "", `Error: the history has no job "abcd"`},
		{"nothing to compare with", NewDiffCommand, "shop 11111111", 1, "", "Error: the history of Installation shop has no two jobs to compare"},
		{"three jobs", NewDiffCommand, "shop a b c", 64, "", "Error: \"c\" is too much"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			s := connectiontest.New(t, landscape...)
			c := &terminaltest.Console{}
			if code := s.Run(t, c, test.command, terminaltest.Fields(test.args)...); code != test.code {
				t.Errorf("code %d, want %d", code, test.code)
			}
			if diff := cmp.Diff(test.out, c.Out.String()); diff != "" {
				t.Error(diff)
			}
			if got := c.Err.String(); !strings.HasPrefix(got, test.errs) || test.errs == "" && got != "" {
				t.Errorf("standard error %q, want %q", got, test.errs)
			}
			if len(s.Writes()) > 0 {
				t.Errorf("changed %s", s.Writes())
			}
		})
	}
}

// TestForPrograms: each job has its imports, also where jobs share a list.
func TestForPrograms(t *testing.T) {
	for _, test := range []struct {
		reason  string
		command func(terminal.Streams) *cobra.Command
		args    string
		want    []string
	}{
		{"jobs", NewHistoryCommand, "shop -o json", []string{`"kind": "InstallationHistory"`, `"requestedBy": "me\u001b[2J"`, `"running": "1m5s"`}},
		{"no jobs are an empty list", NewHistoryCommand, "fresh -o json", []string{`"jobs": []`}},
		{"a limit", NewHistoryCommand, "shop --limit 1 -o json", []string{`"more": 3`}},
		{"jobs in YAML", NewHistoryCommand, "shop -o yaml", []string{"kind: InstallationHistory\n", "requestedBy:"}},
		{"a comparison", NewDiffCommand, "shop 57f02 57f0aaaa -o json", []string{`"kind": "JobComparison"`, `"title": "web"`, `"differs": [`, `"earlier": "s1"`}},
		{"a comparison in YAML", NewDiffCommand, "shop 57f02 -o yaml", []string{"kind: JobComparison\n", "title: web\n"}},
	} {
		t.Run(test.reason, func(t *testing.T) {
			s := connectiontest.New(t, landscape...)
			c := &terminaltest.Console{}
			if code := s.Run(t, c, test.command, terminaltest.Fields(test.args)...); code != 0 || c.Err.Len() > 0 {
				t.Fatalf("code %d: %s", code, c.Err.String())
			}
			for _, want := range test.want {
				if !strings.Contains(c.Out.String(), want) {
					t.Errorf("%s is missing in %s", want, c.Out.String())
				}
			}
		})
	}
	s, c := connectiontest.New(t, landscape...), &terminaltest.Console{}
	s.Run(t, c, NewHistoryCommand, "shop", "-o", "json")
	var view listed
	if err := json.Unmarshal(c.Out.Bytes(), &view); err != nil || len(view.Jobs) != 4 || len(view.Jobs[3].Imports) != 2 {
		t.Errorf("%v: %+v", err, view)
	}
}
