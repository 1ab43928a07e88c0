package picture

import (
	"fmt"
	"html"
	"io"
	"strings"

	"go.landscaper.dev/internal/cli/terminal"
	"go.landscaper.dev/internal/landscape/flowview"
	"go.landscaper.dev/internal/landscape/inspect"
)

const margin = 24.0

// SVG draws the picture. It needs nothing else: no font, script or style from
// elsewhere.
func SVG(out io.Writer, scope *flowview.Scope) error {
	a := arrange(scope)
	width, height := max(a.w, 420)+2*margin, a.h+2*margin+legendHeight
	var text strings.Builder
	fmt.Fprintf(&text, `<svg xmlns="http://www.w3.org/2000/svg" width="%s" height="%s" viewBox="0 0 %s %s" role="img" aria-label="Data flow">`+"\n",
		number(width), number(height), number(width), number(height))
	text.WriteString(style())
	fmt.Fprintf(&text, `<rect width="100%%" height="100%%" fill="#ffffff"/>`+"\n")
	draw(&text, a, margin, margin)
	legend(&text, margin, height-legendHeight)
	text.WriteString("</svg>\n")
	_, err := io.WriteString(out, text.String())
	return err
}

func style() string {
	var text strings.Builder
	text.WriteString("<style>\n")
	text.WriteString("text{font-family:system-ui,'DejaVu Sans',sans-serif;font-size:12px;fill:#24292f}\n")
	text.WriteString(".title{font-weight:600}.phase{font-size:11px}.chip{fill:#fff;stroke:#8a94a3}.outside{stroke-dasharray:4 3}\n")
	text.WriteString(".edge{fill:none;stroke:#8a94a3;stroke-width:1.4}.edge.failed{stroke:#cc2f22;stroke-width:2}.edge.waiting{stroke:#d18a00;stroke-dasharray:6 4}\n")
	for _, state := range []inspect.State{inspect.Ready, inspect.Running, inspect.Waiting, inspect.Failed} {
		look := looks[state]
		width := "1.2"
		if state != inspect.Ready {
			width = "2.2"
		}
		fmt.Fprintf(&text, ".%s>rect{fill:%s;stroke:%s;stroke-width:%s}.%s>text{fill:%s}\n", look.class, look.fill, look.line, width, look.class, look.text)
	}
	text.WriteString("</style>\n")
	text.WriteString(`<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto-start-reverse"><path d="M0 0 8 4 0 8z" fill="#8a94a3"/></marker></defs>` + "\n")
	return text.String()
}

func draw(text *strings.Builder, a *arrangement, x, y float64) {
	for _, edge := range a.edges {
		drawEdge(text, edge, x, y)
	}
	for _, b := range a.blocks {
		if b.value != nil {
			drawValue(text, b, x+b.x, y+b.y)
			continue
		}
		if b.unit != nil {
			drawUnit(text, b, x+b.x, y+b.y)
		}
	}
}

func drawUnit(text *strings.Builder, b *block, x, y float64) {
	fmt.Fprintf(text, `<g class="%s"><title>%s</title><rect x="%s" y="%s" width="%s" height="%s" rx="7"/>`,
		lookOf(b.unit.State).class, escape(tip(b.unit)), number(x), number(y), number(b.w), number(b.h))
	fmt.Fprintf(text, `<text class="title" x="%s" y="%s">%s</text>`, number(x+padding), number(y+19), escape(shortened(b.unit.Title)))
	fmt.Fprintf(text, `<text class="phase" x="%s" y="%s">%s</text></g>`+"\n", number(x+padding), number(y+35), escape(phaseLine(b.unit)))
	if b.inside != nil {
		draw(text, b.inside, x+padding, y+headHeight)
	}
}

func tip(unit *flowview.Unit) string {
	lines := []string{unit.Name, phaseLine(unit)}
	if unit.Why != "" {
		lines = append(lines, unit.Why)
	}
	return strings.Join(lines, "\n")
}

func drawValue(text *strings.Builder, b *block, x, y float64) {
	class := "chip"
	if b.value.Outside() {
		class += " outside"
	}
	fmt.Fprintf(text, `<rect class="%s" x="%s" y="%s" width="%s" height="%s" rx="%s"/>`, class, number(x), number(y), number(b.w), number(b.h), number(b.h/2))
	fmt.Fprintf(text, `<text x="%s" y="%s" class="phase">%s</text>`+"\n", number(x+padding), number(y+17), escape(shortened(label(b.value))))
}

// drawEdge draws a line through all the space that it was given.
func drawEdge(text *strings.Builder, edge way, x, y float64) {
	fmt.Fprintf(text, `<path class="edge%s" marker-end="url(#tip)" d="`, edgeClass(edge.from()))
	for i := range len(edge) - 1 {
		from, to := edge[i], edge[i+1]
		x1, y1 := x+from.x+from.w, y+from.y+from.h/2
		x2, y2 := x+to.x, y+to.y+to.h/2
		if i == 0 {
			fmt.Fprintf(text, "M%s %s", number(x1), number(y1))
		} else {
			fmt.Fprintf(text, "H%s", number(x1))
		}
		bend := max((x2-x1)/2, 28)
		fmt.Fprintf(text, "C%s %s %s %s %s %s", number(x1+bend), number(y1), number(x2-bend), number(y2), number(x2-1), number(y2))
	}
	text.WriteString(`"/>` + "\n")
}

// edgeClass lets the ways stand out on which nothing comes.
func edgeClass(from *block) string {
	if from.unit == nil || from.unit.State == inspect.Ready {
		return ""
	}
	if lookOf(from.unit.State).class == "failed" {
		return " failed"
	}
	return " waiting"
}

const legendHeight = 30.0

func legend(text *strings.Builder, x, y float64) {
	for _, entry := range []struct {
		state inspect.State
		word  string
	}{{inspect.Ready, "ready"}, {inspect.Running, "running"}, {inspect.Waiting, "waiting"}, {inspect.Failed, "failed"}} {
		fmt.Fprintf(text, `<g class="%s"><rect x="%s" y="%s" width="12" height="12" rx="3"/><text class="phase" x="%s" y="%s">%s</text></g>`+"\n",
			looks[entry.state].class, number(x), number(y), number(x+18), number(y+10), entry.word)
		x += 84
	}
	fmt.Fprintf(text, `<rect class="chip outside" x="%s" y="%s" width="20" height="12" rx="6"/><text class="phase" x="%s" y="%s">from outside</text>`+"\n",
		number(x), number(y), number(x+26), number(y+10))
}

// escape writes a text into XML, without what XML cannot hold.
func escape(text string) string {
	return html.EscapeString(strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && terminal.Controls(r) || r == 0xfffe || r == 0xffff {
			return -1
		}
		return r
	}, text))
}
