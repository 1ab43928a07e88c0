package main

import (
	"fmt"
	"html"
	"strings"

	"github.com/mattn/go-runewidth"
)

// line is a line of the terminal.
type line struct {
	text  string
	typed bool
}

const (
	columns    = 120
	charWidth  = 7.25
	lineHeight = 17
	border     = 16
)

// draw returns the picture of a terminal. It needs nothing else.
func draw(lines []line) string {
	var rows []line
	for _, l := range lines {
		rows = append(rows, broken(l)...)
	}
	width, height := columns*charWidth+2*border, len(rows)*lineHeight+2*border
	var text strings.Builder
	fmt.Fprintf(&text, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%d\" viewBox=\"0 0 %.0f %d\" role=\"img\" aria-label=\"A session of landscaper-cli\">\n", width, height, width, height)
	text.WriteString("<style>text{font:12px ui-monospace,'DejaVu Sans Mono',monospace;fill:#d5dbe3;white-space:pre}.typed{fill:#8fd18f;font-weight:600}.bad{fill:#ff8f87}.busy{fill:#f0c674}</style>\n")
	text.WriteString("<rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"#1c2128\"/>\n")
	for i, row := range rows {
		if row.text == "" {
			continue
		}
		fmt.Fprintf(&text, "<text class=%q x=\"%d\" y=\"%d\" xml:space=\"preserve\">%s</text>\n", class(row), border, border+(i+1)*lineHeight-5, html.EscapeString(row.text))
	}
	text.WriteString("</svg>\n")
	return text.String()
}

func class(l line) string {
	trimmed := strings.TrimSpace(l.text)
	switch {
	case l.typed:
		return "typed"
	case strings.Contains(l.text, "Failed") || strings.HasPrefix(trimmed, "- "):
		return "bad"
	case strings.HasPrefix(trimmed, "~ ") || strings.HasPrefix(trimmed, "? "):
		return "busy"
	}
	return "said"
}

// broken breaks a line that is too long, as a shell would with a backslash.
func broken(l line) []line {
	var rows []line
	for runewidth.StringWidth(l.text) > columns {
		at := strings.LastIndexByte(runewidth.Truncate(l.text, columns-2, ""), ' ')
		if at <= 4 {
			break
		}
		end := ""
		if l.typed {
			end = " \\"
		}
		rows = append(rows, line{l.text[:at] + end, l.typed})
		l.text = "    " + l.text[at+1:]
	}
	return append(rows, l)
}
