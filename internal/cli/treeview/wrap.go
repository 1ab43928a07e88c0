package treeview

import (
	"strconv"
	"strings"

	"github.com/mattn/go-runewidth"

	"go.landscaper.dev/internal/cli/terminal"
)

const (
	// textWidth is where lines are cut if the width of the terminal is not known.
	textWidth = 120
	// leastWidth is what a deep tree leaves to its texts on a narrow terminal.
	leastWidth = 30
)

// lines prints a text with a prefix before each line. What follows a line that
// was cut is indented.
func (p *printer) lines(lines []string, prefix, indent string) {
	width := textWidth
	if p.options.Columns > 0 {
		width = max(p.options.Columns-runewidth.StringWidth(prefix), leastWidth)
	}
	for _, line := range lines {
		line = printable(line)
		if p.options.NoWrap {
			p.text.WriteString(prefix + line + "\n")
			continue
		}
		text, command := line, ""
		// A picture that is drawn again knows how many lines it has.
		if runewidth.StringWidth(line) > width && p.options.Live.IsZero() {
			text, command = cutCommand(line)
		}
		before := ""
		for _, piece := range Wrap(text, width, len(indent)) {
			p.text.WriteString(prefix + before + piece + "\n")
			before = indent
		}
		if command != "" {
			p.text.WriteString(prefix + indent + command + "\n")
		}
	}
}

// cutCommand divides a line that ends with a command to run. A command is not cut, so that it can be
// copied: the terminal goes on in its next line.
func cutCommand(line string) (text, command string) {
	at := strings.LastIndex(line, ": landscaper-cli ")
	if at < 0 {
		return line, ""
	}
	return line[:at+1], line[at+2:]
}

// Wrap cuts a line into pieces that are not wider than a width, between words if
// possible. All but the first piece are narrower by the indent.
func Wrap(line string, width, indent int) []string {
	var pieces []string
	for runewidth.StringWidth(line) > width {
		head := runewidth.Truncate(line, width, "")
		// A blank within reach is better than a torn word, but not one in the
		// indentation of the line.
		if at := strings.LastIndexByte(line[:min(len(head)+1, len(line))], ' '); strings.TrimSpace(head[:max(at, 0)]) != "" {
			head = line[:at]
		}
		if head == "" {
			break
		}
		pieces = append(pieces, head)
		line = strings.TrimPrefix(line[len(head):], " ")
		if len(pieces) == 1 {
			width -= indent
		}
	}
	return append(pieces, line)
}

// printable shows control characters instead of handing them to the terminal:
// messages come from other clusters.
func printable(text string) string {
	if strings.IndexFunc(text, isControl) < 0 {
		return text
	}
	var safe strings.Builder
	for _, char := range text {
		if isControl(char) {
			safe.WriteString(strings.Trim(strconv.QuoteRuneToASCII(char), "'"))
			continue
		}
		safe.WriteRune(char)
	}
	return safe.String()
}

// isControl covers all that does something to a terminal but the tabulator.
func isControl(char rune) bool { return char != '\t' && terminal.Controls(char) }
