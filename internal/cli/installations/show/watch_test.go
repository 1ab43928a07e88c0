package show

import (
	"context"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.landscaper.dev/internal/cli/connection/connectiontest"
	"go.landscaper.dev/internal/cli/terminal"
	"go.landscaper.dev/internal/cli/terminal/terminaltest"
	"go.landscaper.dev/internal/landscape/inspect"
)

// TestPictureOfYesterday: a picture without a connection says so, in the width of the
// terminal.
func TestPictureOfYesterday(t *testing.T) {
	c := &terminaltest.Console{Columns: 30}
	f := &inspectFlags{}
	if err := f.redraw(c.Streams(), nil, strings.Repeat("lost ", 20), time.Now()); err != nil {
		t.Fatal(err)
	}
	first, _, _ := strings.Cut(strings.TrimPrefix(c.Out.String(), cursorHome), terminal.ClearRight)
	if len(first) != 30 || !strings.HasPrefix(first, "lost lost") || !strings.HasSuffix(first, "...") {
		t.Errorf("%q", c.Out.String())
	}
}

// TestChangeLog: a line for each object whose state has changed, in the order of the tree,
// and deleted ones by their names.
func TestChangeLog(t *testing.T) {
	nodes := func(phases ...string) []*inspect.Node {
		var all []*inspect.Node
		for i, phase := range phases {
			if phase != "" {
				all = append(all, &inspect.Node{Kind: inspect.KindInstallation, Namespace: "n", Name: string(rune('a' + i)), Phase: phase, JobID: "j", State: inspect.Running})
			}
		}
		return all
	}
	changes := changeLog{began: time.Now(), said: map[string]string{}}
	for _, step := range []struct {
		reason string
		trees  []*inspect.Node
		want   []string
		hidden bool
	}{
		{"all are new", nodes("Init", "Init", "Init"), []string{"a: Init", "b: Init", "c: Init"}, false},
		{"nothing has changed", nodes("Init", "Init", "Init"), nil, false},
		{"one object has changed", nodes("Init", "Deleting", "Init"), []string{"b: Deleting"}, false},
		{"all objects are hidden, which is not a deletion", nodes("Init", "Deleting", "Init"), nil, true},
		{"all objects are deleted", nil, []string{"a: deleted", "b: deleted", "c: deleted"}, false},
		{"a deletion is reported once", nil, nil, false},
		{"a deleted object comes back", nodes("", "Init"), []string{"b: Init"}, false},
		{"a state with control characters does not act on the terminal", nodes("", "I\x1b[2J"), []string{"b: I?[2J"}, false},
	} {
		c := &terminaltest.Console{}
		shown := step.trees
		if step.hidden {
			shown = nil
		}
		if err := changes.write(c.Streams(), shown, step.trees); err != nil {
			t.Fatal(err)
		}
		var got []string
		for line := range strings.Lines(c.Out.String()) {
			_, line, _ = strings.Cut(strings.TrimSpace(line), "Installation n/")
			got = append(got, line)
		}
		if !slices.Equal(got, step.want) {
			t.Errorf("%s: %q, want %q", step.reason, got, step.want)
		}
	}
}

// atFirst does something when a command prints for the first time.
type atFirst struct {
	io.Writer
	do   func()
	once sync.Once
}

// Write implements io.Writer.
func (w *atFirst) Write(text []byte) (int, error) {
	w.once.Do(w.do)
	return w.Writer.Write(text)
}

// TestEndOfWatch: what ends a watch of a user.
func TestEndOfWatch(t *testing.T) {
	const busy = `
apiVersion: landscaper.gardener.cloud/v1alpha1
kind: Installation
metadata: {name: busy}
status: {phase: Progressing, jobID: j2, jobIDFinished: j1}
`
	const path = "/apis/landscaper.gardener.cloud/v1alpha1/namespaces/default/installations/busy"
	interrupt := func(_ *connectiontest.Server, cancel func()) { cancel() }
	drop := func(s *connectiontest.Server, _ func()) { s.Drop(path) }
	for _, test := range []struct {
		reason, args string
		first        func(*connectiontest.Server, func())
		code         int
		out          string
	}{
		{"the job runs until the user interrupts the watch", "busy -W --until finished", interrupt, 130, "Installation default/busy: Progressing"},
		{"the job runs, and no failed object is shown", "busy -W -f --until finished", interrupt, 130, ""},
		{"the Installation was deleted, which ends the wait for its end", "busy -W --until finished", drop, 0, "Installation default/busy: deleted"},
		{"the Installation was deleted, which ends a watch without an end", "busy -W", drop, 0, "Installation default/busy: deleted"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			s := connectiontest.New(t, busy)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			c := &terminaltest.Console{}
			streams := c.Streams()
			streams.Out = &atFirst{Writer: &c.Out, do: func() { test.first(s, cancel) }}
			if code := s.RunUntil(ctx, t, streams, NewInspectCommand, terminaltest.Fields(test.args)...); code != test.code {
				t.Errorf("code %d, want %d: %s", code, test.code, c.Err.String())
			}
			if got := c.Out.String(); !strings.Contains(got, test.out) || test.out == "" && got != "" {
				t.Errorf("printed %q, want %q", got, test.out)
			}
		})
	}
}
