package story

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/mattn/go-runewidth"

	"go.landscaper.dev/internal/cli/terminal"
	"go.landscaper.dev/internal/cli/treeview"
)

const (
	// widest is the width of a line without a terminal, and on a wide one: the eye finds the
	// duration that belongs to a step.
	widest = 80
	// unknown is the width of a terminal that does not say how wide it is.
	unknown = 80
	// nameShare is the percentage of a narrow line that the name of a step keeps beside
	// what the step waits for.
	nameShare = 40
)

// mark is a sign before a step.
type mark struct {
	symbol, ascii string
	color         int
}

var (
	runs   = mark{"▸", ">", 33}
	done   = mark{"✔", "+", 32}
	failed = mark{"✘", "x", 31}
)

func (m mark) on(streams terminal.Streams) string {
	symbol := m.symbol
	if streams.ASCII() {
		symbol = m.ascii
	}
	if streams.Color() {
		return fmt.Sprintf("\x1b[%dm%s\x1b[0m", m.color, symbol)
	}
	return symbol
}

// endLine is the line of a step that has ended: its duration is at the right.
func endLine(streams terminal.Streams, name string, good bool, took time.Duration) string {
	sign, end := done, fmt.Sprintf("%.1f s", took.Seconds())
	if !good {
		sign, end = failed, "failed after "+end
	}
	name = terminal.OneLine(name)
	space := columns(streams) - len("x ") - len(" ") - len(end)
	if streams.Terminal {
		name = cut(streams, name, space)
	}
	return sign.on(streams) + " " + name + strings.Repeat(" ", max(1, space+1-runewidth.StringWidth(name))) + end
}

// runningLine is the line of a step that runs, with what it waits for.
func runningLine(streams terminal.Streams, name, waiting string, since time.Duration) string {
	elapsed := " " + treeview.Duration(since)
	name, waiting = terminal.OneLine(name), terminal.OneLine(waiting)
	space := width(streams) - len("x ") - len(elapsed)
	if waiting != "" {
		waiting = "  " + waiting
		name = cut(streams, name, max(space*nameShare/100, space-runewidth.StringWidth(waiting)))
		waiting = cut(streams, waiting, space-runewidth.StringWidth(name))
	}
	return runs.on(streams) + " " + cut(streams, name, space) + elapsed + waiting
}

// width is that of the terminal without its last column: a character there may move the cursor to the
// next line, and the line could not be replaced.
func width(streams terminal.Streams) int {
	if columns := streams.Columns(); columns > 0 {
		return columns - 1
	}
	return unknown - 1
}

// columns is the width of the lines of steps that have ended.
func columns(streams terminal.Streams) int {
	if !streams.Terminal {
		return widest
	}
	return min(width(streams), widest)
}

func cut(streams terminal.Streams, text string, columns int) string {
	end := "…"
	if streams.ASCII() {
		end = "..."
	}
	return runewidth.Truncate(text, max(columns, 0), end)
}

// clock is the time before a line of progress; the story has its own.
var clock = regexp.MustCompile(`^\s*(\d+[hms])+\s{2,}`)

// wait reads a line of progress.
func wait(line string) string {
	line = strings.TrimPrefix(clock.ReplaceAllString(line, ""), "lab: ")
	return terminal.OneLine(line)
}
