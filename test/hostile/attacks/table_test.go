package attacks

import (
	"fmt"
	"io"
	"sync"
	"text/tabwriter"
	"time"
)

// line is a row of the table.
type line struct {
	attack, reason string
	peak           int64
	slowest, usual time.Duration
	ended, verdict string
}

type table struct {
	mutex sync.Mutex
	lines []line
}

// results is the table of all rows.
var results table

func (t *table) add(l line) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.lines = append(t.lines, l)
}

// write prints the table.
func (t *table) write(out io.Writer) error {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if len(t.lines) == 0 {
		return nil
	}
	w := tabwriter.NewWriter(out, 0, 0, 1, ' ', 0)
	_, _ = fmt.Fprintln(w, "| attack\t| peak memory\t| slowest honest Installation\t| how the attack ended\t| verdict\t|")
	_, _ = fmt.Fprintln(w, "|---\t|---\t|---\t|---\t|---\t|")
	for _, l := range t.lines {
		_, _ = fmt.Fprintf(w, "| %s\t| %d MiB\t| %.2f s, usually %.2f s\t| %s\t| %s\t|\n", l.reason, l.peak>>20, l.slowest.Seconds(), l.usual.Seconds(), l.ended, l.verdict)
	}
	return w.Flush()
}
