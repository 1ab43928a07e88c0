package installations

import (
	"errors"
	"strings"
	"testing"
	"time"

	"go.landscaper.dev/internal/cli/terminal"
	"go.landscaper.dev/internal/cli/terminal/terminaltest"
)

// TestLine: a connection is spoken about when it goes and when it comes back.
func TestLine(t *testing.T) {
	refused := errors.New("connection\nrefused\x1b[2J")
	const lost = "the connection to the API server is lost: connection refused?[2J"
	var l line
	for _, step := range []struct {
		reason string
		err    error
		want   string
	}{
		{"all is well", nil, ""},
		{"it goes", refused, lost + "; trying again"},
		{"it is still away", refused, ""},
		{"it comes back", nil, "the connection to the API server is back"},
		{"it stays", nil, ""},
	} {
		if got := l.news(step.err); got != step.want || step.err != nil && l.lost != lost || step.err == nil && l.lost != "" {
			t.Errorf("%s: %q, lost %q", step.reason, got, l.lost)
		}
	}
}

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
