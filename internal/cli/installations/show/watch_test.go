package show

import (
	"strings"
	"testing"
	"time"

	"go.landscaper.dev/internal/cli/terminal"
	"go.landscaper.dev/internal/cli/terminal/terminaltest"
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
