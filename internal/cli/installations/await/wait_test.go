package await

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/cli/connection"
	"go.landscaper.dev/internal/cli/connection/connectiontest"
	"go.landscaper.dev/internal/cli/terminal"
	"go.landscaper.dev/internal/cli/terminal/terminaltest"
	"go.landscaper.dev/internal/landscape/inspect"
)

const list = "/apis/landscaper.gardener.cloud/v1alpha1/namespaces/default/installations"

// manifest is an Installation whose last job is job; a job that runs has not finished.
func manifest(name, phase, job, finished string, more ...string) string {
	return fmt.Sprintf(`
apiVersion: landscaper.gardener.cloud/v1alpha1
kind: Installation
metadata: {name: %s, generation: 1%s}
status: {phase: %s, jobID: %s, jobIDFinished: %s, observedGeneration: 1}
`, name, strings.Join(more, ""), phase, job, finished)
}

// TestCommand: what a wait says and ends with, where the end is known from the beginning.
func TestCommand(t *testing.T) {
	objects := []string{
		manifest("good", "Succeeded", "j", "j"), manifest("bad", "Failed", "j", "j"), manifest("stuck", "DeleteFailed", "j", "j", `, deletionTimestamp: "2024-01-01T00:00:00Z"`),
		manifest("busy", "Progressing", "k", "j"), manifest("new", `""`, `""`, `""`), manifest("hostile", `"Suc\x1b[2Jceeded"`, "j", "j"),
	}
	for _, test := range []struct {
		reason, args string
		code         int
		out, err     string
	}{
		{"an Installation that has succeeded", "good", 0, "Installation good: Succeeded\n", ""},
		{"an Installation that is named twice is reported once", "good good", 0, "Installation good: Succeeded\n", ""},
		{"an Installation that has failed", "bad", 2, "", "Error: the Installation bad ended in phase Failed: "},
		{"a failed Installation ends the wait for all", "busy bad -q", 2, "", "Error: the Installation bad ended in phase Failed"},
		{"a failure that was waited for", "bad --for failed", 0, "Installation bad: Failed\n", ""},
		{"a success when a failure was waited for", "good --for failed", 1, "", "Error: the Installation good has not failed: it ended in phase Succeeded\n"},
		{"any end will do", "good bad --for finished", 0, "Installation bad: Failed\nInstallation good: Succeeded\n", ""},
		{"an Installation that does not exist counts as deleted", "none --for deleted", 0, "Installation none: deleted\n", ""},
		{"an Installation whose deletion has failed", "stuck --for deleted", 2, "", "Error: the Installation stuck ended in phase DeleteFailed"},
		{"nothing to wait for", "none", 3, "", "Error: there is no Installation none in namespace default"},
		{"one of two Installations does not exist", "good none", 3, "", "Error: there is no Installation none"},
		{"a phase on the way", "busy --for phase=Progressing", 0, "Installation busy: Progressing\n", ""},
		{"a field that is set", "good --for jsonpath={.status.jobID}", 0, "Installation good: Succeeded\n", ""},
		{"a field of a value", "busy --for jsonpath={.status.jobID}=k", 0, "Installation busy: Progressing\n", ""},
		{"a phase that acts on the terminal", "hostile --for jsonpath={.status.jobID}", 0, "Installation hostile: Suc?[2Jceeded\n", ""},
		{"the time is over", "busy --timeout 1ns -q", 5, "", "Error: after 1ns still waiting for busy\n"},
		{"an invalid limit", "busy --timeout soon", 64, "", `Error: invalid argument "soon" for "--timeout" flag`},
		{"an unknown goal", "busy --for glory", 64, "", `Error: invalid option for '--for' flag: "glory": use one of succeeded, failed, finished, deleted, phase=PHASE or jsonpath={.PATH}=VALUE` + "\n"},
		{"a path without braces", "busy --for jsonpath=.status", 64, "", "Error: jsonpath \".status\": write the path in braces"},
		{"a path that ends in the middle", "busy --for jsonpath={.status[}", 64, "", "Error: jsonpath \"{.status[}\": "},
		{"something behind the path", "busy --for jsonpath={.status}x", 64, "", "Error: jsonpath \"{.status}x\": write = and a value behind the path"},
		{"no name", "", 64, "", "Error: installationName was not defined: NAME is missing: name the Installation\nUsage:   wait NAME...\n"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			s := connectiontest.New(t, objects...)
			c := &terminaltest.Console{}
			if code := s.Run(t, c, NewCommand, terminaltest.Fields(test.args)...); code != test.code {
				t.Errorf("code %d, want %d", code, test.code)
			}
			if diff := cmp.Diff(test.out, c.Out.String()); diff != "" {
				t.Error(diff)
			}
			if got := c.Err.String(); !strings.HasPrefix(got, test.err) || test.err == "" && got != "" {
				t.Errorf("standard error %q, want %q", got, test.err)
			}
		})
	}
}

// TestInterrupted: who stops the wait hears what it was for.
func TestInterrupted(t *testing.T) {
	s := connectiontest.New(t, manifest("busy", "Progressing", "k", "j"))
	c := &terminaltest.Console{}
	stopped := func(streams terminal.Streams) *cobra.Command {
		command := NewCommand(streams)
		run := command.RunE
		command.RunE = func(command *cobra.Command, args []string) error {
			ctx, cancel := context.WithCancel(command.Context())
			cancel()
			command.SetContext(ctx)
			return run(command, args)
		}
		return command
	}
	if code := s.Run(t, c, stopped, "busy"); code != terminal.ExitInterrupted || c.Err.String() != "Error: interrupted while waiting for busy\n" {
		t.Errorf("code %d: %s", code, c.Err.String())
	}
}

// TestForbidden: a wait that can never see anything ends.
func TestForbidden(t *testing.T) {
	s := connectiontest.New(t)
	s.Refuse("GET "+list, 403, metav1.StatusReasonForbidden, "not\x1b[2J you")
	c := &terminaltest.Console{}
	if code := s.Run(t, c, NewCommand, "shop"); code != terminal.ExitForbidden || !strings.Contains(c.Err.String(), "not?[2J you") {
		t.Errorf("code %d: %q", code, c.Err.String())
	}
}

// TestLook: how a wait goes on, step by step, as the Installation changes.
func TestLook(t *testing.T) {
	object := func(phase, job, finished, uid string) *v1alpha1.Installation {
		i := &v1alpha1.Installation{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "shop", UID: "1"}}
		if uid != "" {
			i.UID = "2"
		}
		i.Status = v1alpha1.InstallationStatus{InstallationPhase: v1alpha1.InstallationPhase(phase), JobID: job, JobIDFinished: finished}
		return i
	}
	after := inspect.Start{UID: "1", AfterJob: true, JobID: "old"}
	for _, test := range []struct {
		reason string
		start  inspect.Start
		goal   inspect.Goal
		steps  []*v1alpha1.Installation
		open   bool
		out    string
		said   string
		err    string
	}{
		{"the earlier job does not count", after, inspect.GoalSucceeded, []*v1alpha1.Installation{object("Succeeded", "old", "old", "")}, true, "", "shop (Succeeded): the new job has not begun yet", ""},
		{"the job that follows counts", after, inspect.GoalSucceeded, []*v1alpha1.Installation{object("Succeeded", "old", "old", ""), object("Progressing", "new", "old", ""), object("Succeeded", "new", "new", "")}, false,
			"Installation shop: Succeeded\n", "shop (Progressing): the job is running", ""},
		{"the job that follows may fail", after, inspect.GoalSucceeded, []*v1alpha1.Installation{object("Progressing", "new", "old", ""), object("Failed", "new", "new", "")}, true, "", "shop (Progressing): the job is running", "the Installation shop ended in phase Failed: the job is running"},
		{"another Installation of the same name does not count", after, inspect.GoalSucceeded, []*v1alpha1.Installation{object("Succeeded", "new", "new", "2")}, true, "", "", "the Installation shop was deleted"},
		{"another Installation of the same name shows the deletion", after, inspect.GoalDeleted, []*v1alpha1.Installation{object("Deleting", "new", "old", ""), object("Succeeded", "new", "new", "2")}, false, "Installation shop: deleted\n", "shop (Deleting): the job is running", ""},
		{"the Installation is deleted during the wait", after, inspect.GoalFinished, []*v1alpha1.Installation{object("Progressing", "new", "old", ""), nil}, true, "", "shop (Progressing): the job is running", "the Installation shop was deleted"},
		{"an object that has no phase yet", after, inspect.GoalSucceeded, []*v1alpha1.Installation{object("", "new", "old", "")}, true, "", "shop (no phase): the job has not begun yet", ""},
	} {
		t.Run(test.reason, func(t *testing.T) {
			c := &terminaltest.Console{}
			w := New(c.Streams(), &connection.Connection{Namespace: "n"}, Flags{Goal: string(test.goal)}, map[string]inspect.Start{"shop": test.start})
			var err error
			for _, step := range test.steps {
				var snapshot inspect.Snapshot
				if step != nil {
					snapshot.Installations = []*v1alpha1.Installation{step}
				}
				err = w.look(snapshot)
			}
			if test.err == "" && err != nil || test.err != "" && (err == nil || err.Error() != test.err) {
				t.Errorf("%v, want %s", err, test.err)
			}
			if open := len(w.starts) > 0; open != test.open || c.Out.String() != test.out || w.said["shop"] != test.said {
				t.Errorf("open %t, said %q, out %q", open, w.said["shop"], c.Out.String())
			}
		})
	}
}

// TestProgress: a line is said once, is short, does not act on the terminal, and not all
// blockers are in it.
func TestProgress(t *testing.T) {
	root := &v1alpha1.Installation{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "shop"}}
	root.Status = v1alpha1.InstallationStatus{InstallationPhase: v1alpha1.InstallationPhases.Progressing, JobID: "k", ExecutionReference: &v1alpha1.ObjectReference{Name: "shop", Namespace: "n"}}
	execution := &v1alpha1.Execution{ObjectMeta: root.ObjectMeta}
	execution.Status.JobID = "k"
	snapshot := inspect.Snapshot{Installations: []*v1alpha1.Installation{root}, Executions: []*v1alpha1.Execution{execution}}
	for i := range 5 {
		item := &v1alpha1.DeployItem{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: fmt.Sprintf("item-%d", i), Labels: map[string]string{v1alpha1.ExecutionManagedByLabel: "shop"}}}
		item.Status = v1alpha1.DeployItemStatus{Phase: v1alpha1.DeployItemPhases.Failed, JobID: "k", JobIDFinished: "k", LastError: &v1alpha1.Error{Message: "no\nway\x1b[2J"}}
		snapshot.DeployItems = append(snapshot.DeployItems, item)
	}
	for _, test := range []struct {
		reason string
		quiet  bool
		change func()
		want   string
	}{
		{"the first three, and how many more", false, func() {}, "shop (Progressing): DeployItem item-0 (Failed): no way?[2J; DeployItem item-1 (Failed): no way?[2J; DeployItem item-2 (Failed): no way?[2J; and 2 more\n"},
		{"no progress is wanted", true, func() {}, ""},
		{"a long message is cut", false, func() { snapshot.DeployItems[0].Status.LastError.Message = strings.Repeat("x", 10000) }, "xxx…\n"},
		{"wide characters count twice", false, func() { snapshot.DeployItems[0].Status.LastError.Message = strings.Repeat("長", 10000) }, "長…\n"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			test.change()
			c := &terminaltest.Console{}
			w := New(c.Streams(), &connection.Connection{Namespace: "n"}, Flags{Goal: string(inspect.GoalSucceeded), quiet: test.quiet}, map[string]inspect.Start{"shop": {}})
			for range 3 {
				if err := w.look(snapshot); err != nil {
					t.Fatal(err)
				}
			}
			if got := c.Err.String(); !strings.HasSuffix(got, test.want) || strings.Count(got, "\n") > 1 || len(got) > 2000 {
				t.Errorf("%q", got)
			}
			if w.open() != w.said["shop"] || w.open() == "" {
				t.Errorf("what is still open: %q", w.open())
			}
		})
	}
}

// TestOpen: what a wait says at its end.
func TestOpen(t *testing.T) {
	for _, test := range []struct {
		reason     string
		said, lost string
		want       string
	}{
		{"nothing was said yet", "", "", "shop"},
		{"the last progress", "shop (Progressing): the job is running", "", "shop (Progressing): the job is running"},
		{"the last progress, and the lost connection", "shop (Init)", "the connection is lost", "shop (Init); the connection is lost"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			w := New((&terminaltest.Console{}).Streams(), nil, Flags{}, map[string]inspect.Start{"shop": {}})
			w.said["shop"], w.line.Lost = test.said, test.lost
			if got := w.open(); got != test.want {
				t.Error(got)
			}
		})
	}
}
