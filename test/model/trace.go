package model

import (
	"fmt"
	"strings"
)

// entry is a line of a trace. It becomes a text when it is shown.
type entry struct {
	format string
	args   []any
}

func (w *world) note(format string, args ...any) {
	w.trace = append(w.trace, entry{format, args})
}

// last returns the last lines of the trace.
func (w *world) last(lines int) string {
	var text strings.Builder
	for _, e := range w.trace[max(0, len(w.trace)-lines):] {
		_, _ = fmt.Fprintf(&text, e.format+"\n", e.args...)
	}
	return text.String()
}

// violate notes that an invariant does not hold.
func (w *world) violate(format string, args ...any) {
	if w.broken == nil {
		w.broken = fmt.Errorf(format, args...)
		w.note("BROKEN: %v", w.broken)
	}
}
