package world

import (
	"fmt"
	"strings"
)

// entry is a line of a trace. It becomes a text when it is shown.
type entry struct {
	format string
	args   []any
}

// Note adds a line to the trace.
func (w *World) Note(format string, args ...any) {
	w.Trace = append(w.Trace, entry{format, args})
}

// Last returns the last lines of the trace.
func (w *World) Last(lines int) string {
	var text strings.Builder
	for _, e := range w.Trace[max(0, len(w.Trace)-lines):] {
		_, _ = fmt.Fprintf(&text, e.format+"\n", e.args...)
	}
	return text.String()
}

// Violate notes that an invariant does not hold.
func (w *World) Violate(format string, args ...any) {
	if w.Broken == nil {
		w.Broken = fmt.Errorf(format, args...)
		w.Note("BROKEN: %v", w.Broken)
	}
}
