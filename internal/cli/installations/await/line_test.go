package await

import (
	"errors"
	"testing"
)

// TestLine: a connection is spoken about when it goes and when it comes back.
func TestLine(t *testing.T) {
	refused := errors.New("connection\nrefused\x1b[2J")
	const lost = "the connection to the API server is lost: connection refused?[2J"
	var l Line
	for _, step := range []struct {
		reason string
		err    error
		want   string
	}{
		{"all is well", nil, ""},
		{"the connection is lost", refused, lost + "; trying again"},
		{"the connection is still lost", refused, ""},
		{"the connection is back", nil, "the connection to the API server is back"},
		{"the connection stays", nil, ""},
	} {
		if got := l.News(step.err); got != step.want || step.err != nil && l.Lost != lost || step.err == nil && l.Lost != "" {
			t.Errorf("%s: %q, lost %q", step.reason, got, l.Lost)
		}
	}
}
