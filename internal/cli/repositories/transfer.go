package repositories

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/term"

	"go.landscaper.dev/internal/cli/terminal"
)

const (
	// redrawAfter is how often a terminal shows a new number, and lineAfter how
	// often a file gets a new line.
	redrawAfter = 100 * time.Millisecond
	lineAfter   = 5 * time.Second
)

// Transfer tells on the standard error how far something is: on a terminal in
// one line that changes, else in a line every few seconds.
type Transfer struct {
	out      io.Writer
	terminal bool
	quiet    bool
	now      func() time.Time

	mu           sync.Mutex
	what         string
	began, shown time.Time
	done, total  int64
	// open is true while the terminal's line is not complete.
	open bool
	// writing is how many contents are written at the moment.
	writing int
}

// NewTransfer returns what tells on the standard error, or nothing if it is to be
// quiet.
func NewTransfer(streams terminal.Streams, quiet bool) *Transfer {
	return &Transfer{out: streams.Err, terminal: isTerminal(streams.Err), quiet: quiet, now: time.Now}
}

func isTerminal(stream io.Writer) bool {
	switch stream := stream.(type) {
	case interface{ IsTerminal() bool }:
		return stream.IsTerminal()
	case *os.File:
		return term.IsTerminal(int(stream.Fd()))
	}
	return false
}

// begin starts to count for something.
func (p *Transfer) begin(what string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.what, p.done, p.total = what, 0, 0
	p.began = p.now()
	p.shown = p.began
}

// beginOne starts to count for one of several contents that are written at once.
func (p *Transfer) beginOne(what string, size int64) {
	p.mu.Lock()
	p.writing++
	several := p.writing > 1
	if several {
		p.what = "writing several contents"
	}
	p.mu.Unlock()
	if !several {
		p.begin(what)
	}
	p.expect(size)
}

// endOne ends what beginOne has begun; the last one removes the line of a terminal.
func (p *Transfer) endOne() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.writing--; p.writing == 0 {
		p.clear()
	}
}

// Reading tells how much of the content of a resource has come.
func (p *Transfer) Reading(resource string, done, total int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	if p.shown.IsZero() {
		p.shown = now
	}
	text := "reading " + terminal.Printable(shortened(resource)) + ": " + ByteSize(done)
	if total > 0 {
		text += " of " + ByteSize(total)
	}
	p.tell(now, text)
}

// expect adds bytes to what is to come; a negative number means that it is not
// known any more.
func (p *Transfer) expect(bytes int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if bytes < 0 || p.total < 0 {
		p.total = -1
		return
	}
	p.total += bytes
}

// add counts bytes that have been moved.
func (p *Transfer) add(bytes int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done += int64(bytes)
	now := p.now()
	p.tell(now, p.line(now))
}

// tell shows a text if it is time for one.
func (p *Transfer) tell(now time.Time, text string) {
	after := lineAfter
	if p.terminal {
		after = redrawAfter
	}
	if p.quiet || now.Sub(p.shown) < after {
		return
	}
	p.shown = now
	if p.terminal {
		fmt.Fprintf(p.out, "\r%s%s", text, terminal.ClearRight)
		p.open = true
		return
	}
	if p.began.IsZero() {
		p.began = now
	}
	fmt.Fprintf(p.out, "%4s  %s\n", now.Sub(p.began).Round(time.Second), text)
}

func (p *Transfer) line(now time.Time) string {
	text := p.what + ": " + ByteSize(p.done)
	if p.total > 0 {
		text += fmt.Sprintf(" of %s (%d%%)", ByteSize(p.total), min(100*p.done/p.total, 100))
	}
	if elapsed := now.Sub(p.began); elapsed > 0 {
		text += ", " + ByteSize(int64(float64(p.done)/elapsed.Seconds())) + "/s"
	}
	return text
}

// End removes the line of a terminal.
func (p *Transfer) End() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clear()
}

func (p *Transfer) clear() {
	if p.open {
		fmt.Fprint(p.out, "\r"+terminal.ClearRight)
		p.open = false
	}
}

// Say prints a line of its own.
func (p *Transfer) Say(line string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.quiet {
		return
	}
	p.clear()
	fmt.Fprintln(p.out, line)
}

// ByteSize is a number of bytes for people.
func ByteSize(bytes int64) string {
	if bytes < 1024 {
		return fmt.Sprintf("%d B", bytes)
	}
	value := float64(bytes)
	for _, unit := range []string{"KiB", "MiB", "GiB"} {
		value /= 1024
		if value < 1024 || unit == "GiB" {
			return fmt.Sprintf("%.1f %s", value, unit)
		}
	}
	return ""
}
