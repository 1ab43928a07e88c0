package treeview

import (
	"fmt"
	"strings"
	"time"

	"github.com/mattn/go-runewidth"

	"go.landscaper.dev/internal/landscape/inspect"
)

// settled tells that nothing is going on in a tree, and that nothing is wrong.
func settled(node *inspect.Node) bool {
	if !node.Ready || node.Outdated {
		return false
	}
	for _, child := range node.Children {
		if !settled(child) {
			return false
		}
	}
	return true
}

// live tells behind a headline how long an object has been in its phase, or what a
// settled object hides.
func (p *printer) live(node *inspect.Node) string {
	if p.options.Live.IsZero() {
		return ""
	}
	if settled(node) {
		switch hidden := size(node) - 1; hidden {
		case 0:
			return ""
		case 1:
			return " (and 1 object)"
		default:
			return fmt.Sprintf(" (and %d objects)", hidden)
		}
	}
	if since := node.Since(); since != nil && node.State != inspect.Failed {
		return " " + Duration(p.options.Live.Sub(since.Time))
	}
	return ""
}

func size(node *inspect.Node) int {
	count := 0
	node.Walk(func(*inspect.Node) { count++ })
	return count
}

// waits tells what an object is waiting for, if none below it tells more.
func waits(node *inspect.Node) string {
	if node.Ready || node.State == inspect.Failed {
		return ""
	}
	for _, child := range node.Children {
		if !settled(child) {
			return ""
		}
	}
	why := node.Why()
	if why == "" {
		return ""
	}
	return onTarget(node) + why
}

// State tells in a line how an object stands, and what it waits for or has failed of.
func State(node *inspect.Node) string {
	why := waits(node)
	if node.State == inspect.Failed {
		why = node.Why()
	}
	switch {
	case node.Phase == "":
		return why
	case why == "":
		return node.Phase
	}
	return node.Phase + ": " + why
}

// Duration writes a time as short as a glance needs.
func Duration(d time.Duration) string {
	switch {
	case d < 0:
		return "0s"
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
	}
	return fmt.Sprintf("%dd", int(d.Hours())/24)
}

// leastName is what is left of a name before what follows it is given up.
const leastName = 6

// fit shortens a name so that it and the text after it fit behind the text before: a
// picture that is drawn again in its place must keep its number of lines.
func (p *printer) fit(before, name, after string) string {
	space := p.options.Columns - runewidth.StringWidth(before)
	if p.options.Live.IsZero() || p.options.Columns == 0 || runewidth.StringWidth(name+after) <= space {
		return name + after
	}
	if space-runewidth.StringWidth(after) < leastName {
		after = ""
	}
	return runewidth.Truncate(name, max(space-runewidth.StringWidth(after), 1), p.glyphs.cut) + after
}

// Cut shortens a line to the width of a terminal, if that is known.
func Cut(line string, columns int) string {
	if columns <= 0 {
		return line
	}
	return runewidth.Truncate(line, columns, "...")
}

// Clip cuts a picture to a number of lines, the last of which tells how many are missing.
func Clip(picture string, rows int) string {
	lines := strings.SplitAfter(picture, "\n")
	if rows < 2 || len(lines) <= rows {
		return picture
	}
	kept := rows - 1
	return strings.Join(lines[:kept-1], "") + fmt.Sprintf("... %d more lines\n", len(lines)-kept)
}
