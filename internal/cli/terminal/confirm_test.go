package terminal_test

import (
	"strings"
	"testing"

	"go.landscaper.dev/internal/cli/terminal/terminaltest"
)

func TestConfirm(t *testing.T) {
	for _, test := range []struct {
		reason   string
		terminal bool
		agreed   bool
		answer   string
		want     bool
	}{
		{"a script has no user to ask", false, false, "", true},
		{"agreed in advance", true, true, "", true},
		{"yes", true, false, "Yes\n", true},
		{"in short", true, false, "y", true},
		{"no", true, false, "n\n", false},
		{"just enter", true, false, "\n", false},
		{"the end of the input", true, false, "", false},
	} {
		t.Run(test.reason, func(t *testing.T) {
			c := &terminaltest.Console{}
			s := c.Streams()
			s.In, s.Terminal = strings.NewReader(test.answer), test.terminal
			if err := s.Confirm("Go on?", test.agreed); (err == nil) != test.want {
				t.Errorf("%v", err)
			}
			if asked := c.Err.Len() > 0; asked != (test.terminal && !test.agreed) {
				t.Errorf("asked: %q", c.Err.String())
			}
		})
	}
}
