package show

import (
	"slices"
	"strings"
	"testing"
	"time"

	"go.landscaper.dev/internal/cli/terminal"
	"go.landscaper.dev/internal/cli/terminal/terminaltest"
	"go.landscaper.dev/internal/inspect"
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
// and those that are gone by their names.
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
	}{
		{"all are new", nodes("Init", "Init", "Init"), []string{"a: Init", "b: Init", "c: Init"}},
		{"nothing has changed", nodes("Init", "Init", "Init"), nil},
		{"one has", nodes("Init", "Deleting", "Init"), []string{"b: Deleting"}},
		{"all are gone", nil, []string{"a: deleted", "b: deleted", "c: deleted"}},
		{"which is said once", nil, nil},
		{"one comes back", nodes("", "Init"), []string{"b: Init"}},
		{"and acts on the terminal", nodes("", "I\x1b[2J"), []string{"b: I?[2J"}},
	} {
		c := &terminaltest.Console{}
		if err := changes.write(c.Streams(), step.trees); err != nil {
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
